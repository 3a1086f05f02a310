"""Reminders that somebody else offered, and the person wants."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final

from lamina.kernel.records import LoopType
from lamina.language.tables import table
from lamina.pipeline.extract.values import FindTimes
from lamina.pipeline.loops.dues import due_of, due_within, placed, without_times
from lamina.pipeline.loops.sentence import cut, draft_of
from lamina.pipeline.loops.values import LoopDraft

__all__ = ["accepted"]

_OFFER_CHARS: Final = 300
_ANSWER_CHARS: Final = 80
_TABLE: Final = table(__name__)
_OFFER: Final = _TABLE.pattern("offer")
_AGREES: Final = _TABLE.pattern("agrees", re.IGNORECASE | re.DOTALL)
_DISAGREES: Final = _TABLE.pattern("disagrees")
_NUDGE: Final = _TABLE.pattern("nudge")
_YOURS = (
    (re.compile(r"\byour\b", re.IGNORECASE), "my"),
    (re.compile(r"\byourself\b", re.IGNORECASE), "myself"),
)


def accepted(text: str, before: str, now: datetime, find_moments: FindTimes) -> Iterator[LoopDraft]:
    """What somebody offered to remind the person of, when the person says yes; the person's own day counts first."""
    offer = _offered_in(before)
    if offer is None or not _agrees(text, offer[1]):
        return
    about = offer[0][:_OFFER_CHARS]
    moments = find_moments(about, now)
    own = [due_of(moment, now) for moment in placed(find_moments(text[:_ANSWER_CHARS], now), text)]
    due = next((day for day in own if day is not None), None) or due_within(moments, about, 0, 0, now)
    words = cut(without_times(about, 0, moments))
    if words:
        yield replace(draft_of(LoopType.COMMITMENT, words, 4, "", due, now), offered=True)


def _offered_in(text: str) -> tuple[str, str] | None:
    """What an offer to remind somebody is about, in their words, and the whole offer; None where there is none.

    >>> _offered_in("Noted. Shall I remind you to call your mum tomorrow?")
    ('call my mum tomorrow', 'Shall I remind you to call your mum tomorrow?')
    """
    match = next(iter(reversed(list(_OFFER.finditer(text)))), None)
    if match is None:
        return None
    about = match["deed"] or f"remember {match['thing']}"
    if match["not"]:
        about = f"remember not to {about}"
    when = match["before"] or ""
    for yours, mine in _YOURS:
        about = yours.sub(mine, about)
    return f"{about}{when}".strip(), match.group()


def _agrees(text: str, offer: str) -> bool:
    """Whether a turn takes an offer up: with a yes, or by asking for it ("nudge me on Sunday")."""
    if _NUDGE.match(text) is not None:
        return True
    match = _AGREES.match(text)
    if match is None or _DISAGREES.search(match["rest"].split("\n")[0][:80]) or "?" in match["rest"][:60]:
        return False
    plain = match["yes"].casefold() in ("ok", "okay", "great", "perfect")
    return offer.rstrip().endswith("?") or not plain

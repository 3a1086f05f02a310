"""Reminders that somebody else offered, and the person wants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final

from lamina.kernel.records import LoopType
from lamina.pipeline.loops.dues import FindMoments, due_of, due_within, placed, without_times
from lamina.pipeline.loops.noted import agrees, offered_in
from lamina.pipeline.loops.said import cut, draft_of
from lamina.pipeline.loops.values import LoopDraft

__all__ = ["accepted"]

_OFFER_CHARS: Final = 300
_ANSWER_CHARS: Final = 80


def accepted(text: str, before: str, now: datetime, find_moments: FindMoments) -> Iterator[LoopDraft]:
    """What somebody offered to remind the person of, when the person says yes; the person's own day counts first."""
    offer = offered_in(before)
    if offer is None or not agrees(text, offer[1]):
        return
    about = offer[0][:_OFFER_CHARS]
    moments = find_moments(about, now)
    own = [due_of(moment, now) for moment in placed(find_moments(text[:_ANSWER_CHARS], now), text)]
    due = next((day for day in own if day is not None), None) or due_within(moments, about, 0, 0, now)
    words = cut(without_times(about, 0, moments))
    if words:
        yield replace(draft_of(LoopType.COMMITMENT, words, 4, "", due, now), offered=True)

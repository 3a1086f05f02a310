"""Appointments among open loops, and reminders that somebody else offered."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["agrees", "is_appointment", "offered_in"]

_MEANT: Final = re.compile(
    r"\b(?:appointment|meeting|interview|exam|viewing|check-?up|surgery|presentation|call|class|shift|reservation|"
    r"dentist|doctor|vet|haircut|scan|flight|lesson|test|with)\b",
    re.IGNORECASE,
)
_ERRAND = re.compile(
    r"^(?:remember|book|call|ring|phone|pay|buy|get|email|e-mail|text|write|send|cancel|find|ask|tell|renew|prepare|"
    r"reschedule|"
    r"arrange|order|fill|check|move|make|reply|waiting|not yet)\b",
    re.IGNORECASE,
)

_OFFER = re.compile(
    r"\b(?:(?:shall|should|can|could) i|(?:would|do) you (?:like|want) me to|want me to|i (?:can|could|will)|i'll|"
    r"happy to|let me) "
    r"(?:also )?(?:(?:remind|nudge|ping) you|set (?:you )?(?:up )?a reminder(?: for you)?)(?P<before>(?: (?!not\b|"
    r"never\b)[\w:']+){0,4}?) "
    r"(?P<not>(?:not|never) (?=to ))?(?:to (?P<deed>[^.?!\n]+)|(?:about|of|for) (?P<thing>[^.?!\n]+))(?P<end>[.?!]|$)",
    re.IGNORECASE,
)
_AGREES = re.compile(
    r"^\s*(?:oh |ooh )?(?P<yes>yes|yep|yeah|yup|yea|sure|ok|okay|please|pls|go ahead|do it|do that|perfect|great|"
    r"good idea|sounds good|"
    r"that would be \w+|that'd be \w+|absolutely|definitely|of course)\b(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_DISAGREES = re.compile(
    r"\b(?:but|not|no|don't|won't|can't|already|did|done|instead|rather|if|unless|later|maybe|never ?mind)\b|n't\b",
    re.IGNORECASE,
)
_NUDGE = re.compile(
    r"^\W*(?:(?:yes|yep|yeah|ok|okay|sure|please|pls|great)\b[\s,!.]*)*(?:remind|nudge|ping|poke) me\b(?! (?:to|"
    r"about|of|that)\b)",
    re.IGNORECASE,
)
_YOURS = (
    (re.compile(r"\byour\b", re.IGNORECASE), "my"),
    (re.compile(r"\byourself\b", re.IGNORECASE), "myself"),
)


def is_appointment(wording: str) -> bool:
    """Whether an open loop is something that takes place, which others can call off."""
    return _MEANT.search(wording) is not None and _ERRAND.match(wording) is None


def offered_in(text: str) -> tuple[str, str] | None:
    """What an offer to remind somebody is about, in their words, and the whole offer; None where there is none.

    >>> offered_in("Noted. Shall I remind you to call your mum tomorrow?")
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


def agrees(text: str, offer: str) -> bool:
    """Whether a turn takes an offer up: with a yes, or by asking for it ("nudge me on Sunday")."""
    if _NUDGE.match(text) is not None:
        return True
    match = _AGREES.match(text)
    if match is None or _DISAGREES.search(match["rest"].split("\n")[0][:80]) or "?" in match["rest"][:60]:
        return False
    plain = match["yes"].casefold() in ("ok", "okay", "great", "perfect")
    return offer.rstrip().endswith("?") or not plain

"""What is noted rather than said: items of a list, appointments without a verb, and reminders that somebody else offered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

__all__ = [
    "Noted",
    "agrees",
    "appointment_in",
    "is_appointment",
    "is_crossed_out",
    "noted_lines",
    "offered_in",
    "todo_items",
]

_ITEM = re.compile(r"^[ \t]*+(?:[-*•–]|\d{1,2}[.)])[ \t]+(?P<box>\[[ xX]?\][ \t]*)?(?P<words>\S.*)")
_HEADER = re.compile(
    r"^[ \t]*(?:(?:here(?:'s| is| are)|so|ok|and|also|right|yes)[, ]+)*"
    r"(?P<what>(?:my |our |the )?to[- ]?dos?(?: list)?|(?:my|our) (?:tasks|jobs|errands|chores|list)|"
    r"(?:things|stuff|errands|chores|jobs|tasks)(?P<bare>)|"
    r"(?:things |stuff |what )?(?:i|we)(?:'ve)? (?:still )?(?:need|have|got) to(?: do| get done)?|"
    r"(?:things|stuff|still) (?:still )?(?:to do|to get done|left to do)|need to|"
    r"(?:please )?remind me to|don't let me forget(?: to)?|"
    r"(?P<buy>(?:my |the )?(?:shopping|grocery) list|groceries|(?:i |we )?(?:need )?to buy))"
    r"(?P<when>[^:\n]{0,30}):[ \t]*$",
    re.IGNORECASE,
)
_LISTED = re.compile(r"^to[- ]?dos?(?: list)?(?: for [^:\n]{1,20})? ?[:–-]+ +(?P<items>\S.*)$", re.IGNORECASE)
_CROSSED = re.compile(r"^(?:✅|☑️?|✔️?|\[[xX]\])\s*(?P<what>\S.*)$")
_ITEM_LEAD = re.compile(r"^(?:(?:i|we) )?(?:(?:need|have|remember|don't forget) to |to )", re.IGNORECASE)

_VISITS: Final = (
    r"(?:dentist|doctor|gp|physio|optician|vet|barber|hairdresser)(?:'s)?|haircut|hair cut|mot|(?:driving|blood|eye|hearing|theory|fitness|swimming|spelling|vocab(?:ulary)?|maths?|physics|chemistry|"
    r"biology|science|history|geography|english|german|french|spanish|latin|school|covid|allergy|stress) test|quiz|parents['’]? evening|"
    r"scan|x-?ray|vaccination|jab|flight|lesson|rehearsal"
)
_MEETINGS: Final = (
    r"appointment|meeting|interview|exam|viewing|check-?up|surgery|presentation|call|class|shift|reservation"
)
_APPOINTMENT = re.compile(
    r"^(?:(?:got|have|also) )?(?P<mine>(?:my|our) )?(?:(?:a|an|the|another|first|second|next|final|big) )*"
    r"(?P<what>(?:(?!(?:book|cancel|move|resched\w+|add|put|schedule|note|check|find|attend|miss\w*|set|make|take|have|had|join|prep\w*|"
    r"plan|arrange|organi[sz]e|confirm|no|not|any|every|each|what|when|which|who|how|is|was|were|are|do|does|did|can|could|will|last|"
    r"his|her|their|your|great|good|bad|awful|long|nice|lovely|boring|terrible|productive|quick|i|we|you|he|she|they|it|to|the)\b)"
    rf"(?!(?!(?:doctor|dentist|vet|optician|driver)')[\w-]+'s )[\w'&-]+ ){{0,2}}(?:{_VISITS}|{_MEETINGS})"
    r"(?: (?:with|for|about)(?: (?!is\b|was\b|went\b)[\w'&-]+\.?){1,4}?)?)"
    r"(?P<be> (?:is|are|starts?|begins?))?(?P<set>(?: (?:now|all|finally))? (?:booked|confirmed|scheduled|arranged|fixed))?(?: (?:on|at|now|from))*$",
    re.IGNORECASE,
)
_MEANT: Final = re.compile(rf"\b(?:{_VISITS}|{_MEETINGS}|with)\b", re.IGNORECASE)
_ERRAND = re.compile(
    r"^(?:remember|book|call|ring|phone|pay|buy|get|email|e-mail|text|write|send|cancel|find|ask|tell|renew|prepare|reschedule|"
    r"arrange|order|fill|check|move|make|reply|waiting|not yet)\b",
    re.IGNORECASE,
)

_OFFER = re.compile(
    r"\b(?:(?:shall|should|can|could) i|(?:would|do) you (?:like|want) me to|want me to|i (?:can|could|will)|i'll|happy to|let me) "
    r"(?:also )?(?:(?:remind|nudge|ping) you|set (?:you )?(?:up )?a reminder(?: for you)?)(?P<before>(?: (?!not\b|never\b)[\w:']+){0,4}?) "
    r"(?P<not>(?:not|never) (?=to ))?(?:to (?P<deed>[^.?!\n]+)|(?:about|of|for) (?P<thing>[^.?!\n]+))(?P<end>[.?!]|$)",
    re.IGNORECASE,
)
_AGREES = re.compile(
    r"^\s*(?:oh |ooh )?(?P<yes>yes|yep|yeah|yup|yea|sure|ok|okay|please|pls|go ahead|do it|do that|perfect|great|good idea|sounds good|"
    r"that would be \w+|that'd be \w+|absolutely|definitely|of course)\b(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_DISAGREES = re.compile(
    r"\b(?:but|not|no|don't|won't|can't|already|did|done|instead|rather|if|unless|later|maybe|never ?mind)\b|n't\b",
    re.IGNORECASE,
)
_NUDGE = re.compile(
    r"^\W*(?:(?:yes|yep|yeah|ok|okay|sure|please|pls|great)\b[\s,!.]*)*(?:remind|nudge|ping|poke) me\b(?! (?:to|about|of|that)\b)",
    re.IGNORECASE,
)
_YOURS = (
    (re.compile(r"\byour\b", re.IGNORECASE), "my"),
    (re.compile(r"\byourself\b", re.IGNORECASE), "myself"),
)


@dataclass(frozen=True, slots=True)
class Noted:
    """An item of a to-do list and where it stands; ``when`` is what the head of the list says of the time."""

    start: int
    end: int
    words: str
    when: str
    buys: bool


def noted_lines(text: str, is_time: Callable[[str], bool]) -> Iterator[Noted]:
    """The items of the lists of things to do in a text. A list without such a head is just a list, and one of "things for"
    something is to be done when that is a time."""
    head: re.Match[str] | None = None
    place = 0
    for line in text.splitlines(keepends=True):
        item = _ITEM.match(line.rstrip())
        if item is not None and head is not None:
            if (item["box"] or "").strip().casefold() != "[x]":
                words = _ITEM_LEAD.sub("", item["words"])
                yield Noted(place, place + len(line), words, _time_of(head), head["buy"] is not None)
        elif line.strip():
            head = _head(line, is_time)
        place += len(line)


def todo_items(said: str) -> list[str]:
    """The things behind a "to do:", one or several between commas."""
    match = _LISTED.match(said)
    if match is None:
        return []
    return [item.strip() for item in re.split(r"[,;]\s+", match["items"]) if item.strip()]


def is_crossed_out(said: str) -> str | None:
    """What a ticked item says, None for what is not ticked."""
    match = _CROSSED.match(said)
    return None if match is None else match["what"]


def appointment_in(words: str) -> str | None:
    """The appointment that words without their time speak of ("dentist", "my exam is"), None for a sentence about one."""
    match = _APPOINTMENT.match(words)
    if match is None or (match["be"] and not match["mine"] and not match["set"]):
        return None
    return match["what"]


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


def _head(line: str, is_time: Callable[[str], bool]) -> re.Match[str] | None:
    match = _HEADER.match(line.rstrip())
    return None if match is None or (match["bare"] is not None and not is_time(match["when"])) else match


def _time_of(head: re.Match[str]) -> str:
    return head["when"].strip()

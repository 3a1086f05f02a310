"""What an event says that judges a fact or a belief: it is right, wrong, no longer so, or of no use (seed 002, 3.5.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from lamina.errors import Invalid
from lamina.kernel.events import EventDraft, Modality
from lamina.kernel.records import ObjectValue
from lamina.kernel.time import Instant, instant

__all__ = ["VERDICTS", "Believed", "Feedback", "JudgedClaim", "Verdict", "feedback_of", "judges"]

Verdict = Literal["confirm", "deny", "outdated", "irrelevant"]
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """What the record said when it was judged, and for when. ``single`` says that its subject has one such value at a time."""

    subject: str
    subject_type: str
    predicate: str
    object: ObjectValue
    negated: bool
    kind: str
    single: bool
    valid_from: Instant
    valid_to: Instant | None


@dataclass(frozen=True, slots=True)
class Believed:
    """The belief that was judged, and what its evidence gave it then, 0..1, before any calibration."""

    belief_id: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Feedback:
    """A verdict on a claim; ``believed`` is None where nothing believed it."""

    target_id: str
    verdict: Verdict
    claim: JudgedClaim
    believed: Believed | None


def judges(modality: str, content: Mapping[str, Any]) -> bool:  # Any: JSON, as it was submitted
    """Whether an experience is a verdict; feedback in words of its own is read like any turn."""
    return modality == Modality.FEEDBACK and "verdict" in content


def feedback_of(event: EventDraft) -> Feedback | None:
    """The verdict that an event is, as the server completed it; None for any other event, and for one from before there were any."""
    content = event.content
    claim = content.get("claim")
    if not judges(event.modality, content) or not isinstance(claim, Mapping):
        return None
    try:
        return _read(content, claim)
    except (KeyError, TypeError, ValueError, Invalid):
        return None


def _read(content: Mapping[str, Any], claim: Mapping[str, Any]) -> Feedback | None:  # Any: JSON
    verdict: Verdict | None = next((each for each in VERDICTS if each == content["verdict"]), None)
    if verdict is None:
        return None
    value, until, known = claim["object"], claim["valid_to"], content.get("believed")
    return Feedback(
        str(content["target_id"]),
        verdict,
        JudgedClaim(
            subject=str(claim["subject"]),
            subject_type=str(claim["subject_type"]),
            predicate=str(claim["predicate"]),
            object=ObjectValue(**value),
            negated=bool(claim["negated"]),
            kind=str(claim["kind"]),
            single=bool(claim["single"]),
            valid_from=instant(claim["valid_from"]),
            valid_to=None if until is None else instant(until),
        ),
        None if known is None else Believed(str(known["belief_id"]), float(known["confidence"])),
    )

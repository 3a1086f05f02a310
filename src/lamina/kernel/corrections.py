"""What an entry of the log says that corrects a fact: another value for it, or that it holds no more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from lamina.kernel.events import Event
from lamina.kernel.time import Instant, instant

__all__ = ["CORRECTION", "Correction", "correction_of"]

CORRECTION: Final = "correction"
"""The modality of such an entry, and its channel, which no caller's request can have: only what came through policy is one."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A fact, what became of it, and from when on; ``value`` is as the caller said it, and None where the fact is retracted."""

    fact_id: str
    action: Literal["correct", "retract"]
    value: Any  # Any: a JSON scalar, or an object with a value and its unit
    at: Instant | None


def correction_of(event: Event) -> Correction | None:
    """The correction that an event is, None for any other event, and for one whose words were erased."""
    if event.origin.channel != CORRECTION or event.redacted_by is not None:
        return None
    content = event.content
    at = content.get("at")
    return Correction(
        str(content["fact_id"]),
        "retract" if content["action"] == "retract" else "correct",
        content.get("object"),
        None if at is None else instant(at),
    )

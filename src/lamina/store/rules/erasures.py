"""What every engine refuses while an erasure runs, in the same words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from lamina.errors import Conflict
from lamina.kernel.events import EventDraft
from lamina.kernel.scopes import Scope
from lamina.store.ports.erasures import ErasedPlace, ErasureJob, LineKind

__all__ = [
    "PACE_OF",
    "PATH_LINES",
    "check_no_overlap",
    "check_not_erased",
    "check_not_erased_actor",
    "pace_of",
    "place_that_erases",
]

PACE_OF = 20
"""Of how many erasures, the newest first, the pace is taken."""


PATH_LINES: Final = (LineKind.DOCUMENT, LineKind.SHARED)
"""What a manifest tells by name, until the erasure is over."""


def check_not_erased(places: Sequence[ErasedPlace], drafts: Iterable[EventDraft]) -> None:
    """Nothing, or ``Conflict`` (ERASURE_RUNNING) where a draft would land in what is being erased, or is said by whom it is about."""
    if not places:
        return
    for draft in drafts:
        place = place_that_erases(places, draft)
        if place is not None:
            raise running(place)


def place_that_erases(places: Sequence[ErasedPlace], said: EventDraft) -> ErasedPlace | None:
    """What is being erased that takes something said, by where it lies or by whom it is said; None where it stays."""
    said_by = (said.caller, said.observed_actor.id)
    for place in places:
        spoken = any(actor in place.actors for actor in said_by) and not place.keeps(said.scope)
        if place.hides(said.scope) or spoken:
            return place
    return None


def check_not_erased_actor(places: Sequence[ErasedPlace], actor: str) -> None:
    """Nothing, or ``Conflict`` (ERASURE_RUNNING) for what stands in no scope and is of one whose memory is being erased."""
    for place in places:
        if actor in place.actors:
            raise running(place)


def check_no_overlap(places: Sequence[ErasedPlace], erasure: ErasureJob) -> None:
    """Nothing, or ``Conflict`` (ERASURE_RUNNING) where one that runs has a part of what a new one is about."""
    for place in places:
        if any(_meet(one, other) for one in place.scopes for other in erasure.place.scopes):
            raise running(place)


def pace_of(completed: Iterable[ErasureJob]) -> tuple[int, int]:
    """How many events erasures deleted or redacted, and the microseconds that they took."""
    outcomes = [erasure.outcome for erasure in completed]
    return sum(each.deleted_events + each.redacted_events for each in outcomes), sum(
        each.took_us for each in outcomes
    )


def running(place: ErasedPlace) -> Conflict:
    """The refusal of what comes in between."""
    return Conflict(
        "ERASURE_RUNNING",
        "this memory is being erased, and takes nothing new until that is over",
        hint="GET /v1/erasures/{erasure_id} says how far it is; send it again once it is completed",
        details={"erasure_id": place.erasure_id},
    )


def _meet(one: Scope, other: Scope) -> bool:
    return one.contains(other) or other.contains(one)

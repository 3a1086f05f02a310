"""What callers may ask of the layers (seed 002, 8.7 and 12)."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.ids import Prefix, prefix_of
from lamina.kernel.records import Stance, layer_of
from lamina.kernel.time import Axes, Instant, Interval
from lamina.kernel.wire import BoundText, Limit, LocalBoundText, Request, ScopePath, Text, id_field
from lamina.types.times import Natural, Range, bad_range, by_the_reference, refuse_two_validities

__all__ = [
    "BeliefId",
    "BeliefsRequest",
    "ConceptId",
    "ConceptsRequest",
    "CoverageRequest",
    "EpisodeId",
    "EpisodesRequest",
    "EventId",
    "EventsRequest",
    "FactId",
    "FactsRequest",
    "ListRequest",
    "RelatedRequest",
    "TimedReads",
    "TimedRequest",
    "TimelineRequest",
    "View",
    "WhyRecordRequest",
    "WhyRequest",
]

View = Literal["local", "holistic", "descend"]
"""``local`` is exactly the scope, ``holistic`` walks up from it, ``descend`` walks down."""


def _memory_id(value: object) -> object:
    if isinstance(value, str) and (prefix_of(value) is None or layer_of(value) is None):
        raise Invalid(
            "INVALID_ID",
            f"{value[:64]!r} names no memory",
            hint="the ids that recall shows are explained: belief_…, fact_…, ep_…, concept_… and evt_…",
        )
    return value


Name = Annotated[Text, Field(min_length=1, max_length=limits.NAME_LENGTH_MAX)]
Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class ListRequest(Request):
    """A list over a scope. ``limit`` is 1 to 1000; ``cursor`` is the ``next_cursor`` of the page before."""

    scope: ScopePath
    view: View = "local"
    limit: Limit = limits.PAGE_LIMIT_DEFAULT
    cursor: str | None = None


class TimedReads(Request):
    """Where the reader stands on both axes; without any of these both are pinned to now. Each narrows what the others leave.

    ``natural`` is ``valid_during`` in words, which are read against ``reference_date``, or the time of the request. With an
    offset there, days are days by that clock, in the words and in the bounds beside them.
    """

    as_of: BoundText | None = None
    valid_during: Range | None = None
    recorded_during: Range | None = None
    natural: Natural | None = None
    reference_date: LocalBoundText | None = None
    include_superseded: bool = False

    @model_validator(mode="before")
    @classmethod
    def _days_of_the_reference(cls, given: Any) -> Any:  # Any: whatever came in
        return by_the_reference(given, _BOUNDS)

    @model_validator(mode="after")
    def _one_validity(self) -> Self:
        refuse_two_validities(self.natural, self.valid_during)
        return self

    def axes(self, now: Instant, window: Interval | None = None) -> Axes:
        """The axes that these words mean at ``now``, which is where ``as_of`` stands when it is given, or what is known of one to come.
        ``window`` is what ``natural`` names."""
        axes = Axes.asked(
            now,
            as_of=None if self.as_of is None else max(now, self.as_of),
            valid_during=window if self.valid_during is None else self.valid_during,
            recorded_during=self.recorded_during,
            superseded=self.include_superseded,
        )
        return replace(axes, seen_at=min(axes.seen_at, now))


_BOUNDS = ("as_of", "valid_during", "recorded_during", "since", "until", "overlapping")


class TimedRequest(ListRequest, TimedReads):
    """A list over a scope, as it stands where the reader stands."""


def _with_older_name(value: Any) -> Any:
    """``actor`` is the older name of ``observed_actor``."""
    if not isinstance(value, dict) or "actor" not in value:
        return value
    if "observed_actor" in value:
        raise Invalid(
            "INVALID_REQUEST",
            "actor is the older name of observed_actor; both are given",
            hint="leave actor out",
            details={"field": "actor"},
        )
    return {("observed_actor" if key == "actor" else key): item for key, item in value.items()}


class EventsRequest(TimedRequest):
    """Events, newest entry of the log first.

    ``since`` (inclusive) and ``until`` (exclusive) bound ``observed_at``; ``as_of`` and ``recorded_during``
    bound ``recorded_at``. Events have no validity: ``valid_during``, and ``natural`` like it, changes nothing and is answered
    with a warning. Nor are they superseded: ``include_superseded`` leaves none out. Of ``labels`` an event must carry every one.
    """

    since: BoundText | None = None
    until: BoundText | None = None
    observed_actor: Name | None = None
    modality: Name | None = None
    session: Name | None = None
    labels: Annotated[list[Name], Field(max_length=limits.LABELS_MAX)] = []  # noqa: RUF012 - Pydantic copies it

    @model_validator(mode="before")
    @classmethod
    def _older_name(cls, value: Any) -> Any:
        return _with_older_name(value)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise bad_range("until", "it is not after since")
        return self


class EpisodesRequest(TimedRequest):
    """Episodes. ``overlapping`` asks for those that were going on in a range, whatever else holds since."""

    observed_actor: Name | None = None
    session: Name | None = None
    overlapping: Range | None = None
    with_causal_chain: bool = True

    @model_validator(mode="before")
    @classmethod
    def _older_name(cls, value: Any) -> Any:
        return _with_older_name(value)


class FactsRequest(TimedRequest):
    """Facts. ``subject`` is an entity's id, its name, or an actor such as ``user:alice``."""

    subject: Name | None = None
    predicate: Name | None = None
    min_confidence: Share = 0.0


class TimelineRequest(TimedReads):
    """The values that a subject's predicate has held, as known where the reader stands.

    ``as_of`` and ``recorded_during`` say which versions are known, and the latter shows those alone that it brought; ``valid_during`` and ``natural`` keep what held in
    a stretch. ``include_superseded`` shows each value as it was held before, too.
    """

    scope: ScopePath
    view: View = "local"
    subject: Name
    predicate: Name


class BeliefsRequest(TimedRequest):
    """Beliefs. ``about`` is an entity's id, its name, or an actor. Deprecated ones are shown when asked for."""

    about: Name | None = None
    predicate: Name | None = None
    stance: Stance | None = None
    min_confidence: Share = 0.0
    include_deprecated: bool = False


class ConceptsRequest(TimedRequest):
    """Concepts whose name or topic holds every word of ``topic``; ``depth`` above 1 adds their neighbours."""

    topic: Name | None = None
    depth: Annotated[int, Field(ge=1, le=limits.CONCEPT_DEPTH_MAX)] = 1
    min_confidence: Share = 0.0
    include_deprecated: bool = False


class _OneRecord(Request):
    """One record; ``as_of`` asks for the version that was held then."""

    as_of: BoundText | None = None


class EventId(Request):
    """One event."""

    event_id: Annotated[str, id_field(Prefix.EVENT)]


class EpisodeId(_OneRecord):
    """One episode."""

    episode_id: Annotated[str, id_field(Prefix.EPISODE)]


class FactId(_OneRecord):
    """One fact."""

    fact_id: Annotated[str, id_field(Prefix.FACT)]


class BeliefId(_OneRecord):
    """One belief."""

    belief_id: Annotated[str, id_field(Prefix.BELIEF)]


class ConceptId(_OneRecord):
    """One concept, in its newest version, the one held at ``as_of``, or the one of a number."""

    concept_id: Annotated[str, id_field(Prefix.CONCEPT)]
    version: Annotated[int, Field(ge=1)] | None = None


class WhyRequest(BeliefId):
    """Why a belief is held."""


class WhyRecordRequest(_OneRecord):
    """Why a record of any layer is held."""

    record_id: Annotated[str, BeforeValidator(_memory_id)]


class RelatedRequest(Request):
    """The concepts that a concept leads to, over at most ``depth`` edges, of one relation or of any: one of the contract or of the
    vocabularies that are active for the concept's scope."""

    concept_id: Annotated[str, id_field(Prefix.CONCEPT)]
    relation: Name | None = None
    depth: Annotated[int, Field(ge=1, le=limits.CONCEPT_DEPTH_MAX)] = 1
    limit: Limit = limits.PAGE_LIMIT_DEFAULT


class CoverageRequest(Request):
    """How much of a scope is understood."""

    scope: ScopePath
    view: View = "local"

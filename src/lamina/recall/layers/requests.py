"""What callers may ask of the layers (seed 002, 8.7 and 12)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema, model_validator

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.ids import Prefix, parse_id, prefix_of
from lamina.kernel.records import Stance, layer_of
from lamina.kernel.time import Axes, Instant, Interval, day_or_instant
from lamina.kernel.wire import BoundText, Limit, Request, ScopePath, Text

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
    "TimedRequest",
    "TimelineRequest",
    "View",
    "WhyRecordRequest",
    "WhyRequest",
]

View = Literal["local", "holistic", "descend"]
"""``local`` is exactly the scope, ``holistic`` walks up from it, ``descend`` walks down."""


def _parse_interval(value: Any, info: ValidationInfo) -> Interval:
    field = info.field_name or "range"
    start, dots, end = value.partition("..") if isinstance(value, str) else ("", "", "")
    if not dots or not (start or end):
        raise _bad_range(field, "it is not two instants joined by '..'")
    first = day_or_instant(start, field=field) if start else None
    last = day_or_instant(end, field=field) if end else None
    if first is not None and last is not None and first >= last:
        raise _bad_range(field, "it ends before it begins, or holds nothing")
    return Interval(first, last)


def _bad_range(field: str, reason: str) -> Invalid:
    return Invalid(
        "INVALID_RANGE",
        f"{field} is not a range: {reason}",
        hint="write for example 2026-04-01..2026-05-01; the end is exclusive, and either side may be left out",
        details={"field": field, "reason": reason},
    )


Range = Annotated[
    Interval,
    BeforeValidator(_parse_interval),
    WithJsonSchema({"type": "string", "examples": ["2026-04-01..2026-05-01"]}),
]
"""``A..B``: from A until before B, each RFC 3339 or a date; either side may be left out."""


def _id_of(prefix: Prefix) -> BeforeValidator:
    return BeforeValidator(lambda value: parse_id(value, prefix) if isinstance(value, str) else value)


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


class TimedRequest(ListRequest):
    """Where the reader stands on both axes; without any of these both are pinned to now."""

    as_of: BoundText | None = None
    valid_during: Range | None = None
    recorded_during: Range | None = None
    include_superseded: bool = False

    def axes(self, now: Instant) -> Axes:
        """The axes that these words mean at ``now``, which is where ``as_of`` stands when it is given."""
        return Axes.asked(
            now,
            as_of=None if self.as_of is None else now,
            valid_during=self.valid_during,
            recorded_during=self.recorded_during,
            superseded=self.include_superseded,
        )


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


class EventsRequest(ListRequest):
    """Events, newest entry of the log first.

    ``since`` (inclusive) and ``until`` (exclusive) bound ``observed_at``; ``as_of`` and ``recorded_during``
    bound ``recorded_at``. Events have no validity: ``valid_during`` changes nothing and is answered with a
    warning. Of ``labels`` an event must carry every one.
    """

    since: BoundText | None = None
    until: BoundText | None = None
    observed_actor: Name | None = None
    modality: Name | None = None
    session: Name | None = None
    labels: Annotated[list[Name], Field(max_length=limits.LABELS_MAX)] = []  # noqa: RUF012 - Pydantic copies it
    as_of: BoundText | None = None
    recorded_during: Range | None = None
    valid_during: Range | None = None

    @model_validator(mode="before")
    @classmethod
    def _older_name(cls, value: Any) -> Any:
        return _with_older_name(value)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise _bad_range("until", "it is not after since")
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


class TimelineRequest(Request):
    """The values that a subject's predicate has held."""

    scope: ScopePath
    view: View = "local"
    subject: Name
    predicate: Name
    as_of: BoundText | None = None


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

    event_id: Annotated[str, _id_of(Prefix.EVENT)]


class EpisodeId(_OneRecord):
    """One episode."""

    episode_id: Annotated[str, _id_of(Prefix.EPISODE)]


class FactId(_OneRecord):
    """One fact."""

    fact_id: Annotated[str, _id_of(Prefix.FACT)]


class BeliefId(_OneRecord):
    """One belief."""

    belief_id: Annotated[str, _id_of(Prefix.BELIEF)]


class ConceptId(_OneRecord):
    """One concept, in its newest version, the one held at ``as_of``, or the one of a number."""

    concept_id: Annotated[str, _id_of(Prefix.CONCEPT)]
    version: Annotated[int, Field(ge=1)] | None = None


class WhyRequest(BeliefId):
    """Why a belief is held."""


class WhyRecordRequest(_OneRecord):
    """Why a record of any layer is held."""

    record_id: Annotated[str, BeforeValidator(_memory_id)]


class RelatedRequest(Request):
    """The concepts that a concept leads to, over at most ``depth`` edges, of one relation or of any."""

    concept_id: Annotated[str, _id_of(Prefix.CONCEPT)]
    relation: Name | None = None
    depth: Annotated[int, Field(ge=1, le=limits.CONCEPT_DEPTH_MAX)] = 1
    limit: Limit = limits.PAGE_LIMIT_DEFAULT


class CoverageRequest(Request):
    """How much of a scope is understood."""

    scope: ScopePath
    view: View = "local"

"""The keywords that the methods of both clients take, declared once.

A time is an aware ``datetime`` or RFC 3339 text, a range is a pair of times of which either may be None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NotRequired, TypedDict

from lamina.types.recall import CitationMode, Diagnostics, LayerName
from lamina.types.recall import View as RecallView

__all__ = [
    "BeliefFilters",
    "BriefOptions",
    "BulkOptions",
    "ConceptFilters",
    "Conversation",
    "EpisodeFilters",
    "EventFilters",
    "ExperienceOptions",
    "FactFilters",
    "ForgetOptions",
    "LifecycleFilters",
    "ListOptions",
    "RecallOptions",
    "Stage",
    "Time",
    "TimeRange",
    "TimedOptions",
    "TimelineFilters",
    "TurnOptions",
    "View",
    "VocabularyOptions",
    "time_text",
]

Time = datetime | str
"""A text goes to the server as it is. A ``datetime`` has a zone: in a zone of its own it goes with its offset, and words such as
"yesterday" are then days there; in ``datetime.UTC`` it is an instant, and says nothing of anybody's clock."""


def time_text(value: Any) -> Any:  # Any: what is no datetime is left to the server
    """A time as the wire takes it: with its offset, or with ``Z`` where its zone is plain UTC."""
    if not isinstance(value, datetime):
        return value
    return value.isoformat().replace("+00:00", "Z") if value.tzinfo is UTC else value.isoformat()


TimeRange = tuple[Time | None, Time | None] | str
Stage = Literal["captured", "indexed", "consolidated"]
View = Literal["local", "holistic", "descend"]
Party = str | Mapping[str, Any]  # Any: id, type, name and session, as the envelope has them


class ExperienceOptions(TypedDict, total=False):
    """What may be said of an experience besides its text (seed 002, 3.5).

    ``content`` replaces ``text`` and ``role``. ``context`` is taken as it is; ``observed_at`` and ``labels`` go
    into it. ``observed_actor`` is who did it, an id or an object; ``session`` goes into that.
    """

    scope: str
    role: Literal["user", "assistant", "tool", "system"]
    modality: str
    content: Mapping[str, Any]
    context: Mapping[str, Any]
    observed_at: Time
    labels: Sequence[str]
    observed_actor: Party
    subject: Party
    session: str
    directives: Mapping[str, Any]
    idempotency_key: str


class BulkOptions(TypedDict, total=False):
    """What may be said of a batch; its items say the rest. ``strict_temporal`` stores by ``observed_at``."""

    scope: str
    observed_actor: Party
    directives: Mapping[str, Any]
    ordering: Literal["strict_temporal", "batch_throughput"]
    idempotency_key: str


class FeedbackOptions(TypedDict, total=False):
    """Keywords of a verdict; ``scope`` is that of the record, the client's own by default, ``observed_actor`` who gives it, where that
    is not the caller."""

    scope: str
    observed_at: Time
    observed_actor: Party
    session: str
    idempotency_key: str


class CorrectionOptions(TypedDict, total=False):
    """Keywords of correcting and retracting a fact; ``observed_actor`` is who says so, where that is not the caller."""

    why: str
    quote: str
    observed_actor: str | Mapping[str, Any]
    wait: Stage
    idempotency_key: str


class RecallOptions(TypedDict, total=False):
    """What may be said of a recall besides its question (seed 002, 8.3).

    ``max_tokens`` and ``per_layer_limits`` make the budget. ``natural`` is a time in words ("last week"),
    read against ``reference_date``; ``as_of`` answers as memory stood then, ``valid_during`` from what held in a range, ``recorded_during``
    from what was learned in one; both sides of these are named. ``temporal`` is the same as a block.
    """

    scope: str
    view: RecallView
    include: Sequence[LayerName]
    exclude_content: bool
    include_quarantined: bool
    temporal: Mapping[str, Any]
    natural: str
    reference_date: Time
    as_of: Time
    valid_during: TimeRange
    recorded_during: TimeRange
    include_superseded: bool
    filters: Mapping[str, Any]
    max_tokens: int
    per_layer_limits: Mapping[LayerName, int]
    citation_mode: CitationMode
    diagnostics: Diagnostics
    idempotency_key: str


class AnswerOptions(RecallOptions, total=False):
    """What may be said of an answer besides its question (seed 002, 8.4): all that may be said of a recall, and more.

    ``use_pack_id`` answers from a pack of the last minute instead of recalling; ``answer_model`` is ``extractive`` or the server's own.
    """

    answer_model: str
    answer_max_tokens: int
    use_pack_id: str


class Conversation(TypedDict):
    """Whose conversation it is, and which: the caller's own ids, any text of up to 93 bytes."""

    tenant_id: str
    user_id: str
    persona_id: str
    session_id: NotRequired[str | None]


class BriefOptions(Conversation, total=False):
    """What may be said of a brief besides its question.

    ``now`` is the clock of the answer. Without ``mode`` it follows from the session and ``now``.
    """

    now: Time
    mode: Literal["session_start", "in_session"]


class TurnOptions(Conversation, total=False):
    """What may be said of a turn besides who spoke and its text; ``timestamp`` is when it was said."""

    timestamp: Time
    idempotency_key: str


class ListOptions(TypedDict, total=False):
    """Which scope, seen how, and how many at once (1 to 1000)."""

    scope: str
    view: View
    limit: int
    cursor: str


class TimedOptions(ListOptions, total=False):
    """Where the reader stands on both time axes; without these both are now. ``natural`` is ``valid_during`` in words, read
    against ``reference_date``."""

    as_of: Time
    valid_during: TimeRange
    recorded_during: TimeRange
    natural: str
    reference_date: Time
    include_superseded: bool


class EventFilters(TimedOptions, total=False):
    """Which events. ``since`` and ``until`` bound ``observed_at``; an event must carry all the ``labels``."""

    since: Time
    until: Time
    observed_actor: str
    modality: str
    session: str
    labels: Sequence[str]


class EpisodeFilters(TimedOptions, total=False):
    """Which episodes; ``overlapping`` asks for those that were going on in a range."""

    observed_actor: str
    session: str
    overlapping: TimeRange
    with_causal_chain: bool


class TimelineFilters(TypedDict, total=False):
    """Where to look for the values of a predicate, and which of them."""

    scope: str
    view: View
    as_of: Time
    valid_during: TimeRange
    recorded_during: TimeRange
    natural: str
    reference_date: Time
    include_superseded: bool


class FactFilters(TimedOptions, total=False):
    """Which facts; ``subject`` is an entity's id, its name, or an actor."""

    subject: str
    predicate: str
    min_confidence: float


class BeliefFilters(TimedOptions, total=False):
    """Which beliefs; ``about`` is an entity's id, its name, or an actor."""

    about: str
    predicate: str
    stance: str
    min_confidence: float
    include_deprecated: bool


class ConceptFilters(TimedOptions, total=False):
    """Which concepts; ``depth`` above 1 adds their neighbours."""

    topic: str
    depth: int
    min_confidence: float
    include_deprecated: bool


class ForgetOptions(TypedDict, total=False):
    """What of a scope is to be forgotten: what fits every field that is given, and ``memory_ids`` besides.

    Without any of these everything is meant, and ``confirm_all`` has to say so. ``with_derived`` also takes what rests on nothing but that.
    """

    layers: Sequence[Literal["events", "episodes", "facts", "beliefs", "understanding"]]
    memory_ids: Sequence[str]
    about_subject: str
    about_entity: str
    predicate: str
    valid_during: TimeRange
    recorded_during: TimeRange
    with_derived: bool
    confirm_all: bool
    audit_note: str
    idempotency_key: str


class LifecycleFilters(TypedDict, total=False):
    """What to follow; ``scope`` means that scope and everything below it. At most one job is named."""

    scope: str
    event_id: str
    job_id: str
    batch_id: str
    import_id: str
    export_id: str
    erasure_id: str
    events: Sequence[str]
    since_lifecycle_id: str


class VocabularyOptions(TypedDict, total=False):
    """Keywords of registering and replacing a vocabulary: ``predicates`` or ``relations``, each a mapping as the wire has it."""

    kind: Literal["predicate", "relation"]
    description: str
    predicates: Sequence[Mapping[str, Any]]
    relations: Sequence[Mapping[str, Any]]

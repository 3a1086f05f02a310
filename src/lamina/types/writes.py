"""Request and result types of the write operations (seed 002, 8.1 and 8.2)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, RootModel, model_validator

from lamina import limits
from lamina.kernel.wire import LocalTimeText, Request, Result, ScopePath, Text
from lamina.types.envelope import Envelope, EnvelopeDirectives, Item, Key, PartyIn, with_older_name
from lamina.types.stating import UNIT_LENGTH_MAX, has_fit_unit

__all__ = [
    "BatchCaptured",
    "BulkExperience",
    "ByKey",
    "Captured",
    "CapturedOrWaited",
    "CorrectFact",
    "CorrectionCaptured",
    "DecisionCaptured",
    "Experience",
    "MergeEntity",
    "RetractFact",
    "SplitEntity",
    "StoredByKey",
    "SynthesisAccepted",
    "Synthesize",
    "Waited",
]


_Scalar = (
    bool
    | int
    | float
    | Annotated[Text, Field(min_length=1, max_length=limits.NAME_LENGTH_MAX, pattern=r"\S")]
)


class Experience(Request):
    """One experience, and how long to wait: until it is on disk, or until a later stage is done."""

    envelope: Envelope
    wait: Literal["captured", "indexed", "consolidated"] | None = None


class BulkExperience(Request):
    """Up to a thousand experiences of one scope.

    ``strict_temporal`` stores them in the order of ``observed_at``, ``batch_throughput`` as they come.
    """

    scope: ScopePath
    observed_actor: PartyIn | None = None
    items: Annotated[list[Item], Field(min_length=1, max_length=limits.BULK_ITEMS_MAX)]
    directives: EnvelopeDirectives | None = None
    ordering: Literal["strict_temporal", "batch_throughput"] = "batch_throughput"
    idempotency_key: Key | None = None

    @model_validator(mode="before")
    @classmethod
    def _older_name(cls, value: Any) -> Any:
        return with_older_name(value)


class ByKey(Request):
    """The idempotency key of an earlier write."""

    key: Key


class Captured(Result):
    """The experience is on disk; its stages go on behind the answer."""

    event_id: str
    status: Literal["captured"]
    wal_offset: int
    lifecycle_stream: str


class Waited(Result):
    """How far the experience came while the caller waited. ``elapsed_ms`` is per stage."""

    event_id: str
    status: str
    wal_offset: int
    stages_completed: list[str]
    derives: list[str]
    elapsed_ms: dict[str, int]
    lifecycle_stream: str


class CapturedOrWaited(RootModel[Waited | Captured]):
    """How far the experience came; without ``wait`` that it is on disk."""


class BatchCaptured(Result):
    """Every item of the batch is on disk."""

    batch_id: str
    accepted: int
    lifecycle_stream: str


class StoredByKey(Result):
    """The event behind an idempotency key, and how far it came."""

    idempotency_key: str
    event_id: str
    status: str
    wal_offset: int
    batch_id: str | None
    stages_completed: list[str]
    lifecycle_stream: str


class StatedValue(Request):
    """A value with its unit, which a number can have."""

    value: _Scalar
    unit: Annotated[Text, Field(min_length=1, max_length=UNIT_LENGTH_MAX)] | None = None

    @model_validator(mode="after")
    def _unit_of_a_number(self) -> Self:
        if not has_fit_unit(self.value, self.unit):
            raise ValueError("a unit goes with a number")
        return self


class _CorrectionRequest(Request):
    fact_id: str
    why: Annotated[Text, Field(min_length=1, max_length=limits.CORRECTION_WORDS_LENGTH_MAX)] | None = None
    quote: Annotated[Text, Field(min_length=1, max_length=limits.CORRECTION_WORDS_LENGTH_MAX)] | None = None
    observed_actor: PartyIn | None = None
    wait: Literal["captured", "indexed", "consolidated"] | None = None


class CorrectFact(_CorrectionRequest):
    """Another value in the place of one fact's.

    ``object`` is the value: a name or other text, a number, a boolean, or ``{"value": ..., "unit": ...}``. It holds from
    ``valid_from`` on; without one the fact is taken to have been wrong from its beginning. ``why`` is the reason,
    ``quote`` the words that say so. ``observed_actor`` is who says it, where that is not the caller.
    """

    object: _Scalar | StatedValue
    valid_from: LocalTimeText | None = None


class RetractFact(_CorrectionRequest):
    """That one fact holds no more: from ``valid_to`` on, now where that is left out. The rest is as in ``CorrectFact``."""

    valid_to: LocalTimeText | None = None


class CorrectionCaptured(Result):
    """The correction is an event of the log, ``event_id``; what it makes of the fact is derived behind the answer.

    ``derives`` is what came of it, where the caller waited for that. Nothing is erased: ``erased`` is false, always, and ``note`` says
    how what was held can still be read, and how it is erased.
    """

    event_id: str
    fact_id: str
    action: Literal["correct", "retract"]
    status: str
    wal_offset: int
    derives: list[str]
    erased: Literal[False] = False
    note: str
    lifecycle_stream: str


_Why = Annotated[Text, Field(min_length=1, max_length=limits.CORRECTION_WORDS_LENGTH_MAX)]
_Words = Annotated[Text, Field(min_length=1, max_length=limits.NAME_LENGTH_MAX)]


class MergeEntity(Request):
    """In a scope, two entities are one: what was said of ``entity_id`` was said of ``into``. Both are ids; ``why`` is the reason."""

    entity_id: str
    scope: ScopePath
    into: str
    why: _Why | None = None


class SplitEntity(Request):
    """In a scope, one entity is two: what the turns behind ``facts`` say of ``entity_id`` is said of another, called ``name``.

    Where ``name`` is one that was merged into the entity, it is taken out again with all that was said under it, and ``facts`` may be left
    out. A name that nobody has used yet is used for the new one from here on.
    """

    entity_id: str
    scope: ScopePath
    name: _Words
    facts: Annotated[list[str], Field(default_factory=list, max_length=limits.SPLIT_FACTS_MAX)]
    why: _Why | None = None


class Synthesize(Request):
    """What a scope understands is to be made anew: the concepts of some ``topics``, words of their topics and names, or all.

    Only those change that say something else now, unless ``force`` asks for new versions anyway.
    """

    scope: ScopePath
    topics: Annotated[list[_Words], Field(default_factory=list, max_length=limits.SYNTHESIS_TOPICS_MAX)]
    force: bool = False


class DecisionCaptured(Result):
    """The decision is an entry of the log, ``event_id``; what it makes of facts, beliefs and concepts is derived behind the answer.

    ``canonical_id`` is the entity as which ``entity_id`` is known from there on, ``new_id`` the one that was split off it.
    """

    event_id: str
    entity_id: str
    action: Literal["merge", "split"]
    canonical_id: str
    new_id: str | None
    status: str
    wal_offset: int
    erased: Literal[False] = False
    note: str
    lifecycle_stream: str


class SynthesisAccepted(Result):
    """Understanding is made anew behind the answer. The job is the entry of the log of that id: its lifecycle says when it is done, and
    ``compressed`` which concepts have a new version."""

    job_id: str
    scope: str
    topics: list[str]
    force: bool
    status: str
    wal_offset: int
    lifecycle_stream: str

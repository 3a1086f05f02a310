"""The derived layers as values: episodes, facts, beliefs, concepts; entities and supports beside them.

Seed 002, sections 7.2 to 7.5. Every record is a *version*: what was held from ``recorded_from`` until
``recorded_to``. A change of meaning writes a new version under the same id; nothing is edited.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from lamina.kernel.events import Trust
from lamina.kernel.ids import Prefix
from lamina.kernel.local import LocalTime, Offset, day_text, whole_days
from lamina.kernel.loop_states import LOOPS_OPEN, PROMISED, PROMISES, Horizon, LoopStatus, LoopType
from lamina.kernel.scopes import Scope
from lamina.kernel.slots import is_slot_beside
from lamina.kernel.ties import Tie
from lamina.kernel.time import SECOND_US, Instant

if TYPE_CHECKING:
    from lamina.kernel.calibration import Calibration

__all__ = [
    "LOOPS_OPEN",
    "PROMISED",
    "PROMISES",
    "Author",
    "Belief",
    "Binding",
    "Claim",
    "Concept",
    "Edge",
    "Entity",
    "Episode",
    "EpisodeRole",
    "Evidence",
    "Fact",
    "Horizon",
    "Layer",
    "Loop",
    "LoopStatus",
    "LoopType",
    "Mention",
    "ObjectValue",
    "Record",
    "Stance",
    "Subject",
    "Support",
    "claim_key_of",
    "is_entity",
    "is_event",
    "layer_of",
    "value_slot",
]


class Layer(StrEnum):
    """The five layers, by the plural that the contract uses."""

    EVENTS = "events"
    EPISODES = "episodes"
    FACTS = "facts"
    BELIEFS = "beliefs"
    UNDERSTANDING = "understanding"


_LAYER_OF_PREFIX: Mapping[str, Layer] = {
    Prefix.EVENT.value: Layer.EVENTS,
    Prefix.EPISODE.value: Layer.EPISODES,
    Prefix.FACT.value: Layer.FACTS,
    Prefix.BELIEF.value: Layer.BELIEFS,
    Prefix.CONCEPT.value: Layer.UNDERSTANDING,
}


def layer_of(record_id: str) -> Layer | None:
    """The layer that an id belongs to, by its prefix; None for ids of other things."""
    return _LAYER_OF_PREFIX.get(record_id.rpartition("_")[0])


_EVENT_ID = Prefix.EVENT.opening
_ENTITY_ID = Prefix.ENTITY.opening


def is_event(record_id: str) -> bool:
    """Whether an id is an event's: a recall asks it of a thousand ids, and ``layer_of`` takes five times as long."""
    return record_id.startswith(_EVENT_ID)


def is_entity(record_id: str) -> bool:
    """Whether an id is an entity's."""
    return record_id.startswith(_ENTITY_ID)


class Stance(StrEnum):
    """Where the evidence stands on a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNCERTAIN = "uncertain"
    DEPRECATED = "deprecated"


@dataclass(frozen=True, slots=True)
class Subject:
    """What a claim is about: an entity, or a concept."""

    id: str
    name: str
    type: Literal["entity", "concept"] = "entity"


@dataclass(frozen=True, slots=True)
class ObjectValue:
    """What a claim says of its subject: another entity, or a literal with its datatype and unit.

    ``key`` is the value made comparable: equal keys mean the same claim.
    """

    type: Literal["entity", "literal", "concept"]
    value: Any = None  # Any: a JSON scalar, by ``datatype``
    datatype: str | None = None
    unit: str | None = None
    id: str | None = None
    name: str | None = None

    @property
    def key(self) -> str:
        """The comparable form of the value."""
        if self.id is not None:
            return self.id
        text = " ".join(str(self.value).casefold().split())
        return f"{text} {self.unit}" if self.unit else text

    @property
    def text(self) -> str:
        """The value in words."""
        if self.type != "literal":
            return self.name or self.id or ""
        return f"{self.value} {self.unit}" if self.unit else str(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What every derived version carries.

    ``position`` is the log position of the event that caused this version. ``valid_*`` is when it is true in
    the world, ``recorded_*`` when the log held it; ends are exclusive and None means open. ``superseded_by`` is
    part of what a version says; ``recorded_to`` and ``closed_by`` are set when a later version ends it. ``trust`` is never more than that of
    the sources it has this from: of a claim what the best of those gives that say it as their own word, of anything else the least of all.
    """

    layer: ClassVar[Layer]

    tenant_id: str
    id: str
    scope: Scope
    version: int
    position: int
    confidence: float
    valid_from: Instant
    valid_to: Instant | None
    recorded_from: Instant
    recorded_to: Instant | None = None
    superseded_by: str | None = None
    closed_by: str | None = None
    excluded: bool = False
    trust: Trust = Trust.PRINCIPAL


@dataclass(frozen=True, slots=True)
class Author:
    """Who said something, by actor id, and as they were called then."""

    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Record):
    """Something said of a subject: a fact that one event tells, or a belief that several bear on.

    ``external`` where nobody said it as their own word; ``by_assistant`` where, of these, only an assistant did, ``handed_over``
    where only words say so that somebody may have pasted or quoted. ``said_by`` is who said it of a person other than themselves, while
    that person did not. ``from_offset`` and ``to_offset`` are the clocks by which ``valid_from`` and ``valid_to`` were told: their days
    are days there.
    """

    subject: Subject
    predicate: str
    object: ObjectValue
    negated: bool
    external: bool
    by_assistant: bool = False
    handed_over: bool = False
    said_by: Author | None = None
    from_offset: Offset | None = None
    to_offset: Offset | None = None

    @property
    def days(self) -> tuple[date, date] | None:
        """The first day and the day after the last, of a claim that holds for whole days; None for any other."""
        if self.valid_to is None:
            return None
        return whole_days(
            LocalTime(self.valid_from, self.from_offset), LocalTime(self.valid_to, self.to_offset)
        )

    @property
    def claim_key(self) -> str:
        """Equal for those that say the same of the same subject."""
        return claim_key_of(self.subject.id, self.predicate, self.object.key, negated=self.negated)


@dataclass(frozen=True, slots=True)
class Binding:
    """By which vocabulary a fact has its predicate, what was said in its place, and how surely that means the term, 0 to 1."""

    vocabulary: str
    predicate_said: str
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Claim):
    """A triple with validity (seed 002, 7.3).

    ``text`` says it in one sentence. ``slot`` is what conflicting facts compete for: the values of a single-valued predicate
    (``value_slot``), or a value and its denial. Facts of one slot supersede each other by valid time; None means that they stand beside each other.
    ``fades_at`` is from when on a plan without a day is no longer told as current, unless it is said again. ``binding`` is None where the
    predicate is free text.
    """

    layer: ClassVar[Layer] = Layer.FACTS

    event_id: str
    kind: str
    text: str
    extractor: str
    slot: str | None
    supersedes: str | None = None
    fades_at: Instant | None = None
    binding: Binding | None = None

    @property
    def is_beside(self) -> bool:
        """Whether it is one author's word beside what others say, in a slot of its own."""
        return is_slot_beside(self.slot)

    @property
    def is_stated(self) -> bool:
        """Whether it says something of its subject: any fact does, and of what is open what was promised, planned or decided."""
        return True

    @property
    def may_lie_ahead(self) -> bool:
        """Whether it is told before its time: what is to happen is, what will be a value of something is not one yet."""
        return self.slot is None


def claim_key_of(subject_id: str, predicate: str, value_key: str, *, negated: bool) -> str:
    """The ``claim_key`` of claims that say this; ``value_key`` is the key of their object."""
    return f"{subject_id}|{predicate}|{value_key}|{int(negated)}"


def value_slot(subject_id: str, predicate: str) -> str:
    """The ``slot`` of the facts that give a subject's value of a single-valued predicate.

    >>> value_slot("ent_1", "lives_in")
    'ent_1|lives_in'
    """
    return f"{subject_id}|{predicate}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop(Fact):
    """Something a person left open: a fact with a state. Its predicate is its type, its object the words of it. A promise, a plan or a
    decision has the kind ``commitment`` and is the one record of what was said; a habit, a friction or a thread has the kind ``loop``.

    ``salience`` is 1 to 5 and rises each time it is said again; ``seen_at`` is when that was last. ``valid_to`` is when
    it was completed or dropped. ``due_at`` is the end of the day or time that was named, ``due_offset`` the clock of who named it.
    """

    status: LoopStatus
    salience: int
    horizon: Horizon
    due_at: Instant | None
    seen_at: Instant
    due_offset: Offset | None = None

    @property
    def is_stated(self) -> bool:
        """Mirrors ``Fact.is_stated``."""
        return self.kind == PROMISED

    @property
    def due_day(self) -> str | None:
        """The day on which it is due, by that clock; its end is kept."""
        return None if self.due_at is None else day_text(self.due_at - 1, self.due_offset)

    @property
    def due_from(self) -> Instant | None:
        """The first instant of the day on which it is due, by that clock; None without such a day."""
        if self.due_at is None:
            return None
        ahead = (self.due_offset or 0) * 60 * SECOND_US
        return self.due_at - 1 - (self.due_at - 1 + ahead) % (24 * 3600 * SECOND_US)

    @property
    def last_at(self) -> Instant:
        """When it was spoken of last, or its day when that is later."""
        return max(self.seen_at, self.seen_at if self.due_at is None else self.due_at)

    @property
    def topic(self) -> str | None:
        """What it is found under while it is open."""
        return LOOPS_OPEN if self.status in (LoopStatus.ACTIVE, LoopStatus.SNOOZED) else None


class Evidence(NamedTuple):
    """A record that a belief counts, how sure that is (0..1), and for which side it speaks."""

    source_id: str
    weight: float
    polarity: Literal["supports", "against"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief(Claim):
    """A probabilistic claim (seed 002, 7.4): a Beta posterior over weighted supports.

    ``alpha`` and ``beta`` are its parameters, ``lower`` and ``upper`` bound ``confidence`` at ``level`` 0.90. ``evidence`` is what this
    version counts, of all that it rested on in any. ``revised_at`` is when it was last revised, the newest last: a version whose figures
    changed too early after that waits for the next revision (``kernel/belief_rules.py``).
    """

    layer: ClassVar[Layer] = Layer.BELIEFS

    stance: Stance
    alpha: float
    beta: float
    lower: float
    upper: float
    revision_count: int
    contradicts: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    revised_at: tuple[Instant, ...] = ()
    demoted_by: float | None = None
    """By what its confidence was multiplied when the last of the words behind it were erased."""
    calibrated_by: Calibration | None = None
    """Set for a reader, never stored: the curve by which the figures are shown."""

    @property
    def awaits_revision(self) -> bool:
        """Whether its figures changed after its last revision, too early for another."""
        return bool(self.revised_at) and self.revised_at[-1] != self.recorded_from


class EpisodeRole(StrEnum):
    """What an event did in its episode (seed 002, 7.2)."""

    TRIGGER = "trigger"
    DECISION = "decision"
    OUTCOME = "outcome"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode(Record):
    """A bounded span of related events (seed 002, 7.2).

    ``size`` is how many of the episode's member events this version holds: its first ``size`` by place. ``session`` is that of its last
    event. A ``resting`` one is over for now: a session that speaks of its matter goes on with it, until it is ``sealed``.
    """

    layer: ClassVar[Layer] = Layer.EPISODES

    session: str | None
    name: str
    summary: str
    started_at: Instant
    ended_at: Instant
    size: int
    sealed: bool
    actors: tuple[str, ...]
    centrality: float
    follows: str | None = None
    resting: bool = False

    @property
    def topic(self) -> str:
        """What queries for episodes are cut by: ``open`` or ``sealed``."""
        return "sealed" if self.sealed else "open"


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation from one concept to another, weight in 0..1. ``vocabulary`` has the relation; ``default`` are those of the contract."""

    to: str
    relation: str
    weight: float
    vocabulary: str = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept(Record):
    """A synthesised node of understanding (seed 002, 7.5), versioned under a stable id.

    ``about`` is the id of its entity. ``inputs`` are the ids of the records that this version was made from, ``consulted`` counts them;
    ``available`` counts what could have been, and ``unread`` names the layers in which some were not. ``canonical_id`` is the concept that
    took this one in, ``derived_from`` those that it was split from. ``support_lost`` is the share of the inputs of the version before that
    had gone, where nothing was left to make this one of. Where a language model worded the summary, ``sentences`` has each of its
    sentences with the ids of the facts that say it, and ``worded_from`` is the hash of the lines that the model was shown.
    """

    layer: ClassVar[Layer] = Layer.UNDERSTANDING

    name: str
    topic: str
    summary: str
    stance: Stance
    synthesizer: str
    consulted: int
    available: int
    edges: tuple[Edge, ...] = ()
    about: str | None = None
    inputs: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    canonical_id: str | None = None
    derived_from: tuple[str, ...] = ()
    support_lost: float = 0.0
    sentences: tuple[tuple[str, tuple[str, ...]], ...] = ()
    worded_from: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """Somebody or something that events speak of. Its id is a function of tenant and normalised name."""

    tenant_id: str
    id: str
    normalised_name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """An entity named in an event. The surface form and the type, by what the event tells, are content of its scope."""

    tenant_id: str
    entity_id: str
    scope: Scope
    event_id: str
    position: int
    surface: str
    type: str | None = None


class Support(NamedTuple):
    """An edge of the why graph: ``record_id`` rests on ``source_id``. A tuple, since a read takes hundreds of them.

    ``weight`` in 0..1; ``polarity`` says whether the source speaks for or against. ``actor`` made the statement, where the edge is one,
    and ``at`` is the instant that its relation tells about (see ``Tie``). The edges of a record are in the order of ``place`` and ``at``.
    """

    tenant_id: str
    record_id: str
    source_id: str
    relation: Tie
    weight: float = 1.0
    polarity: Literal["supports", "against"] = "supports"
    place: int = 0
    """Of an event in its episode."""
    actor: str | None = None
    recorded_at: Instant = 0
    at: Instant | None = None
    part: EpisodeRole | None = None
    """What an event did in its episode."""
    accepted_in: str | None = None
    """The turn that said yes to an offer."""

    @property
    def since(self) -> Instant:
        """``at``, of a relation that has one."""
        assert self.at is not None, "a statement has an instant"
        return self.at


def order_of(support: Support) -> tuple[int, bool, Instant, Instant, str]:
    """The order of the edges of a record."""
    at = support.at
    return support.place, at is not None, at or 0, support.recorded_at, support.source_id

"""The event: what was experienced, as it was submitted, with what only the server may say about it.

Seed 002, sections 3.5 and 7.1. A draft is an experience that passed the door; the log stamps it with an id, a
position and ``recorded_at``, and from then on it is an ``Event`` and never changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Literal, NamedTuple, get_args

from lamina.kernel.local import LocalTime, Offset
from lamina.kernel.names import decoded
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant

__all__ = [
    "CANCELLATION",
    "DECIDED",
    "DEFINITION",
    "DEPRECATION",
    "ENTRIES",
    "ERASURE",
    "EXPIRY",
    "IDENTITY",
    "PLAIN",
    "READING",
    "REDACTED",
    "SYNTHESIS",
    "WORDING",
    "Context",
    "Directives",
    "Event",
    "EventDraft",
    "LifecycleRow",
    "MessageRole",
    "Modality",
    "Origin",
    "Party",
    "ReadAnew",
    "Stage",
    "Trust",
    "newest_stage",
    "role_of",
    "stages_done",
    "text_of",
]

MessageRole = Literal["user", "assistant", "tool", "system"]
"""Whose part a message has in its conversation."""


class Modality(StrEnum):
    """The modalities that trigger structured extraction. The set is open: others are stored verbatim."""

    CONVERSATION = "conversation"
    DOCUMENT = "document"
    TOOL_RESULT = "tool_result"
    OBSERVATION = "observation"
    FEEDBACK = "feedback"
    IMPORTED = "imported"


class Stage(StrEnum):
    """What an event goes through, in this order, always (seed 002, 18.2 item 3)."""

    CAPTURED = "captured"
    EXTRACTED = "extracted"
    INDEXED = "indexed"
    CONSOLIDATED = "consolidated"
    COMPRESSED = "compressed"

    @property
    def next(self) -> Stage | None:
        """The stage that follows, or None after the last."""
        stages = list(Stage)
        place = stages.index(self) + 1
        return stages[place] if place < len(stages) else None


class Trust(StrEnum):
    """Whose word an event is, set by the server from the token and the modality, never by the payload.

    Ordered from most to least authority. What is made of several records, all of which it needs, has the least of them; what each of several
    says by itself has the most.
    """

    PRINCIPAL = "principal"
    DELEGATED = "delegated"
    EXTERNAL = "external"

    @classmethod
    def least(cls, sources: Iterable[Trust]) -> Trust:
        """The authority of what needs all its sources; without any it is nobody's word."""
        return max(sources, key=_TRUSTS.index, default=cls.EXTERNAL)

    @classmethod
    def most(cls, sources: Iterable[Trust]) -> Trust:
        """The authority of what each of its sources says by itself; without any it is nobody's word."""
        return min(sources, key=_TRUSTS.index, default=cls.EXTERNAL)


_TRUSTS: Final = tuple(Trust)


CANCELLATION: Final = "cancellation"
"""The channel and the modality of the entry that a cancellation makes in the log."""
DEFINITION: Final = "definition"
"""The channel and the modality of the entry that a change of what a tenant defines makes in the log."""
DEPRECATION: Final = "deprecation"
"""The kind of the entry that such a change makes in a scope which holds facts by a term that is no more."""
SYNTHESIS: Final = "synthesis"
"""The channel and the modality of the entry that asks for understanding to be made anew at its place in the log."""
IDENTITY: Final = "identity"
"""The channel and the modality of the entry that says that two entities are one, or that one is two."""
READING: Final = "reading"
"""The channel and the modality of the entry at which what a language model read in a turn takes the place of what was read before."""
WORDING: Final = "wording"
"""The channel and the modality of the entry at which what a language model made of the facts of concepts takes the place of rules' words."""
ERASURE: Final = "erasure"
"""The channel and the modality of the entry by which a scope keeps what it holds of events that are erased (decision 0043)."""
EXPIRY: Final = "expiry"
"""The channel and the modality of the entry that says that events or records of a scope are over by their time to live."""
REDACTED: Final = "redacted"
"""The kind of content that stands in the place of what was erased, and the beginning of the name in the place of an actor's."""
ENTRIES: Final = frozenset({CANCELLATION, DEFINITION, SYNTHESIS, IDENTITY, READING, WORDING, ERASURE, EXPIRY})
"""The channels of entries that nobody told."""
DECIDED: Final = frozenset({CANCELLATION, IDENTITY, SYNTHESIS})
"""Those of them that somebody made for one scope, and that name who did."""


@dataclass(frozen=True, slots=True)
class ReadAnew:
    """That a turn is read, or what it changed is worded, by a recorded answer from an entry of the log on: ``input_hash`` names the answer, of
    a ``task``."""

    event_id: str
    task: str
    input_hash: str


# Origin, party and context are made for each item of a batch: named tuples are made in a third of the time of frozen dataclasses.
class Origin(NamedTuple):
    """Where an event came from: who was authenticated, through which door, and how far it is believed."""

    principal: str
    channel: str
    trust: Trust


class Party(NamedTuple):
    """An actor as an envelope names it: ``id`` such as ``user:alice``, its type, a display name if given."""

    id: str
    type: str
    name: str | None = None

    @classmethod
    def of(cls, actor: str) -> Party:
        """The party behind an actor id."""
        return cls(id=actor, type=actor.split(":", 1)[0])

    @property
    def display_name(self) -> str:
        """What people call it: the given name, or the id's own part with its first letters raised.

        An id that no scope could hold is shown as it was before it was encoded, on one line.
        """
        if self.name:
            return self.name
        own = decoded(self.id.split(":", 1)[-1])
        shown = "".join(letter if letter.isprintable() else " " for letter in own)
        plain = shown.split("@", 1)[0].replace("_", " ").replace("-", " ")
        return " ".join(word[:1].upper() + word[1:] for word in plain.split()) or shown.strip() or self.type


class Context(NamedTuple):
    """When and around what the experience happened. ``observed_offset`` is the offset from UTC that the time was sent with."""

    observed_at: Instant
    observed_offset: Offset | None = None
    source_recorded_at: Instant | None = None
    location: Any = None  # Any: stored as submitted, a string or an object of the caller's own
    preceded_by: tuple[str, ...] = ()
    intent: str | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Directives:
    """What the caller wants done with the event. None means the default of the deployment. ``consolidate_only`` are names and
    predicates: of its claims only those go into ``consolidate_into`` that have one of them; all without. ``event_ttl_us`` is how long the
    event lives from ``observed_at`` on, ``belief_ttl_us`` how long beliefs may rest on it, in microseconds."""

    extract: tuple[str, ...] | None = None
    consolidate_into: Scope | None = None
    consolidate_only: tuple[str, ...] | None = None
    confidence_floor: float = 0.0
    belief_ttl_us: int | None = None
    event_ttl_us: int | None = None
    embed: Literal["eager", "lazy", "none"] = "eager"

    def wants(self, layer: str) -> bool:
        """Whether ``facts``, ``entities``, ``beliefs``, ``episodes`` or ``concepts`` should be derived."""
        return self.extract is None or layer in self.extract


PLAIN: Final = Directives()
"""Those of who asks for nothing: most events have these very ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDraft:
    """An experience ready for the log: validated, and not yet part of it."""

    tenant_id: str
    scope: Scope
    caller: str
    observed_actor: Party
    subject: Party
    session: str | None
    modality: str
    content: Mapping[str, Any]  # Any: kept exactly as submitted
    context: Context
    directives: Directives
    origin: Origin
    batch_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(EventDraft):
    """An entry of the log.

    ``position`` counts per tenant from 1, in the order of appending; ``recorded_at`` rises strictly with it.
    ``cancelled_after`` is the last stage that had been done when derivation was cancelled; such an event is
    out of recall and lists, and so is one that has expired. ``zone_offset`` is what derivation found of the speaker's clock, where the time was sent without an
    offset and their zone was known. ``redacted_by`` is the erasure or the call that took the words of an event whose place stays;
    with ``bears_out`` it had not been cancelled before, and what was derived from it counts on: so it is with one that expired, too.
    """

    id: str
    position: int
    recorded_at: Instant
    cancelled_after: Stage | None = None
    zone_offset: Offset | None = None
    redacted_by: str | None = None
    bears_out: bool = False

    @classmethod
    def placed(cls, draft: EventDraft, event_id: str, position: int, recorded_at: Instant) -> Event:
        """The event that a draft is from its place in the log on."""
        return cls(
            tenant_id=draft.tenant_id,
            scope=draft.scope,
            caller=draft.caller,
            observed_actor=draft.observed_actor,
            subject=draft.subject,
            session=draft.session,
            modality=draft.modality,
            content=draft.content,
            context=draft.context,
            directives=draft.directives,
            origin=draft.origin,
            batch_id=draft.batch_id,
            id=event_id,
            position=position,
            recorded_at=recorded_at,
        )

    @property
    def offset(self) -> Offset | None:
        """Of the clock by which the event's words are read; None for UTC."""
        sent = self.context.observed_offset
        return self.zone_offset if sent is None else sent

    @property
    def told_at(self) -> LocalTime:
        """When it happened, by that clock."""
        return LocalTime(self.context.observed_at, self.offset)

    @property
    def cancels(self) -> str | None:
        """The event that this entry cancels, None for an event that somebody told and for an entry that lost its content.

        Such an entry is written by the store and born excluded. Its channel is no caller's to choose.
        """
        return str(self.content["event_id"]) if self._says(CANCELLATION) else None

    @property
    def defines(self) -> bool:
        """Whether this entry changes what a tenant defines; such a one is written and born like a cancellation's."""
        return self.origin.channel == DEFINITION

    @property
    def deprecates(self) -> tuple[str, tuple[str, ...]] | None:
        """The vocabulary that has lost terms, and these, of which the scope's facts end at this entry; None for any other event."""
        if not self.defines or self.content.get("kind") != DEPRECATION:
            return None
        return str(self.content["vocabulary"]), tuple(self.content["predicates"])

    @property
    def reads(self) -> ReadAnew | None:
        """The turn that is read by a model's answer from this entry on, None for any other event, and for an entry that lost its content."""
        return self._applied() if self._says(READING) else None

    @property
    def rewords(self) -> ReadAnew | None:
        """The event whose concepts are in a model's words from this entry on, None as for ``reads``."""
        return self._applied() if self._says(WORDING) else None

    def _says(self, channel: str) -> bool:
        return self.origin.channel == channel and self.redacted_by is None

    def _applied(self) -> ReadAnew:
        said = self.content
        return ReadAnew(str(said["event_id"]), str(said["task"]), str(said["input_hash"]))

    @property
    def is_entry(self) -> bool:
        """Whether this is an entry that nobody told: a decision about what was told, with a place among it. It is excluded, always."""
        return self.origin.channel in ENTRIES

    @property
    def is_expired(self) -> bool:
        """Whether the event is over by its time to live, and has its words still."""
        return self.excluded and self.bears_out and self.redacted_by is None

    @property
    def excluded(self) -> bool:
        """Whether recall and lists pass the event over."""
        return self.cancelled_after is not None

    @property
    def counts(self) -> bool:
        """Whether what rests on the event is held: it was not cancelled."""
        return self.bears_out or not self.excluded


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleRow:
    """Something that happened to an event or a job, for those who watch (seed 002, 8.9 and 13).

    ``number`` counts per event from 1; ``sequence`` counts per tenant and is never shown outside.
    """

    tenant_id: str
    id: str
    sequence: int
    name: str
    scope: Scope
    event_id: str | None
    job_id: str | None
    number: int
    arrived_at: Instant
    payload: Mapping[str, Any] = field(default_factory=dict)


def stages_done(rows: Iterable[LifecycleRow]) -> dict[Stage, LifecycleRow]:
    """The stages that an event is through, in their order, each with the row that said so first.

    A log that was replayed says the derived ones again.
    """
    first: dict[str, LifecycleRow] = {}
    for row in rows:
        first.setdefault(row.name, row)
    return {stage: first[stage] for stage in Stage if stage in first}


def newest_stage(done: Iterable[Stage]) -> str:
    """The last of the stages that an event is through. It was taken, whatever became of it: an erasure leaves no rows."""
    return [Stage.CAPTURED, *done][-1].value


def role_of(event: EventDraft) -> MessageRole | None:
    """The role of a message, None for what is not one."""
    role = event.content.get("role")
    return role if role in get_args(MessageRole) else None


def text_of(content: Mapping[str, Any]) -> str:
    """The words of a content block: its text, or the words of a triple or of JSON values, in order."""
    text = content.get("text")
    if isinstance(text, str) and text:
        return text
    parts: list[str] = []
    _collect_words(content, parts, depth=0)
    return " ".join(parts)


def _collect_words(value: Any, parts: list[str], depth: int) -> None:
    if depth > 8 or len(parts) > 2000:
        return
    if isinstance(value, str):
        parts.append(value)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        parts.append(str(value))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if depth > 0 or key not in _ENVELOPE_KEYS:
                _collect_words(item, parts, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            _collect_words(item, parts, depth + 1)


_ENVELOPE_KEYS = frozenset({"kind", "role", "media", "datatype", "type", "original_kind"})

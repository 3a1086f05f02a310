"""What the rest of Lamina asks of a store. One contract suite says when an engine keeps it.

Every method that reads takes the tenant, and where rows belong to scopes it takes the scopes: an empty
collection of scopes means nothing, never everything. All methods are synchronous and safe to call from any thread.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from lamina.kernel.events import Event, EventDraft, LifecycleRow, Stage
from lamina.kernel.records import Entity, Layer, Mention, Record, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Axes, Instant
from lamina.store.audit import Audit, Peppers
from lamina.store.documents.ports import Documents
from lamina.store.inquiries import Inquiries, Inquiry
from lamina.store.model_outputs import ModelOutputs
from lamina.store.registry import Registry
from lamina.store.relay_tokens import RelayTokens
from lamina.store.revocations import Revocations
from lamina.store.schedule import Schedule
from lamina.store.upkeep import Upkeep

if TYPE_CHECKING:  # its values are made of those below
    from lamina.store.sessions import Sessions

__all__ = [
    "LEASE_LOST",
    "Appended",
    "Capture",
    "Closing",
    "EventLog",
    "EventQuery",
    "Idempotency",
    "IdempotencyKey",
    "IndexRows",
    "Job",
    "JobState",
    "Jobs",
    "Lifecycle",
    "LifecycleDraft",
    "LifecycleQuery",
    "RecordQuery",
    "Records",
    "Remembered",
    "ScopeRow",
    "Scopes",
    "Store",
    "TextRow",
    "VectorRow",
    "Writes",
]


# ---- the log


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A client's key, in its scope: (tenant, caller, endpoint family, key); seed 002, 18.2 item 9."""

    tenant_id: str
    caller: str
    family: str
    key: str


@dataclass(frozen=True, slots=True)
class Remembered:
    """What an idempotency key was used for: the request's hash, and the event or the answer it led to."""

    key: IdempotencyKey
    body_hash: str
    created_at: Instant
    event_id: str | None = None
    response: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Capture:
    """One draft for the log, with the key under which a repetition is recognised."""

    draft: EventDraft
    key: IdempotencyKey | None = None
    body_hash: str = ""


@dataclass(frozen=True, slots=True)
class Appended:
    """What the log did with a capture: the event, new or as it was stored the first time."""

    event: Event
    replayed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EventQuery:
    """Which events a list wants; None means any. Newest first unless ``ascending``.

    ``after`` is the position to go on from. Cancelled events are left out unless ``with_excluded``.
    """

    tenant_id: str
    scopes: Collection[Scope]
    observed_from: Instant | None = None
    observed_to: Instant | None = None
    recorded_from: Instant | None = None
    recorded_to: Instant | None = None
    observed_actor: str | None = None
    session: str | None = None
    modality: str | None = None
    after: int | None = None
    ascending: bool = False
    with_excluded: bool = False
    limit: int = 50


class EventLog(Protocol):
    """The append-only truth. Positions count per tenant and become visible in order."""

    def append(self, captures: Sequence[Capture], *, remember: Remembered | None = None) -> list[Appended]:
        """Put drafts into the log, with their ``captured`` lifecycle rows and first jobs, all or none.

        Durable on return. A capture whose key is known within 24 hours is not stored again when its body hash
        agrees, and raises ``Conflict`` (IDEMPOTENCY_CONFLICT) for the whole call when it does not.
        """
        ...

    def get(self, tenant_id: str, event_ids: Collection[str]) -> dict[str, Event]:
        """The events of those ids that exist; cancelled ones too."""
        ...

    def query(self, query: EventQuery) -> list[Event]:
        """The events that a query wants, by position."""
        ...

    def previous(self, event: Event, limit: int) -> list[Event]:
        """Up to ``limit`` events of the same scope and session before this one in the log, oldest first."""
        ...

    def walk(self, tenant_id: str, after: int, limit: int) -> list[Event]:
        """The tenant's events past a position, in order, cancelled ones too: for replay and export."""
        ...

    def tenants(self) -> list[str]:
        """The tenants that have events, sorted."""
        ...

    def count(self, tenant_id: str, scopes: Collection[Scope]) -> int:
        """How many events those scopes hold, without cancelled ones."""
        ...

    def cancel(self, tenant_id: str, event_id: str) -> tuple[Stage, ...]:
        """Drop the event's queued stages and exclude it and what rests on it alone; the dropped stages.

        What a sitting tells of turns that left its window starts over where this was one of them: its summary is
        empty, its bridge is gone, and its turns are to be folded anew. Where derivation had begun, the cancellation
        becomes an entry of the log, excluded as the event is, and is derived in its turn.
        """
        ...


class Idempotency(Protocol):
    """What was answered to a key within the last 24 hours."""

    def find(self, key: IdempotencyKey, now: Instant) -> Remembered | None:
        """What the key was used for, or None when it is new or has expired."""
        ...

    def remember(self, entry: Remembered) -> Remembered:
        """Keep an answer under its key; returns the entry that stands, the older one if there is one."""
        ...

    def prune(self, before: Instant) -> int:
        """Forget the keys used before an instant; returns how many."""
        ...


# ---- derivation


@dataclass(frozen=True, slots=True)
class Job:
    """A stage of an event that is still to be done, or that failed for good."""

    event: Event
    stage: Stage
    attempts: int
    last_error: str | None = None


@dataclass(frozen=True, slots=True)
class JobState:
    """A job as those who watch see it: ``pending``, ``running`` or ``failed``."""

    tenant_id: str
    event_id: str
    stage: Stage
    state: str
    attempts: int
    next_attempt_at: Instant | None
    last_error: str | None


@dataclass(frozen=True, slots=True)
class Closing:
    """The end of a version: it was held until ``recorded_to``, because of ``closed_by`` where named."""

    tenant_id: str
    id: str
    version: int
    recorded_to: Instant
    closed_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRow:
    """A record as text search and ranking see it. ``terms`` are analysed tokens, space separated.

    A row put again replaces the old one under a new number; ``recorded_at`` stays that of the first.
    """

    tenant_id: str
    record_id: str
    layer: Layer
    scope: Scope
    recorded_at: Instant
    observed_at: Instant
    session: str | None
    speaker: str | None
    role: str | None
    characters: int
    question_share: float
    self_share: float
    terms: str
    keys: str = ""
    wants_vector: bool = False
    """Whether vectors are still to come; a store clears it when they do."""
    row: int = 0
    """The store's own number, rising in the order of indexing; 0 before it is stored."""


@dataclass(frozen=True, slots=True)
class VectorRow:
    """A record's vectors: ``pooled`` and ``tokens`` as the embedder named ``model`` serialised them."""

    tenant_id: str
    record_id: str
    scope: Scope
    model: str
    pooled: bytes
    tokens: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleDraft:
    """A lifecycle row before the store gives it its id, sequence and arrival."""

    tenant_id: str
    name: str
    scope: Scope
    payload: Mapping[str, Any]
    event_id: str | None = None
    job_id: str | None = None


@dataclass(slots=True)
class Writes:
    """What a stage derived. It lands with the end of its job, or not at all."""

    records: list[Record] = field(default_factory=list)
    closings: list[Closing] = field(default_factory=list)
    supports: list[Support] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    texts: list[TextRow] = field(default_factory=list)
    vectors: list[VectorRow] = field(default_factory=list)
    lifecycle: list[LifecycleDraft] = field(default_factory=list)
    inquiries: list[Inquiry] = field(default_factory=list)

    def add(self, later: Writes) -> None:
        """Take in what was derived after this."""
        self.records += later.records
        self.closings += later.closings
        self.supports += later.supports
        self.entities += later.entities
        self.mentions += later.mentions
        self.texts += later.texts
        self.vectors += later.vectors
        self.lifecycle += later.lifecycle
        self.inquiries += later.inquiries


LEASE_LOST = "lease lost"
"""The ``last_error`` of a job whose worker went away in the middle of it."""


class Jobs(Protocol):
    """Durable work, claimed in the order of the log inside a scope and free across scopes."""

    def claim(self, stage: Stage, *, limit: int, lease_until: Instant, now: Instant, owner: str) -> list[Job]:
        """Lease up to ``limit`` due jobs of a stage.

        A job is due when no earlier event of its scope is still before or in this stage. A lease that ran out
        is an attempt that failed (``LEASE_LOST``): its job is due again, by itself, since it may be what ended its
        worker and what was leased with it should not be blamed twice.
        """
        ...

    def finish(self, results: Sequence[tuple[Job, Writes]]) -> int:
        """End jobs, land what each derived and queue each event's next stage, in one transaction.

        A job that is no longer there (cancelled meanwhile, or done by another) lands nothing of its own, and nothing
        behind it lands: that was derived from what it would have landed. How many results are settled, that one too.
        """
        ...

    def fail(self, job: Job, error: str, *, retry_at: Instant | None) -> None:
        """Note a failed attempt: due again at ``retry_at``, or failed for good and visible when None."""
        ...

    def of_event(self, tenant_id: str, event_id: str) -> list[JobState]:
        """What is left to do for an event, and what failed."""
        ...

    def backlog(self) -> dict[str, int]:
        """How many jobs stand in each state, over all tenants."""
        ...

    def release(self, owner: str | None = None) -> int:
        """Make one owner's leased jobs due again, or everybody's, for a worker that knows it is alone: the others
        are dead, so their leases have run out."""
        ...

    def next_due(self, now: Instant) -> Instant | None:
        """When the next pending job is due, or None when nothing is pending."""
        ...

    def reset(self) -> int:
        """Drop every derived row and queue every event anew from its first stage; how many events."""
        ...

    def exclude_cancelled(self) -> None:
        """After a replay: take out again what rests on cancelled events alone."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordQuery:
    """Which versions of derived records are wanted; None means any. Newest knowledge first.

    ``after`` is the (recorded_from, id) to go on from. Excluded records are left out.
    """

    tenant_id: str
    layer: Layer
    scopes: Collection[Scope]
    axes: Axes
    subject: str | None = None
    predicate: str | None = None
    object_key: str | None = None
    slot: str | None = None
    claim_key: str | None = None
    session: str | None = None
    topic: str | None = None
    min_confidence: float = 0.0
    stances: Collection[str] | None = None
    after: tuple[Instant, str] | None = None
    with_excluded: bool = False
    """Derivation sees excluded records too, so that a replay finds what live derivation found."""
    limit: int = 50


class Records(Protocol):
    """The derived layers and the why graph."""

    def get(
        self, tenant_id: str, ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, Record]:
        """The latest version of each id that exists, or the latest that had been recorded by ``seen_at``."""
        ...

    def versions(self, tenant_id: str, record_id: str) -> list[Record]:
        """Every version of a record, first to last."""
        ...

    def query(self, query: RecordQuery) -> list[Record]:
        """The versions that a query wants. ``slot`` and ``claim_key`` look things up alone, without validity."""
        ...

    def scopes_of(self, tenant_id: str, ids: Collection[str]) -> dict[str, Scope]:
        """The scope of each record that exists. A record keeps its scope in all its versions."""
        ...

    def supports_of(self, tenant_id: str, record_ids: Collection[str]) -> dict[str, list[Support]]:
        """What each record rests on, ordered by ordinal and then source."""
        ...

    def dependants_of(self, tenant_id: str, source_ids: Collection[str]) -> dict[str, list[Support]]:
        """The supports that rest on each source."""
        ...

    def resting_on(self, tenant_id: str, source_ids: Collection[str]) -> dict[str, list[str]]:
        """The ids of the records that rest on each source, in their order, each once."""
        ...

    def entities(self, tenant_id: str, normalised_names: Collection[str]) -> dict[str, Entity]:
        """Entities by normalised name."""
        ...

    def mentions(
        self, tenant_id: str, entity_ids: Collection[str], scopes: Collection[Scope], limit: int
    ) -> list[Mention]:
        """The newest mentions of entities inside scopes."""
        ...


class IndexRows(Protocol):
    """The rows that text and vector search are built from."""

    def texts_after(self, tenant_id: str, scope: Scope, after: int, limit: int) -> list[TextRow]:
        """A scope's text rows past a row number, in order, without those of excluded records."""
        ...

    def vectors_after(
        self, tenant_id: str, scope: Scope, model: str, after: int, limit: int
    ) -> list[tuple[int, str, bytes]]:
        """(row number, record id, pooled bytes) of a scope past a row number, in order."""
        ...

    def tokens(self, tenant_id: str, rows: Collection[int]) -> dict[int, bytes]:
        """Serialised token vectors by the row numbers that ``vectors_after`` gave; a row that is gone is left out."""
        ...

    def unembedded(self, limit: int) -> list[tuple[str, str]]:
        """(tenant, record id) of rows that still want vectors, oldest first, over all tenants."""
        ...

    def embed(self, vectors: Sequence[VectorRow]) -> None:
        """Keep vectors outside of any job, for rows whose embedding was put off."""
        ...

    def search(
        self, tenant_id: str, scopes: Collection[Scope], terms: Sequence[str], limit: int
    ) -> list[tuple[str, float]]:
        """(record id, score) of the best text matches for any of the terms, best first, higher is better."""
        ...

    def changes(self, tenant_id: str, scope: Scope) -> int:
        """A number that changes when rows of the scope were removed or excluded rather than added."""
        ...

    def ends_after(self, tenant_id: str, scope: Scope, after: int) -> list[tuple[int, str, Instant]]:
        """(number, event id, when) of events that told of a document and do so no more, past a number, in order.

        Numbers are those of commits, so that several ends may share one; they come together.
        """
        ...

    def last_end(self, tenant_id: str, scope: Scope) -> int:
        """The number of the newest of them, 0 where there is none."""
        ...


# ---- watching, scopes


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleQuery:
    """Which lifecycle rows are wanted, in order of arrival; None means any."""

    tenant_id: str
    scopes: Collection[Scope] | None = None
    """None means every scope of the tenant: only for callers that may see them all."""
    within: Scope | None = None
    event_id: str | None = None
    job_id: str | None = None
    names: Collection[str] | None = None
    after: int = 0
    arrived_from: Instant | None = None
    limit: int = 100


class Lifecycle(Protocol):
    """What happened to events and jobs, strictly ordered inside one event."""

    def get(self, tenant_id: str, lifecycle_id: str) -> LifecycleRow | None:
        """One row, or None."""
        ...

    def query(self, query: LifecycleQuery) -> list[LifecycleRow]:
        """Rows in order of arrival."""
        ...

    def last_sequence(self) -> int:
        """The sequence of the newest row of all, 0 when there is none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeRow:
    """A scope that something was written to, or that was registered."""

    tenant_id: str
    path: Scope
    auto_provisioned: bool
    created_by: str
    created_at: Instant


class Scopes(Protocol):
    """The scopes that exist."""

    def get(self, tenant_id: str, path: Scope) -> ScopeRow | None:
        """The scope's row, or None when nothing was ever written there."""
        ...

    def below(self, tenant_id: str, path: Scope, limit: int) -> list[Scope]:
        """Existing scopes at or under a path, sorted, at most ``limit``."""
        ...


class Store(Protocol):
    """One engine: the ports above over one place."""

    @property
    def log(self) -> EventLog:
        """The append-only truth."""
        ...

    @property
    def idempotency(self) -> Idempotency:
        """Keys and what they led to."""
        ...

    @property
    def jobs(self) -> Jobs:
        """What is still to derive."""
        ...

    @property
    def records(self) -> Records:
        """What was derived."""
        ...

    @property
    def index(self) -> IndexRows:
        """What search reads."""
        ...

    @property
    def lifecycle(self) -> Lifecycle:
        """What happened to events and jobs."""
        ...

    @property
    def scopes(self) -> Scopes:
        """The scopes that exist."""
        ...

    @property
    def registry(self) -> Registry:
        """Registered scopes, members and policy documents."""
        ...

    @property
    def audit(self) -> Audit:
        """Who asked for what, and what they were told."""
        ...

    @property
    def peppers(self) -> Peppers:
        """The secrets behind the hashes of audit rows."""
        ...

    @property
    def documents(self) -> Documents:
        """Versioned documents, and their repository."""
        ...

    @property
    def relay_tokens(self) -> RelayTokens:
        """The opaque tokens of Relay peers."""
        ...

    @property
    def upkeep(self) -> Upkeep:
        """What operators ask."""
        ...

    @property
    def revocations(self) -> Revocations:
        """Tokens that hold no more."""
        ...

    @property
    def schedule(self) -> Schedule:
        """One-shot reminders."""
        ...

    @property
    def sessions(self) -> Sessions:
        """Sittings, their windows and the outbox."""
        ...

    @property
    def model_outputs(self) -> ModelOutputs:
        """What language models answered."""
        ...

    @property
    def inquiries(self) -> Inquiries:
        """What language models are asked of events."""
        ...

    def change_mark(self) -> int:
        """A number that differs once anybody, in any process, has committed since; comparable inside one thread."""
        ...

    def snapshot(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Every derived row as (table, values), sorted, without store numbers: what replay must reproduce."""
        ...

    def close(self) -> None:
        """Finish what is queued and let go of the files."""
        ...

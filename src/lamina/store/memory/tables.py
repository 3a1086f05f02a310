"""What the reference engine holds, and how a change to it lands whole or not at all."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields

from lamina.kernel.audit import Anchor, AuditRow, Pepper
from lamina.kernel.events import Event, LifecycleRow, Stage
from lamina.kernel.records import Entity, Mention, Record, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.ports.definitions import Definition
from lamina.store.ports.documents import ChangeKind, Commit
from lamina.store.ports.erasing import Tombstone
from lamina.store.ports.erasures import ErasureJob, ErasureLine, Preview
from lamina.store.ports.idempotency import IdempotencyEntry, IdempotencyKey
from lamina.store.ports.index import TextRow, VectorRow
from lamina.store.ports.job_runs import JobRun
from lamina.store.ports.messages import Delivery, SeenNonce, StoredAck, StoredMessage
from lamina.store.ports.model_outputs import ModelOutput
from lamina.store.ports.packs import PackKind, StoredPack
from lamina.store.ports.registry import PolicyRow, ScopeState
from lamina.store.ports.relay_tokens import RelayToken
from lamina.store.ports.revocations import Revocation
from lamina.store.ports.schedule import ScheduleItem
from lamina.store.ports.scopes import ScopeRow
from lamina.store.ports.sessions import OutboxRow, SessionKey, Sitting
from lamina.store.ports.signing_keys import SealedKey
from lamina.store.ports.writes import Inquiry
from lamina.store.rules.documents import StandingDocument

__all__ = ["DocumentEvent", "JobRow", "Memory", "StoredVersion", "Tables"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """The next stage of an event. ``next_attempt_at`` is None once it has failed for good."""

    event: Event
    stage: Stage
    state: str = "pending"
    attempts: int = 0
    next_attempt_at: Instant | None = 0
    lease_until: Instant | None = None
    lease_owner: str | None = None
    fence: int = 0
    last_error: str | None = None


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """One change of a document: what stood afterwards, and the bytes that the change brought."""

    standing: StandingDocument
    kind: ChangeKind
    number: int
    content: bytes


@dataclass(frozen=True, slots=True)
class DocumentEvent:
    """An event that tells of the document at a path; ``ended_number`` is 0 while it does."""

    path: str
    scope: Scope
    ended_number: int = 0
    ended_at: Instant = 0


@dataclass(slots=True)
class Tables:
    """Flat containers of frozen values, so that a shallow copy is a whole copy. Each key begins with the tenant."""

    events: dict[tuple[str, str], Event] = field(default_factory=dict)
    jobs: dict[tuple[str, str], JobRow] = field(default_factory=dict)
    lifecycle: list[LifecycleRow] = field(default_factory=list)
    keys: dict[IdempotencyKey, IdempotencyEntry] = field(default_factory=dict)
    scopes: dict[tuple[str, Scope], ScopeRow] = field(default_factory=dict)
    records: dict[tuple[str, str, int], Record] = field(default_factory=dict)
    supports: dict[tuple[str, str, str, str], Support] = field(default_factory=dict)
    log_ends: dict[str, tuple[int, Instant]] = field(default_factory=dict)
    tombstones: dict[tuple[str, str], Tombstone] = field(default_factory=dict)
    derived_once: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    frozen: dict[tuple[str, str], tuple[Scope, Instant]] = field(default_factory=dict)
    frozen_records: dict[tuple[str, str, int], Record] = field(default_factory=dict)
    frozen_supports: dict[tuple[str, str, str, str], Support] = field(default_factory=dict)
    frozen_mentions: dict[tuple[str, str, Scope, str, str], tuple[Mention, Entity]] = field(
        default_factory=dict
    )
    frozen_texts: dict[tuple[str, str], TextRow] = field(default_factory=dict)
    stale: dict[tuple[str, Scope], int] = field(default_factory=dict)
    entities: dict[tuple[str, str], Entity] = field(default_factory=dict)
    mentions: dict[tuple[str, str, Scope, str, str], Mention] = field(default_factory=dict)
    texts: dict[tuple[str, str], TextRow] = field(default_factory=dict)
    hidden_texts: set[tuple[str, str]] = field(default_factory=set)
    vectors: dict[tuple[str, str, str], tuple[int, VectorRow]] = field(default_factory=dict)
    index_changes: dict[tuple[str, Scope], int] = field(default_factory=dict)
    registrations: dict[tuple[str, Scope], ScopeState] = field(default_factory=dict)
    policies: dict[tuple[str, str, str], PolicyRow] = field(default_factory=dict)
    access_version: int = 0
    audit: dict[tuple[str, int], AuditRow] = field(default_factory=dict)
    anchors: dict[str, Anchor] = field(default_factory=dict)
    peppers: dict[tuple[str, int], Pepper] = field(default_factory=dict)
    revocations: dict[tuple[str, str, str], Revocation] = field(default_factory=dict)
    schedule: dict[tuple[str, str], ScheduleItem] = field(default_factory=dict)
    definitions: dict[tuple[str, str, str, int], Definition] = field(default_factory=dict)
    documents: dict[tuple[str, str], StandingDocument] = field(default_factory=dict)
    versions: dict[tuple[str, str, int], StoredVersion] = field(default_factory=dict)
    document_events: dict[tuple[str, str], DocumentEvent] = field(default_factory=dict)
    commits_made: dict[tuple[str, int], Commit] = field(default_factory=dict)
    objects: dict[bytes, bytes] = field(default_factory=dict)
    rewrites: dict[str, int] = field(default_factory=dict)
    relay_tokens: dict[tuple[str, str], RelayToken] = field(default_factory=dict)
    signing_keys: dict[tuple[str, str], SealedKey] = field(default_factory=dict)
    job_runs: dict[tuple[str, str], JobRun] = field(default_factory=dict)
    messages: dict[tuple[str, str], StoredMessage] = field(default_factory=dict)
    deliveries: dict[tuple[str, str], Delivery] = field(default_factory=dict)
    message_acks: dict[tuple[str, str, str], StoredAck] = field(default_factory=dict)
    nonces: dict[tuple[str, str], SeenNonce] = field(default_factory=dict)
    last_message: int = 0
    sittings: dict[tuple[SessionKey, int], Sitting] = field(default_factory=dict)
    outbox: dict[int, OutboxRow] = field(default_factory=dict)
    last_outbox: int = 0
    outputs: dict[tuple[str, str], ModelOutput] = field(default_factory=dict)
    output_sources: set[tuple[str, str, str]] = field(default_factory=set)
    spendings: dict[tuple[str, int, str, str], tuple[int, int, int]] = field(default_factory=dict)
    packs: dict[tuple[str, PackKind, str, str], StoredPack] = field(default_factory=dict)
    packs_cleared: dict[str, Instant] = field(default_factory=dict)
    inquiries: dict[int, Inquiry] = field(default_factory=dict)
    last_inquiry: int = 0
    erasures: dict[tuple[str, str], ErasureJob] = field(default_factory=dict)
    erasure_previews: dict[tuple[str, str], Preview] = field(default_factory=dict)
    erasure_lines: dict[tuple[str, str], tuple[ErasureLine, ...]] = field(default_factory=dict)
    lifecycle_rows: int = 0
    """How many there ever were: an erasure takes some away."""
    last_row: int = 0
    last_fence: int = 0
    commits: int = 0
    about: str | None = None
    """The one event that the change is about, for the audit row that rides on it."""

    def copied(self) -> Tables:
        """The same rows in containers of their own."""
        return Tables(**{item.name: copy.copy(getattr(self, item.name)) for item in fields(self)})

    def note_index_change(self, tenant_id: str, scope: Scope) -> None:
        """Rows of a scope were removed or excluded."""
        self.index_changes[tenant_id, scope] = self.index_changes.get((tenant_id, scope), 0) + 1

    def next_fence(self) -> int:
        """The number of a lease that begins now, higher than every one before."""
        self.last_fence += 1
        return self.last_fence

    def next_row(self) -> int:
        """The number of the next index row; never given twice."""
        self.last_row += 1
        return self.last_row


class Memory:
    """The tables that stand. Readers take them as they are; a writer changes a copy that replaces them at its end."""

    def __init__(self) -> None:
        self.tables = Tables()
        self.local = threading.local()
        self.changed = threading.Condition()
        """Told of each change that stands."""
        self._lock = threading.Lock()

    @contextmanager
    def change(self) -> Iterator[Tables]:
        """A copy to change: it stands when the block ends, and is dropped when the block raises."""
        board: Callable[[Tables], Callable[[], None]] | None = getattr(self.local, "rider", None)
        with self._lock:
            tables = self.tables.copied()
            tables.about = None
            yield tables
            landed = board(tables) if board else None
            tables.commits += 1
            self.tables = tables
        with self.changed:
            self.changed.notify_all()
        if landed:
            self.local.rider = None
            landed()

"""What derivation hands to a store: new versions and the ends of old ones, rows for search, questions to a model.

All of it lands together, or not at all. What is kept of records stands in ``kernel/records.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, Literal

from lamina.kernel.audit import AuditDraft
from lamina.kernel.events import Event
from lamina.kernel.local import Offset
from lamina.kernel.records import Entity, Mention, Record, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant, waits
from lamina.store.ports.index import TextRow, VectorRow
from lamina.store.ports.lifecycle import LifecycleDraft

__all__ = [
    "BRIDGE",
    "FOLD",
    "OF_SITTINGS",
    "Closing",
    "EventOffset",
    "Inquiry",
    "InquiryState",
    "Writes",
    "behind_all",
    "inquiry_of",
]


@dataclass(frozen=True, slots=True)
class Closing:
    """The end of a version: it was held until ``recorded_to``, because of ``closed_by`` where named."""

    tenant_id: str
    id: str
    version: int
    recorded_to: Instant
    closed_by: str | None = None

    @classmethod
    def of(cls, held: Record, at: Instant, closed_by: str | None = None) -> Closing:
        """The end at an instant of the version that is held."""
        return cls(held.tenant_id, held.id, held.version, at, closed_by)


FOLD: Final = "fold/1"
"""The task of an inquiry that asks a language model to word a turn that rules have folded. It ends when that is done."""
BRIDGE: Final = "bridge/1"
"""The task of an inquiry that asks a language model to word the bridge of the sitting that an event was the last of. It ends when that is done."""
OF_SITTINGS: Final = (FOLD, BRIDGE)
"""What is asked of a sitting as it was told so far: nobody needs an answer once it is told anew."""


@dataclass(frozen=True, slots=True)
class EventOffset:
    """By which clock an event was read that was sent without an offset. It is kept with the event, also through a replay: the first
    one that lands stays, so that none takes tables of zones."""

    tenant_id: str
    event_id: str
    offset: Offset


_BEHIND_ALL: Final = 1 << 48
"""More than a log has positions."""

InquiryState = Literal["pending", "answered", "applied", "failed", "dropped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """A question about one event. None of its words are kept here: they are the event's, and the answer's. ``position`` is its place in the queue
    of its scope: that of the event, or behind everything (``behind_all``).

    It is open while ``pending`` or ``answered``. ``failed`` is for good until it is revived; ``dropped`` is for good.
    An ``applied`` one took effect at ``applied_at``, directly after the event of its scope at ``applied_after`` and
    ``applied_order`` others.
    """

    tenant_id: str
    event_id: str
    task: str
    scope: Scope
    position: int
    created_at: Instant
    id: int = 0
    state: InquiryState = "pending"
    attempts: int = 0
    next_attempt_at: Instant | None = None
    lease_until: Instant | None = None
    last_error: str | None = None
    input_hash: str | None = None
    applied_after: int | None = None
    applied_order: int | None = None
    applied_at: Instant | None = None
    lease_owner: str | None = None
    fence: int = 0
    """The number of its lease, 0 while nobody has it."""

    def is_due(self, now: Instant) -> bool:
        """Whether nothing but an earlier one of its scope keeps it from being claimed."""
        return not waits(self.lease_until or 0, now) and not waits(self.next_attempt_at or 0, now)


def inquiry_of(event: Event, task: str, created_at: Instant) -> Inquiry:
    """The inquiry of a task about an event."""
    return Inquiry(
        tenant_id=event.tenant_id,
        event_id=event.id,
        task=task,
        scope=event.scope,
        position=event.position,
        created_at=created_at,
    )


def behind_all(inquiry: Inquiry) -> Inquiry:
    """An inquiry that waits until nothing else of its scope does. What it is about may be another by then, and need no answer."""
    return replace(inquiry, position=_BEHIND_ALL + inquiry.position)


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
    offsets: list[EventOffset] = field(default_factory=list)
    audits: list[AuditDraft] = field(default_factory=list)
    """Rows of the audit log, each unless one of its id is there: a replay adds none."""

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
        self.offsets += later.offsets
        self.audits += later.audits

"""What a step of forgetting reads of an engine, and what it has the engine write."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Protocol

from lamina.kernel.events import Event
from lamina.kernel.records import Mention, Record, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.ports.erasing import Erased, Tombstone
from lamina.store.ports.index import TextRow
from lamina.store.ports.lifecycle import LifecycleDraft

__all__ = ["ErasureChanges", "ErasureReads"]


class ErasureReads(Protocol):
    """The rows of one tenant, as they stand in the transaction."""

    def events(self, ids: Collection[str]) -> dict[str, Event]:
        """Events by id."""
        ...

    def dependants(self, ids: Collection[str]) -> list[Support]:
        """The supports that rest on events or records."""
        ...

    def supports(self, ids: Collection[str]) -> list[Support]:
        """What events or records rest on."""
        ...

    def versions(self, ids: Collection[str]) -> list[Record]:
        """Every version of records, first to last."""
        ...

    def changed_at(self, instants: Collection[Instant], scopes: Collection[Scope]) -> set[str]:
        """The records of which a version ended at one of some instants of the log, or a claim of some scopes began."""
        ...

    def within(self, scopes: Collection[Scope], limit: int) -> list[str]:
        """The ids of records of some scopes."""
        ...

    def sent_into(self, scopes: Collection[Scope]) -> list[Event]:
        """The events that are consolidated into one of some scopes, and are of none of them."""
        ...

    def claims_of(self, scope: Scope, matters: Collection[tuple[str, str]]) -> set[str]:
        """The ids of the facts and beliefs of a scope by subject and predicate."""
        ...

    def frozen_until(self, ids: Collection[str]) -> dict[str, Instant]:
        """Mirrors ``Erasing.frozen_until``."""
        ...

    def last_changes(self, ids: Collection[str]) -> dict[str, tuple[Scope, Instant]]:
        """Where records are, and when each was changed last: a word that only bears it out makes no version of it, but a support."""
        ...

    def texts(self, ids: Collection[str]) -> list[TextRow]:
        """The rows of search of events or records."""
        ...

    def mentions(self, ids: Collection[str]) -> list[Mention]:
        """The names in events."""
        ...

    def senders(self, into: Scope) -> list[Scope]:
        """Mirrors ``EventLog.senders_into``."""
        ...

    def waiting_since(self, scopes: Collection[Scope]) -> Instant | None:
        """When the oldest event of scopes was recorded that still waits for derivation."""
        ...


@dataclass(slots=True)
class ErasureChanges:
    """What is written. ``deleted`` and ``redacted`` are the events as they become, and so are ``unsent``, which keep their words, and ``wordless``, entries
    of which ids alone are left; ``gone`` the last versions of records that go;
    ``derived_once`` are ids of events without words, each with one of what rested on it and goes; ``records`` and ``supports`` replace rows of the same key or are new, ``cut`` supports go. The rest is what is frozen."""

    deleted: list[Event] = field(default_factory=list)
    redacted: list[Event] = field(default_factory=list)
    unsent: list[Event] = field(default_factory=list)
    wordless: list[Event] = field(default_factory=list)
    gone: dict[str, Record] = field(default_factory=dict)
    tombstones: list[Tombstone] = field(default_factory=list)
    derived_once: list[tuple[str, str]] = field(default_factory=list)
    unmentioned: list[Mention] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    supports: list[Support] = field(default_factory=list)
    cut: list[Support] = field(default_factory=list)
    until: dict[str, tuple[Scope, Instant]] = field(default_factory=dict)
    frozen_records: list[Record] = field(default_factory=list)
    frozen_supports: list[Support] = field(default_factory=list)
    frozen_mentions: list[Mention] = field(default_factory=list)
    frozen_texts: list[TextRow] = field(default_factory=list)
    lifecycle: list[LifecycleDraft] = field(default_factory=list)
    touched: set[Scope] = field(default_factory=set)
    erased: Erased = field(default_factory=Erased)

"""What an operator asks of a store: whether it can be written, what stands in its queue, and to tidy up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from lamina.kernel.time import Instant

__all__ = ["Backlog", "Compaction", "Integrity", "StoreState", "Upkeep"]


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many events of a tenant are still to be derived, and the newest position among them (0 when none is)."""

    events: int
    newest: int


@dataclass(frozen=True, slots=True)
class StoreState:
    """What there is to say of a store. None where the engine cannot tell.

    ``oldest_pending_at`` is when the oldest event that still waits for derivation was recorded. ``failing`` is what behind
    the calls fails just now and is tried again, of the engine and of the worker: part to class or code of its error.
    ``last_recorded_at`` is when the newest event of any tenant was recorded, which may lie ahead of the clock; ``checked``
    what the last check of what is on disk saw. ``repositories_behind`` is how many tenants' repositories lack something of
    their documents' rows, ``repositories_aside`` how many could not be opened and wait for somebody to look,
    ``outbox_failed`` and ``inquiries_failed`` how many of these failed for good, ``summaries_waiting``
    how many folded turns wait for a language model's words and since when, of every tenant. ``backed_up_at`` is the moment of
    the newest backup, None before the first.
    """

    engine: str
    version: str
    oldest_pending_at: Instant | None
    worker_alive: bool | None
    disk_free_bytes: int | None
    failing: Mapping[str, str] = field(default_factory=dict)
    repositories_behind: int = 0
    repositories_aside: int = 0
    outbox_failed: int = 0
    inquiries_failed: int = 0
    summaries_waiting: int = 0
    summaries_waiting_since: Instant | None = None
    last_recorded_at: Instant | None = None
    checked: Integrity | None = None
    backed_up_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class Integrity:
    """What a check of what is on disk saw: what is wrong with the database, in the engine's words, and the names of damaged
    repositories, which are built anew. Nothing where all is whole."""

    checked_at: Instant
    database: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compaction:
    """What compacting did: pages moved from the write-ahead file, whether all were, and merges of a text index, which earlier releases had: 0."""

    pages_moved: int
    complete: bool
    index_merges: int


class Upkeep(Protocol):
    """Looking after a store."""

    def probe(self) -> None:
        """Nothing when a write reaches the disk; raises ``Unavailable`` (WAL_UNAVAILABLE)."""
        ...

    def check(self, now: Instant) -> Integrity:
        """Read everything that is on disk, have damaged repositories built anew, and keep the outcome for ``state``.

        Takes as long as the disk does to read it, beside the calls.
        """
        ...

    def refuses(self) -> bool:
        """Whether the disk refused the newest write; for whoever asks often: it writes nothing unless that was a while ago."""
        ...

    def state(self) -> StoreState:
        """How the store stands."""
        ...

    def note_failing(self, parts: Mapping[str, str]) -> None:
        """What of the worker fails just now, instead of what it told before; in whichever process ``state`` is asked."""
        ...

    def backlog(self, tenant_id: str, up_to: int | None = None) -> Backlog:
        """What of a tenant is still to be derived, up to a position; without what failed for good."""
        ...

    def compact(self) -> Compaction:
        """Give space and order back, in steps that keep nobody waiting for long."""
        ...

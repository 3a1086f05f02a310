"""The rows of search: a text row for each searchable record, and its vectors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from lamina.kernel.events import Event
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant

__all__ = ["IndexRows", "TextRow", "Tip", "VectorRow"]


class TextRow(NamedTuple):
    """A record as text search and ranking see it. ``terms`` are analysed tokens, space separated.

    A row put again replaces the old one under a new number; ``recorded_at`` stays that of the first. It is a tuple, since a scope that is
    loaded has some of each of its records.
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
    quarantined: str = ""
    """Why it is kept out of what is shown by itself, reasons separated by spaces; empty for nearly every row."""
    days: str = ""
    """What was noted of the days that a turn means, as ``language/days.py`` writes it; empty where nothing was."""
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


@dataclass(frozen=True, slots=True)
class Tip:
    """How far the rows of a scope go: its ``changes``, and the newest number of a text row, of a vector row and of an end, and
    the newest position of its log, 0 where there is none.

    ``waiting_since`` is when the oldest event was recorded that something is still to be derived from, None when nothing is;
    what failed for good counts no more.
    """

    changes: int
    text: int
    vector: int
    end: int
    log: int = 0
    waiting_since: Instant | None = None


class IndexRows(Protocol):
    """The rows that text and vector search are built from."""

    def tip(self, tenant_id: str, scope: Scope, model: str) -> Tip:
        """How far a scope's rows go, vectors those of a model: in one step what tells whether there is anything to follow."""
        ...

    def waiting(self, tenant_id: str, scope: Scope, after: int, limit: int) -> list[Event]:
        """The newest events of a scope past a position that are not indexed yet, in the order of the log, without excluded ones."""
        ...

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
        """Keep vectors outside of any job, for rows whose embedding was put off; those of records that search does not have any more, as
        their words were erased meanwhile, are not kept."""
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

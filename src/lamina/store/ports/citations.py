"""What an erasure counts (seed 002, 11.3): the events of somebody, and everything that rests on them in whichever scope."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple, Protocol

from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope

__all__ = ["Citation", "Citations", "ErasureCandidate"]


class ErasureCandidate(NamedTuple):
    """An event that an erasure may be about, as far as counting needs it."""

    id: str
    scope: Scope
    position: int


class Citation(NamedTuple):
    """An edge of the why graph: a record, where it lies, and one event or record that it rests on."""

    record_id: str
    scope: Scope
    source_id: str
    polarity: Literal["supports", "against"]


class Citations(Protocol):
    """Reads alone, each in one statement over whole sets."""

    def within(self, tenant_id: str, path: Scope) -> list[ErasureCandidate]:
        """Every event of a scope and of those below it, in the order of the log; the log's own entries too."""
        ...

    def authored(self, tenant_id: str, actors: Collection[str]) -> list[ErasureCandidate]:
        """Every event that one of the actors sent or is seen to speak in, in whichever scope and in the order of the log.

        Not the entries that say how others' events are to be read (cancellations, decisions), nor those that tell of documents.
        """
        ...

    def above(self, tenant_id: str, event_ids: Collection[str]) -> list[Citation]:
        """All that rests on the events, through any number of records: for each such record every edge that it has, by record
        and source."""
        ...

    def naming(self, tenant_id: str, entity_ids: Collection[str]) -> list[tuple[str, Scope]]:
        """The facts and beliefs that hold now, are about one of some entities or name it, and lie where it is named, by id."""
        ...

    def records_within(self, tenant_id: str, path: Scope) -> dict[Layer, list[tuple[str, Scope]]]:
        """The derived records of a scope and of those below it, with the scope of each, by layer and id."""
        ...

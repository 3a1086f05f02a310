"""Every place beside log and derived rows that holds something of a person: sessions, answers, documents, reminders, and the
pages and files of the store itself. What goes from them when events are erased, and how little is left.

Nothing here decides what is erased. Each function is a few bounded transactions, and may be called again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from lamina.kernel.scopes import Scope
from lamina.store.ports.documents import Change
from lamina.store.ports.erasing import Tombstone

__all__ = ["About", "ErasedBeside", "ErasedDocuments", "Owned", "PathOwners", "Remains", "Scrubbed", "Traces"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedBeside:
    """What is erased: all at and under ``scopes``, and what rests on these events wherever it stands.

    ``actors`` are the callers whose kept answers go, ``words`` what no kept answer may hold: scopes, paths of documents. Where ``stand_in``
    is given, it takes the place of the ``actors`` in the log's entries outside ``held``, which lose the reason that they gave.
    """

    tenant_id: str
    scopes: Collection[Scope] = ()
    event_ids: Collection[str] = ()
    actors: Collection[str] = ()
    words: Collection[str] = ()
    stand_in: str | None = None
    held: Collection[Scope] = ()


About = Callable[[str, Sequence[str]], Collection[str]]
"""The paths of the documents of a tenant that are about actors."""


@dataclass(frozen=True, slots=True)
class PathOwners:
    """Who wrote at a path, ever: the authors of its commits."""

    path: str
    authors: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned:
    """What actors wrote beside the log: ``alone``, and together with others, which is listed and stays."""

    paths: tuple[str, ...] = ()
    shared_paths: tuple[str, ...] = ()
    schedule_ids: tuple[str, ...] = ()
    event_ids: tuple[str, ...] = ()
    """The events that tell, or told, of the documents at ``paths``: they go with these."""

    def joined(self, more: Owned) -> Owned:
        """What goes of both."""
        return replace(
            self,
            paths=_both(self.paths, more.paths),
            schedule_ids=_both(self.schedule_ids, more.schedule_ids),
            event_ids=_both(self.event_ids, more.event_ids),
        )


def _both(these: Collection[str], those: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted({*these, *those}))


@dataclass(frozen=True, slots=True)
class ErasedDocuments:
    """How many documents and versions went, and how many commits lost something."""

    documents: int
    versions: int
    commits: int


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """What was done so that deleted rows are gone from the files: merges of a text index, which earlier releases had, pages that were given back, and
    whether the whole file was written anew. ``log_emptied`` says that the write-ahead file is empty."""

    index_merges: int = 0
    pages_freed: int = 0
    rewritten: bool = False
    log_emptied: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """What stands of an erasure by its id: its marks, and the events that lost their words. ``worded`` are those of these that
    have words nevertheless."""

    marks: tuple[Tombstone, ...] = ()
    redacted: tuple[str, ...] = ()
    worded: tuple[str, ...] = ()


class Traces(Protocol):
    """What one store holds beside log and derived rows."""

    def owned(self, tenant_id: str, actors: Collection[str], about: Collection[str] = ()) -> Owned:
        """What these actors wrote, by author and creator. The documents at the paths ``about`` count as theirs, whoever wrote."""
        ...

    def paths(self, tenant_id: str) -> list[PathOwners]:
        """Every path at which a document stands or stood, by path, with its authors."""
        ...

    def erase_beside(self, erased: ErasedBeside) -> Mapping[str, int]:
        """Delete what sessions, models, keys, definitions and packs hold of what is erased; rows by table. Of entries that people made,
        ``event`` counts those that lost name and reason: what was decided stays, since others' memory is derived by it.

        A sitting that loses turns which its summary told of is folded anew from those that stay. What was made for callers
        within the last minute goes for the whole tenant, since nothing says what it was made of, and ``Packs.keep`` keeps nothing
        that was begun before.
        """
        ...

    def erase_documents(
        self, tenant_id: str, paths: Collection[str], *, renewed: Sequence[Change] = ()
    ) -> ErasedDocuments:
        """Delete documents with their history, and write the repository anew without them; it stands when this returns. What is
        ``renewed`` takes the place of all versions of a document, as the next one of the same commit; raises ``Conflict``
        (DOCUMENT_CHANGED) where another than the expected version stands.

        Commits stay, with number and time: one that changed nothing else loses author and message. Their hashes change from
        the first that lost something. Raises ``Unavailable`` (REPOSITORY_UNAVAILABLE) where the repository could not be
        written within ``limits.REWRITE_WAIT_S_MAX``: the rows are gone then, and it is written at the next start.
        """
        ...

    def erase_schedule(self, tenant_id: str, schedule_ids: Collection[str]) -> int:
        """Delete reminders; how many there were."""
        ...

    def drop_aside(self) -> bool:
        """Let go of a copy of the log that is being derived anew; whether there was one. It begins again from the log."""
        ...

    def scrub(self) -> Scrubbed:
        """Have nothing of what was deleted left in the store's files: neither in free pages nor in the
        write-ahead file. Others write meanwhile, but for the one time that an older folder is written anew."""
        ...

    def scrub_due(self) -> bool:
        """Whether something was deleted for good since the files were cleared last."""
        ...

    def remains(self, tenant_id: str, erasure_id: str) -> Remains:
        """What an erasure has left of what it took."""
        ...

    def look_for(self, tenant_id: str, ids: Collection[str]) -> Mapping[str, int]:
        """In how many rows of which table and column some ids stand, but for those of ``store.owners`` that keep ids for the proof.

        Reads everything: seconds for 10^5 events.
        """
        ...

    def look(self) -> tuple[str, ...]:
        """What is left in the files that should not be, in words that name no content; empty where they are clean."""
        ...

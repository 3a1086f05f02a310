"""What artifacts are found by, kept in memory by a follower of the commits: a query costs what it finds, and not what there is."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from pydantic import BaseModel

from lamina import limits
from lamina.continuity.capsule.moments import moment
from lamina.coordination.artifacts.kinds import ArtifactKind, Key
from lamina.coordination.artifacts.reading import record_or_none
from lamina.kernel.time import Instant
from lamina.store.ports.documents import Commit, Documents

__all__ = ["ArtifactCards", "Matches"]

RecordT = TypeVar("RecordT", bound=BaseModel)


class Matches(NamedTuple):
    """The paths of the artifacts that match, in the order of a query; ``skipped`` where some cannot be read."""

    paths: list[str]
    skipped: bool


class _Card(NamedTuple):
    """What an artifact is found by; ``keys`` is empty where it cannot be read."""

    written_at: Instant
    at: Instant
    keys: frozenset[Key]


@dataclass(slots=True)
class _Index:
    """The artifacts of one kind of a tenant as of the commit ``number``; ``lock`` is held where it is looked at or changed."""

    number: int = 0
    rewrites: int = 0
    """How often documents had been erased, which no commit tells of."""
    cards: dict[str, _Card] = field(default_factory=dict)
    paths: dict[Key, set[str]] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def clear(self, rewrites: int) -> None:
        self.number, self.rewrites = 0, rewrites
        for held in (self.cards, self.paths, self.unread):
            held.clear()

    def put(self, path: str, card: _Card) -> None:
        self.drop(path)
        self.cards[path] = card
        for key in card.keys:
            self.paths.setdefault(key, set()).add(path)
        if not card.keys:
            self.unread.add(path)

    def drop(self, path: str) -> None:
        before = self.cards.pop(path, None)
        self.unread.discard(path)
        for key in () if before is None else before.keys:
            self.paths[key].discard(path)
            if not self.paths[key]:
                del self.paths[key]

    def matching(self, wanted: frozenset[Key]) -> Matches:
        fewest = min((self.paths.get(key, set()) for key in wanted), key=len, default=self.cards.keys())
        found = [path for path in fewest if path not in self.unread and wanted <= self.cards[path].keys]
        return Matches(
            sorted(found, key=lambda path: (-self.cards[path].at, path)), skipped=bool(self.unread)
        )


class ArtifactCards:
    """The indexes of the tenants used lately."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._indexes: OrderedDict[tuple[str, str], _Index] = OrderedDict()
        self._lock = threading.Lock()

    def matching(self, kind: ArtifactKind[RecordT], tenant_id: str, wanted: frozenset[Key]) -> Matches:
        """The artifacts that have every key that is wanted, newest first and then by path. Every write that was answered before counts."""
        rewrites = self._documents.rewrites(tenant_id)
        head = self._documents.head(tenant_id)
        if head is None:
            return Matches([], skipped=False)
        index = self._index(tenant_id, kind.name)
        with index.lock:
            if index.rewrites < rewrites:
                index.clear(rewrites)
            if index.number < head.number:
                self._follow(kind, tenant_id, index, head)
            return index.matching(wanted)

    def _index(self, tenant_id: str, kind: str) -> _Index:
        with self._lock:
            index = self._indexes.setdefault((tenant_id, kind), _Index())
            self._indexes.move_to_end((tenant_id, kind))
            held = sum(len(each.cards) for each in self._indexes.values())
            while held > limits.COORDINATION_CARDS_MAX and len(self._indexes) > 1:
                _, oldest = self._indexes.popitem(last=False)
                held -= len(oldest.cards)
            return index

    def _follow(self, kind: ArtifactKind[RecordT], tenant_id: str, index: _Index, head: Commit) -> None:
        if index.number and head.number - index.number <= limits.DIRECTORY_COMMITS_MAX:
            for each in self._documents.commits(tenant_id, index.number, limits.DIRECTORY_COMMITS_MAX + 1):
                for path, content in each.contents.items():
                    if kind.stands_at(path):
                        _take(kind, index, path, content, each.commit.committed_at)
                index.number = each.commit.number
            return
        # What landed after this head may be in it already; following again changes nothing.
        written_at = dict(self._listed(kind, tenant_id))
        for path in index.cards.keys() - written_at.keys():
            index.drop(path)
        changed = [
            path
            for path, at in written_at.items()
            if path not in index.cards or index.cards[path].written_at != at
        ]
        for start in range(0, len(changed), limits.DOCUMENTS_READ_MAX):
            part = changed[start : start + limits.DOCUMENTS_READ_MAX]
            for path, document in self._documents.read_many(tenant_id, part).items():
                _take(kind, index, path, document.content, document.updated_at)
        index.number = head.number

    def _listed(self, kind: ArtifactKind[RecordT], tenant_id: str) -> Iterable[tuple[str, Instant]]:
        after = ""
        while True:
            page = self._documents.below(tenant_id, kind.folder, after=after, limit=limits.DOCUMENTS_PAGE)
            for document in page:
                if kind.stands_at(document.path):
                    yield document.path, document.updated_at
            if len(page) < limits.DOCUMENTS_PAGE:
                return
            after = page[-1].path


def _take(
    kind: ArtifactKind[RecordT], index: _Index, path: str, content: bytes | None, written_at: Instant
) -> None:
    if content is None:
        index.drop(path)
        return
    record = record_or_none(kind, content)
    if record is None:
        index.put(path, _Card(written_at, 0, frozenset()))
        return
    at = moment(getattr(record, kind.sorts_by)) or 0
    index.put(path, _Card(written_at, at, frozenset(kind.found_by(record))))

"""Handlers that find memory files: by words and meaning, by time, and what they say of the index."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from lamina import limits
from lamina.continuity.files.cards import Card
from lamina.continuity.files.directory import Directory, Listing
from lamina.continuity.files.names import folder_of, is_text
from lamina.continuity.files.ports import Finder
from lamina.continuity.files.requests import (
    FoundFiles,
    Incremental,
    IndexStatus,
    RebuildIndex,
    Rebuilt,
    RebuiltIncrementally,
    Recent,
    RecentFiles,
    Row,
    Search,
)
from lamina.continuity.permission import Reach
from lamina.index.documents import Coverage
from lamina.kernel.operations import Answer, Call
from lamina.kernel.relay import RelayRight
from lamina.kernel.time import HOUR_US, Instant, rfc3339, rfc3339_or_none
from lamina.store.ports.documents import Document, Documents

__all__ = ["Finding"]

_CHUNK: Final = 64


class Finding:
    """Search, recent, and the routes of the index."""

    def __init__(self, documents: Documents, directory: Directory, finder: Finder) -> None:
        self._documents = documents
        self._directory = directory
        self._finder = finder

    def search(self, request: Search, call: Call) -> Answer:
        """The files that match, best first, or newest first among the best."""
        since = None if request.time_window_hours is None else call.now - request.time_window_hours * HOUR_US
        by_time = request.sort_by == "recent"
        limit = limits.SEARCH_RECENT_MAX if by_time else request.limit
        rows = self.rows(call, request.query, limit, request.include_types, since)
        if by_time:
            rows = sorted(
                sorted(rows, key=lambda row: row.path), key=lambda row: row.modified_at, reverse=True
            )
        rows = rows[: request.limit]
        return Answer(FoundFiles(query=request.query, sort_by=request.sort_by, count=len(rows), results=rows))

    def recent(self, request: Recent, call: Call) -> Answer:
        """The files that changed last, whether or not they are indexed yet."""
        hours = request.time_window_hours
        if hours is None and request.time_window_days is not None:
            hours = 24 * request.time_window_days
        since = None if hours is None else call.now - hours * HOUR_US
        rows = self.newest(call, request.limit, request.include_types, since)
        return Answer(RecentFiles(count=len(rows), results=rows))

    def status(self, request: RebuildIndex, call: Call) -> Answer:  # noqa: ARG002 - nothing is asked
        """How far the index is."""
        tenant_id = call.principal.tenant_id
        covered = self._finder.coverage(tenant_id)
        return Answer(
            IndexStatus(
                generated_at=rfc3339_or_none(covered.indexed_to),
                file_count=self._count(tenant_id),
                sqlite_fts=covered.found > 0,
                state_file=covered.told > 0 and covered.waiting_since is None,
            )
        )

    def rebuild(self, request: RebuildIndex, call: Call) -> Answer:  # noqa: ARG002 - nothing is asked
        """Take in what the worker has indexed. It follows every write by itself, so nothing else is to do."""
        tenant_id = call.principal.tenant_id
        self._finder.coverage(tenant_id)
        return Answer(Rebuilt(file_count=self._count(tenant_id), latest_commit=self._head(tenant_id)))

    def rebuild_incremental(self, request: RebuildIndex, call: Call) -> Answer:  # noqa: ARG002 - nothing is asked
        """The same, and how much it was."""
        tenant_id = call.principal.tenant_id
        count, taken_in = self._count(tenant_id), self._finder.coverage(tenant_id).taken_in
        changed = min(count, taken_in)
        return Answer(
            RebuiltIncrementally(
                file_count=count,
                latest_commit=self._head(tenant_id),
                incremental=Incremental(
                    changed_count=changed, removed_count=0, unchanged_count=count - changed
                ),
            )
        )

    def rows(
        self, call: Call, query: str, limit: int, types: Collection[str], since: Instant | None
    ) -> list[Row]:
        """The best rows for words that the caller may read."""
        if not query.strip():
            return []
        tenant_id, reach = call.principal.tenant_id, Reach(call, RelayRight.SEARCH)
        listing = self._directory.of(tenant_id)

        def passing(found: Sequence[str]) -> Collection[str]:
            return self._passing(tenant_id, listing, reach, found, types, since)

        found = self._finder.find(tenant_id, query, limit, passing)
        cards = self._directory.cards(tenant_id, listing, [each.path for each in found])
        return [
            _row(each.path, cards[each.path], listing.updated_at[each.path], each.score)
            for each in found
            if each.path in cards
        ]

    def newest(self, call: Call, limit: int, types: Collection[str], since: Instant | None) -> list[Row]:
        """The newest rows that the caller may read."""
        tenant_id = call.principal.tenant_id
        listing = self._directory.of(tenant_id)
        chosen = self._newest(listing, call, limit, types, since)
        cards = self._directory.cards(tenant_id, listing, chosen)
        return [
            _row(path, cards[path], listing.updated_at[path], cards[path].importance or 0.0)
            for path in chosen
            if path in cards
        ]

    def newest_documents(
        self, call: Call, limit: int, types: Collection[str], since: Instant | None
    ) -> list[Document]:
        """The newest documents that the caller may read, with their content."""
        tenant_id = call.principal.tenant_id
        chosen = self._newest(self._directory.of(tenant_id), call, limit, types, since)
        found = self._documents.read_many(tenant_id, chosen)
        return [found[path] for path in chosen if path in found]

    def coverage(self, call: Call) -> Coverage:
        """How far the index is for the caller's tenant."""
        return self._finder.coverage(call.principal.tenant_id)

    def _newest(
        self, listing: Listing, call: Call, limit: int, types: Collection[str], since: Instant | None
    ) -> list[str]:
        tenant_id, reach = call.principal.tenant_id, Reach(call, RelayRight.SEARCH)
        chosen: list[str] = []
        for start in range(0, len(listing.newest_first), _CHUNK):
            part = listing.newest_first[start : start + _CHUNK]
            passed = self._passing(tenant_id, listing, reach, part, types, since)
            chosen += [path for path in part if path in passed]
            if len(chosen) >= limit or (since is not None and listing.updated_at[part[-1]] < since):
                break
        return chosen[:limit]

    def _passing(
        self,
        tenant_id: str,
        listing: Listing,
        reach: Reach,
        found: Sequence[str],
        types: Collection[str],
        since: Instant | None,
    ) -> Collection[str]:
        kept = [
            path
            for path in found
            if (at := listing.updated_at.get(path)) is not None
            and (since is None or at >= since)
            and is_text(path)
            and reach.reads(path)
        ]
        if not types:
            return set(kept)
        # Only a page of Markdown may say another type than its folder.
        pages = [path for path in kept if path.endswith(".md")]
        cards = self._directory.cards(tenant_id, listing, pages)
        typed = {path: cards[path].type if path in cards else folder_of(path) for path in kept}
        return {path for path in kept if typed[path] in types}

    def _count(self, tenant_id: str) -> int:
        return sum(is_text(path) for path in self._directory.of(tenant_id).updated_at)

    def _head(self, tenant_id: str) -> str | None:
        head = self._documents.head(tenant_id)
        return None if head is None else head.sha


def _row(path: str, card: Card, at: Instant, score: float) -> Row:
    return Row(
        path=path,
        type=card.type,
        size=card.size,
        modified_at=rfc3339(at),
        snippet=card.snippet,
        tags=list(card.tags),
        importance=card.importance,
        score=score,
    )

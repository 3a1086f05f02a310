"""Which documents stand, and since when, kept in memory by a follower of the commits; and the cards of some of them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lamina import limits
from lamina.continuity.files.cards import Card, card_of
from lamina.kernel.time import Instant
from lamina.store.ports.documents import Commit, Documents

__all__ = ["Directory", "Listing"]

_PAGE = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """The documents of a tenant as of one commit; never changed once it is given out."""

    number: int
    updated_at: Mapping[str, Instant]
    newest_first: Sequence[str] = field(repr=False)
    rewrites: int = 0
    """How often documents had been erased, which no commit tells of."""


class Directory:
    """The listings of the tenants used lately."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._listings: OrderedDict[str, Listing] = OrderedDict()
        self._cards: OrderedDict[tuple[str, str], tuple[Instant, Card]] = OrderedDict()
        self._lock = threading.Lock()
        self._following = threading.Lock()

    def of(self, tenant_id: str) -> Listing:
        """What stands now. Every write that was answered before is in it."""
        rewrites = self._documents.rewrites(tenant_id)
        head = self._documents.head(tenant_id)
        if head is None:
            return Listing(0, {}, ())
        known = self._known(tenant_id, rewrites)
        if known is not None and known.number >= head.number:
            return known
        with self._following:
            return self._follow(tenant_id, head, rewrites)

    def _known(self, tenant_id: str, rewrites: int) -> Listing | None:
        """What was listed last, unless documents were erased since."""
        with self._lock:
            known = self._listings.get(tenant_id)
        return known if known is not None and known.rewrites >= rewrites else None

    def cards(self, tenant_id: str, listing: Listing, paths: Sequence[str]) -> dict[str, Card]:
        """The cards of those paths that stand."""
        found: dict[str, Card] = {}
        unread: list[str] = []
        with self._lock:
            for path in paths:
                kept = self._cards.get((tenant_id, path))
                if kept is not None and kept[0] == listing.updated_at.get(path):
                    found[path] = kept[1]
                    self._cards.move_to_end((tenant_id, path))
                elif path in listing.updated_at:
                    unread.append(path)
        for start in range(0, len(unread), limits.DOCUMENTS_READ_MAX):
            part = unread[start : start + limits.DOCUMENTS_READ_MAX]
            for path, document in self._documents.read_many(tenant_id, part).items():
                found[path] = card_of(document)
                self._keep(tenant_id, path, document.updated_at, found[path])
        return found

    def _follow(self, tenant_id: str, head: Commit, rewrites: int) -> Listing:
        known = self._known(tenant_id, rewrites)
        if known is not None and known.number >= head.number:
            return known
        near = known is not None and head.number - known.number <= limits.DIRECTORY_COMMITS_MAX
        listing = (
            self._grown(tenant_id, known)
            if known is not None and near
            else self._listed(tenant_id, head, rewrites)
        )
        with self._lock:
            self._listings[tenant_id] = listing
            self._listings.move_to_end(tenant_id)
            held = sum(len(each.updated_at) for each in self._listings.values())
            while held > limits.DIRECTORY_PATHS_MAX and len(self._listings) > 1:
                _, oldest = self._listings.popitem(last=False)
                held -= len(oldest.updated_at)
        return listing

    def _listed(self, tenant_id: str, head: Commit, rewrites: int) -> Listing:
        updated_at: dict[str, Instant] = {}
        after = ""
        while True:
            page = self._documents.below(tenant_id, "", after=after, limit=_PAGE)
            updated_at |= {document.path: document.updated_at for document in page}
            if len(page) < _PAGE:
                break
            after = page[-1].path
        newest_first = sorted(updated_at, key=lambda path: (-updated_at[path], path))
        listing = Listing(head.number, updated_at, newest_first, rewrites)
        if len(updated_at) < _PAGE:
            return listing
        # Of what landed between two pages only some is in it, and who follows would take the listing for all that there was by then.
        while (grown := self._grown(tenant_id, listing)).number > listing.number:
            listing = grown
        return listing

    def _grown(self, tenant_id: str, known: Listing) -> Listing:
        updated_at, number = dict(known.updated_at), known.number
        changed: dict[str, Instant | None] = {}
        for each in self._documents.commits(tenant_id, known.number, limits.DIRECTORY_COMMITS_MAX + 1):
            number = each.commit.number
            for path, content in each.contents.items():
                changed[path] = None if content is None else each.commit.committed_at
        for path, at in changed.items():
            if at is None:
                updated_at.pop(path, None)
            else:
                updated_at[path] = at
        rest = [path for path in known.newest_first if path not in changed]
        new = sorted(
            (path for path, at in changed.items() if at is not None), key=lambda p: (-updated_at[p], p)
        )
        return Listing(number, updated_at, [*new, *rest], known.rewrites)

    def _keep(self, tenant_id: str, path: str, at: Instant, card: Card) -> None:
        with self._lock:
            self._cards[tenant_id, path] = (at, card)
            self._cards.move_to_end((tenant_id, path))
            while len(self._cards) > limits.CARDS_KEPT_MAX:
                self._cards.popitem(last=False)

"""Reading whole folders of documents, with what is or was in them, a page in memory at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lamina import limits
from lamina.store.ports.documents import ChangeKind, Document, Documents

__all__ = ["contents_below", "documents_below"]

_STEPS = 100


def documents_below(
    documents: Documents, tenant_id: str, folder: str, *, page_max: int = limits.DOCUMENTS_READ_MAX
) -> Iterator[Document]:
    """The documents of a tenant below a folder, by path, with their content. What is written meanwhile behind the last one is met, too."""
    after = ""
    while page := documents.below(tenant_id, folder, after=after, limit=page_max, with_content=True):
        yield from page
        after = page[-1].path


def contents_below(
    documents: Documents, tenant_id: str, folder: str, ever: Iterable[str]
) -> Iterator[tuple[str, bytes]]:
    """What stands and what stood below a folder, each with its path; ``ever`` are the paths at which a tenant's documents stand or stood.

    What only grew is given once, as it was at its longest.
    """
    standing: set[str] = set()
    for document in documents_below(documents, tenant_id, folder):
        standing.add(document.path)
        yield document.path, document.content
        if document.version > 1:
            yield from _earlier(documents, tenant_id, document.path)
    for path in ever:
        if path.startswith(f"{folder.rstrip('/')}/") and path not in standing:
            yield from _earlier(documents, tenant_id, path)


def _earlier(documents: Documents, tenant_id: str, path: str) -> Iterator[tuple[str, bytes]]:
    before, follows = None, ChangeKind.PUT
    while page := documents.history(tenant_id, path, before=before, limit=_STEPS):
        for step in page:
            grew, follows = follows is ChangeKind.APPEND, step.kind
            if not grew and step.kind is not ChangeKind.REMOVE:
                document = documents.read_version(tenant_id, path, step.version)
                if document is not None:
                    yield path, document.content
        before = page[-1].version

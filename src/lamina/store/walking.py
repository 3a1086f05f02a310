"""Reading whole folders of documents, with what is in them, a page in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator

from lamina import limits
from lamina.store.ports.documents import Document, Documents

__all__ = ["documents_below"]


def documents_below(
    documents: Documents, tenant_id: str, folder: str, *, page_max: int = limits.DOCUMENTS_READ_MAX
) -> Iterator[Document]:
    """The documents of a tenant below a folder, by path, with their content. What is written meanwhile behind the last one is met, too."""
    after = ""
    while page := documents.below(tenant_id, folder, after=after, limit=page_max, with_content=True):
        yield from page
        after = page[-1].path

"""Which documents are about people, of all kinds: an erasure takes them whoever wrote them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from lamina.continuity.owned import documents_about
from lamina.coordination.artifacts.owned import with_handoffs
from lamina.coordination.copies import with_copies
from lamina.coordination.messages.owned import with_messages
from lamina.store.ports.store import Store

__all__ = ["documents_about_people"]


def documents_about_people(store: Store) -> Callable[[str, Sequence[str]], Collection[str]]:
    """Tells the paths of a tenant's capsules, handoffs and messages that are about actors, and of what shows or names these."""
    about = with_handoffs(documents_about(store.traces), store.traces, store.documents)
    return with_copies(with_messages(about, store.messages), store.traces, store.documents)

"""Which handoffs go with a person: those that were made from the capsule about them, whoever handed it over."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.continuity.owned import capsules_about
from lamina.coordination.artifacts.kinds import HANDOFFS
from lamina.coordination.artifacts.reading import record_or_none
from lamina.store.ports.documents import Document, Documents
from lamina.store.ports.traces import About
from lamina.store.walking import documents_below

__all__ = ["with_handoffs"]


def with_handoffs(about: About, documents: Documents) -> About:
    """Tells what ``about`` does of a tenant's actors, and beside it the paths of handoffs that hold a part of a capsule about them."""

    def of(tenant_id: str, actors: Sequence[str]) -> list[str]:
        capsules = frozenset(capsules_about(actors))
        handoffs = documents_below(documents, tenant_id, HANDOFFS.folder)
        found = {each.path for each in handoffs if _source_of(each) in capsules}
        return sorted({*about(tenant_id, actors), *found})

    return of


def _source_of(document: Document) -> str | None:
    record = record_or_none(HANDOFFS, document.content)
    return None if record is None else record.source_summary.path

"""Which documents show or name others, as the server itself wrote them: snapshots of context, and plans of compaction."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pydantic_core import from_json

from lamina.continuity.context.snapshots import FOLDER as SNAPSHOTS
from lamina.coordination.operators.compacting import REPORTS
from lamina.store.ports.documents import Documents
from lamina.store.ports.traces import About, Traces
from lamina.store.walking import documents_below

__all__ = ["with_copies"]

_PLAN: Final = re.compile(r"compact_[0-9A-Za-z_]+\.json")


def with_copies(about: About, traces: Traces, documents: Documents) -> About:
    """Tells what ``about`` does of a tenant's actors, and beside it what shows or names something of that, of what these people alone
    wrote, or of what itself shows it."""

    def of(tenant_id: str, actors: Sequence[str]) -> list[str]:
        found = set(about(tenant_id, actors))
        going = found | {each.path for each in traces.paths(tenant_id) if each.authors <= frozenset(actors)}
        named = dict(_named(documents, tenant_id)) if going else {}
        while more := {path for path, paths in named.items() if not paths.isdisjoint(going)} - going:
            going |= more
            found |= more
        return sorted(found)

    return of


def _named(documents: Documents, tenant_id: str) -> Iterator[tuple[str, set[str]]]:
    for snapshot in documents_below(documents, tenant_id, SNAPSHOTS):
        yield snapshot.path, _paths_in(snapshot.content)
    for plan in documents_below(documents, tenant_id, REPORTS):
        if _PLAN.fullmatch(plan.path.removeprefix(REPORTS)):
            paths = _paths_in(plan.content)
            yield plan.path, paths
            yield f"{plan.path.removesuffix('json')}md", paths


def _paths_in(content: bytes) -> set[str]:
    """The paths that a snapshot or a plan has; a file that is neither, which anybody may write there, has what it says are paths."""
    try:
        front = [from_json(content)]
    except ValueError:
        return set()
    found: set[str] = set()
    while front:
        each = front.pop()
        if isinstance(each, dict):
            found |= {path for path in [each.get("path")] if isinstance(path, str)}
            front += each.values()
        elif isinstance(each, list):
            front += each
    return found

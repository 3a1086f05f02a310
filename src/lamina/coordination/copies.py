"""Which documents show or name others, as the server itself wrote them: snapshots of context, and plans of compaction."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic_core import from_json

from lamina.continuity.context.snapshots import FOLDER as SNAPSHOTS
from lamina.coordination.operators.compacting import REPORTS
from lamina.store.ports.documents import Documents
from lamina.store.ports.traces import About, Traces
from lamina.store.walking import contents_below

__all__ = ["with_copies"]

_PLAN: Final = re.compile(r"compact_[0-9A-Za-z_]+\.json")


def with_copies(about: About, traces: Traces, documents: Documents) -> About:
    """Tells what ``about`` does of a tenant's actors, and beside it what shows or names something of that, of what these people alone
    wrote, or of what itself shows it."""

    def of(tenant_id: str, actors: Sequence[str]) -> list[str]:
        found = set(about(tenant_id, actors))
        ever = traces.paths(tenant_id)
        going = found | {each.path for each in ever if each.authors <= frozenset(actors)}
        named = _named(documents, tenant_id, [each.path for each in ever]) if going else {}
        while more := {path for path, paths in named.items() if not paths.isdisjoint(going)} - going:
            going |= more
            found |= more
        return sorted(found)

    return of


def _named(documents: Documents, tenant_id: str, ever: Sequence[str]) -> Mapping[str, set[str]]:
    """The paths that each snapshot and each plan names, or named before it was changed or taken away."""
    named: defaultdict[str, set[str]] = defaultdict(set)
    for path, content in contents_below(documents, tenant_id, SNAPSHOTS, ever):
        named[path] |= _paths_in(content)
    for path, content in contents_below(documents, tenant_id, REPORTS, ever):
        if _PLAN.fullmatch(path.removeprefix(REPORTS)):
            for each in (path, f"{path.removesuffix('json')}md"):
                named[each] |= _paths_in(content)
    return named


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

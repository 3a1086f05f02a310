"""Which handoffs go with a person: those that were made from the capsule about them, whoever handed it over, wherever they stand by now."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from pydantic_core import from_json

from lamina.continuity.owned import capsules_about
from lamina.coordination.artifacts.kinds import HANDOFFS
from lamina.store.ports.documents import Documents
from lamina.store.ports.traces import About, Traces
from lamina.store.walking import contents_below

__all__ = ["with_handoffs"]

_UNIT: Final = re.compile(rf"{HANDOFFS.folder}/history/(?:(?:index|cold)/)?([^/]+)\.json(?:\.gz)?")


def with_handoffs(about: About, traces: Traces, documents: Documents) -> About:
    """Tells what ``about`` does of a tenant's actors, and beside it the paths of handoffs that hold a part of a capsule about them: also of
    those that stand in the history of artifacts, with stub and compressed copy."""

    def of(tenant_id: str, actors: Sequence[str]) -> list[str]:
        capsules = frozenset(capsules_about(actors))
        ever = [each.path for each in traces.paths(tenant_id)]
        handoffs = contents_below(documents, tenant_id, HANDOFFS.folder, ever)
        found = {path for path, content in handoffs if _source_in(content) in capsules}
        units = {_unit_of(path) for path in found} - {None}
        found.update(path for path in ever if _unit_of(path) in units)
        return sorted({*about(tenant_id, actors), *found})

    return of


def _source_in(content: bytes) -> str | None:
    """The path of the capsule that a handoff was made from, as itself or in a unit of the history; None where it says none."""
    try:
        value: Any = from_json(content)  # Any: JSON
    except ValueError:
        return None
    for name in ("artifact", "source_summary"):
        value = value.get(name, value) if isinstance(value, dict) else None
    path = value.get("path") if isinstance(value, dict) else None
    return path if isinstance(path, str) else None


def _unit_of(path: str) -> str | None:
    match = _UNIT.fullmatch(path)
    return None if match is None else match[1]

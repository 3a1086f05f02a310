"""Which documents are about a subject: its capsule, and every copy that was put beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from lamina.continuity.capsule.subjects import ARCHIVE, COLD, COLD_INDEX, Subject, archive_name
from lamina.errors import LaminaError
from lamina.store.ports.traces import Traces

__all__ = ["documents_about", "paths_about"]


def documents_about(traces: Traces) -> Callable[[str, Sequence[str]], list[str]]:
    """Tells which documents of a tenant are capsules of people, given their actor ids."""

    def about(tenant_id: str, actors: Sequence[str]) -> list[str]:
        paths = [each.path for each in traces.paths(tenant_id)]
        found: set[str] = set()
        for actor in actors:
            try:
                found.update(paths_about(Subject("user", actor.removeprefix("user:")), paths))
            except LaminaError:
                continue  # no subject can have this name
        return sorted(found)

    return about


def paths_about(subject: Subject, paths: Iterable[str]) -> list[str]:
    """Those of some paths at which a subject's capsule, its snapshot, its archives and their cold copies stand or stood.

    A path is made of the id's normal form: two ids with the same one share it. Raises as ``Subject.slug`` does.
    """
    exact = {subject.active_path, subject.fallback_path}
    return sorted(path for path in paths if path in exact or _archived(path) == (subject.kind, subject.slug))


def _archived(path: str) -> tuple[str, str] | None:
    """Kind and normal form of the subject whose archive, or whose cold copy of one, stands at a path."""
    stem = path
    for folder, end in ((COLD_INDEX, ".md"), (COLD, ".json.gz")):
        if path.startswith(f"{folder}/") and path.endswith(end):
            stem = f"{ARCHIVE}/{path[len(folder) + 1 : -len(end)]}.json"
            break
    name = archive_name(stem)
    return None if name is None else (name.kind, name.slug)

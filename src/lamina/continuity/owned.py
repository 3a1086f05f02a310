"""Which documents are about a subject: its capsule, and every copy that was put beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from lamina.continuity.capsule.subjects import (
    ARCHIVE,
    COLD,
    COLD_INDEX,
    REFRESH_PLAN,
    RETENTION_PLAN,
    Subject,
    archive_name,
)
from lamina.errors import LaminaError
from lamina.store.ports.traces import Traces

__all__ = ["capsules_about", "documents_about", "paths_about"]

_PLANS: Final = frozenset({REFRESH_PLAN, RETENTION_PLAN})


def documents_about(traces: Traces) -> Callable[[str, Sequence[str]], list[str]]:
    """Tells which documents of a tenant are capsules of people, given their actor ids."""

    def about(tenant_id: str, actors: Sequence[str]) -> list[str]:
        paths = {each.path for each in traces.paths(tenant_id)}
        found: set[str] = set()
        for subject in _subjects(actors):
            found.update(paths_about(subject, paths))
        if found:  # plans name capsules, in earlier versions too, and the next one is made anew
            found.update(_PLANS & paths)
        return sorted(found)

    return about


def capsules_about(actors: Sequence[str]) -> list[str]:
    """Where the capsules about people stand, given their actor ids."""
    return [subject.active_path for subject in _subjects(actors)]


def _subjects(actors: Sequence[str]) -> Iterator[Subject]:
    for actor in actors:
        subject = Subject("user", actor.removeprefix("user:"))
        try:
            subject.slug  # noqa: B018 - it raises
        except LaminaError:
            continue  # no subject can have this name
        yield subject


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

"""What ``lamina doctor`` sees of the data folder itself: damage on disk, a clock that was wrong, rows of an older release."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lamina import limits
from lamina.kernel.time import SECOND_US, Instant, duration_text, rfc3339
from lamina.settings import Settings

__all__ = [
    "Check",
    "clock_check",
    "database_check",
    "derivation_check",
    "documents_check",
    "erasures_check",
    "repair_documents",
]

_FILE = "lamina.db"
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, what was found, and what to do. Only ``fail`` keeps Lamina from working."""

    name: str
    state: Literal["ok", "note", "fail"]
    found: str
    hint: str = ""


def database_check(folder: Path) -> Check:
    """Whether SQLite can read every page, and every reference leads somewhere."""
    from lamina.store.opening import database_faults, left_without_database

    if (left := left_without_database(folder)) is not None:
        return Check(
            "database",
            "fail",
            f"gone or empty, and {left} of a memory is there",
            "put the database back, or restore a backup into another folder; lamina restore --from-git reads a repository of documents",
        )
    if not (folder / _FILE).is_file():
        return Check("database", "ok", f"nothing stored in {folder}")
    faults = database_faults(folder / _FILE)
    if not faults:
        return Check("database", "ok", "quick_check and foreign keys: whole")
    return Check(
        "database",
        "fail",
        f"damaged: {_shown(faults)}",
        "stop the server, keep a copy of the folder, and lamina restore the last backup into another; what came since is in the copy: "
        f"sqlite3 {folder / _FILE} .recover",
    )


def documents_check(folder: Path, *, repaired: list[str]) -> Check:
    """Whether every object of every repository is what its name says, and the newest commit the one of the database."""
    from lamina.store.documents.checking import kept_ahead
    from lamina.store.documents.repository import repositories_aside
    from lamina.store.opening import REPOSITORIES

    faults = _faults_of(folder)
    told = f"; built anew: {', '.join(repaired)}" if repaired else ""
    if ahead := [
        f"{path.name}: {name}"
        for path in sorted((folder / REPOSITORIES).glob("*.git"))
        for name in kept_ahead(path)
    ]:
        return Check(
            "documents",
            "fail",
            f"the database lost commits that their repository has: {_shown(ahead)}{told}",
            "events of the same time are lost, too: restore a backup into another folder, or the documents there with lamina restore --from-git "
            "from a clone of that reference; git update-ref -d forgets them",
        )
    if aside := [path.name for path in repositories_aside(folder / REPOSITORIES)]:
        return Check(
            "documents",
            "fail",
            f"repositories could not be opened and lie aside: {_shown(aside)}; the documents themselves are in the database{told}",
            "mend a copy with git, and look for what the database may have lost, lamina restore --from-git reads it; then delete what lies aside",
        )
    if not faults:
        return Check("documents", "ok", f"every git repository of documents is whole{told}")
    return Check(
        "documents",
        "note",
        f"damaged: {_shown([f'{name}: {fault}' for name, fault in faults.items()])}; the documents themselves are in the "
        f"database{told}",
        f"a running server builds them anew in a while; or stop it and run lamina doctor --repair --data {folder} "
        f"({folder / REPOSITORIES} is left alone otherwise)",
    )


def _faults_of(folder: Path) -> dict[str, str]:
    """Names of damaged repositories, each with what is wrong with it; looked at twice, since a server may write."""
    from lamina.store.documents.checking import fault_of
    from lamina.store.documents.repository import folder_name
    from lamina.store.opening import REPOSITORIES, heads_of

    place = folder / REPOSITORIES
    heads: dict[str, str | None] = {path.name: None for path in sorted(place.glob("*.git"))}
    if (folder / _FILE).is_file():
        heads |= {folder_name(tenant_id): sha for tenant_id, sha in heads_of(folder / _FILE).items()}
    found = {}
    for name, head in heads.items():
        if fault_of(place / name, head) and (fault := fault_of(place / name, head)):
            found[name] = fault
    return found


def repair_documents(settings: Settings) -> list[str]:
    """Build damaged repositories anew from the rows; their names. Raises ``Unavailable`` (DOCUMENTS_IN_USE)."""
    from lamina.store.documents.repository import folder_name
    from lamina.store.opening import heads_of, open_store, require_store

    folder = settings.data
    require_store(folder)
    faults = _faults_of(folder)
    if not faults:
        return []
    damaged = [tenant_id for tenant_id in heads_of(folder / _FILE) if folder_name(tenant_id) in faults]
    store = open_store(settings)
    try:
        store.documents.rebuild(damaged)
    finally:
        store.close()  # waits for what is to be built
    return [name for name in faults if name not in _faults_of(folder)]


def clock_check(folder: Path, now: Instant) -> Check:
    """Whether the newest event lies ahead of the clock."""
    from lamina.store.opening import last_recorded_of

    if not (folder / _FILE).is_file():
        return Check("clock", "ok", rfc3339(now))
    last = last_recorded_of(folder / _FILE)
    if last is None or last - now <= limits.CLOCK_AHEAD_S_MAX * SECOND_US:
        return Check("clock", "ok", "no event lies ahead of it" if last else "no event yet")
    return Check(
        "clock",
        "note",
        f"the newest event was recorded at {rfc3339(last)}, {duration_text(last - now)} from now",
        "set the clock if it is wrong; if it was, nothing is to do: reads and an as_of of now show these events",
    )


def derivation_check(folder: Path) -> Check:
    """Whether everything is derived as this release derives it."""
    from lamina.pipeline.derived_by import DERIVED_BY
    from lamina.store.opening import last_recorded_of, rederivation_of
    from lamina.store.rules.rederivation import differences

    if not (folder / _FILE).is_file() or last_recorded_of(folder / _FILE) is None:
        return Check("derivation", "ok", "nothing is derived yet")
    state = rederivation_of(folder / _FILE)
    if state is None or state.versions != DERIVED_BY:
        earlier = {} if state is None else state.versions
        return Check(
            "derivation",
            "note",
            f"to be derived anew: {differences(earlier, DERIVED_BY)}",
            "the next worker does it, behind the calls; lamina serve starts one",
        )
    if state.scopes:
        return Check(
            "derivation",
            "note",
            f"{state.scopes} scopes with {state.events} events are still derived anew, {state.derived} events of them ready: "
            f"{differences(state.earlier, state.versions)}",
            "a running worker goes on with it; until a scope is done, its readers see the older rows",
        )
    return Check("derivation", "ok", "everything is derived as this release does")


def erasures_check(settings: Settings) -> Check:
    """Whether the folder went through what its list says that it erased; an older copy of it did not."""
    from lamina.store.backups.folder import folder_name_of
    from lamina.store.backups.tombstones import tombstone_file
    from lamina.store.opening import undone_of

    path, name = settings.data / _FILE, folder_name_of(settings.data)
    if not path.is_file() or not settings.tombstone_list.exists():
        return Check("erasures", "ok", "none is listed")
    listed = [each for each in tombstone_file(settings).read() if each.folder == name]
    if not (undone := undone_of(path, listed)):
        return Check("erasures", "ok", f"the folder went through what is listed in {settings.tombstone_list}")
    return Check(
        "erasures",
        "note",
        f"{len(undone)} erasures of {settings.tombstone_list} are not known here: {_shown([each.id for each in undone])}; what they took is "
        "back, since the folder is an older copy or was restored without the list",
        "restore the last backup with the list into another folder, or ask for them again",
    )


def _shown(faults: list[str]) -> str:
    return ", ".join(faults[:_SHOWN]) + (", …" if len(faults) > _SHOWN else "")

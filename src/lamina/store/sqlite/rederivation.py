"""Rederivation in SQLite: a group's log is copied into a database aside, derived there, and swapped in by one transaction.

The swap writes what differs and leaves the rest: rows of events keep their numbers, by which the index knows the order
of a conversation, and vectors are kept as long as the version that made them is today's.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from lamina.errors import Fault, Unavailable
from lamina.kernel.canonical import compact
from lamina.kernel.scopes import Scope
from lamina.store.blocks import load_blocks
from lamina.store.ports.lifecycle import LifecycleDraft
from lamina.store.ports.rederivation import RederivationState, ScopeGroup, Versions
from lamina.store.ports.store import Store
from lamina.store.rows import Row
from lamina.store.rules.rederivation import VECTORS, closure, earlier_of
from lamina.store.sqlite.audit import carry_over
from lamina.store.sqlite.codec import json_list
from lamina.store.sqlite.connection import Readers, Writer, open_connection, translated
from lamina.store.sqlite.erasing import fill_frozen, forget_aside
from lamina.store.sqlite.index import drop_text
from lamina.store.sqlite.lifecycle import LifecycleWriter
from lamina.store.sqlite.payloads import read_payload
from lamina.store.sqlite.upkeep import database_faults

__all__ = ["ASIDE", "SqliteRederivation", "rederivation_of"]

_SQL = load_blocks("lamina.store.sqlite")
_LOG = logging.getLogger("lamina.store")
ASIDE = "rederived"


_Rows = Callable[[str, Row], Iterable[Row]]


class SqliteRederivation:
    """``Rederivation`` of a folder. ``opened`` opens a store in a folder, as a worker does."""

    def __init__(
        self,
        path: Path,
        writer: Writer,
        readers: Readers,
        lifecycle: LifecycleWriter,
        opened: Callable[[Path], Store],
    ) -> None:
        self._path = path
        self._writer = writer
        self._readers = readers
        self._lifecycle = lifecycle
        self._opened = opened
        self._links: dict[str, set[tuple[str, str]]] = {}
        self._linked_to: dict[str, int] = {}

    @property
    def _folder(self) -> Path:
        return self._path.parent / ASIDE

    @property
    def _file_aside(self) -> Path:
        return self._folder / self._path.name

    def begin(self, versions: Versions) -> RederivationState:
        """Mirrors ``Rederivation.begin``."""
        noted, wanted = self.state(), dict(versions)
        if noted.versions == wanted:
            return noted

        def work(connection: apsw.Connection) -> None:
            connection.execute(_SQL["list_stale_scopes"])
            connection.execute(_SQL["note_derived_by"], (compact(wanted), compact(earlier_of(noted))))

        self._writer.write(work)
        return self.state()

    def ask(self, tenant_id: str, scopes: Collection[Scope]) -> None:
        """Mirrors ``Rederivation.ask``."""

        def work(connection: apsw.Connection) -> None:
            connection.execute(_SQL["ask_stale_scopes"], (tenant_id, json_list(scopes)))

        self._writer.write(work)

    def note_all(self, versions: Versions) -> None:
        """Mirrors ``Rederivation.note_all``."""
        shutil.rmtree(self._folder, ignore_errors=True)

        def work(connection: apsw.Connection) -> None:
            connection.execute(_SQL["forget_stale_scopes"])
            connection.execute(_SQL["note_derived_by"], (compact(dict(versions)), "{}"))

        self._writer.write(work)

    def state(self) -> RederivationState:
        """Mirrors ``Rederivation.state``."""
        return _state(self._readers)

    def next_group(self) -> ScopeGroup | None:
        """Mirrors ``Rederivation.next_group``."""
        row = self._readers.row(_SQL["next_stale_scope"])
        if row is None:
            shutil.rmtree(self._folder, ignore_errors=True)
            return None
        return ScopeGroup(row[0], self._joined(row[0], [Scope(row[1])], self._readers.rows))

    def _joined(self, tenant_id: str, scopes: Sequence[Scope], rows: _Rows) -> tuple[Scope, ...]:
        """The scopes with all that events join them to. Only what is new in the log is read again."""
        links = self._links.setdefault(tenant_id, set())
        last = self._readers.row(_SQL["last_event"], (tenant_id,))
        found = rows(_SQL["consolidating_scopes"], (tenant_id, self._linked_to.get(tenant_id, 0)))
        links.update((scope, into) for scope, into in found)
        self._linked_to[tenant_id] = last[0] if last else 0
        return closure(scopes, links)

    def aside(self, group: ScopeGroup) -> Store:
        """Mirrors ``Rederivation.aside``."""
        # It is torn where a folder was copied while it was written to: its jobs would fail for good.
        if self._folder.exists() and (not self._is_of(group) or database_faults(self._file_aside)):
            shutil.rmtree(self._folder)
        store = self._opened(self._folder)
        if not self._is_of(group):
            try:
                self._fill(group)
            except BaseException:
                store.close()
                raise
        return store

    def _is_of(self, group: ScopeGroup) -> bool:
        """Whether the store aside is the whole log of a group, to be derived by today's versions."""
        readers = Readers(self._file_aside)
        try:
            row = readers.row(_SQL["aside_is_of"])
        except (Fault, Unavailable, apsw.Error):
            return False
        finally:
            readers.close()
        if row is None or row[0] is None:
            return False
        places = [f"{group.tenant_id}\x1f{scope}" for scope in group.scopes]
        return bool(json.loads(row[0]) == dict(self.state().versions) and json.loads(row[1]) == places)

    def _fill(self, group: ScopeGroup) -> None:
        bindings = (group.tenant_id, json_list(group.scopes))
        with self._transaction(self._file_aside, self._path, "live") as connection:
            connection.execute(_SQL["fill_events"], bindings)
            for block in ("fill_definitions", "fill_inquiries", "fill_outputs", "fill_output_sources"):
                connection.execute(_SQL[block], bindings if "?2" in _SQL[block] else bindings[:1])
            fill_frozen(connection, bindings)
            connection.execute(_SQL["requeue_all"])
            connection.executemany(
                "INSERT INTO main.stale_scope (tenant_id, scope, events) VALUES (?1, ?2, 0)",
                [(group.tenant_id, scope) for scope in group.scopes],
            )
            versions = compact(dict(self.state().versions))
            connection.execute(_SQL["note_derived_by"], (versions, "{}"))

    @contextmanager
    def _transaction(self, path: Path, other: Path, name: str) -> Iterator[apsw.Connection]:
        """A write to one database with another attached: a writer's own connection is always inside a transaction."""
        with translated():
            connection = open_connection(path, durable=False)
            try:
                connection.execute("ATTACH ? AS " + name, (str(other),))
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
            finally:
                connection.close(True)

    def note_derived(self, group: ScopeGroup, events: int) -> None:
        """Mirrors ``Rederivation.note_derived``."""
        bindings = (group.tenant_id, json_list(group.scopes), events)
        self._writer.write(lambda connection: connection.execute(_SQL["note_stale_derived"], bindings))

    def swap(self, group: ScopeGroup) -> bool:
        """Mirrors ``Rederivation.swap``."""
        with self._transaction(self._path, self._file_aside, "aside") as connection:
            swapped = self._swap(connection, group)
        shutil.rmtree(self._folder)
        return swapped

    def _swap(self, connection: apsw.Connection, group: ScopeGroup) -> bool:
        place = (group.tenant_id, json_list(group.scopes))
        ((newest,),) = connection.execute(_SQL["newest_aside"])
        joined = self._joined(group.tenant_id, group.scopes, connection.execute)
        if joined != group.scopes or any(connection.execute(_SQL["changed_below"], (*place, newest))):
            return False
        failed = [
            LifecycleDraft(
                tenant_id=tenant_id,
                name=name,
                scope=Scope(scope),
                event_id=event_id,
                job_id=job_id,
                payload=read_payload(payload),
            )
            for tenant_id, name, scope, event_id, job_id, payload in list(
                connection.execute(_SQL["lifecycle_of_failed"], (*place, newest))
            )
        ]
        forget_aside(connection, place)
        self._swap_records(connection, place)
        self._swap_texts(connection, group, place)
        connection.execute(_SQL["drop_group_jobs"], place)
        connection.execute(_SQL["swap_failed_jobs"])
        connection.execute(_SQL["requeue_newer"], (*place, newest))
        self._lifecycle.put(connection, failed)
        carry_over(connection)
        connection.execute(_SQL["group_is_current"], place)
        connection.executemany(
            _SQL["note_index_change"], [(group.tenant_id, scope) for scope in group.scopes]
        )
        return True

    def _swap_records(self, connection: apsw.Connection, place: tuple[str, str]) -> None:
        within = "tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2))"
        connection.execute(_SQL["made_scratch"])
        connection.execute(_SQL["note_swapped_records"], place)
        _swap_table(
            connection, "support", "tenant_id = ?1 AND record_id IN (SELECT id FROM temp.swapped)", place
        )
        _swap_table(connection, "record", within, place)
        connection.execute(_SQL["dropped_scratch"])
        connection.execute(_SQL["made_scratch"])
        connection.execute(_SQL["note_swapped_entities"], place)
        _swap_table(connection, "mention", within, place)
        connection.execute(_SQL["swap_entities"])
        connection.execute(_SQL["drop_unnamed"], place[:1])
        connection.execute(_SQL["retype_entities"], place[:1])
        connection.execute(_SQL["dropped_scratch"])

    def _swap_texts(self, connection: apsw.Connection, group: ScopeGroup, place: tuple[str, str]) -> None:
        for (number,) in list(connection.execute(_SQL["gone_texts"], place)):
            drop_text(connection, group.tenant_id, number)
        columns = [name for name in _columns(connection, "text") if name not in ("id", "wants_vector")]
        listed = ", ".join(columns)
        differing = f"""
            SELECT t.id, {", ".join(f"a.{name}" for name in columns)} FROM aside.text AS a
            LEFT JOIN main.text AS t ON t.tenant_id = a.tenant_id AND t.record_id = a.record_id
            WHERE t.id IS NULL OR ({", ".join(f"a.{name}" for name in columns)})
                  IS NOT ({", ".join(f"t.{name}" for name in columns)})
            ORDER BY a.id"""  # noqa: S608 - the columns of our own table
        for number, *values in list(connection.execute(differing)):
            marks = ", ".join("?" * len(columns))
            if number is None:
                connection.execute(f"INSERT INTO main.text ({listed}) VALUES ({marks})", values)  # noqa: S608
            else:
                connection.execute(
                    f"UPDATE main.text SET ({listed}) = ({marks}) WHERE id = ?",  # noqa: S608
                    (*values, number),
                )
        model = _state_of(connection.execute).versions.get(VECTORS)
        connection.execute(_SQL["drop_vectors"], (*place, model))
        connection.execute(_SQL["want_vectors"], place)


def _columns(connection: apsw.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]


def _swap_table(connection: apsw.Connection, table: str, within: str, place: tuple[str, str]) -> None:
    """Take away the rows that are not aside as they are, and put those that are there and not here."""
    columns = _columns(connection, table)
    old, new = (", ".join(f"{name}.{column}" for column in columns) for name in (f"main.{table}", "a"))
    connection.execute(
        f"""DELETE FROM main.{table} WHERE {within} AND NOT EXISTS (
            SELECT 1 FROM aside.{table} AS a WHERE ({new}) IS ({old}))""",  # noqa: S608 - names of our own schema
        place if "?2" in within else place[:1],
    )
    put = f"INSERT OR IGNORE INTO main.{table} SELECT * FROM aside.{table}"  # noqa: S608
    connection.execute(put)


def rederivation_of(path: Path) -> RederivationState | None:
    """``Rederivation.state`` of a database file, only read; None where a release wrote it that noted no versions."""
    readers = Readers(path)
    try:
        return _state(readers)
    except Fault:
        return None
    finally:
        readers.close()


def _state(readers: Readers) -> RederivationState:
    return _state_of(readers.rows)


def _state_of(rows: _Rows) -> RederivationState:
    versions: Versions = {}
    earlier: Versions = {}
    for now, before in rows(_SQL["derived_by"], ()):
        versions, earlier = json.loads(now), json.loads(before)
    ((scopes, events, derived),) = list(rows(_SQL["stale_totals"], ()))
    return RederivationState(versions, earlier, scopes, events, derived)

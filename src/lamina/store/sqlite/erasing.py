"""Erasing in SQLite: what the rules say of a step, inside one transaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import apsw

from lamina.kernel.canonical import compact
from lamina.kernel.events import Event
from lamina.kernel.ids import IdSource
from lamina.kernel.records import Layer, Mention, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Clock, Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.erasing import Erased, Erasure, Frozen, Tombstone
from lamina.store.ports.writes import Closing
from lamina.store.rows import packed_row, read_record, read_text, text_row
from lamina.store.rules.erasing import changes_of
from lamina.store.rules.erasing_rows import ErasureChanges
from lamina.store.rules.traces import unguessable
from lamina.store.sqlite.codec import event_row, json_list
from lamina.store.sqlite.connection import Readers, Writer
from lamina.store.sqlite.erasing_reading import SqliteReading
from lamina.store.sqlite.folding import unfold
from lamina.store.sqlite.index import put_texts
from lamina.store.sqlite.lifecycle import LifecycleWriter
from lamina.store.sqlite.log import SqliteLog
from lamina.store.sqlite.works import ReadsFirst, is_writing

__all__ = ["SqliteErasing", "fill_frozen", "forget_aside", "lay_frozen"]

_SQL = load_blocks("lamina.store.sqlite")
_FILLED = (
    "fill_frozen",
    "fill_frozen_records",
    "fill_frozen_supports",
    "fill_frozen_mentions",
    "fill_frozen_texts",
)


@dataclass(frozen=True, slots=True)
class _Step:
    """What a step changes, and what was read for that: where it reads the same again, it changes the same."""

    reading: SqliteReading
    changes: ErasureChanges


class SqliteErasing:
    """``Erasing`` of a folder."""

    def __init__(
        self,
        writer: Writer,
        readers: Readers,
        clock: Clock,
        ids: IdSource,
        log: SqliteLog,
        lifecycle: LifecycleWriter,
        moves_sooner: Callable[[], None],
    ) -> None:
        """``moves_sooner`` has what a step writes moved out of the write-ahead file soon."""
        self._moves_sooner = moves_sooner
        self._writer = writer
        self._readers = readers
        self._clock = clock
        self._ids = ids
        self._log = log
        self._lifecycle = lifecycle

    def erase(self, erasure: Erasure) -> Erased:
        """Mirrors ``Erasing.erase``."""
        called_s = time.perf_counter()
        step: _Step | None = None

        def work(connection: apsw.Connection) -> Erased:
            nonlocal step
            locked_s = time.perf_counter() if is_writing(connection) else None
            if step is None or not step.reading.again():
                step = self._step(connection, erasure)
            locked_s = time.perf_counter() if locked_s is None else locked_s
            for entry in step.reading.entries:
                self._log.put_entry(connection, entry)
            # Before rows of the lifecycle go: the newest number stands, and is not given again.
            self._lifecycle.put(connection, step.changes.lifecycle)
            _land(connection, erasure.tenant_id, step.changes)
            self._moves_sooner()
            return replace(step.changes.erased, beside_s=locked_s - called_s)

        return self._writer.write(ReadsFirst(work))

    def _step(self, connection: apsw.Connection, erasure: Erasure) -> _Step:
        reading = SqliteReading(connection, erasure.tenant_id, self._log)
        changes = changes_of(reading, erasure, reading.enter, self._clock.now())
        changes.tombstones = unguessable(changes.tombstones, erasure, self._ids)
        return _Step(reading, changes)

    def mark(self, stones: Sequence[Tombstone]) -> None:
        """Mirrors ``Erasing.mark``."""
        self._writer.write(lambda connection: _mark(connection, stones))

    def tombstone(self, tenant_id: str, record_id: str) -> Tombstone | None:
        """Mirrors ``Erasing.tombstone``."""
        row = self._readers.row(_SQL["find_tombstone"], (tenant_id, record_id))
        if row is None:
            return None
        return Tombstone(
            tenant_id=row[0],
            id=row[1],
            layer=Layer(row[2]),
            scope=Scope(row[3]),
            cascade=row[4],
            erasure_id=row[5],
            audit_id=row[6],
            erased_at=row[7],
        )

    def derived_once(self, tenant_id: str, event_id: str) -> Sequence[str]:
        """Mirrors ``Erasing.derived_once``."""
        return [row[0] for row in self._readers.rows(_SQL["redacted_derivations"], (tenant_id, event_id))]

    def has_frozen(self, tenant_id: str) -> bool:
        """Mirrors ``Erasing.has_frozen``."""
        return self._readers.row(_SQL["has_frozen"], (tenant_id,)) is not None

    def frozen_until(self, tenant_id: str, record_ids: Collection[str]) -> dict[str, Instant]:
        """Mirrors ``Erasing.frozen_until``."""
        return dict(self._readers.rows(_SQL["frozen_until"], (tenant_id, json_list(sorted(record_ids)))))

    def frozen_matters(
        self, tenant_id: str, scope: Scope, matters: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], Instant]:
        """Mirrors ``Erasing.frozen_matters``."""
        rows = self._readers.rows(_SQL["frozen_matters"], (tenant_id, scope, compact(sorted(matters))))
        return {(subject, predicate): until for subject, predicate, until in rows}

    def frozen_at(self, event: Event) -> Frozen:
        """Mirrors ``Erasing.frozen_at``."""
        place = (event.tenant_id, event.recorded_at)
        return Frozen(
            [read_record(row) for row in self._readers.rows(_SQL["frozen_begun"], place)],
            [Closing(*row) for row in self._readers.rows(_SQL["frozen_ended"], place)],
            [Support(*row) for row in self._readers.rows(_SQL["frozen_supported"], place)],
        )


def _mark(connection: apsw.Connection, stones: Sequence[Tombstone]) -> None:
    connection.executemany(
        _SQL["put_tombstone"],
        [
            (t.tenant_id, t.id, t.layer.value, t.scope, t.cascade, t.erasure_id, t.audit_id, t.erased_at)
            for t in stones
        ],
    )


def _land(connection: apsw.Connection, tenant_id: str, changes: ErasureChanges) -> None:
    worded = [event.id for event in (*changes.deleted, *changes.redacted)]
    _drop_events(connection, tenant_id, changes, worded)
    gone = (tenant_id, json_list(sorted(changes.gone)))
    _unfind(connection, tenant_id, [*worded, *changes.gone])
    for block in ("drop_records", "drop_supports_of"):
        connection.execute(_SQL[block], gone)
    if any(connection.execute(_SQL["any_frozen"], gone)):
        for block in ("thaw", "thaw_records", "thaw_supports", "thaw_texts"):
            connection.execute(_SQL[block], gone)
    cut = [each[:4] for each in changes.cut]
    for block in ("drop_support", "thaw_support"):
        connection.executemany(_SQL[block], cut)
    unfold(connection, tenant_id, {record.id for record in changes.records})
    connection.executemany(_SQL["put_record"], map(packed_row, changes.records))
    connection.executemany(_SQL["put_support"], changes.supports)
    _freeze(connection, tenant_id, changes)
    _drop_mentions(connection, tenant_id, changes)
    _mark(connection, changes.tombstones)
    connection.executemany(
        _SQL["put_redacted_derivation"], [(tenant_id, *pair) for pair in changes.derived_once]
    )
    if worded or changes.gone or changes.wordless:
        connection.execute(_SQL["ask_scrubbing"])
    connection.execute(_SQL["forget_touched"])
    connection.executemany(_SQL["make_stale"], [(tenant_id, scope) for scope in changes.erased.remade])
    touched = [(tenant_id, scope) for scope in sorted(changes.touched)]
    connection.executemany(_SQL["note_index_change"], touched)


def _drop_events(
    connection: apsw.Connection, tenant_id: str, changes: ErasureChanges, worded: Sequence[str]
) -> None:
    if changes.deleted:
        connection.execute(_SQL["note_log_end"], (tenant_id,))
    places = (tenant_id, json_list(worded))
    for block in ("drop_jobs_of_events", "drop_lifecycle_of_events", "drop_lifecycle_by_id"):
        connection.execute(_SQL[block], places)
    deleted = [event.id for event in changes.deleted]
    connection.execute(_SQL["drop_supports_of"], (tenant_id, json_list(deleted)))
    connection.execute(_SQL["drop_redacted_derivations"], (tenant_id, json_list(deleted)))
    connection.executemany(_SQL["delete_event"], [(tenant_id, key) for key in deleted])
    for event in changes.unsent:
        directives = event_row(0, 0, event.id, 0, event)[13]
        connection.execute(_SQL["put_directives"], (tenant_id, event.id, directives))
    for event in (*changes.redacted, *changes.wordless):
        row = event_row(0, event.position, event.id, event.recorded_at, event)
        _, _, _, _, _, caller, actor, subject, parties, _, _, content, _, directives, *_ = row
        after = None if event.cancelled_after is None else event.cancelled_after.value
        bindings = (caller, actor, subject, parties, content, directives, after, event.redacted_by)
        connection.execute(_SQL["redact_event"], (tenant_id, event.id, *bindings, int(event.bears_out)))


def _unfind(connection: apsw.Connection, tenant_id: str, ids: Sequence[str]) -> None:
    places = (tenant_id, json_list(sorted(ids)))
    connection.execute(_SQL["drop_texts"], places)
    connection.execute(_SQL["drop_vectors_of"], places)


def _freeze(connection: apsw.Connection, tenant_id: str, changes: ErasureChanges) -> None:
    connection.executemany(
        _SQL["put_frozen"],
        [(tenant_id, key, scope, until) for key, (scope, until) in sorted(changes.until.items())],
    )
    connection.executemany(_SQL["put_frozen_record"], map(packed_row, changes.frozen_records))
    connection.executemany(_SQL["put_frozen_support"], changes.frozen_supports)
    connection.executemany(_SQL["put_frozen_text"], map(text_row, changes.frozen_texts))
    connection.executemany(_SQL["put_frozen_mention"], map(_mention_row, changes.frozen_mentions))


def _drop_mentions(connection: apsw.Connection, tenant_id: str, changes: ErasureChanges) -> None:
    rows = [_mention_row(each) for each in changes.unmentioned]
    for block in ("drop_mention", "thaw_mention"):
        connection.executemany(_SQL[block], [row[:4] + row[5:6] for row in rows])
    named = sorted({each.entity_id for each in changes.unmentioned})
    connection.executemany(_SQL["drop_entity_unnamed"], [(tenant_id, key) for key in named])


def _mention_row(each: Mention) -> tuple[object, ...]:
    return (each.tenant_id, each.entity_id, each.scope, each.event_id, each.position, each.surface, each.type)


# ---- what a replay takes from there


def lay_frozen(connection: apsw.Connection, tenant_id: str | None = None) -> None:
    """Put what is frozen beside the rows of a replay that begins; of a tenant's group aside, whose log is ``live``."""
    if not any(connection.execute("SELECT 1 FROM main.frozen LIMIT 1")):
        return
    connection.execute(_SQL["made_replayed"])
    if tenant_id is None:
        connection.execute(_SQL["note_replayed"])
    else:
        connection.execute(_SQL["note_replayed_live"], (tenant_id,))
    for block in ("lay_records", "lay_supports", "lay_entities", "lay_mentions"):
        connection.execute(_SQL[block])
    connection.execute(_SQL["dropped_replayed"])
    put_texts(connection, [read_text((0, *row)) for row in list(connection.execute(_SQL["frozen_texts"]))])


def fill_frozen(connection: apsw.Connection, place: tuple[str, str]) -> None:
    """Copy what is frozen of a group's scopes into a database aside, and put it beside what is derived there."""
    for block in _FILLED:
        connection.execute(_SQL[block], place if "?2" in _SQL[block] else place[:1])
    lay_frozen(connection, place[0])


def forget_aside(connection: apsw.Connection, place: tuple[str, str]) -> None:
    """Take from what was derived aside what is forgotten and was not told again since: a call alone brings it back, never a release."""
    ids = [row[0] for row in connection.execute(_SQL["forgotten_aside"], place)]
    for block in ("forget_aside", "forget_supports_aside", "forget_texts_aside"):
        connection.execute(_SQL[block], (place[0], json_list(ids)))

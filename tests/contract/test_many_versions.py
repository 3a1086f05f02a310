"""A record of many versions: each is read as it was written, by every way of reading, however an engine keeps the older ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from given import ALICE, NOON, TENANT, concept, episode, land
from lamina import limits
from lamina.kernel.records import Record
from lamina.kernel.time import Axes
from lamina.store.bodies import is_folded
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Closing, Writes
from lamina.store.rows import BODY, packed_row, read_record
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.folding import unfold, whole

COUNT = 2 * limits.FOLDED_VERSIONS_MAX + 5
READ = "SELECT * FROM record ORDER BY id, version"


def versions_of(first: Record) -> list[Record]:
    """Each says a little more than the one before it; all but the last have ended."""
    made = []
    for number in range(1, COUNT + 1):
        ended = None if number == COUNT else NOON + number
        said = replace(
            first,
            version=number,
            recorded_from=NOON + number - 1,
            recorded_to=ended,
            summary=" ".join(f"Tea number {each} was fine." for each in range(number)),
        )
        made.append(said)
    return made


def landed(store: Store, versions: list[Record]) -> None:
    """One by one at first, then several at once, as a batch of events makes them."""
    groups = [[each] for each in versions[:9]] + [versions[9:13], versions[13:]]
    for group in groups:
        closings = [Closing(TENANT, each.id, each.version - 1, each.recorded_from) for each in group]
        land(store, Writes(records=[replace(each, recorded_to=None) for each in group], closings=closings))


@pytest.mark.parametrize("first", [concept(), episode()], ids=["concept", "episode"])
def test_every_version_is_read_as_it_was_written(store: Store, first: Record) -> None:
    written = versions_of(first)
    landed(store, written)
    assert store.records.versions(TENANT, first.id) == written
    for version in written[:3] + written[-19:]:
        seen_at = version.recorded_from
        expected = replace(version, recorded_to=None)
        assert store.records.get(TENANT, [first.id], seen_at=seen_at) == {first.id: expected}
        query = RecordQuery(tenant_id=TENANT, layer=first.layer, scopes=[ALICE], axes=Axes(seen_at=seen_at))
        assert [(each.version, each.summary) for each in store.records.query(query)] == [  # type: ignore[attr-defined]
            (version.version, version.summary)  # type: ignore[attr-defined]
        ]
    ever = RecordQuery(
        tenant_id=TENANT,
        layer=first.layer,
        scopes=[ALICE],
        axes=Axes(seen_at=NOON + COUNT, superseded=True),
        limit=COUNT,
    )
    assert store.records.query(ever) == written[::-1]
    before = NOON + COUNT // 2
    (ended,) = store.records.ended_since(TENANT, [ALICE], first.layer, before, 10)
    assert (ended.version, ended.summary) == (COUNT // 2 + 1, written[COUNT // 2].summary)  # type: ignore[attr-defined]


def test_a_version_again_changes_neither_itself_nor_those_before_it(store: Store) -> None:
    written = versions_of(concept())
    landed(store, written)
    other = [replace(each, summary="quite another") for each in (written[7], written[-1])]
    land(store, Writes(records=[*other]))
    assert store.records.versions(TENANT, written[0].id) == written


@pytest.fixture
def folder(tmp_path: Path) -> tuple[Path, list[Record]]:
    store = SqliteStore(tmp_path, durable=False)
    written = versions_of(concept())
    landed(store, written)
    store.close()
    return tmp_path / "lamina.db", written


def test_older_versions_take_a_fraction_and_some_stand_by_themselves(
    folder: tuple[Path, list[Record]],
) -> None:
    path, written = folder
    rows = list(apsw.Connection(str(path)).execute(READ))
    folded = [row for row in rows if is_folded(row[BODY])]
    alone = [row[2] for row in rows if not is_folded(row[BODY])]
    assert alone == [limits.FOLDED_VERSIONS_MAX, 2 * limits.FOLDED_VERSIONS_MAX, COUNT]
    texts = [len(packed_row(each)[BODY]) for each in written]
    assert sum(len(row[BODY]) for row in folded) < sum(texts) / 4


def test_versions_that_are_written_anew_stand_by_themselves_also_for_who_reads_meanwhile(
    folder: tuple[Path, list[Record]],
) -> None:
    path, written = folder
    connection = apsw.Connection(str(path))
    before = list(connection.execute(READ))
    unfold(connection, TENANT, [written[0].id])
    assert [read_record(row) for row in connection.execute(READ)] == written
    assert not any(is_folded(row[BODY]) for row in connection.execute(READ))
    connection.execute("DELETE FROM record WHERE version = 3")
    found = whole(before, lambda sql, bindings: connection.execute(sql, bindings))
    assert [read_record(row) for row in found] == [each for each in written if each.version != 3]

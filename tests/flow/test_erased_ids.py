"""Of ids, slots and digests of what was erased nothing is left but the marks that stand in its place: in no table, page or file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_canaries import ALICE, BOBS, Aviary, _bytes_of

from lamina.store.owners import TABLES
from lamina.store.rules.traces import IDS
from lamina.store.sqlite.connection import open_connection
from lamina.store.sqlite.digits import id_bytes

_SHORT = 9
"""Texts that are shorter stand in other places by chance."""
_NAMED = {
    "record": ("id", "subject", "object_key", "slot", "claim_key"),
    "mention": ("entity_id",),
    "text": ("record_id",),
    "vector": ("record_id",),
    "event": ("id",),
}
_UNNAMED = """
SELECT id FROM identifier AS i
WHERE NOT EXISTS (SELECT 1 FROM record_row WHERE record = i.number)
  AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = i.number)
  AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = i.number)
  AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = i.number)
  AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = i.number)
  AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = i.number)
  AND NOT EXISTS (SELECT 1 FROM text_row WHERE record = i.number)
  AND NOT EXISTS (SELECT 1 FROM vector_row WHERE record = i.number)
"""


def _rows(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    with contextlib.closing(open_connection(folder / "lamina.db", durable=False, read_only=True)) as opened:
        return list(opened.execute(sql))


def _named(folder: Path) -> set[str | bytes]:
    """Every id, slot and digest of Alice's scopes."""
    found: set[str | bytes] = set()
    for view, columns in _NAMED.items():
        for scope, *values in _rows(folder, f"SELECT scope, {', '.join(columns)} FROM {view}"):
            if "user:alice" in scope:
                found |= {each for each in values if each is not None and len(each) >= _SHORT}
    return found


def _forms(named: str | bytes) -> Iterator[bytes]:
    """How it may stand in a file."""
    yield named if isinstance(named, bytes) else named.encode()
    if isinstance(named, str) and IDS.fullmatch(named):
        yield id_bytes(named)


def _in_bytes(data: bytes, named: set[str | bytes]) -> set[str | bytes]:
    return {each for each in named if any(form in data for form in _forms(each))}


def _left(folder: Path, named: set[str | bytes]) -> dict[str, set[str | bytes]]:
    """What of it stands in which table."""
    found = {}
    for table in TABLES:
        values = (value for row in _rows(folder, f'SELECT * FROM "{table}"') for value in row)
        data = b"\0".join(each if isinstance(each, bytes) else str(each).encode() for each in values)
        found[table] = _in_bytes(data, named)
    return {table: ids for table, ids in found.items() if ids}


@pytest.fixture(name="aviary")
def _aviary(make_world: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Aviary:
    monkeypatch.setattr("lamina.limits.WAIT_S_MAX", 0.01)
    return Aviary(make_world(doors="mem0", relay_episodic_rollover_bytes=1024), tmp_path)


@pytest.mark.parametrize("how", ["erasure", "redact_events"])
def test_no_id_of_what_was_erased_is_left_but_in_its_marks(aviary: Aviary, how: str) -> None:
    for number in range(2):
        aviary.tell(number)
    aviary.converse()
    aviary.of_others()
    aviary.settle()
    folder = aviary.folder
    named = _named(folder)
    assert len(named) > 100
    assert set(_left(folder, named)) >= {"identifier", "record", "record_row", "lifecycle"}
    if how == "erasure":
        aviary.erase()
    else:
        for scope in {row[0] for row in _rows(folder, "SELECT scope FROM event") if "user:alice" in row[0]}:
            asked = {"scope": scope, "layers": [], "cascade": how, "confirm_all": True}
            assert aviary.world.call("POST", "/v1/forget", headers=ALICE, body=asked).status_code == 200
        while aviary.eraser.step():
            pass
    left = _left(folder, named)
    # An event without its words keeps its place.
    stays = {each for each in named if how == "redact_events" and str(each).startswith("evt_")}
    beside = {name: ids - stays for name, ids in left.items() if not TABLES[name].keeps_ids}
    assert {name: ids for name, ids in beside.items() if ids} == {}
    gone = named - set().union(*left.values())
    for name, data in _bytes_of(folder):
        assert _in_bytes(data, gone) == set(), name
    assert _rows(folder, _UNNAMED) == [], "a number goes with the last row that has it"
    assert all(scope == BOBS for (scope,) in _rows(folder, "SELECT scope FROM record"))

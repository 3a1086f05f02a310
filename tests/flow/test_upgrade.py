"""A folder that an older release wrote opens, is derived anew behind the service, and then equals its own replay."""

from __future__ import annotations

import contextlib
import io
import lzma
import tarfile
from pathlib import Path
from typing import Any

import apsw
import pytest

from given import ManualClock
from lamina.kernel.time import SystemClock
from lamina.language.temporal import find_times
from lamina.models.minilm import MiniLmEmbedder
from lamina.pipeline.derived_by import DERIVED_BY
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.upgrading import Upgrader
from lamina.pipeline.worker import Worker
from lamina.store.ports.store import Store
from lamina.store.rules.rederivation import differences
from lamina.store.sqlite import SqliteStore, rederivation_of
from libraries import Meanings
from upgrades import derive_anew

FOLDERS = Path(__file__).parents[1] / "data" / "folders"


class Names(Meanings):
    """Vectors that nobody looks at, under the name of those that the folder has."""

    name = MiniLmEmbedder.name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    packed = lzma.decompress((FOLDERS / "0ed09b5.tar.xz").read_bytes())
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path / "0ed09b5"


class Opened:
    """The folder, opened by a worker of today that needs no parser: it surely derives otherwise than was derived."""

    def __init__(self, folder: Path) -> None:
        self.store = SqliteStore(folder, durable=False)
        self.clock = ManualClock(SystemClock().now())
        self.upgrader = Upgrader(self.store, DERIVED_BY, self.worker_of, self.clock)

    def worker_of(self, store: Store) -> Worker:
        deriver = Deriver(store, RulesExtractor(find_times, use_parser=False), None)
        return Worker(store, deriver, None, self.clock, "test")

    def replayed(self) -> list[Any]:
        self.store.jobs.reset()
        deriver = Deriver(self.store, RulesExtractor(find_times, use_parser=False), Names())
        Worker(self.store, deriver, Names(), self.clock, "test").drain()
        return list(self.store.snapshot())

    def close(self) -> None:
        self.upgrader.close()
        self.store.close()


def test_a_folder_of_0ed09b5_is_derived_anew_and_equals_its_replay(folder: Path) -> None:
    assert rederivation_of(folder / "lamina.db") is None
    opened = Opened(folder)
    old = list(opened.store.snapshot())
    opened.upgrader.begin()
    state = opened.store.rederivation.state()
    assert (state.scopes, state.events, state.earlier) == (5, 38, {})
    derive_anew(opened.upgrader)
    upgraded = list(opened.store.snapshot())
    assert upgraded != old
    assert [row for table, row in upgraded if table == "vector_row"] == [
        row for table, row in old if table == "vector_row"
    ]
    assert opened.replayed() == upgraded
    opened.close()
    assert not (folder / "rederived").exists()


@pytest.mark.parametrize("steps", [1, 3, 7])
def test_a_process_that_ends_in_the_middle_is_gone_on_with(folder: Path, steps: int) -> None:
    opened, made = Opened(folder), 0
    opened.upgrader.begin()
    while opened.store.rederivation.state().scopes:
        if made == steps:  # as after kill -9: nothing is finished, and a lease may be held aside
            opened.store.close()
            made, opened = 0, Opened(folder)
            opened.upgrader.begin()
        opened.upgrader.step()
        made += 1
        steps += 1
    upgraded = list(opened.store.snapshot())
    assert opened.replayed() == upgraded
    opened.close()


def test_what_was_derived_aside_is_begun_anew_where_its_file_is_damaged(folder: Path) -> None:
    opened = Opened(folder)
    opened.upgrader.begin()
    group = opened.store.rederivation.next_group()
    assert group is not None
    opened.store.rederivation.aside(group).close()
    aside = folder / "rederived" / "lamina.db"
    with contextlib.closing(apsw.Connection(str(aside))) as connection:
        ((page, size),) = connection.execute(
            "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = 'event'"
        )
    with aside.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xa5" * size)
    derive_anew(opened.upgrader)
    upgraded = list(opened.store.snapshot())
    assert opened.replayed() == upgraded
    opened.close()


def test_recall_reads_the_folder_meanwhile_as_it_was(folder: Path) -> None:
    opened = Opened(folder)
    old = list(opened.store.snapshot())
    opened.upgrader.begin()
    for _ in range(2):
        opened.upgrader.step()
    assert [row for row in opened.store.snapshot() if "user:maya" in row[1]] == [
        row for row in old if "user:maya" in row[1]
    ]
    opened.close()


def test_what_is_derived_otherwise_is_told() -> None:
    assert (
        differences({}, {"facts": "rules/6"}) == "an earlier release, which noted no versions, derived them"
    )
    told = differences({"facts": "rules/5", "loops": "4"}, {"facts": "rules/6", "loops": "4", "columns": "2"})
    assert told == "facts by rules/6, not rules/5, columns by 2, not None"

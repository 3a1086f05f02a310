"""Bytes flipped on disk: seen by doctor, by a check behind the calls and by health, and mended where rows have it all."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import apsw
import pytest
from typer.testing import CliRunner

from forks import ran
from given import NOON, TENANT, CountedIds, ManualClock, append
from lamina import limits
from lamina.cli import damage, supervise
from lamina.cli.main import app
from lamina.cli.restore import run_restore
from lamina.cli.supervise import Workers
from lamina.errors import Unavailable
from lamina.kernel.time import SECOND_US
from lamina.observe.health import HealthRequest, Operating
from lamina.observe.rounds import Failures
from lamina.settings import Settings
from lamina.store.documents.checking import fault_of, kept_ahead
from lamina.store.documents.repository import folder_name
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.sqlite import SqliteStore, database_faults, heads_of
from lamina.store.watch import Watch
from processes import wait_until

DAY = 24 * 3600 * SECOND_US


def opened(folder: Path, clock: ManualClock | None = None) -> SqliteStore:
    return SqliteStore(folder, clock=clock or ManualClock(), ids=CountedIds(), durable=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with documents of 30 KB each that hold no words, so that flips fall into content."""
    chance = random.Random(7)
    store = opened(tmp_path / "data")
    for number in range(6):
        change = Change(f"projects/f{number}.md", ChangeKind.PUT, chance.randbytes(30_000).hex().encode())
        write = Write(tenant_id=TENANT, author="agent:nia", message=f"write {number}", changes=[change])
        store.documents.write([write])
    for number in range(200):
        append(store, f"tea at {number} " * 40)
    store.close()
    return tmp_path / "data"


def repository(folder: Path) -> Path:
    return folder / "relay" / folder_name(TENANT)


def flip(path: Path, seed: int, bytes_flipped: int = 40, start: int = 4096) -> None:
    chance, data = random.Random(seed), bytearray(path.read_bytes())
    for _ in range(bytes_flipped):
        data[chance.randrange(start, len(data) - start)] ^= 1 << chance.randrange(8)
    path.chmod(0o600)
    path.write_bytes(data)


def flip_pack(folder: Path, seed: int = 1) -> None:
    packs = sorted((repository(folder) / "objects" / "pack").glob("*.pack"), key=lambda p: p.stat().st_size)
    flip(packs[-1], seed, start=200)


def doctor(folder: Path, *more: str) -> dict[str, dict[str, str]]:
    done = ran("doctor", "--data", str(folder), "--json", *more)
    return {check["name"]: check for check in json.loads(done.stdout)}


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bytes_inside_a_pack_are_seen(folder: Path, seed: int) -> None:
    head = heads_of(folder / "lamina.db")[TENANT]
    assert fault_of(repository(folder), head) is None
    flip_pack(folder, seed)
    assert fault_of(repository(folder), head) is not None
    assert damage.documents_check(folder, repaired=[]).state == "note"


def test_a_repository_that_is_behind_the_database_or_gone_is_seen(folder: Path) -> None:
    assert "is not in it" in str(fault_of(repository(folder), "0" * 40))
    shutil.rmtree(repository(folder))
    assert damage.documents_check(folder, repaired=[]).found.count("it is not there") == 1


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bytes_in_the_database_are_seen(folder: Path, seed: int) -> None:
    assert database_faults(folder / "lamina.db") == []
    chance, path = random.Random(seed), folder / "lamina.db"
    data = bytearray(path.read_bytes())
    for page in chance.sample(range(2, len(data) // 4096), 25):
        data[page * 4096 : page * 4096 + 64] = chance.randbytes(64)
    path.write_bytes(data)
    assert database_faults(path)
    assert damage.database_check(folder).state == "fail"


def test_a_lost_page_at_the_end_of_an_events_words_is_seen(folder: Path) -> None:
    """No structure of the file leads through it, so that SQLite calls the file whole."""
    path = folder / "lamina.db"
    store = opened(folder)
    append(store, f"{'tea ' * 3000}with milk")
    store.close()
    data = bytearray(path.read_bytes())
    page = data.index(b"tea with milk") // 4096
    data[page * 4096 : (page + 1) * 4096] = bytes(4096)
    path.write_bytes(data)
    assert database_faults(path) == ["events without the end of their words: 1"]


def test_a_file_that_may_not_be_opened_is_not_called_damaged(folder: Path) -> None:
    """Nothing is known of its bytes then, and who restores a backup for it loses what came since."""
    (folder / "lamina.db-wal").unlink(missing_ok=True)
    (folder / "lamina.db-wal").mkdir()  # as a file of somebody else
    with pytest.raises(Unavailable) as refused:
        damage.database_check(folder)
    assert refused.value.code == "WAL_UNAVAILABLE"


def test_a_check_behind_the_calls_builds_a_damaged_repository_anew(folder: Path) -> None:
    head = heads_of(folder / "lamina.db")[TENANT]
    flip_pack(folder)
    store = opened(folder)
    store.documents.recover()
    checked = store.upkeep.check(NOON)
    assert checked.repositories == (folder_name(TENANT),)
    wait_until(lambda: store.upkeep.state().repositories_behind == 0)
    assert store.upkeep.check(NOON + 1).repositories == ()
    assert store.upkeep.state().checked == store.upkeep.check(NOON + 1)
    store.close()
    assert fault_of(repository(folder), head) is None
    assert (repository(folder) / "refs" / "heads" / "main").read_text().strip() == head


def test_doctor_repairs_from_rows_with_the_same_hashes(folder: Path) -> None:
    head = heads_of(folder / "lamina.db")[TENANT]
    flip_pack(folder)
    assert damage.repair_documents(Settings(data=folder)) == [folder_name(TENANT)]
    assert damage.repair_documents(Settings(data=folder)) == []
    assert fault_of(repository(folder), head) is None


@pytest.mark.model
def test_doctor_tells_all_of_it(folder: Path) -> None:
    flip_pack(folder)
    told = doctor(folder)
    assert {name: told[name]["state"] for name in ("database", "documents", "clock", "derivation")} == {
        "database": "ok",
        "documents": "note",
        "clock": "ok",
        "derivation": "note",
    }
    assert "does not match its checksum" in told["documents"]["found"]
    assert "built anew" in doctor(folder, "--repair")["documents"]["found"]


def test_what_a_database_lost_stays_in_its_repository_and_is_told(folder: Path) -> None:
    """As when its newest commits went with a write-ahead file, or an older copy took its place."""
    older = (folder / "lamina.db").read_bytes()
    store = opened(folder)
    written(store, 4)
    newest = store.documents.head(TENANT)
    store.close()
    (folder / "lamina.db").write_bytes(older)
    store = opened(folder)
    store.documents.recover()
    written(store, 2)
    head = store.documents.head(TENANT)
    store.close()
    assert (newest is not None, head is not None) == (True, True)
    kept = f"refs/lamina/ahead/{newest.sha[:12]}"
    assert [count(folder, name) for name in ("main", kept)] == [8, 10]
    found = doctor(folder)["documents"]
    assert (found["state"], kept in found["found"]) == ("fail", True)


@pytest.mark.parametrize("seen", [True, False])
def test_what_a_database_lost_outlives_a_repository_that_is_built_anew(folder: Path, seen: bool) -> None:
    """A power cut may shorten a write-ahead file and tear a pack; the pack may be torn later, too."""
    older = (folder / "lamina.db").read_bytes()
    store = opened(folder)
    written(store, 4)
    newest = store.documents.head(TENANT)
    store.close()
    (folder / "lamina.db").write_bytes(older)
    if seen:
        store = opened(folder)
        store.documents.recover()
        store.close()
    path = repository(folder)
    (path / "objects" / "pack" / f"pack-{'0' * 40}.idx").write_bytes(b"")
    store = opened(folder)
    store.documents.recover()
    written(store, 2)
    head = store.documents.head(TENANT)
    store.close()
    assert newest is not None
    assert head is not None
    assert kept_ahead(path) == [f"refs/lamina/ahead/{newest.sha[:12]}"]
    assert [count(folder, name) for name in ("main", kept_ahead(path)[0])] == [8, 10]
    assert fault_of(path, head.sha) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="nobody else gives a folder away")
def test_a_folder_of_another_owner_keeps_its_repositories(folder: Path, tmp_path: Path) -> None:
    """As on a volume, or where root restored a copy: git's own care for such folders is no damage."""
    path = repository(folder)
    kept = "refs/lamina/ahead/0123456789ab"
    subprocess.run(["git", "-C", path, "update-ref", kept, "main"], check=True)
    for each in (path, *path.rglob("*")):
        os.chown(each, 12_345, 12_345)
    store = opened(folder)
    written(store, 2)
    store.close()
    assert (kept_ahead(path), fault_of(path, heads_of(folder / "lamina.db")[TENANT])) == ([kept], None)
    aside = tmp_path / "restored"
    assert run_restore(Settings(data=aside), path, TENANT).same_hashes


def test_hashes_that_were_not_noted_yet_are_no_loss(folder: Path) -> None:
    store = opened(folder)
    written(store, 3)
    store.close()
    with contextlib.closing(apsw.Connection(str(folder / "lamina.db"))) as connection:
        connection.execute("UPDATE document_commit SET sha = NULL WHERE number > 7")
    store = opened(folder)
    store.documents.recover()
    store.close()
    assert kept_ahead(repository(folder)) == []
    assert fault_of(repository(folder), heads_of(folder / "lamina.db")[TENANT]) is None


def written(store: SqliteStore, count: int) -> None:
    for number in range(count):
        change = Change("projects/more.md", ChangeKind.PUT, f"more {number} of {count}".encode())
        store.documents.write([Write(tenant_id=TENANT, author="agent:nia", message="more", changes=[change])])


def count(folder: Path, name: str) -> int:
    command = ["git", "--git-dir", str(repository(folder)), "rev-list", "--count", name]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_beside_a_server_nothing_is_repaired(folder: Path) -> None:
    flip_pack(folder)
    store = opened(folder)
    store.documents.recover()
    with pytest.raises(Unavailable, match="another process writes"):
        damage.repair_documents(Settings(data=folder))
    store.close()


def test_events_ahead_of_the_clock_are_told(tmp_path: Path) -> None:
    clock = ManualClock(NOON + 400 * DAY)
    store = opened(tmp_path, clock)
    append(store, "tea")
    clock.at = NOON
    append(store, "tea", tenant_id="other")
    assert store.upkeep.state().last_recorded_at == NOON + 400 * DAY
    store.close()
    assert damage.clock_check(tmp_path, NOON).state == "note"
    assert "2027-06-17" in damage.clock_check(tmp_path, NOON).found
    assert damage.clock_check(tmp_path, NOON + 400 * DAY - SECOND_US).state == "ok"


# ---- restoring


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_clone_is_refused_in_words(folder: Path, tmp_path: Path, seed: int) -> None:
    flip_pack(folder, seed)
    asked = [
        "restore",
        "--from-git",
        str(repository(folder)),
        "--data",
        str(tmp_path / "new"),
        "--tenant",
        TENANT,
    ]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code != 0
    assert type(done.exception) is SystemExit
    assert "INVALID_CLONE" in done.output
    assert "damaged" in done.output
    store = opened(tmp_path / "new")
    assert store.documents.below(TENANT, "", with_content=False) == []
    store.close()


# ---- health


def health(world: Any) -> tuple[int, dict[str, Any]]:
    response = world.call("GET", "/v1/admin/health")
    return response.status_code, response.json()


def test_health_tells_the_last_check_and_never_checks(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert health(world)[1]["integrity"] is None
    world.store.upkeep.check(world.clock.at)
    world.clock.at += 90 * SECOND_US
    monkeypatch.setattr(world.store.upkeep, "check", lambda now: pytest.fail("health checks nothing itself"))
    assert health(world)[1]["integrity"] == {"age_s": 90.0, "database": [], "repositories": []}


def test_health_and_doctor_tell_of_a_repository_that_lies_aside(
    world: Any, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "relay" / "acme.git.unreadable-1" / "objects").mkdir(parents=True)
    assert any("lie aside" in problem for problem in health(world)[1]["problems"])
    (repository(folder) / "HEAD").unlink()
    assert "cannot be read" in doctor(folder)["documents"]["found"]
    found = doctor(folder, "--repair")["documents"]
    assert (found["state"], f"{repository(folder).name}.unreadable-" in found["found"]) == ("fail", True)


def test_health_tells_of_events_ahead_of_the_clock(world: Any) -> None:
    world.clock.at += 2 * DAY
    world.event("tea")
    world.clock.at -= 2 * DAY
    status, report = health(world)
    assert (status, report["recorded_ahead_s"]) == (200, 2 * 86_400.0)
    assert any("ahead of the clock" in problem for problem in report["problems"])


def test_health_tells_what_is_derived_anew(world: Any) -> None:
    assert health(world)[1]["derivation"]["current"]
    world.land(world.fact())
    world.store.rederivation.begin({"facts": "rules/1"})
    derivation = health(world)[1]["derivation"]
    assert (derivation["current"], derivation["scopes_left"]) == (False, 1)


def test_a_folder_that_went_away_is_a_report(tmp_path: Path) -> None:
    store = opened(tmp_path / "data")
    append(store, "tea")
    store.upkeep.state()  # this thread has the file open, as those of a server have
    (tmp_path / "data").rename(tmp_path / "elsewhere")
    for thread in (lambda run: run(), in_a_new_thread):
        failure = thread(lambda: refusal(store))
        report = failure.details["health"]
        assert (failure.code, report["status"]) == ("WAL_UNAVAILABLE", "unavailable")
        assert "the log cannot be written" in report["problems"]
    (tmp_path / "elsewhere").rename(tmp_path / "data")
    store.close()


def test_a_folder_that_may_not_be_looked_into_is_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(tmp_path / "data")
    (tmp_path / "data" / "worker.lock").mkdir()  # as a lock that may not be opened
    looked = os.stat

    def stat(path: Any, **more: Any) -> os.stat_result:
        if str(path).startswith(str(tmp_path)):
            raise PermissionError(13, "Permission denied")
        return looked(path, **more)

    with monkeypatch.context() as forbidden:
        forbidden.setattr(os, "stat", stat)
        failure = refusal(store)
    assert (failure.code, failure.details["health"]["worker"]["alive"]) == ("WAL_UNAVAILABLE", False)
    store.close()


def refusal(store: SqliteStore) -> Unavailable:
    with pytest.raises(Unavailable) as raised:
        Operating(store, Watch(store)).health(HealthRequest(), SimpleNamespace(now=NOON))  # type: ignore[arg-type]
    return raised.value


def in_a_new_thread(run: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


# ---- behind the calls


@pytest.fixture
def workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Workers, list[Any]]]:
    """A supervisor whose workers only sleep, and where waiting for the first fails three times."""
    started: list[Any] = []

    class Process(subprocess.Popen):  # type: ignore[type-arg]
        failing = 3

        def __init__(self, command: Any) -> None:
            super().__init__([sys.executable, "-c", "import time; time.sleep(60)"])
            started.append(self)

        def wait(self, timeout: float | None = None) -> int:
            if self.failing and threading.current_thread().name == "lamina-workers":
                self.failing -= 1
                raise OSError(22, "Invalid argument")
            return super().wait(timeout)

    monkeypatch.setattr(supervise.subprocess, "Popen", Process)
    monkeypatch.setattr(supervise, "_RESTART_S", 0.02)
    monkeypatch.setattr(limits, "ROUND_BACKOFF_BASE_S", 0.02)
    failures = Failures()
    kept = Workers(Settings(data=tmp_path), failures)
    kept.start()
    yield kept, started
    kept.stop()


def test_a_worker_that_lives_is_not_forgotten(workers: tuple[Workers, list[Any]]) -> None:
    _, started = workers
    wait_until(lambda: bool(started) and started[0].failing == 0)
    assert len(started) == 1
    assert started[0].poll() is None
    started[0].kill()
    wait_until(lambda: len(started) == 2)

"""What was erased after a backup was made is not in the folder that it is restored into."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from given import NOON, TENANT, ManualClock, audit_draft, fact, land
from lamina.app import build_server
from lamina.cli.backup_settings import backup_request
from lamina.cli.damage import erasures_check
from lamina.cli.main import app
from lamina.cli.work import warn_of_erasures
from lamina.coordination.owned import documents_about_people
from lamina.errors import LaminaError
from lamina.forget.reapplying import apply_again
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.pipeline.derived_by import DERIVED_BY
from lamina.pipeline.upgrading import Upgrader
from lamina.settings import Settings
from lamina.store.backups.tombstones import NoTombstones, TombstoneFile
from lamina.store.opening import back_up
from lamina.store.ports.audit import AuditQuery
from lamina.store.ports.erasing import Erasure
from lamina.store.ports.tombstones import ListedErasure
from lamina.store.ports.writes import Writes
from lamina.store.sqlite import SqliteStore
from lamina.worker_app import build_eraser
from told import START, Memory
from upgrades import derive_anew

ALICE, BOB = "org:acme/user:alice", "org:acme/user:bob"
LISTED = ListedErasure(
    tenant_id="acme",
    id="erasure_1",
    at=1,
    by_actor="user:alice",
    cascade="gdpr",
    scope=Scope(ALICE),
    held=(Scope(f"{ALICE}/ws:case"),),
    actors=("user:alice",),
    factor=0.5,
    floor=0.3,
)


class Served:
    """A server over a folder, as the settings have it."""

    def __init__(self, data: Path, tombstones: Path | None = None) -> None:
        self.settings = Settings(data=data, tenant="acme", tombstones=tombstones)
        self.server = build_server(self.settings)
        self.client = TestClient(self.server.application, "http://localhost")
        self.eraser = build_eraser(self.settings, self.server.store)

    def post(self, path: str, body: dict[str, Any], by: str) -> Any:
        answer = self.client.post(path, json=body, headers={"X-Cortex-Actor": by})
        assert answer.status_code < 300, answer.text
        return answer.json()

    def say(self, text: str, scope: str) -> str:
        by = scope.rpartition("/")[2]
        sent = {
            "scope": scope,
            "modality": "conversation",
            "content": {"kind": "message", "role": "user", "text": text},
            "context": {"observed_at": "2026-05-13T11:00:00Z"},
            "idempotency_key": text,
        }
        return str(self.post("/v1/experience", sent, by)["event_id"])

    def begin(self, scope: str) -> str:
        """An erasure of somebody's memory, as they ask for it."""
        asked = {"scope": scope, "audit_note": "case 1"}
        return str(self.post("/v1/erasures", asked, scope.rpartition("/")[2])["erasure_id"])

    def texts(self, scope: str) -> list[str | None]:
        got = self.client.get(
            "/v1/events", params={"scope": scope}, headers={"X-Cortex-Actor": scope.rpartition("/")[2]}
        )
        return sorted(each["content"].get("text") for each in got.json()["items"])


@contextmanager
def serving(data: Path, tombstones: Path | None = None) -> Iterator[Served]:
    served = Served(data, tombstones)
    try:
        yield served
    finally:
        served.server.close()


def lamina(*arguments: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    return done.exit_code, done.output


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lamina.cli.backup_settings._NICENESS", 0)  # of this process, for all that follows
    monkeypatch.setattr("lamina.limits.WAIT_S_MAX", 0.01)


def test_what_was_erased_since_a_backup_stays_erased(tmp_path: Path) -> None:
    data, second, third = tmp_path / "data", tmp_path / "second", tmp_path / "third"
    with serving(data) as served:
        served.say("a secret of hers", ALICE)
        quarrel = served.say("a quarrel", BOB)
        served.say("ramen", BOB)
        code, said = lamina("backup", "--data", data)
        made = Path(said.splitlines()[0])
        assert (code, TombstoneFile(served.settings.tombstone_list).read()) == (0, [])
        chosen = {"scope": BOB, "selector": {"memory_ids": [quarrel]}, "cascade": "redact_events"}
        served.post("/v1/forget", chosen, "user:bob")
        served.post("/v1/erasures", {"scope": ALICE, "audit_note": "case 1"}, "user:alice")
        assert served.eraser.step()
        served.say("told after it", ALICE)
    listed = served.settings.tombstone_list
    assert [each.cascade for each in TombstoneFile(listed).read()] == ["redact_events", "gdpr"]
    assert b"secret" not in listed.read_bytes()
    assert lamina("restore", made, "--data", second)[0] == 0
    with serving(second) as restored:
        assert (restored.texts(ALICE), restored.texts(BOB)) == ([], ["ramen"])
        assert restored.server.store.erasing.has_frozen("acme")
    files = [path for path in second.rglob("*") if path.is_file()]
    assert [path for path in files if b"secret of hers" in path.read_bytes()] == []
    assert lamina("restore", made, "--data", third, "--without-tombstones")[0] == 0
    with serving(third) as restored:
        assert restored.texts(ALICE) == ["a secret of hers"]


def test_an_erasure_that_was_cancelled_since_a_backup_is_not_carried_out(tmp_path: Path) -> None:
    data, second = tmp_path / "data", tmp_path / "second"
    with serving(data) as served:
        served.say("not to be lost", ALICE)
        served.say("nor this", BOB)
        under_way = served.begin(ALICE)
        made = Path(lamina("backup", "--data", data)[1].splitlines()[0])
        for erasure_id, by in ((under_way, "user:alice"), (served.begin(BOB), "user:bob")):
            served.post(f"/v1/erasures/{erasure_id}/cancel", {}, by)
            assert served.eraser.step()
        assert (served.texts(ALICE), served.texts(BOB)) == (["not to be lost"], ["nor this"])
    assert lamina("restore", made, "--data", second)[0] == 0
    with serving(second) as restored:
        assert not restored.eraser.step()
        assert (restored.texts(ALICE), restored.texts(BOB)) == (["not to be lost"], ["nor this"])


def test_an_erasure_that_a_restore_finished_is_done_again_with_an_older_backup(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data) as served:
        served.say("a secret of hers", ALICE)
        older = Path(lamina("backup", "--data", data)[1].splitlines()[0])
        served.begin(ALICE)
        newer = Path(lamina("backup", "--data", data)[1].splitlines()[0])
    for number, backup in enumerate((newer, older)):
        data.rename(tmp_path / f"lost-{number}")
        assert lamina("restore", backup, "--data", data)[0] == 0
        with serving(data) as restored:
            assert restored.texts(ALICE) == []


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_what_was_erased_since_a_clone_stays_erased(tmp_path: Path) -> None:
    data, clone = tmp_path / "data", tmp_path / "clones" / "acme"
    with serving(data) as served:
        for who in ("alice", "bob"):
            sent = {"path": f"journal/{who}.md", "content": f"a secret of {who}"}
            served.post("/v1/write", sent, f"user:{who}")
        (repository,) = (data / "relay").glob("*.git")
        subprocess.run(["git", "clone", "-q", repository, clone], check=True, timeout=300)
        served.post("/v1/erasures", {"scope": ALICE, "audit_note": "case 1"}, "user:alice")
        assert served.eraser.step()
    listed = served.settings.tombstone_list
    of_acme = ("--from-git", clone, "--tenant", "acme", "--data")
    code, said = lamina("restore", *of_acme, tmp_path / "second", "--tombstones", listed)
    assert (code, "1 erased since" in said) == (0, True)
    files = [path for path in (tmp_path / "second").rglob("*") if path.is_file()]
    assert [path for path in files if b"secret of alice" in path.read_bytes()] == []
    with serving(tmp_path / "second") as restored:
        kept = restored.server.store.documents.below("acme", "journal")
        assert [each.path for each in kept] == ["journal/bob.md"]
    code, said = lamina("restore", *of_acme, tmp_path / "third")
    assert (code, "comes back" in said) == (0, True)
    code, said = lamina("restore", *of_acme, tmp_path / "fourth", "--without-tombstones")
    assert (code, "comes back" in said) == (0, False)
    assert lamina("restore", *of_acme, tmp_path / "fifth", "--tombstones", tmp_path / "nowhere")[0] == 4
    assert not (tmp_path / "fifth").exists()


@pytest.mark.parametrize(
    ("done", "replayed", "stays"),
    [(0, False, set()), (1, False, set()), (2, False, set()), (2, True, {"one", "two"})],
    ids=["nothing of it was", "a part of it was", "it was over", "a replay brought it back"],
)
def test_what_was_being_forgotten_as_a_backup_was_made_is_forgotten(
    tmp_path: Path, done: int, replayed: bool, stays: set[str]
) -> None:
    """The backup is of after the call came, and of after some of its steps."""
    facts = {name: fact(name) for name in ("one", "two")}
    ids = [each.id for each in facts.values()]
    erasure = Erasure(
        tenant_id=TENANT, erasure_id="aud_1", by_actor="user:alice", cascade="derived_only", audit_id="aud_1"
    )
    listed = replace(
        LISTED, id="aud_1", audit_id="aud_1", cascade="derived_only", at=NOON, records=tuple(ids)
    )
    store = SqliteStore(tmp_path / "data", clock=ManualClock(), durable=False)
    for each in facts.values():
        land(store, Writes(records=[each]))
    for name in ids[:done]:
        with store.audit.ride(lambda _: audit_draft(id="aud_1")) if name == ids[0] else nullcontext():
            store.erasing.erase(replace(erasure, records=[name]))
    if replayed:
        store.jobs.reset()
        land(store, Writes(records=list(facts.values())))
    apply_again(
        store,
        [listed],
        ManualClock(),
        as_of=NOON + 1,
        about=documents_about_people(store),
        tombstones=NoTombstones(),
    )
    kept = store.records.get(TENANT, ids)
    store.close()
    assert {name for name, each in facts.items() if each.id in kept} == stays


def test_what_was_forgotten_is_not_derived_again_where_a_backup_is_of_before_it_was_derived(
    tmp_path: Path,
) -> None:
    clock = ManualClock(START)
    memory = Memory(SqliteStore(tmp_path / "data", clock=clock, durable=False), clock)
    told = [memory.tell(text, START) for text in ("I live in Porto.", "I work as a baker.")]
    memory.store.close()
    shutil.copytree(tmp_path / "data", tmp_path / "second")

    memory = Memory(SqliteStore(tmp_path / "data", clock=clock, durable=False), clock)
    memory.derive()
    (gone, _) = sorted(memory.held(Layer.FACTS), key=lambda each: each.predicate)
    memory.store.close()
    listed = replace(
        LISTED, id="aud_1", cascade="derived_only", at=clock.at + 1, records=(gone.id,), audit_id="aud_1"
    )

    store = SqliteStore(tmp_path / "second", clock=clock, durable=False)
    apply_again(
        store,
        [listed],
        clock,
        as_of=clock.at,
        about=documents_about_people(store),
        tombstones=NoTombstones(),
    )
    memory = Memory(store, clock)
    memory.derive()
    upgrader = Upgrader(store, DERIVED_BY, lambda aside: Memory(aside, clock).worker, clock)
    upgrader.begin()
    derive_anew(upgrader)
    memory.derive()
    assert [each.predicate for each in memory.held(Layer.FACTS)] == ["works_as"]
    mark = store.erasing.tombstone(TENANT, gone.id)
    assert mark is not None
    assert (mark.layer, mark.scope, mark.erasure_id) == (Layer.FACTS, gone.scope, "aud_1")
    assert store.log.get(TENANT, [each.id for each in told]).keys() == {each.id for each in told}
    store.close()


def test_a_backup_is_restored_with_its_list_or_not_at_all(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as served:
        served.say("a secret", ALICE)
        made = Path(
            lamina("backup", "--data", tmp_path / "data", "--to", tmp_path / "away")[1].splitlines()[0]
        )
        served.post("/v1/erasures", {"scope": ALICE, "audit_note": "case 1"}, "user:alice")
        assert served.eraser.step()
    code, said = lamina("restore", made.with_suffix(".typo"), "--data", tmp_path / "second")
    assert (code, "BACKUP_NOT_FOUND" in said) == (4, True)  # and not to do without its list
    code, said = lamina("restore", made, "--data", tmp_path / "second")
    assert (code, "TOMBSTONES_NOT_FOUND" in said, (tmp_path / "second").exists()) == (4, True, False)
    listed = served.settings.tombstone_list
    assert lamina("restore", made, "--data", tmp_path / "second", "--tombstones", listed)[0] == 0
    with serving(tmp_path / "second") as restored:
        assert restored.texts(ALICE) == []


def test_a_list_beside_an_older_backup_is_not_the_last_word(tmp_path: Path) -> None:
    """Backups go elsewhere by now, and so does the list."""
    data, before = tmp_path / "data", tmp_path / "before"
    with serving(data) as served:
        served.say("a secret", ALICE)
        made = Path(lamina("backup", "--data", data, "--to", before)[1].splitlines()[0])
        TombstoneFile(before / "tombstones.jsonl").begin()
        served.post("/v1/erasures", {"scope": ALICE, "audit_note": "case 1"}, "user:alice")
        assert served.eraser.step()
    data.rename(tmp_path / "lost")
    code, said = lamina("restore", made, "--data", data)
    assert (code, f"{served.settings.tombstone_list}" in said) == (0, True)
    with serving(data) as restored:
        assert restored.texts(ALICE) == []


def test_nothing_is_erased_that_cannot_be_listed(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as served:
        event = served.say("a secret", ALICE)
        served.settings.tombstone_list.mkdir(parents=True)
        asked = {"scope": ALICE, "selector": {"memory_ids": [event]}, "cascade": "redact_events"}
        refused = served.client.post("/v1/forget", json=asked, headers={"X-Cortex-Actor": "user:alice"})
        assert (refused.status_code, refused.json()["error_code"]) == (503, "CANNOT_WRITE_TOMBSTONES")
        assert served.texts(ALICE) == ["a secret"]


def test_a_list_holds_what_was_put_down_whole(tmp_path: Path) -> None:
    path = tmp_path / "backups" / "tombstones.jsonl"
    kept = TombstoneFile(path)
    with pytest.raises(LaminaError, match="TOMBSTONES_NOT_FOUND"):
        kept.read()
    kept.begin()
    kept.append(LISTED)
    with path.open("ab") as file:
        file.write(b'{"version":1,"tenant')  # a process was killed
    assert kept.read() == [LISTED]
    kept.append(LISTED)
    assert (kept.read(), path.stat().st_mode & 0o777) == ([LISTED, LISTED], 0o600)
    path.write_bytes(path.read_bytes().replace(b'"version":1', b'"version":9', 1))
    with pytest.raises(LaminaError, match="INVALID_TOMBSTONES"):
        kept.read()


def test_a_list_that_was_lost_is_not_believed_for_what_is_older(tmp_path: Path) -> None:
    data, second, third = tmp_path / "data", tmp_path / "second", tmp_path / "third"
    with serving(data) as served:
        served.say("a secret", ALICE)
        served.say("ramen", BOB)
        older = Path(lamina("backup", "--data", data)[1].splitlines()[0])
        served.begin(ALICE)
        assert served.eraser.step()
        served.settings.tombstone_list.unlink()
        newer = Path(lamina("backup", "--data", data)[1].splitlines()[0])
        served.begin(BOB)
        assert served.eraser.step()
    code, told = lamina("restore", older, "--data", second)
    assert (code, "INCOMPLETE_TOMBSTONES" in told, (second / "lamina.db").exists()) == (5, True, False)
    assert lamina("restore", newer, "--data", third)[0] == 0
    with serving(third) as restored:
        assert (restored.texts(ALICE), restored.texts(BOB)) == ([], [])
        assert not restored.server.store.audit.query(AuditQuery(tenant_id="acme", endpoint="restore"))
    assert lamina("restore", older, "--data", second, "--incomplete-tombstones")[0] == 0
    with serving(second) as restored:
        assert (restored.texts(ALICE), restored.texts(BOB)) == (["a secret"], [])
        (row,) = restored.server.store.audit.query(AuditQuery(tenant_id="acme", endpoint="restore"))
        assert "a part of it" in str(row.draft.detail)


def test_a_copy_of_a_list_from_before_a_backup_is_not_believed(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as served:
        served.say("a secret", ALICE)
        lamina("backup", "--data", tmp_path / "data")
        copy = shutil.copy(served.settings.tombstone_list, tmp_path / "copy.jsonl")
        served.begin(ALICE)
        assert served.eraser.step()
        made = Path(lamina("backup", "--data", tmp_path / "data")[1].splitlines()[0])
    asked = ("restore", made, "--data", tmp_path / "second", "--tombstones")
    assert [lamina(*asked, each)[0] for each in (copy, served.settings.tombstone_list)] == [5, 0]


def test_a_list_of_an_earlier_release_goes_on(tmp_path: Path) -> None:
    """It is taken for whole, also for what is older than its first line of today."""
    listed, data = tmp_path / "tombstones.jsonl", tmp_path / "data"
    with serving(data, listed) as served:
        served.say("a secret", ALICE)
        made = back_up(data, replace(backup_request(served.settings, listed), erasures=lambda: None))
        assert made is not None
        listed.write_bytes(b"")
        served.begin(ALICE)
        assert served.eraser.step()
    assert [each.since for each in TombstoneFile(listed).states()] == [None]
    asked = ("restore", made.path, "--tombstones", listed, "--data")
    assert lamina(*asked, tmp_path / "second")[0] == 0
    with serving(tmp_path / "second") as restored:
        assert restored.texts(ALICE) == []
    listed.unlink()
    TombstoneFile(listed).begin()
    assert lamina(*asked, tmp_path / "third")[0] == 5


def test_what_one_folder_erased_stays_in_another_that_shares_its_list(tmp_path: Path) -> None:
    listed = tmp_path / "tombstones.jsonl"
    for name in ("data", "other"):
        with serving(tmp_path / name, listed) as served:
            served.say(f"told to {name}", ALICE)
    request = backup_request(served.settings, listed)
    made = back_up(served.settings.data, request)
    assert made is not None
    with serving(tmp_path / "data", listed) as served:
        served.begin(ALICE)
        assert served.eraser.step()
    code, told = lamina("restore", made.path, "--data", tmp_path / "second", "--tombstones", listed)
    assert (code, "of other data folders (data)" in told) == (0, True)
    with serving(tmp_path / "second") as restored:
        assert restored.texts(ALICE) == ["told to other"]


def test_what_was_erased_before_a_folder_was_begun_anew_is_not_erased_from_its_backups(
    tmp_path: Path,
) -> None:
    """The list stays when the data folder is deleted: it stands beside the backups."""
    data = tmp_path / "data"
    with serving(data) as served:
        served.begin(ALICE)
        assert served.eraser.step()
    shutil.rmtree(data)
    with serving(data) as served:
        served.say("told to the new one", ALICE)
        older = Path(lamina("backup", "--data", data)[1].splitlines()[0])
        served.say("told later", BOB)
        served.begin(BOB)
        assert served.eraser.step()
    shutil.rmtree(data)
    code, told = lamina("restore", older, "--data", data)
    assert (code, "1 erasures" in told) == (0, True)
    with serving(data) as restored:
        assert (restored.texts(ALICE), restored.texts(BOB)) == (["told to the new one"], [])


def test_an_older_copy_of_a_folder_is_told_from_what_erased(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data, snapshot = tmp_path / "data", tmp_path / "snapshot"
    with serving(data) as served:
        served.say("a secret", ALICE)
        quarrel = served.say("a quarrel", BOB)
    shutil.copytree(data, snapshot)
    with serving(data) as served:
        settings = served.settings
        chosen = {"scope": BOB, "selector": {"memory_ids": [quarrel]}, "cascade": "redact_events"}
        served.post("/v1/forget", chosen, "user:bob")
        served.begin(ALICE)
        assert served.eraser.step()
    assert erasures_check(settings).state == "ok"
    shutil.rmtree(data)
    shutil.copytree(snapshot, data)
    check = erasures_check(settings)
    assert (check.state, check.found.split()[0]) == ("note", "2")
    warn_of_erasures(settings)
    assert "2 erasures" in caplog.text
    shutil.rmtree(data)
    with serving(data) as served:
        served.say("of a new memory", ALICE)
    assert erasures_check(settings).state == "ok"

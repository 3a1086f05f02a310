"""Backups of one tenant's documents: outside git, of one moment, and read back without writing anything."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import capsules
from lamina.kernel.time import SECOND_US
from lamina.store.backups import documents
from lamina.store.ports.documents import Change, ChangeKind, Write

SUBJECT = {"subject_kind": "thread", "subject_id": "launch"}


@pytest.fixture
def kept(make_world: Callable[..., Any], tmp_path: Path) -> Any:
    """A world whose backups go to a folder of the test."""
    return make_world(backup_folder=tmp_path / "backups")


def place(tmp_path: Path) -> Path:
    return tmp_path / "backups/documents/acme"


def put(world: Any, path: str, content: bytes, tenant: str = "acme") -> None:
    change = Change(path, ChangeKind.PUT, content)
    world.store.documents.write([Write(tenant_id=tenant, author="user:a", message="put", changes=[change])])


def sent(world: Any, path: str, **body: Any) -> tuple[int, Any]:
    response = world.call("POST", path, body=body)
    said = response.json()
    return response.status_code, said.get("error_code") or said


def create(world: Any, **body: Any) -> Any:
    status, made = sent(world, "/v1/backup/create", **body)
    assert status == 200, made
    return made


def read_back(world: Any, **body: Any) -> Any:
    status, said = sent(world, "/v1/backup/restore-test", **body)
    assert status == 200, said
    return said


def test_a_backup_is_the_tenants_documents_and_no_commit(kept: Any, tmp_path: Path) -> None:
    put(kept, "memory/core/a.md", b"mine")
    put(kept, "archive/old.md", b"old")
    put(kept, "memory/core/b.md", b"theirs", tenant="other")
    head = kept.store.documents.head("acme")
    made = create(kept, note="for Rita")
    assert (made["committed_files"], kept.store.documents.head("acme")) == ([], head)
    archive = place(tmp_path) / Path(made["backup_path"]).name
    with tarfile.open(archive) as tar:
        assert {each.name: tar.extractfile(each).read() for each in tar} == {"memory/core/a.md": b"mine"}  # type: ignore[union-attr]
    manifest = json.loads((place(tmp_path) / Path(made["manifest_path"]).name).read_text())
    assert (manifest["include_prefixes"], manifest["note"], manifest["commit"]) == (
        ["memory"], "for Rita", made["latest_commit"],
    )  # fmt: skip
    assert {each.stat().st_mode & 0o077 for each in (archive, archive.parent)} == {0}
    # What is chosen is what backups hold; the rest is left out.
    again = create(kept, include_prefixes=["archive", "index", "../x"])
    with tarfile.open(place(tmp_path) / Path(again["backup_path"]).name) as tar:
        assert tar.getnames() == ["archive/old.md"]


def test_only_the_newest_backups_stay(kept: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "KEPT_MAX", 2)
    made = []
    for _ in range(3):
        made.append(Path(create(kept)["backup_path"]).name)
        kept.clock.at += SECOND_US
    assert sorted(each.name for each in place(tmp_path).glob("*.tar.gz")) == made[1:]
    assert len(list(place(tmp_path).iterdir())) == 4


def test_a_backup_of_capsules_is_read_back_and_a_plan_is_none(kept: Any) -> None:
    body = {**SUBJECT, "capsule": capsules.body(thread_descriptor={"label": "Launch"})}
    assert sent(kept, "/v1/continuity/upsert", **body)[0] == 200
    assert sent(kept, "/v1/continuity/retention/plan")[0] == 200
    create(kept)
    said = read_back(kept)
    assert (said["ok"], said["continuity_validation"]["warnings"]) == (True, [])
    checked = said["continuity_validation"]
    assert (checked["active_capsules"], checked["fallback_capsules"]) == (1, 1)
    assert said["extracted_prefixes"] == ["memory"]
    short = read_back(kept, verify_continuity=False, verify_index_rebuild=False)
    assert (short["continuity_validation"], short["index_validation"]) == (None, None)


def test_damage_in_a_backup_is_named(kept: Any) -> None:
    put(kept, "memory/continuity/thread-bad.json", b"{}")
    put(kept, "memory/continuity/cold/thread-x-20260101T000000Z.json.gz", b"no gzip")
    put(
        kept,
        "memory/episodic/history/index/one.json",
        b'{"payload_path": "memory/episodic/history/one.jsonl"}',
    )
    put(kept, "tasks/history/done/index/two.json", b"[]")
    made = create(kept)
    said = read_back(kept, backup_path=made["backup_path"])
    checked = said["continuity_validation"]
    assert said["ok"] is False
    assert checked["invalid_capsules"] == ["memory/continuity/thread-bad.json"]
    assert len(checked["invalid_cold_payloads"]) == len(checked["unmatched_cold_payloads"]) == 1
    assert said["segment_history_validation"]["missing_payloads"] == [
        "memory/episodic/history/index/one.json"
    ]
    assert said["artifact_history_validation"]["invalid_stubs"] == ["tasks/history/done/index/two.json"]
    assert said["registry_history_validation"]["ok"] is True


def planted(tmp_path: Path, *members: tarfile.TarInfo) -> str:
    """A file under a backup's name that no backup made."""
    place(tmp_path).mkdir(parents=True, exist_ok=True)
    name = "backup_20260513T120000Z_00000000.tar.gz"
    with tarfile.open(place(tmp_path) / name, "w:gz") as tar:
        for each in members:
            tar.addfile(each, io.BytesIO(b"x" * each.size))
    return f"backups/{name}"


def member(name: str, kind: bytes = tarfile.REGTYPE, size: int = 1) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, size if kind == tarfile.REGTYPE else 0
    info.linkname = "/etc/passwd"
    return info


@pytest.mark.parametrize(
    "bad",
    [
        member("../../etc/cron.d/x"), member("/etc/passwd"), member("memory/a/../../b"), member(".git/hooks/x"),
        member("memory/link", tarfile.SYMTYPE), member("memory/hard", tarfile.LNKTYPE), member("memory/pipe", tarfile.FIFOTYPE),
        member("memory/folder", tarfile.DIRTYPE),
    ],
    ids=lambda info: info.name,
)  # fmt: skip
def test_an_archive_that_holds_what_no_backup_does_is_refused(kept: Any, tmp_path: Path, bad: Any) -> None:
    path = planted(tmp_path, member("memory/fine.md"), bad)
    before = sorted(tmp_path.rglob("*"))
    refused = sent(kept, "/v1/backup/restore-test", backup_path=path)
    assert refused == (400, "INVALID_DOCUMENT_BACKUP")
    assert sorted(tmp_path.rglob("*")) == before


def test_archives_that_are_cut_off_or_too_large_are_refused(
    kept: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(kept, "memory/core/a.md", b"mine" * 1000)
    path = create(kept)["backup_path"]
    file = place(tmp_path) / Path(path).name
    whole = file.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", b"no archive", whole[:40] + b"\0\0\0\0" + whole[44:]):
        file.write_bytes(damaged)
        assert sent(kept, "/v1/backup/restore-test", backup_path=path) == (400, "INVALID_DOCUMENT_BACKUP")
    file.write_bytes(whole)
    monkeypatch.setattr(documents, "BYTES_MAX", 3999)
    assert sent(kept, "/v1/backup/restore-test", backup_path=path) == (400, "INVALID_DOCUMENT_BACKUP")


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "backups/../../x.tar.gz", "memory/core/a.md", "backups/backup_20260513T120000Z_zzzzzzzz.tar.gz"]
)  # fmt: skip
def test_a_path_that_is_none_of_a_backup_is_refused(kept: Any, path: str) -> None:
    assert sent(kept, "/v1/backup/restore-test", backup_path=path) == (400, "INVALID_DOCUMENT_BACKUP")
    missing = {"backup_path": "backups/backup_20200101T000000Z_00000000.tar.gz"}
    assert sent(kept, "/v1/backup/restore-test", **missing) == (404, "BACKUP_NOT_FOUND")
    assert sent(kept, "/v1/backup/restore-test") == (404, "BACKUP_NOT_FOUND")


def test_the_job_makes_and_tests_the_newest(kept: Any) -> None:
    put(kept, "memory/core/a.md", b"mine")
    made = sent(kept, "/v1/ops/run", job_id="backup.create")[1]["job_result"]
    again = sent(kept, "/v1/ops/run", job_id="backup.restore_test")[1]["job_result"]
    assert (again["backup_path"], again["extracted_files"]) == (made["backup_path"], 1)

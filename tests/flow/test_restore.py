"""Documents come back from a clone of their repository, whole and with their hashes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from capsules import stored
from given import TENANT, ManualClock
from lamina.cli.main import app
from lamina.continuity.shelf.envelopes import fallback_bytes
from lamina.store.documents.repository import folder_name
from lamina.store.peers import DocumentPeers
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.sqlite import SqliteStore

PUT, APPEND, REMOVE = ChangeKind.PUT, ChangeKind.APPEND, ChangeKind.REMOVE

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(path: Path, *arguments: str, committed: str | None = None) -> str:
    command = ["git", "-C", str(path), "-c", "user.name=x", "-c", "user.email=x@y.invalid", *arguments]
    dated = {} if committed is None else {"GIT_COMMITTER_DATE": committed}
    done = subprocess.run(command, capture_output=True, check=True, timeout=300, env=os.environ | dated)
    return done.stdout.decode()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of a tenant with a history of everything that there is."""
    clock = ManualClock()
    store = SqliteStore(tmp_path / "first", clock=clock, durable=False)
    steps = [
        [Change("memory/a.json", PUT, b"{}"), Change("log.jsonl", APPEND, b"1\n")],
        [Change("log.jsonl", APPEND, b"2\n")],
        [Change("memory/a.json", REMOVE), Change("memory", PUT, b"a file, \xff\0")],
        [Change("memory", REMOVE), Change("memory/a.json", PUT, b"again")],
        [Change("memory/a.json", PUT, b"again")],
    ]
    for number, changes in enumerate(steps):
        clock.at += 400_000
        write = Write(
            tenant_id=TENANT, author=f"agent:n{number % 2}", message=f"step {number}", changes=changes
        )
        store.documents.write([write])
    store.close()
    git(tmp_path, "clone", "-q", str(tmp_path / "first" / "relay" / folder_name(TENANT)), "clone")
    return tmp_path / "clone"


def restored(clone: Path, data: Path) -> tuple[int, str]:
    asked = ["restore", "--from-git", str(clone), "--data", str(data), "--tenant", TENANT]
    done = CliRunner().invoke(app, [*asked, "--without-tombstones"])
    return done.exit_code, done.output


def test_a_clone_brings_everything_back_with_the_same_hashes(clone: Path, tmp_path: Path) -> None:
    assert restored(clone, tmp_path / "second") == (0, "restored 5 commits with the hashes that they had\n")
    stores = [SqliteStore(tmp_path / name, durable=False) for name in ("first", "second")]
    first, second = ([c.commit.sha for c in store.documents.commits(TENANT, 0, 9)] for store in stores)
    assert first == second
    histories = [store.documents.history(TENANT, "log.jsonl") for store in stores]
    assert [[(v.version, v.kind, v.size, v.commit.author) for v in each] for each in histories] == [
        [(2, APPEND, 4, "agent:n1"), (1, kind, 2, "agent:n0")] for kind in (APPEND, PUT)
    ]
    documents = [store.documents.below(TENANT, "", with_content=True) for store in stores]
    # A put of the same bytes is a version that a repository does not know of.
    assert [[(d.path, d.version, d.content) for d in each] for each in documents] == [
        [("log.jsonl", 2, b"1\n2\n"), ("memory/a.json", version, b"again")] for version in (4, 3)
    ]
    for store in stores:
        store.close()


def test_what_stands_is_told_in_the_log_once(clone: Path, tmp_path: Path) -> None:
    assert restored(clone, tmp_path / "second")[0] == 0
    assert restored(clone, tmp_path / "second")[0] == 5
    store = SqliteStore(tmp_path / "second", durable=False)
    events = store.log.walk(TENANT, 0, 10)
    assert [(e.caller, e.content["path"], e.content["text"], e.content.get("change")) for e in events] == [
        ("agent:n0", "log.jsonl", "log.jsonl\n1", None),
        ("agent:n1", "log.jsonl", "log.jsonl\n2", "append"),
        ("agent:n1", "memory/a.json", "memory/a.json\nagain", None),
    ]
    assert [e.context.observed_at for e in events] == [
        version.commit.committed_at
        for path in ("log.jsonl", "memory/a.json")
        for version in reversed(store.documents.history(TENANT, path)[: 2 if path == "log.jsonl" else 1])
    ]
    assert {str(e.scope) for e in events} == {"app:relay"}
    store.close()


def test_a_tenant_with_documents_is_refused(clone: Path, tmp_path: Path) -> None:
    code, output = restored(clone, tmp_path / "first")
    assert code == 5
    assert "TENANT_NOT_EMPTY" in output


def test_what_documents_cannot_hold_is_refused_whole(clone: Path, tmp_path: Path) -> None:
    (clone / "link").symlink_to("log.jsonl")
    git(clone, "add", "link")
    git(clone, "commit", "-qm", "a link")
    code, output = restored(clone, tmp_path / "second")
    assert code == 2
    assert "INVALID_CLONE" in output
    git(clone, "reset", "-q", "--hard", "HEAD~1")
    assert restored(clone, tmp_path / "second")[0] == 0
    assert restored(tmp_path, tmp_path / "third")[0] == 2


def test_a_clone_without_its_beginning_is_refused(clone: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "2", clone.as_uri(), "shallow")
    code, output = restored(tmp_path / "shallow", tmp_path / "second")
    assert (code, "INVALID_CLONE" in output, "unshallow" in output) == (2, True, True)


def test_a_commit_in_an_encoding_that_nobody_knows_is_refused(clone: Path, tmp_path: Path) -> None:
    (clone / "notes.md").write_text("odd")
    git(clone, "add", ".")
    git(clone, "-c", "i18n.commitEncoding=x-nobody", "commit", "-qm", "odd")
    code, output = restored(clone, tmp_path / "second")
    assert (code, "INVALID_CLONE" in output, "encoding" in output) == (2, True, True)


@pytest.mark.parametrize("ahead_s", [3600, 86_400 * 365 * 74, 300_000_000_000])
def test_a_commit_of_the_future_is_refused_whole(clone: Path, tmp_path: Path, ahead_s: int) -> None:
    date = f"@{int(time.time()) + ahead_s} +0000"
    (clone / "notes.md").write_text("far ahead")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "far ahead", committed=date)
    (clone / "notes.md").write_text("now")
    git(clone, "commit", "-qam", "after it")
    code, output = restored(clone, tmp_path / "second")
    assert (code, "INVALID_CLONE" in output, "future" in output) == (2, True, True)
    git(clone, "reset", "-q", "--hard", "HEAD~2")
    assert restored(clone, tmp_path / "second")[0] == 0


def test_a_clock_that_is_a_little_ahead_does_no_harm(clone: Path, tmp_path: Path) -> None:
    (clone / "notes.md").write_text("a minute ahead")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "ahead", committed=f"@{int(time.time()) + 60} +0000")
    assert restored(clone, tmp_path / "second")[0] == 0


def test_a_history_by_another_hand_is_taken_and_said_so(clone: Path, tmp_path: Path) -> None:
    (clone / "notes.md").write_text("by hand")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "by hand", "-m", "and a body")
    assert "other hashes" in restored(clone, tmp_path / "second")[1]
    store = SqliteStore(tmp_path / "second", durable=False)
    head = store.documents.head(TENANT)
    assert head is not None
    assert (head.author, head.message) == ("x", "by hand\n\nand a body")
    store.close()


def test_a_capsule_that_cannot_be_read_is_counted_and_named(tmp_path: Path) -> None:
    long = stored()
    long["continuity"]["top_priorities"] = ["p" * 999]  # beyond what a write may have, and read all the same
    folder = "memory/continuity"
    files = {
        f"{folder}/thread-launch.json": json.dumps(long).encode(),
        f"{folder}/user-x.json": b'{"subject_kind": "user"',
        f"{folder}/archive/task-t-20260513T120000Z.json": b"{}",
        f"{folder}/fallback/thread-launch.json": fallback_bytes(stored()),
        f"{folder}/cold/index/whatever.md": b"no capsule, and not read as one",
    }
    store = SqliteStore(tmp_path / "first", durable=False)
    changes = [Change(path, PUT, content) for path, content in files.items()]
    store.documents.write([Write(tenant_id=TENANT, author="agent:n", message="m", changes=changes)])
    store.close()
    git(tmp_path, "clone", "-q", str(tmp_path / "first" / "relay" / folder_name(TENANT)), "clone")
    code, said = restored(tmp_path / "clone", tmp_path / "second")
    assert (code, "2 capsules cannot be read" in said) == (0, True)
    assert [line.split(":")[0].strip() for line in said.splitlines() if line.startswith("  ")] == [
        f"{folder}/archive/task-t-20260513T120000Z.json",
        f"{folder}/user-x.json",
    ]


def test_secrets_of_another_server_are_left_out_and_said_to_be(clone: Path, tmp_path: Path) -> None:
    config = clone / "config"
    config.mkdir()
    (config / "peer_tokens.json").write_text('{"tokens": [{"token": "cgr_plain"}]}')
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "security: issue token")
    (config / "security_keys.json").write_text('{"keys": {"k": {"secret": "cgr_plain"}}}')
    (clone / "peers").mkdir()
    (clone / "peers" / "registry.json").write_text('{"peers": {"bo": {"trust_level": "trusted"}}}')
    (clone / "notes.md").write_text("kept")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "security: rotate key")
    code, said = restored(clone, tmp_path / "second")
    assert (code, said.splitlines()[0]) == (
        0,
        "restored 6 commits with other hashes, since another program wrote them",
    )
    assert [line.partition(" was left out")[0] for line in said.splitlines()[1:]] == [
        "config/peer_tokens.json",
        "config/security_keys.json",
    ]
    store = SqliteStore(tmp_path / "second", durable=False)
    paths = [document.path for document in store.documents.below(TENANT, "")]
    assert paths == ["log.jsonl", "memory/a.json", "notes.md", "peers/registry.json"]
    assert DocumentPeers(store.documents).trust_of(TENANT, "bo") == "trusted"
    told = [event.content["path"] for event in store.log.walk(TENANT, 0, 10)]
    assert told == ["log.jsonl", "log.jsonl", "memory/a.json", "notes.md"]
    store.close()
    assert "cgr_plain" not in said
    held = [
        path
        for path in (tmp_path / "second").rglob("*")
        if path.is_file() and b"cgr_plain" in path.read_bytes()
    ]
    assert held == []

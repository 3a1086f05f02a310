"""What somebody gets who mistypes a folder or a path."""

from __future__ import annotations

import fcntl
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lamina.cli.damage import database_check
from lamina.cli.keeper import keeping
from lamina.cli.main import app
from lamina.errors import Invalid, Unavailable
from lamina.settings import Settings, load_settings
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.connection import open_connection


@pytest.mark.parametrize("command", ["serve", "replay"])
def test_a_folder_that_cannot_be_is_one_line(tmp_path: Path, command: str) -> None:
    (tmp_path / "taken").write_text("a file")
    port = ["--port", "0"] if command == "serve" else []
    ended = CliRunner().invoke(app, [command, "--data", str(tmp_path / "taken"), *port])
    assert ended.exit_code == 6
    assert ended.stderr.startswith(f"lamina: CANNOT_OPEN_STORE: {tmp_path / 'taken'} cannot be used: ")
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "command", [["expire"], ["mcp", "install", "--client", "cursor"], ["capsule", "read"]]
)
def test_a_current_folder_that_is_gone_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()  # as a worktree that was removed from elsewhere
    ended = CliRunner().invoke(app, command)
    assert (ended.exit_code, len(ended.stderr.splitlines())) == (2, 1)
    assert ended.stderr.startswith("lamina: INVALID_REQUEST: the current folder is gone")


@pytest.mark.parametrize("command", [["serve", "--port", "0"], ["worker"], ["replay"]])
def test_a_folder_in_which_the_lock_cannot_be_made_is_one_line(tmp_path: Path, command: list[str]) -> None:
    SqliteStore(tmp_path).close()
    in_the_way = tmp_path / "worker.lock"
    in_the_way.mkdir()
    ended = CliRunner().invoke(app, [*command, "--data", str(tmp_path)])
    assert ended.exit_code == 6
    assert ended.stderr.startswith(f"lamina: CANNOT_OPEN_STORE: {in_the_way} cannot be used: ")
    assert ended.stderr.endswith("(name with --data a folder that you may write to)\n")
    assert len(ended.stderr.splitlines()) == 1


def test_a_second_server_on_one_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lamina.store.sqlite.worker_lock._HANDOVER_S", 0.2)
    with (tmp_path / "worker.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ended = CliRunner().invoke(app, ["serve", "--data", str(tmp_path), "--port", "0"])
    assert (ended.exit_code, len(ended.stderr.splitlines())) == (5, 1)
    assert "WORKER_RUNNING" in ended.stderr
    assert not (tmp_path / "lamina.db").exists()


@pytest.mark.parametrize("processes", ["1", "2"])
def test_of_two_servers_that_begin_at_one_moment_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: str
) -> None:
    """Neither has a worker yet: what tells them apart is the lock of who is to keep it."""
    monkeypatch.setattr("lamina.cli.keeper._HANDOVER_S", 0.2)
    with keeping(Settings(data=tmp_path)):
        command = ["serve", "--data", str(tmp_path), "--port", "0", "--processes", processes]
        ended = CliRunner().invoke(app, command)
        with keeping(Settings(data=tmp_path, workers=0)):
            pass  # nobody is in the way of who leaves derivation to others
    assert (ended.exit_code, ended.stderr.count("WORKER_RUNNING")) == (5, 1)
    assert not (tmp_path / "lamina.db").exists()
    with keeping(Settings(data=tmp_path)):
        pass


def test_a_database_that_is_none_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "lamina.db"
    file.write_text("not a database, but somebody's notes " * 40)
    before = file.read_bytes()
    ended = CliRunner().invoke(app, ["replay", "--data", str(tmp_path)])
    assert (ended.exit_code, file.read_bytes()) == (6, before)
    assert "CANNOT_OPEN_STORE" in ended.stderr


@pytest.mark.parametrize("gone", ["lamina.db", "lamina.db*", "tables"])
def test_what_is_left_of_a_lost_database_is_left_alone(tmp_path: Path, gone: str) -> None:
    """A copy of a folder in use that lacks a file: SQLite deletes the log of no database, and a new memory empties the repositories."""
    served, copied = tmp_path / "served", tmp_path / "copied"
    store = SqliteStore(served)
    change = Change("memory/a.md", ChangeKind.PUT, b"a note")
    store.documents.write([Write(tenant_id="acme", author="user:ana", message="m", changes=[change])])
    shutil.copytree(served, copied, ignore=shutil.ignore_patterns("*.sock", "bells"))
    store.close()
    for path in copied.glob("lamina.db*" if gone == "tables" else gone):
        path.unlink()
    if gone == "tables":  # as without the log of a young memory
        open_connection(copied / "lamina.db", durable=False).close()
    before = {path: path.read_bytes() for path in copied.rglob("*") if path.is_file()}
    with pytest.raises(Unavailable, match="is gone or empty"):
        SqliteStore(copied)
    assert {path: path.read_bytes() for path in before} == before
    assert database_check(copied).state == "fail"
    (copied / "relay").rename(tmp_path / "aside")
    (copied / "lamina.db-wal").unlink(missing_ok=True)
    SqliteStore(copied).close()


@pytest.mark.parametrize("path", ["/nothing", "/v1/nothing", "/v1/events/"])
def test_a_path_that_is_not_there_is_answered_in_the_envelope(world: Any, path: str) -> None:
    response = world.call("GET", path)
    assert (response.status_code, response.json()["error_code"]) == (404, "NOT_FOUND")
    assert response.json()["details"]["hint"] == "/openapi.json describes every path"


@pytest.mark.parametrize(
    "command", [["replay"], ["retry"], ["worker"], ["audit", "head"], ["audit", "verify"], ["audit", "prune"]]
)
def test_a_command_on_a_mistyped_folder_makes_nothing(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "nope", tmp_path / "empty"):
        ended = CliRunner().invoke(app, [*command, "--data", str(folder)])
        assert (ended.exit_code, ended.stdout) == (4, "")
        assert ended.stderr.startswith(f"lamina: STORE_NOT_FOUND: {folder} holds no memory")
    assert list(tmp_path.rglob("*")) == [tmp_path / "empty"]


def test_a_log_without_audit_rows_has_no_chains(tmp_path: Path) -> None:
    SqliteStore(tmp_path).close()
    verified = CliRunner().invoke(app, ["audit", "verify", "--data", str(tmp_path)])
    assert (verified.exit_code, verified.stdout) == (0, "no chains\n")
    named = CliRunner().invoke(app, ["audit", "verify", "--data", str(tmp_path), "--tenant", "acme"])
    assert (named.exit_code, named.stdout) == (0, "no chain of acme\n")
    heads = CliRunner().invoke(app, ["audit", "head", "--data", str(tmp_path)])
    assert (heads.exit_code, heads.stdout, heads.stderr) == (0, "", "no chains\n")


def test_the_names_of_lamina_auth_and_of_the_commands_stop_no_server() -> None:
    load_settings({"LAMINA_AUTH_FOLDER": "keys", "LAMINA_URL": "http://127.0.0.1:1"})
    with pytest.raises(Invalid, match="LAMINA_AUTH_FOLDR"):
        load_settings({"LAMINA_AUTH_FOLDR": "keys"})

"""Checks: an operator's command over a throw-away copy of the files, bounded, and apart as far as the machine can."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lamina.coordination.checking import bounds
from lamina.coordination.checking.folders import check_folder, left_over_taken_away
from lamina.coordination.checking.sandbox import CheckOutcome, Sandbox
from lamina.errors import Invalid, LaminaError, Unavailable
from lamina.kernel.folder_socket import socket_path
from lamina.kernel.relay import RelayGrant, RelayRight
from lamina.settings import Settings
from lamina.store.ports.documents import Change, ChangeKind, Write
from processes import wait_until
from shelves import EVERYWHERE, TENANT
from tables import every_row
from together import Agents

LOOK = "import pathlib; print(sorted(map(str, pathlib.Path('.').rglob('*.*'))), open('projects/a.py').read())"


@pytest.fixture(autouse=True)
def _own_temporary_files(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """One check runs at a time among the temporary files of a user: other tests' are elsewhere."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("temporary")))


def run(folder: Path, code: str, wait_s: float = 20.0) -> CheckOutcome:
    data = folder / "data"
    data.mkdir(exist_ok=True)
    (data / "relay.key").write_text("hidden")
    work = folder / "work"
    work.mkdir(exist_ok=True)
    return Sandbox([data, folder / "none"], time.monotonic, wait_s=wait_s).run(
        [sys.executable, "-I", "-c", code], work
    )


def test_a_command_runs_without_the_servers_surroundings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMINA_TOKEN", "secret")
    code = "import os, sys; print(sorted(os.environ), os.listdir('.'), sys.stdin.read()); print('x' * 13000, file=sys.stderr); sys.exit(3)"
    outcome = run(tmp_path, code)
    assert outcome.return_code == 3, outcome
    assert "PATH" in outcome.stdout
    assert "LAMINA" not in outcome.stdout
    assert len(outcome.stderr) == bounds.CHECK_OUTPUT_SHOWN_MAX
    assert (outcome.timed_out, outcome.said_too_much) == (False, False)


def test_what_the_machine_keeps_apart_is_apart_and_the_rest_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = (
            "import pathlib, socket, sys\n"
            f"here = pathlib.Path({str(tmp_path / 'data' / 'relay.key')!r})\n"
            "data = here.exists()\n"
            f"reached = socket.socket().connect_ex(('127.0.0.1', {server.getsockname()[1]})) == 0\n"
            "print(reached, data)"
        )
        outcome = run(tmp_path, code)
    seen = ("network" in outcome.not_apart, "data" in outcome.not_apart)
    assert outcome.stdout.split() == [str(each) for each in seen], outcome


@pytest.mark.parametrize(
    "way",
    [
        "umount {0}",
        "umount -l {0}",
        "mount --bind {0}/.. {0}/..",
        "unshare -Urm sh -c 'umount {0}; cat {0}/*'",
    ],
)
def test_what_is_hidden_stays_hidden_from_who_would_uncover_it(tmp_path: Path, way: str) -> None:
    data, work = tmp_path / "data", tmp_path / "work"
    data.mkdir()
    work.mkdir()
    (data / "lamina.db").write_text("rows")
    sandbox = Sandbox([data], time.monotonic)
    outcome = sandbox.run(["sh", "-c", f"{way.format(data)}; cat {data}/lamina.db"], work)
    assert "data" in outcome.not_apart or "rows" not in outcome.stdout


def test_the_socket_of_a_data_folder_with_a_long_path_is_hidden_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, work, beside = tmp_path / ("d" * 120), tmp_path / "work", tmp_path / "temporary"
    monkeypatch.setattr("tempfile.tempdir", str(beside))
    place = socket_path(data)
    for folder in (data, work, place.parent):
        folder.mkdir(parents=True)
    place.write_text("here")
    outcome = Sandbox([data], time.monotonic).run(["sh", "-c", f"cat {place}; ls {place.parent}"], work)
    assert "data" in outcome.not_apart or outcome.stdout == ""


def test_a_command_and_what_it_began_end_with_their_time(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys; subprocess.run([sys.executable, '-I', '-c', 'import time; time.sleep(600)'])"
    )
    outcome = run(tmp_path, code, wait_s=0.5)
    assert (outcome.timed_out, outcome.return_code < 0) == (True, True)
    assert outcome.seconds < 10


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_check_ends_with_a_server_that_is_killed(tmp_path: Path) -> None:
    sandbox = "from lamina.coordination.checking.sandbox import Sandbox"
    command = ["sh", "-c", "echo > begun; while sleep 0.05; do date > alive; done"]
    code = f"import pathlib, time; {sandbox}; Sandbox([], time.monotonic).run({command!r}, pathlib.Path({str(tmp_path)!r}))"
    server = subprocess.Popen([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": "src"})
    wait_until(lambda: (tmp_path / "alive").exists())
    server.kill()
    server.wait()
    wait_until(lambda: _stands_still(tmp_path / "alive"))


def _stands_still(file: Path) -> bool:
    before = file.stat().st_mtime_ns
    time.sleep(0.5)
    return file.stat().st_mtime_ns == before


def test_a_command_that_says_too_much_or_takes_too_much_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = run(tmp_path, "bytearray(2 ** 31)")
    assert taken.return_code == 1
    assert "MemoryError" in taken.stderr
    monkeypatch.setattr(bounds, "CHECK_OUTPUT_BYTES_MAX", 1000)
    assert run(tmp_path, "while True: print('tea')").said_too_much


def put(agents: Agents, path: str, text: str) -> None:
    change = Change(path, ChangeKind.PUT, text.encode())
    agents.store.documents.write([Write(tenant_id=TENANT, author="x", message="m", changes=[change])])


def check(agents: Agents, **sent: Any) -> dict[str, Any]:
    return agents.call("bo", "code_checks_run", **sent)


def test_a_check_of_what_is_erased_meanwhile_is_not_put_down(monkeypatch: pytest.MonkeyPatch) -> None:
    agents = Agents(checks={"test": [sys.executable, "-I", "-c", LOOK]})
    put(agents, "projects/a.py", "Ana's words")
    traces = agents.store.traces
    agents.before_next_write(monkeypatch, lambda: traces.erase_documents(TENANT, ["projects/a.py"]))
    with pytest.raises(LaminaError) as refused:
        check(agents)
    assert refused.value.code == "DOCUMENT_CHANGED"
    assert agents.store.documents.below(TENANT, "runs") == []


def test_a_check_sees_the_files_of_a_commit_that_its_caller_may_read() -> None:
    agents = Agents(checks={"test": [sys.executable, "-I", "-c", LOOK], "lint": ["no-such-command"]})
    rights = frozenset({RelayRight.WRITE_PROJECTS})
    agents.grants["bo"] = RelayGrant(rights, frozenset({"projects", "config"}), EVERYWHERE)
    put(agents, "projects/a.py", "one")
    before = agents.store.documents.head(TENANT)
    assert before is not None
    put(agents, "projects/a.py", "two")
    put(agents, "essays/own.md", "closed to bo")
    put(agents, "config/governance_policy.json", "{}")
    done = check(agents, ref=before.sha)
    assert done["run"]["stdout"] == "['projects/a.py'] one\n", done
    assert (done["run"]["status"], done["run"]["ref_resolved"]) == ("passed", before.sha)
    stored = agents.store.documents.read(TENANT, done["path"])
    assert stored is not None
    assert json.loads(stored.content) == done["run"]
    assert agents.store.documents.told_by(TENANT, done["path"]) is not None
    assert check(agents)["run"]["stdout"] == "['projects/a.py'] two\n"
    failed = check(agents, profile="lint")["run"]
    assert (failed["status"], failed["return_code"] != 0) == ("failed", True)
    for sent, code in (({"profile": "build"}, "FEATURE_OFF"), ({"ref": "main"}, "INVALID_COORDINATION")):
        with pytest.raises(LaminaError) as refused:
            check(agents, **sent)
        assert refused.value.code == code


def test_what_a_killed_server_left_of_a_check_is_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name in ("lamina-check-left", "lamina-check-runs", "lamina-check-begins", "lamina-else"):
        (tmp_path / name / "memory").mkdir(parents=True)
        (tmp_path / name / "memory" / "ana.md").write_text("Ana's")
        if name != "lamina-check-begins":
            os.utime(tmp_path / name, (0, 0))
    (tmp_path / "lamina-check-link").symlink_to(tmp_path / "lamina-else")
    running = os.open(tmp_path / "lamina-check-runs", os.O_RDONLY)
    fcntl.flock(running, fcntl.LOCK_EX)
    with pytest.raises(LaminaError, match="another check"), check_folder():
        pass
    left = ["lamina-check-begins", "lamina-check-link", "lamina-check-runs", "lamina-else"]
    assert sorted(each.name for each in tmp_path.iterdir()) == left
    os.close(running)
    with check_folder() as folder, pytest.raises(LaminaError, match="another check"), check_folder():
        pass
    assert not folder.exists()
    assert not (tmp_path / "lamina-check-runs").exists()
    assert (tmp_path / "lamina-else" / "memory" / "ana.md").exists()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "lamina-check-left").mkdir()
    monkeypatch.setattr(fcntl, "flock", refuse)
    assert left_over_taken_away() is False  # as a server begins, which it still does
    with pytest.raises(Unavailable) as told, check_folder():
        pass
    assert told.value.code == "CHECK_FOLDER_UNAVAILABLE"
    assert os.strerror(number) in told.value.message
    assert [each.name for each in tmp_path.iterdir()] == ["lamina-check-left"]


def test_a_folder_that_cannot_be_made_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(Unavailable, match="CHECK_FOLDER_UNAVAILABLE"), check_folder():
        pass


def test_what_a_check_itself_meets_is_not_told_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(FileNotFoundError), check_folder() as folder:
        (folder / "a" / "b").write_text("x")
    assert not folder.exists()


@every_row("text", ["make", "deploy=x", "test=", "test=a;test=b", "lint='a"])
def test_what_is_no_command_of_a_profile_is_no_setting(text: str) -> None:
    with pytest.raises(Invalid, match="LAMINA_RELAY_CHECKS"):
        Settings(relay_checks=text)


def test_commands_are_split_as_a_shell_would_and_strangers_run_none() -> None:
    text = "test=python3 -m unittest 'a b' ; lint=ruff check"
    assert Settings(relay_checks=text).check_commands == {
        "test": ("python3", "-m", "unittest", "a b"),
        "lint": ("ruff", "check"),
    }
    assert Settings().check_commands == {}
    with pytest.raises(Invalid, match="cloud_shared_saas"):
        Settings(relay_checks=text, preset="cloud_shared_saas")

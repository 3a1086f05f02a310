"""A hook as a process of its host: over the socket of a folder, silent where nobody answers, in time where nobody ends."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from hosting import ROOT, Host
from lamina.hooks import running
from lamina.kernel.folder_socket import socket_path

SCRIPT = [sys.executable, "-I", str(ROOT / "integrations/agents/hooks/lamina_hook.py"), "claude-code"]
COMMAND = [sys.executable, "-m", "lamina", "hook", "--host", "claude-code"]


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    folder = tmp_path / "p"
    (folder / ".git").mkdir(parents=True)
    (folder / ".lamina.toml").write_text('subject = "thread:checkout"\n')
    return folder


@pytest.fixture(name="served")
def _served(world: Any, folder: Path) -> Iterator[Path]:
    """The folder of a project with a memory in it, served on its socket by this process."""
    data = folder / "lamina-data"
    data.mkdir()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(socket_path(data)))
    server = uvicorn.Server(uvicorn.Config(world.application, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield folder
    server.should_exit = True
    thread.join()
    listener.close()


def run(command: list[str], event: str, folder: Path, **given: Any) -> str:
    told = json.dumps({"session_id": "s-1", "cwd": str(folder), **given})
    own = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [*command, event], input=told, capture_output=True, text=True, env=own, cwd=folder, check=True
    )
    assert done.stderr == ""
    return done.stdout


def test_the_script_and_the_command_are_the_same_hook(world: Any, served: Path) -> None:
    Host(world, served).use(
        "capsule_write",
        {"subject_kind": "thread", "subject_id": "checkout", "top_priorities": ["Ship on Friday"]},
    )
    said = [run(each, "SessionStart", served, source="startup") for each in (SCRIPT, COMMAND)]
    assert said[0] == said[1]
    assert "Ship on Friday" in said[0]
    assert run(SCRIPT, "UserPromptSubmit", served, prompt="Is it on the way?") != ""
    assert run(SCRIPT, "Stop", served, last_assistant_message="It is.") == ""
    page = world.get("/v1/events", scope="user:local", labels="thread:checkout")
    assert [each["content"]["text"] for each in page["items"]] == ["It is.", "Is it on the way?"]


def test_where_nobody_answers_a_hook_is_silent(folder: Path) -> None:
    assert run(SCRIPT, "SessionStart", folder, source="startup") == ""


def test_a_server_that_never_answers_is_waited_for_no_longer_than_the_deadline(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "DEADLINE_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        environment = {"LAMINA_URL": f"http://127.0.0.1:{listener.getsockname()[1]}", "HOME": str(folder)}
        out, err = io.StringIO(), io.StringIO()
        told = io.StringIO(json.dumps({"session_id": "s", "cwd": str(folder), "prompt": "Is it on the way?"}))
        began = time.monotonic()
        running.print_hook("claude-code", "UserPromptSubmit", told, out, err, environment, datetime.now(UTC))
        assert time.monotonic() - began < 60  # what answers never would be waited for without end
    assert (out.getvalue(), err.getvalue()) == ("", "")


def test_what_goes_wrong_inside_is_named_by_its_kind_alone(folder: Path) -> None:
    out, err = io.StringIO(), io.StringIO()
    running.print_hook(
        "claude-code", "Stop", io.StringIO("{secret"), out, err, {"HOME": str(folder)}, datetime.now(UTC)
    )
    assert (out.getvalue(), err.getvalue()) == ("", "lamina: the hook failed: JSONDecodeError\n")


@pytest.mark.parametrize(("host", "event"), [("claude-code", "Nope"), ("nope", "Stop")])
def test_a_hook_that_is_none_is_named_with_those_there_are(folder: Path, host: str, event: str) -> None:
    out, err = io.StringIO(), io.StringIO()
    running.print_hook(host, event, io.StringIO("{}"), out, err, {"HOME": str(folder)}, datetime.now(UTC))
    named = "Nope" if event == "Nope" else "nope"
    assert f"'{named}' is none of " in err.getvalue()


def test_notes_that_cannot_be_kept_are_said_at_a_start(folder: Path) -> None:
    (folder / "state").write_text("in the way")
    said = {}
    for event in ("SessionStart", "Stop"):
        out, err = io.StringIO(), io.StringIO()
        given = {"session_id": "s", "cwd": str(folder), "last_assistant_message": "done"}
        environment = {"HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}
        running.print_hook(
            "claude-code", event, io.StringIO(json.dumps(given)), out, err, environment, datetime.now(UTC)
        )
        said[event] = (str(folder / "state") in out.getvalue(), err.getvalue())
    assert said == {"SessionStart": (True, ""), "Stop": (False, "")}

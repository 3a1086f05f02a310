"""The commands against a real server."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest
import typer.main
from typer.testing import CliRunner, Result

from issuing import claims, paseto
from lamina.cli.damage import documents_check
from lamina.cli.doctor import _backlog, _worker
from lamina.cli.main import app
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.sqlite import SqliteStore
from processes import wait_until

ROOT = Path(__file__).parents[3]


@pytest.fixture
def run(live, maya):
    """Run a command as Maya."""

    def run(*arguments: str, **more: str) -> Result:
        return CliRunner().invoke(app, [*arguments, "--url", live.url, "--actor", maya], **more)

    return run


@pytest.fixture
def lines(tmp_path):
    """A file of lines."""

    def write(*given: object) -> str:
        path = tmp_path / "lines.jsonl"
        path.write_text("\n".join(each if isinstance(each, str) else json.dumps(each) for each in given))
        return str(path)

    return write


def test_alone_it_says_what_comes_next(live):
    for url, state, first in (
        (live.url, "A server answers at", "lamina demo"),
        ("http://127.0.0.1:1", "No server answers at", "lamina mcp install --client claude-code"),
    ):
        said = CliRunner().invoke(app, [], env={"LAMINA_URL": url})
        assert said.exit_code == 0, said.output
        assert f"{state} {url}." in said.stdout
        _, _, steps = said.stdout.partition("Next:\n")
        assert steps.split("  ")[1] == first
        shown = set(re.findall(r"^  lamina ([a-z]+)", steps, re.MULTILINE))
        assert shown >= {"mcp", "doctor"}
        assert shown <= typer.main.get_command(app).commands.keys()


def test_what_is_remembered_is_stored(run, client):
    result = run("remember", "I moved to Lisbon", "--session", "monday", "--label", "home")
    assert result.exit_code == 0, result.output
    event = client.events.get(result.stdout.split()[0])
    assert event.content["text"] == "I moved to Lisbon"
    assert (event.observed_actor.session, event.context.labels) == ("monday", ["home"])


def test_text_comes_from_standard_input_and_goes_out_as_json(run, client):
    result = run("remember", "-", "--json", input="from a pipe")
    assert client.events.get(json.loads(result.stdout)["event_id"]).content["text"] == "from a pipe"


def test_a_command_signs_in_with_the_token_of_its_environment(signing):
    arguments = ("remember", "I moved to Lisbon", "--url", signing.url, "--actor", "user:alice")
    arguments += ("--scope", "org:acme/user:alice")
    refused = CliRunner().invoke(app, arguments)
    assert "MISSING_TOKEN" in refused.stderr
    token = paseto(claims())
    signed_in = CliRunner().invoke(app, arguments, env={"LAMINA_TOKEN": token})
    assert signed_in.exit_code == 0, signed_in.output
    assert token not in signed_in.output + refused.output
    assert "user:alice" in {event.observed_actor.id for event in signing.server.store.log.walk("acme", 0, 10)}


def test_an_expected_error_is_one_line_and_its_exit_code(run):
    result = run("remember", "x", "--scope", "not a scope")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert re.fullmatch(r"lamina: INVALID_SCOPE_GRAMMAR: .*\n", result.stderr)


def test_a_server_that_is_not_there_is_said_with_a_hint():
    result = CliRunner().invoke(app, ["recall", "x", "--url", "http://127.0.0.1:1"])
    assert result.exit_code == 6
    assert result.stderr.count("\n") == 1
    assert "lamina serve" in result.stderr


def test_a_file_is_imported_once(run, client, lines):
    file = lines(
        {"text": "one", "observed_at": "2026-01-01T10:00:00Z"},
        {"text": "two"},
        {"text": "two"},
        {
            "modality": "conversation",
            "content": {"kind": "message", "role": "assistant", "text": "three"},
            "context": {"observed_at": "2026-01-02T10:00:00Z"},
            "idempotency_key": "mine",
        },
    )
    for _ in range(2):
        result = run("import", "jsonl", file)
        assert result.exit_code == 0, result.output
        assert result.stdout == "4 of 4 lines are stored\n"
    assert sorted(event.content["text"] for event in client.events.iterate()) == [
        "one",
        "three",
        "two",
        "two",
    ]


def test_a_file_that_grew_brings_only_what_is_new(run, client, lines):
    run("import", "jsonl", lines({"text": "one"}, {"text": "two", "session": "s"}))
    file = lines({"text": "one"}, {"text": "two", "session": "s"}, {"text": "three"})
    os.utime(file, (time.time() + 60, time.time() + 60))
    assert run("import", "jsonl", file).exit_code == 0
    assert sorted(event.content["text"] for event in client.events.iterate()) == ["one", "three", "two"]


def test_lines_that_are_wrong_are_named_and_the_others_stored(run, client, lines):
    file = lines(
        {"text": "one"}, "", "no json", {"text": "two", "observed_at": "yesterday"}, {"role": "user"}
    )
    result = run("import", "jsonl", file)
    assert result.exit_code == 2
    assert [line.split(": ")[1] for line in result.stderr.splitlines()] == ["line 3", "line 4", "line 5"]
    assert "line 3: the line is not JSON: expected ident at column 2" in result.stderr
    assert [event.content["text"] for event in client.events.iterate()] == ["one"]


def test_a_file_that_begins_with_a_byte_order_mark_is_imported_whole(run, client, tmp_path):
    file = tmp_path / "marked.jsonl"
    file.write_bytes(b'\xef\xbb\xbf{"text": "one"}\r\n{"text": "two"}\r\n')
    result = run("import", "jsonl", str(file))
    assert (result.exit_code, result.stdout) == (0, "2 of 2 lines are stored\n")
    assert sorted(event.content["text"] for event in client.events.iterate()) == ["one", "two"]


def test_a_line_with_a_field_of_another_kind_says_which(run, client, lines):
    file = lines(
        {"text": "one", "context": "x"}, {"text": "two", "context": []}, {"text": "three", "scope": 5}
    )
    result = run("import", "jsonl", file)
    assert result.exit_code == 2
    assert [line.removeprefix("lamina: ") for line in result.stderr.splitlines()] == [
        "line 1: context must be an object",
        "line 2: context must be an object",
        "line 3: scope must be a text",
    ]


def test_a_line_whose_key_was_used_for_another_is_named_and_the_others_are_stored(run, client, lines):
    def keyed(text):
        return {"text": text, "idempotency_key": "mine"}

    run("import", "jsonl", lines({"text": "first"}, keyed("wrong")))
    result = run("import", "jsonl", lines({"text": "first"}, keyed("right"), {"text": "last"}))
    assert result.exit_code == 2
    assert "2 of 3 lines are stored" in result.output
    assert "line 2: this idempotency key was used" in result.output
    said = [event.content["text"] for event in client.events.iterate()]
    assert sorted(said) == ["first", "last", "wrong"]
    again = lines({"text": "first"}, keyed("wrong"), {"text": "last"})
    os.utime(again, (time.time() + 60, time.time() + 60))
    assert run("import", "jsonl", again).stdout == "3 of 3 lines are stored\n"


def test_a_line_may_name_its_own_scope(run, client, maya, lines):
    run("import", "jsonl", lines({"text": "one"}, {"text": "two", "scope": f"{maya}/project:x"}))
    assert [event.content["text"] for event in client.events.iterate(scope=f"{maya}/project:x")] == ["two"]


def test_a_scope_that_is_not_the_callers_keeps_no_other_line_from_being_imported(signing, lines):
    def imported(*given: object) -> Result:
        command = ["import", "jsonl", lines(*given), "--url", signing.url, "--actor", "user:bob"]
        return CliRunner().invoke(app, command, env={"LAMINA_TOKEN": paseto(claims(sub="user:bob"))})

    theirs = {"text": "two", "scope": "user:alice"}
    result = imported({"text": "one"}, theirs, {"text": "three", "scope": "user:bob/project:x"})
    assert (result.exit_code, result.stdout) == (2, "2 of 3 lines are stored\n")
    assert result.stderr.startswith("lamina: line 2: ")
    assert imported(theirs).exit_code == 3


@pytest.mark.model
def test_a_recall_shows_lines_sources_and_whether_it_is_sure(run, client, live):
    client.experience("I adopted a cat called \x1b[31mBiscuit\x1b[0m.")
    live.drain()
    result = run("recall", "What is my cat called?", "--explain")
    assert result.exit_code == 0, result.output
    for said in ("Biscuit", "[1]", "source", "score", "threshold", "hybrid_retrieve", "evt_"):
        assert said in result.stdout
    assert "\x1b" not in result.stdout
    pack = json.loads(run("recall", "What is my cat called?", "--json").stdout)
    assert pack["layers"]["events"]
    assert "_partial" in pack["layers"]["events"][0]


@pytest.mark.model
def test_why_shows_the_tree_down_to_what_was_said(live, client):
    client.experience("I live in Lisbon.")
    live.drain()
    belief = client.beliefs.list().items[0]
    result = CliRunner().invoke(app, ["why", belief.id, "--url", live.url])
    assert result.exit_code == 0, result.output
    assert belief.id in result.stdout
    assert "“I live in Lisbon.”" in result.stdout


@pytest.mark.slow
@pytest.mark.model
def test_the_demo_stores_the_example_and_answers(live, maya, worker_lives):
    arguments = [
        "demo",
        "Which soup did Juno recommend?",
        "--url",
        live.url,
        "--scope",
        f"{maya}/project:demo",
    ]
    command = [sys.executable, "-m", "lamina", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment()) as demo:
        while demo.poll() is None:
            live.drain()
            time.sleep(0.1)
        assert demo.stdout is not None
        printed = demo.stdout.read()
    assert demo.returncode == 0
    assert "67 turns" in printed
    assert "red lentil soup" in printed
    assert printed.splitlines()[-1].endswith("starts: lamina mcp")


def test_tail_follows_and_ends_with_control_c(live, maya, client):
    client.experience("before")
    command = [sys.executable, "-m", "lamina", "tail", "--url", live.url, "--scope", maya, "--json"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=_environment(),
        preexec_fn=_heeding_control_c,
    ) as tail:
        assert tail.stdout is not None
        assert tail.stderr is not None
        wait_until(lambda: bool(live.server.feed._listeners))
        stored = client.experience("now")
        assert json.loads(tail.stdout.readline())["event_id"] == stored.event_id
        tail.send_signal(signal.SIGINT)
        assert tail.wait() == 130
        assert tail.stderr.read() == ""


def _heeding_control_c() -> None:
    """Who starts the tests in the background has them, and what they start, ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _environment() -> dict[str, str]:
    named = {name: value for name, value in os.environ.items() if not name.startswith("LAMINA_")}
    return {**named, "PYTHONPATH": str(ROOT / "src")}


@pytest.mark.slow
@pytest.mark.model
def test_the_doctor_looks_at_everything(live, worker_lives):
    data = str(live.server.settings.data)
    result = CliRunner().invoke(app, ["doctor", "--data", data, "--url", live.url, "--json"], env={})
    checks = {check["name"]: check for check in json.loads(result.stdout)}
    assert set(checks) == {
        "python",
        "sqlite",
        "data folder",
        "disk",
        "model",
        "parser",
        "server",
        "worker",
        "backlog",
        "database",
        "erasures",
        "documents",
        "clock",
        "derivation",
        "agents",
    }
    assert {name for name, check in checks.items() if check["state"] == "fail"} == set()
    assert checks["server"]["state"] == "ok"
    assert all(check["hint"] for check in checks.values() if check["state"] != "ok")
    assert result.exit_code == 0


def test_the_doctor_fails_when_a_server_takes_what_nobody_derives(live, client, monkeypatch):
    monkeypatch.setattr("lamina.cli.doctor._model", lambda: _fine("model"))
    monkeypatch.setattr("lamina.cli.doctor._parser", lambda: _fine("parser"))
    client.experience("I moved to Lisbon")
    data = str(live.server.settings.data)
    for url, state, code in ((live.url, "fail", 6), ("http://127.0.0.1:1", "note", 6)):
        result = CliRunner().invoke(app, ["doctor", "--data", data, "--url", url, "--json"])
        (backlog,) = [check for check in json.loads(result.stdout) if check["name"] == "backlog"]
        assert (backlog["state"], backlog["hint"]) == (state, f"lamina worker --data {data}")
        assert backlog["found"].endswith("and no worker runs")
        assert result.exit_code == code


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_doctor_tells_of_a_full_disk_and_of_all_the_rest(tmp_path, monkeypatch):
    """What it writes to measure the disk is the first to fail there."""
    monkeypatch.setattr("lamina.cli.doctor._model", lambda: _fine("model"))
    monkeypatch.setattr("lamina.cli.doctor._parser", lambda: _fine("parser"))
    with Path("/dev/full").open("wb") as full:
        monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: full)
        result = CliRunner().invoke(app, ["doctor", "--data", str(tmp_path), "--json"])
    told = {check["name"]: check for check in json.loads(result.stdout)}
    assert (told["disk"]["state"], told["disk"]["found"]) == (
        "fail",
        "nothing can be written: No space left on device",
    )
    assert list(told)[-1] == "agents"


def test_the_doctor_tells_what_the_worker_says_that_fails(tmp_path, monkeypatch):
    monkeypatch.setattr("lamina.store.opening.worker_lives", lambda folder: True)
    store = SqliteStore(tmp_path, durable=False)
    assert _worker(tmp_path, served=lambda: False).state == "ok"
    store.upkeep.note_failing({"the language model": "MODEL_MISCONFIGURED"})
    store.close()
    found = _worker(tmp_path, served=lambda: False)
    assert found.state == "note"
    assert found.found.endswith("the language model fails (MODEL_MISCONFIGURED)")


def test_the_doctor_counts_what_failed_for_good_behind_sessions(tmp_path, monkeypatch):
    SqliteStore(tmp_path, durable=False).close()
    assert _backlog(tmp_path, served=lambda: False).state == "ok"
    with contextlib.closing(apsw.Connection(str(tmp_path / "lamina.db"))) as connection:
        for number in (1, 2):
            connection.execute(
                "INSERT INTO inquiry (tenant_id, event_id, task, scope, position, state, attempts, created_at) "
                "VALUES ('acme', ?1, 'loops/1', 'user:a', 1, 'failed', 5, 0)",
                (str(number),),
            )
    found = _backlog(tmp_path, served=lambda: False)
    assert found.state == "note"
    assert found.found.endswith("0 turns and 2 questions to the language model failed for good")


def test_the_doctor_looks_at_a_folder_of_a_version_without_inquiries(tmp_path):
    SqliteStore(tmp_path, durable=False).close()
    with contextlib.closing(apsw.Connection(str(tmp_path / "lamina.db"))) as connection:
        connection.execute("DROP TABLE inquiry")
    assert _backlog(tmp_path, served=lambda: False).state == "ok"


def test_the_doctor_names_a_repository_that_lost_something(tmp_path):
    assert documents_check(tmp_path, repaired=[]).state == "ok"
    for content in (b"1", b"2"):
        store = SqliteStore(tmp_path, durable=False)
        change = Change("a", ChangeKind.PUT, content)
        store.documents.write([Write(tenant_id="acme", author="a", message="m", changes=[change])])
        store.close()
    assert documents_check(tmp_path, repaired=[]).state == "ok"
    packs = (tmp_path / "relay" / "acme.git" / "objects" / "pack").iterdir()
    oldest, *_ = sorted(packs, key=lambda path: path.stat().st_mtime_ns)
    for suffix in (".idx", ".pack"):
        oldest.with_suffix(suffix).unlink()
    found = documents_check(tmp_path, repaired=[])
    assert (found.state, "acme.git" in found.found) == ("note", True)
    shutil.rmtree(tmp_path / "relay" / "acme.git")
    store = SqliteStore(tmp_path, durable=False)
    store.documents.recover()
    store.close()
    assert documents_check(tmp_path, repaired=[]).state == "ok"


def test_the_doctor_fails_when_the_server_that_has_to_answer_does_not(tmp_path, monkeypatch):
    monkeypatch.setattr("lamina.cli.doctor._model", lambda: _fine("model"))
    monkeypatch.setattr("lamina.cli.doctor._parser", lambda: _fine("parser"))
    arguments = ["doctor", "--data", str(tmp_path), "--url", "http://127.0.0.1:1"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 6
    assert "SERVER_UNREACHABLE" in result.stdout


@pytest.mark.parametrize("command", [[], ["doctor", "--data", "none"]], ids=["alone", "doctor"])
def test_what_is_pasted_into_a_report_holds_no_password_of_an_address(live, monkeypatch, command):
    monkeypatch.setattr("lamina.cli.doctor._model", lambda: _fine("model"))
    monkeypatch.setattr("lamina.cli.doctor._parser", lambda: _fine("parser"))
    address = live.url.replace("://", "://ana:s3cret@")
    monkeypatch.setenv("LAMINA_URL", address)
    shown = CliRunner().invoke(app, command and [*command, "--url", address]).stdout
    assert live.url in shown
    assert "s3cret" not in shown


@pytest.mark.parametrize("name", ["circle", "file"])
def test_the_doctor_tells_of_a_data_folder_that_cannot_be_one(tmp_path, monkeypatch, name):
    monkeypatch.setattr("lamina.cli.doctor._model", lambda: _fine("model"))
    monkeypatch.setattr("lamina.cli.doctor._parser", lambda: _fine("parser"))
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "file").touch()
    result = CliRunner().invoke(app, ["doctor", "--data", str(tmp_path / name), "--json"])
    checks = {check["name"]: check for check in json.loads(result.stdout)}
    assert checks["data folder"]["state"] == "fail"
    assert checks["data folder"]["found"].endswith("is no folder")


@pytest.mark.parametrize("answers", [True, False])
def test_the_doctor_says_which_folder_it_looked_at(live, tmp_path, monkeypatch, answers):
    monkeypatch.setattr("lamina.cli.doctor._model", lambda: _fine("model"))
    monkeypatch.setattr("lamina.cli.doctor._parser", lambda: _fine("parser"))
    monkeypatch.chdir(tmp_path)
    url = live.url if answers else "http://127.0.0.1:1"
    result = CliRunner().invoke(app, ["doctor", "--url", url, "--json"])
    checks = {check["name"]: check for check in json.loads(result.stdout)}
    for name in ("data folder", "worker", "backlog"):
        assert str(tmp_path / "lamina-data") in checks[name]["found"]
    for name in ("data folder", "worker"):
        assert checks[name]["state"] == "note"
        assert ("keeps its memory in another folder" in checks[name]["hint"]) == answers


def _fine(name: str):
    from lamina.cli.doctor import Check

    return Check(name, "ok", "not looked at")


def test_help_answers_without_the_heavy_modules():
    code = (
        "import sys; from lamina.cli import main\n"
        "print(sorted({'numpy', 'onnxruntime', 'spacy', 'apsw', 'uvicorn', 'httpx', 'pydantic'} & set(sys.modules)))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=_environment()
    )
    assert printed.stdout.strip() == "[]"

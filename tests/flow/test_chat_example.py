"""The example chat runs as the docs say: against a real server with its worker, without a model and with one."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from forks import ran
from processes import free_port, kill, start

CHAT = str(Path(__file__).parents[2] / "examples" / "chat.py")
DISHES = "omelettes pancakes waffles crepes noodles quiche custard meringue mayonnaise muffins scones trifle flan nougat"
WHO = {"tenantId": "home", "userId": "maya", "personaId": "chat"}


class Model(BaseHTTPRequestHandler):
    """An OpenAI-compatible model that says the same to everybody, and remembers what it was asked."""

    asked: list[list[dict[str, str]]] = []  # noqa: RUF012 - one for all requests

    def do_POST(self) -> None:
        messages = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"]
        self.asked.append(messages)
        text = "They spoke of eggs." if "running summary" in messages[0]["content"] else "Noted."
        body = json.dumps({"choices": [{"message": {"content": text}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def lamina(tmp_path_factory: pytest.TempPathFactory, model: str) -> Iterator[str]:
    """A server with its worker and a model, where each test is another user."""
    folder = tmp_path_factory.mktemp("lamina")
    port = free_port()
    process = start(folder, port, LAMINA_LLM_URL=model, LAMINA_LLM_MODEL="tiny")
    wait_for(lambda: answers(f"http://127.0.0.1:{port}"))
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait(300)


@pytest.fixture(scope="module")
def live_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without a worker and without a model, where each test is another user."""
    port = free_port()
    process = start(tmp_path_factory.mktemp("memory"), port, "--workers", "0")
    wait_for(lambda: answers(f"http://127.0.0.1:{port}"))
    yield f"http://127.0.0.1:{port}"
    kill(process)


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/v1/admin/version", timeout=30).status_code == 200
    except httpx.TransportError:
        return False


def chat(url: str, *said: str, more: tuple[str, ...] = ()) -> list[str]:
    run = ran(CHAT, "--url", url, *more, given="\n".join(said))
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def brief(url: str, session: str | None = None, user: str = "maya") -> dict[str, Any]:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 5))
    asked = {**WHO, "userId": user, "now": now, "mode": "session_start", "sessionId": session}
    found: dict[str, Any] = httpx.post(f"{url}/brief", json=asked, timeout=300).json()
    return found


def wait_for(holds: Any, seconds: float = 300.0) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.model
def test_the_chat_remembers_from_one_run_to_the_next(lamina: str, model: str) -> None:
    assert chat(lamina, "My name is Maya. I need to book the dentist by 4 May 2031.") == [
        "assistant: I am listening."
    ]
    wait_for(lambda: brief(lamina)["activeLoops"] and brief(lamina)["identity"]["name"])
    told = chat(lamina, "hello again", "and again")
    assert told[0] == "  (you are Maya)"
    assert told.count("  (you are Maya)") == 1
    assert "  (still open: Book the dentist, due 2031-05-04)" in told
    assert told.count("assistant: I am listening.") == 2
    with_model = chat(lamina, "What is left to do?", more=("--model-url", model))
    assert with_model == ["assistant: Noted."]
    said = {"role": "user", "content": "What is left to do?"}
    (asked,) = [each for each in Model.asked if each[-1] == said]
    assert "Book the dentist, due 2031-05-04" in asked[0]["content"]


@pytest.mark.slow
def test_the_worker_folds_with_the_model_of_the_settings(lamina: str) -> None:
    turn = {**WHO, "userId": "cook", "role": "user", "sessionId": "eggs"}
    for number, dish in enumerate(DISHES.split()):
        body = turn | {"text": f"I need eggs for {dish}.", "timestamp": f"2026-05-13T10:00:{number:02}Z"}
        assert httpx.post(f"{lamina}/ingest", json=body, timeout=300).status_code == 200
    wait_for(lambda: brief(lamina, "eggs", "cook")["rollingSummary"] == "They spoke of eggs.")
    folds = [
        each
        for each in Model.asked
        if "running summary" in each[0]["content"] and "eggs for" in each[1]["content"]
    ]
    assert json.loads(folds[1][1]["content"])["summary"] == "They spoke of eggs."


def failing(url: str, *more: str) -> str:
    run = ran(CHAT, "--url", url, *more, given="hello")
    assert (run.returncode, run.stdout) == (1, "")
    return run.stderr


def test_without_a_model_nothing_that_was_remembered_is_said_again(live_memory: str) -> None:
    user = ("--user", "ana")
    chat(live_memory, "My name is Maya.", "I need to book the dentist.", more=user)
    chat(live_memory, "hello again", "What did I say?", more=user)
    said = {
        event["content"]["text"]
        for event in httpx.get(f"{live_memory}/v1/events", params={"scope": "org:home/user:ana"}).json()[
            "items"
        ]
        if event["content"]["role"] == "assistant"
    }
    assert said == {"I am listening."}


def test_the_next_chat_is_told_of_the_last_one(live_memory: str) -> None:
    chat(live_memory, "My name is Maya.", "I need to book the dentist.", more=("--user", "bob"))
    assert "book the dentist" in brief(live_memory, user="bob")["episodeBridge"]


def test_a_server_that_is_down_is_one_line() -> None:
    said = failing("http://127.0.0.1:1")
    assert said.startswith("chat: SERVER_UNREACHABLE: http://127.0.0.1:1 did not answer: ")
    assert "lamina serve starts one" in said
    assert said.count("\n") == 1


def test_a_model_that_is_down_or_refuses_is_one_line(live_memory: str) -> None:
    said = failing(live_memory, "--model-url", "http://127.0.0.1:1/v1")
    assert said.startswith("chat: http://127.0.0.1:1/v1/chat/completions does not answer (ConnectError); ")
    assert said.endswith("start the model, or say another --model-url, or none\n")
    said = failing(live_memory, "--model-url", f"{live_memory}/v1")
    assert said.startswith(f"chat: {live_memory}/v1/chat/completions answered 404: ")
    assert said.count("\n") == 1

"""The promise of the two calls over real processes: model and worker are away, come back, and one dies in the middle.

``OUTAGE_TURNS`` is how many turns are taken meanwhile.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from given import outbox_states
from lamina import limits
from lamina.session.folding import TurnWords, fold_turn
from lamina.store.sqlite import SqliteStore
from processes import answers, free_port, kill, run, start, wait_until

SESSIONS = 10
TURNS = int(os.environ.get("OUTAGE_TURNS", "240")) // SESSIONS
LEFT = TURNS - limits.SESSION_WINDOW_TURNS
KILLED_AFTER = SESSIONS * LEFT // 4
NAMES = [f"s-{n}" for n in range(SESSIONS)]


class Model(ThreadingHTTPServer):
    """Adds the turn to the summary as it stands, which rules do not, so that a summary tells who worded which turns."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Asked)
        self.down = True
        self.refused, self.folded = 0, Counter[str]()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Asked(BaseHTTPRequestHandler):
    server: Model
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet, else each answer waits for an acknowledgement

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        told = json.loads(asked["messages"][-1]["content"])
        if self.server.down:
            self.server.refused += 1
            self.answer(503, {})
            return
        time.sleep(0.002)
        self.server.folded[told["turn"]] += 1
        text = f"{told['summary']} {told['turn']}".strip()
        self.answer(200, {"choices": [{"message": {"content": text}}]})

    def answer(self, status: int, body: dict[str, Any]) -> None:
        payload = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)
        self.wfile.flush()

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError, ValueError):  # whoever asked was killed
            super().handle()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class Caller:
    """An orchestrator with one connection."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)

    def post(self, path: str, session: str, **more: Any) -> Any:
        body = {"tenantId": "t", "userId": session, "personaId": "p", "sessionId": session, **more}
        self.connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = self.connection.getresponse()
        assert response.status == 200
        return json.load(response)

    def say(self, session: str, number: int) -> Any:
        return self.post("/ingest", session, role="user", text=f"{session} {number}", timestamp=at(number))

    def brief(self, session: str, number: int) -> Any:
        return self.post("/brief", session, now=at(number + 1), mode="in_session")


def at(number: int) -> str:
    return f"2026-05-13T12:00:{number:02}Z"


def by_rules(session: str, numbers: Iterable[int]) -> str:
    summary = ""
    for number in numbers:
        summary = fold_turn(summary, TurnWords("user", f"{session} {number}"))
    return summary


def unworded(store: SqliteStore) -> int:
    """How many turns a model is still to be asked about."""
    return sum(store.inquiries.counts().values())


def talk(port: int, session: str) -> None:
    caller = Caller(port)
    for number in range(TURNS):
        assert caller.say(session, number) == {"ok": True, "sessionId": session}
        told = caller.brief(session, number)
        said = range(number + 1)[-limits.SESSION_WINDOW_TURNS :]
        assert [turn["text"] for turn in told["workingMemory"]] == [f"{session} {n}" for n in said]
        left = range(number + 1)[: -limits.SESSION_WINDOW_TURNS]
        assert (told["rollingSummary"], told["activeLoops"]) == (by_rules(session, left), [])
        assert told["temporalAuthority"] == {
            "now": at(number + 1),
            "lastInteractionTime": at(number),
            "timeSinceLastInteraction": "PT1S",
        }
        assert told["identity"] == {"name": None, "timezone": None, "facts": {}}
    caller.connection.close()


@pytest.fixture
def model() -> Iterator[Model]:
    model = Model()
    yield model
    model.shutdown()
    model.server_close()


@pytest.mark.slow
@pytest.mark.model
def test_turns_taken_while_all_was_down_are_told_at_once_and_worded_once_and_in_order_though_a_worker_dies(
    tmp_path: Path, model: Model
) -> None:
    settings = {
        "LAMINA_LLM_URL": model.url,
        "LAMINA_LLM_MODEL": "fake",
        "LAMINA_LLM_LOOPS": "0",
        "LAMINA_LLM_TIMEOUT_S": "10",
    }

    def work() -> Any:
        return run("worker", "--data", str(tmp_path), LAMINA_EMBED="lazy", **settings)

    port = free_port()
    processes = [start(tmp_path, port, "--workers", "0")]
    store = None
    try:
        wait_until(lambda: answers(port))
        with ThreadPoolExecutor(SESSIONS) as pool:
            list(pool.map(lambda session: talk(port, session), NAMES))
        store = SqliteStore(tmp_path, durable=False)
        assert outbox_states(store) == ["pending"] * SESSIONS * LEFT

        processes.append(work())
        wait_until(lambda: model.refused > 0 and outbox_states(store) == [])
        assert unworded(store) == SESSIONS * LEFT
        caller = Caller(port)
        told = {session: caller.brief(session, TURNS)["rollingSummary"] for session in NAMES}
        assert told == {session: by_rules(session, range(LEFT)) for session in NAMES}
        model.down = False
        wait_until(lambda: model.folded.total() >= KILLED_AFTER)
        kill(processes[-1])
        assert 0 < unworded(store) < SESSIONS * LEFT

        processes.append(work())
        wait_until(lambda: unworded(store) == 0)
        told = {session: caller.brief(session, TURNS)["rollingSummary"] for session in NAMES}
        assert told == {session: " ".join(f"{session} {n}" for n in range(LEFT)) for session in NAMES}
        caller.connection.close()
        assert len(model.folded) == SESSIONS * LEFT
    finally:
        for process in processes:
            kill(process)
        if store is not None:
            store.close()

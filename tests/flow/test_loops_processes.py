"""A server, its worker and a model as real processes: the model is down, comes back, a worker is killed, and a replay agrees."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lamina.kernel.records import Layer, Loop
from lamina.kernel.time import Axes
from lamina.session.names import scope_of
from lamina.store.ports.records import RecordQuery
from lamina.store.sqlite import SqliteStore
from modelled import ModelServer, Told
from processes import answers, free_port, kill, run, start, wait_until
from readers import reading

USERS = [f"u{n}" for n in range(4)]
TURNS = 6
THINGS = ["boiler", "roof", "cellar", "garden", "attic", "fence"]


def post(port: int, path: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=300) as response:
        return json.load(response)


def say(port: int, user: str, number: int) -> None:
    told = {
        "tenantId": "t",
        "userId": user,
        "personaId": "p",
        "sessionId": "s",
        "role": "user",
        "text": f"The {THINGS[number]} is hanging over me.",
        "timestamp": f"2026-05-13T12:00:{number:02}Z",
    }
    assert post(port, "/ingest", told) == {"ok": True, "sessionId": "s"}


def brief(port: int, user: str) -> list[str]:
    asked = {
        "tenantId": "t",
        "userId": user,
        "personaId": "p",
        "sessionId": "s",
        "now": "2026-05-13T12:01:00Z",
    }
    return sorted(loop["text"] for loop in post(port, "/brief", asked)["activeLoops"])


def answer(told: Told) -> str:
    if "turn" not in told:
        return told["summary"]
    thing = told["turn"].split()[1]
    left = {"type": "friction", "text": f"The {thing} hanging", "quote": f"The {thing} is hanging"}
    return reading(new=[left])


@pytest.fixture
def model() -> Iterator[ModelServer]:
    server = ModelServer(answer)
    yield server
    server.stop()


def loops(folder: Path, user: str) -> list[Loop]:
    store = SqliteStore(folder, durable=False)
    query = RecordQuery(
        tenant_id="local",
        layer=Layer.FACTS,
        scopes=[scope_of("t", user)],
        axes=Axes(seen_at=1 << 62, superseded=True),
        limit=500,
    )
    found_now = [record for record in store.records.query(query) if isinstance(record, Loop)]
    store.close()
    return sorted(found_now, key=lambda loop: (loop.id, loop.version))


@pytest.mark.slow
@pytest.mark.model
def test_what_a_model_found_late_is_found_once_though_a_worker_dies(
    tmp_path: Path, model: ModelServer
) -> None:
    told = {"LAMINA_LLM_URL": model.url, "LAMINA_LLM_MODEL": "small"}

    def work() -> Any:
        return run("worker", "--data", str(tmp_path), LAMINA_EMBED="lazy", **told)

    port = free_port()
    model.status = 503
    processes = [start(tmp_path, port, "--workers", "0")]
    try:
        wait_until(lambda: answers(port))
        processes.append(work())
        for number in range(TURNS):
            for user in USERS:
                say(port, user, number)
                brief(port, user)
        wait_until(lambda: len(model.requests) >= len(USERS))
        assert [brief(port, user) for user in USERS] == [[]] * len(USERS)
        model.status = 200
        wait_until(lambda: len(model.asked) >= 3)
        kill(processes[-1])
        processes.append(work())
        held = sorted(f"The {thing} hanging" for thing in THINGS)
        wait_until(lambda: all(len(brief(port, user)) == 5 for user in USERS))
        wait_until(lambda: len({turn["turn"] for turn in model.asked}) == TURNS)
        store = SqliteStore(tmp_path, durable=False)
        wait_until(lambda: store.inquiries.counts()["applied"] == TURNS * len(USERS))
        wait_until(lambda: not any(store.jobs.backlog().values()))
        store.close()
        kill(processes[-1])

        model.status = 503
        before = {user: loops(tmp_path, user) for user in USERS}
        for user in USERS:
            assert sorted(str(loop.object.value) for loop in before[user]) == held
            assert {loop.version for loop in before[user]} == {1}
            assert all(loop.extractor.startswith("lamina-model/1 small ") for loop in before[user])
        requests = len(model.requests)
        processes.append(run("replay", "--data", str(tmp_path), LAMINA_EMBED="lazy", **told))
        assert processes[-1].wait(300) == 0
        assert {user: loops(tmp_path, user) for user in USERS} == before
        assert len(model.requests) == requests
    finally:
        for process in processes:
            kill(process)

"""A turn that was written is found by its words in the next recall and brief, before anything was derived from it."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from lamina.app import build_server
from lamina.settings import Settings
from lamina.worker_app import build_worker
from processes import answers, free_port, kill, start, wait_until

pytestmark = pytest.mark.model

SCOPE = "org:tenant_a/user:user_1"
OTHER = "org:tenant_a/user:user_2"
USER = {"tenantId": "tenant_a", "userId": "user_1", "personaId": "persona_1"}
TRIES = int(os.environ.get("WRITTEN_TRIES", "24"))
"""How often the test over two processes looks; a thousand times by hand."""


class Told:
    """A server without a worker: what is found is found by its words alone."""

    def __init__(self, folder: Path) -> None:
        self.settings = Settings(data=folder, workers=0, internal_token="sesame", brief_deadline_ms=10_000)
        self.server = build_server(self.settings)
        self.http = TestClient(self.server.application, base_url="http://127.0.0.1")
        self.count = 0

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        response = self.http.post(path, json=body, headers={"X-Internal-Token": "sesame"})
        assert response.status_code < 300, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def write(self, text: str, scope: str = SCOPE, session: str | None = None, **more: Any) -> str:
        self.count += 1
        body = {
            "scope": scope,
            "modality": "conversation",
            "content": {"kind": "text", "text": text},
            "context": {"observed_at": "2026-05-13T12:00:00Z"},
            "observed_actor": {"id": "user:ana", "name": "Ana"} | ({"session": session} if session else {}),
            "idempotency_key": f"turn-{self.count}",
            **more,
        }
        written: str = self.post("/v1/experience", body)["event_id"]
        return written

    def ask(self, query: str, **more: Any) -> dict[str, Any]:
        return self.post("/v1/recall", {"scope": SCOPE, "query": query, **more})

    def found(self, query: str, **more: Any) -> list[str]:
        return [event["id"] for event in self.ask(query, **more)["layers"]["events"]]

    def derive(self) -> None:
        build_worker(self.settings, self.server.store).drain()


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Told]:
    memory = Told(tmp_path)
    yield memory
    memory.server.close()


def test_a_turn_just_written_is_found_by_its_words(told: Told) -> None:
    assert told.found("Where is the zeppelin?") == []
    written = told.write("The zeppelin landed in Friedrichshafen.")
    pack = told.ask("Where is the zeppelin?")
    assert [event["id"] for event in pack["layers"]["events"]] == [written]
    assert "Friedrichshafen" in pack["context_block"]
    assert (pack["_partial"], pack["_partial_reason"]) == (True, "derivation_in_progress")
    told.derive()
    pack = told.ask("Where is the zeppelin?", diagnostics="summary")
    assert [event["id"] for event in pack["layers"]["events"]] == [written]
    assert (pack["_partial"], pack["_partial_reason"], pack["diagnostics"]["_partial"]) == (
        False,
        None,
        False,
    )


def test_a_brief_has_what_was_written_in_another_session_a_moment_ago(told: Told) -> None:
    said = {**USER, "role": "user", "timestamp": "2026-05-13T10:00:00Z", "sessionId": "s-1"}
    told.post("/ingest", {**said, "text": "The zeppelin landed in Friedrichshafen."})
    asked = {**USER, "sessionId": "s-2", "now": "2026-05-13T10:05:00Z", "mode": "in_session"}
    brief = told.post("/brief", {**asked, "query": "Where did the zeppelin land?"})
    assert "Friedrichshafen" in json.dumps(brief)


def test_filters_times_scopes_and_cancelling_hold_for_it(told: Told) -> None:
    first = told.write(
        "The zeppelin landed.", context={"observed_at": "2026-05-01T12:00:00Z", "labels": ["air"]}
    )
    before = told.ask("zeppelin")["as_of"]
    second = told.write("The zeppelin flew on.")
    elsewhere = told.write("A zeppelin of somebody else.", OTHER)
    assert set(told.found("zeppelin")) == {first, second}
    assert told.found("zeppelin", filters={"labels": {"eq": "air"}}) == [first]
    assert told.found("zeppelin", temporal={"as_of": before}) == [first]
    may = ["2026-05-10T00:00:00Z", "2026-05-20T00:00:00Z"]
    assert told.found("zeppelin", temporal={"valid_during": may}) == [second]
    assert told.found("zeppelin", scope=OTHER) == [elsewhere]
    told.post(f"/v1/lifecycle/memory-event/{second}/cancel", {})
    assert told.found("zeppelin") == [first]


def test_what_another_turn_says_around_it_counts_before_derivation_and_after(told: Told) -> None:
    """A turn brings its neighbours of the session, whether these were indexed before it or not."""
    asked = told.write("Where shall we meet about the zeppelin?", session="s-1")
    told.derive()
    answered = told.write("At the old pier.", session="s-1")
    assert told.found("zeppelin") == [asked, answered]


def test_a_server_that_saw_turns_wait_answers_as_one_that_did_not(told: Told, tmp_path: Path) -> None:
    texts = [
        f"The zeppelin flew over {place} on day {n}." for n, place in enumerate(["Lindau", "Bregenz"] * 8)
    ]
    for n, text in enumerate(texts):
        told.write(text, session=f"s-{n % 3}")
        told.found("zeppelin")
        if n % 5 == 4:
            told.derive()
    told.derive()
    asked = {"query": "When did the zeppelin fly over Bregenz?", "diagnostics": "none"}
    seen = told.ask(**asked)
    other = Told(tmp_path)
    fresh = other.ask(**asked)
    other.server.close()
    for each in (seen, fresh):
        del each["request_id"], each["pack_id"], each["as_of"]
        each["provenance"]["trail"] = [
            {name: value for name, value in phase.items() if name != "elapsed_ms"}
            for phase in each["provenance"]["trail"]
        ]
    assert seen == fresh


# ---- over two processes


def posted(port: int, path: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=300) as response:
        answer: dict[str, Any] = json.load(response)
    return answer


@pytest.mark.parametrize("workers", ["0", "1"], ids=["without-worker", "with-worker"])
def test_what_one_process_wrote_the_next_recall_of_another_finds(tmp_path: Path, workers: str) -> None:
    ports = [free_port(), free_port()]
    processes = []
    try:
        for port, beside in zip(ports, (workers, "0"), strict=True):
            processes.append(start(tmp_path, port, "--workers", beside))
            wait_until(lambda at=port: answers(at))
        for number in range(TRIES):
            writer, reader = ports[number % 2], ports[1 - number % 2]
            written = posted(
                writer,
                "/v1/experience",
                {
                    "scope": SCOPE,
                    "modality": "conversation",
                    "content": {
                        "kind": "text",
                        "text": f"The parcel kappa{number} went to shelf {number % 7}.",
                    },
                    "context": {"observed_at": "2026-05-13T12:00:00Z"},
                    "idempotency_key": f"parcel-{number}",
                },
            )
            pack = posted(reader, "/v1/recall", {"scope": SCOPE, "query": f"Where is parcel kappa{number}?"})
            found = [event["id"] for event in pack["layers"]["events"]]
            assert found[:1] == [written["event_id"]], f"missed at try {number}"
    finally:
        for process in processes:
            kill(process)

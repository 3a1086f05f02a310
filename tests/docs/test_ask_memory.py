"""The page on recall: its calls are sent as they stand, and its tables hold what the code has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from starlette.testclient import TestClient

from lamina.app import build_server
from lamina.errors import Invalid
from lamina.recall.filters import parse_filter
from lamina.settings import Settings
from lamina.types.recall import CitationMode, Recall, Temporal, View
from lamina.worker_app import build_worker

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "ask-memory.md").read_text(encoding="utf-8")
CALLS: list[dict[str, Any]] = [json.loads(body) for body in re.findall(r"-d '(\{.*?\n\})'", PAGE, re.DOTALL)]
HEADERS = {"X-Cortex-Actor": "user:maya"}


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    settings = Settings(data=tmp_path_factory.mktemp("ask"), workers=0)
    server = build_server(settings)
    http = TestClient(server.application, base_url="http://127.0.0.1")
    lines = (ROOT / "examples" / "conversation.jsonl").read_text("utf-8").splitlines()
    body = {"scope": "user:maya/project:demo", "items": [json.loads(line) for line in lines]}
    assert http.post("/v1/experience/bulk", json=body, headers=HEADERS).status_code == 202
    build_worker(settings, server.store).drain()
    yield http
    server.close()


@pytest.fixture
def packs(http: TestClient) -> list[dict[str, Any]]:
    answers = [http.post("/v1/recall", json=call, headers=HEADERS) for call in CALLS]
    assert [answer.status_code for answer in answers] == [200] * 5
    return [answer.json() for answer in answers]


@pytest.mark.model
def test_what_was_corrected_is_marked_and_stands_behind(http: TestClient) -> None:
    asked = {name: value for name, value in CALLS[0].items() if name != "budgets"}
    assert (
        "(superseded 2026-03-22)"
        in http.post("/v1/recall", json=asked, headers=HEADERS).json()["context_block"]
    )


@pytest.mark.model
def test_every_call_of_the_page_finds_what_it_is_about(packs: list[dict[str, Any]]) -> None:
    plain, below, then, filtered, small = packs
    assert plain["layers"]["facts"][0]["text"] == "Maya is allergic to cashews"
    assert {name for name, items in below["layers"].items() if items} == {"facts", "events"}
    assert "Leipzig" in then["context_block"]
    assert "Understanding:" not in then["context_block"]
    sessions = {event["observed_actor"]["session"] for event in filtered["layers"]["events"]}
    assert sessions
    assert "maya-2026-03-02" not in sessions
    assert all(fact["confidence"] >= 0.6 for fact in filtered["layers"]["facts"])
    assert small["layers"]["facts"][0]["text"] == "Maya is allergic to cashews"
    assert small["context_tokens"] <= 60
    assert "Sources:" in small["context_block"]
    assert small["layers"]["facts"][0]["contributions"]


def test_the_page_names_every_view_mode_and_time() -> None:
    for name in (*get_args(View), *get_args(CitationMode), *Temporal.model_fields):
        assert f"`{name}`" in PAGE, name


def test_the_table_of_fields_is_that_of_the_code() -> None:
    with pytest.raises(Invalid) as refused:
        parse_filter({"": 1})
    known = set(str(refused.value).partition("known: ")[2].split(", "))
    table = PAGE.partition("| field | in the answer | of |")[2].partition("\n\n")[0]
    first = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert {name for cell in first for name in re.findall(r"`(\w+)`", cell)} == known


def test_every_field_of_a_recall_is_described() -> None:
    schema = Recall.model_json_schema()
    for shape in (schema, *(schema["$defs"][name] for name in ("Temporal", "Budgets"))):
        assert [name for name, field in shape["properties"].items() if not field.get("description")] == []

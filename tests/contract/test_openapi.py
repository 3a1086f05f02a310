"""Random requests against the OpenAPI document: no crash, no status and no shape that it does not name.

Each operation has a server of its own over an embedded store that holds one of everything, and an operator calls:
whatever a policy document closes is closed for that operation alone. Half of the requests name what the store holds.
The lifecycle stream is left out: it has no end to wait for, and tests of its own (flow/test_lifecycle_stream.py).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase
from hypothesis import given as holds
from hypothesis import settings as examples
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import given
from lamina import limits
from lamina.app import build_server
from lamina.http.errors import error_response
from lamina.http.openapi import openapi_document
from lamina.kernel.events import Stage
from lamina.kernel.scopes import Scope
from lamina.settings import Settings
from lamina.store.memory import MemoryStore
from lamina.store.ports import Writes
from lamina.store.sqlite import SqliteStore
from neighbours import ROOT, Neighbours

HOME = Scope("org:acme/user:alice")
HEADERS = {"X-Cortex-Actor": ROOT, "Authorization": "Bearer acme"}
CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
CASES = 20
ENDLESS = {"GET /v1/lifecycle/stream"}


def _document() -> tuple[bytes, list[str]]:
    server = build_server(Settings(), store=MemoryStore())
    routes = [route for route in server.routes if route.errors is error_response]
    server.close()
    labels = [f"{route.verb} {route.path.replace(':path}', '}')}" for route in routes]
    return openapi_document(routes), sorted(set(labels) - ENDLESS)


DOCUMENT, LABELS = _document()
SCHEMA = schemathesis.openapi.from_dict(json.loads(DOCUMENT))
load_all_checks()
OPERATIONS = {result.ok().label: result.ok() for result in SCHEMA.get_all_operations()}


class House(Neighbours):
    """A server whose store holds one of everything, with its ids by the name of the parameter they go into."""

    def __init__(self, folder: Path) -> None:
        super().__init__(store=SqliteStore(folder, clock=given.ManualClock(), durable=False))
        self.register(HOME, alice="owner", root="owner")
        self.said("POST", "/v1/experience", self.envelope(HOME, idempotency_key="known"), by=ROOT)
        records = [make(scope=HOME) for make in (given.fact, given.belief, given.episode, given.concept)]
        (event,) = given.append(self.store, "tea", scope=HOME)
        first, *_ = given.claim(self.store, Stage.EXTRACTED, now=self.clock.at + 1)
        self.store.jobs.finish([(first, Writes(records=list(records)))])
        row = self.said("GET", "/v1/lifecycle", by=ROOT)["items"][0]["lifecycle_id"]
        audit = self.said("GET", "/v1/audit", by=ROOT)["items"][0]["id"]
        ids = dict(
            zip(("fact_id", "belief_id", "episode_id", "concept_id"), (r.id for r in records), strict=True)
        )
        self.known = ids | {
            "event_id": event.id, "evt_id": event.id, "lce_id": row, "since_lifecycle_id": row, "audit_id": audit,
            "scope": HOME, "path": HOME, "scope_path": HOME.replace("/", "%2F"), "tenant_id": "acme", "actor_id": ROOT,
            "key": "known",
        }  # fmt: skip

    def place(self, values: Any) -> None:
        """Put what the store holds where random values stand."""
        if isinstance(values, dict):
            values.update({name: value for name, value in self.known.items() if name in values})


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    monkeypatch.setattr("lamina.http.server.openapi_document", lambda routes: b"{}")
    monkeypatch.setattr(limits, "WAIT_S_MAX", 0.01)  # nobody derives here
    # A clock for those who wait: each look at it is a minute later.
    hurried = SimpleNamespace(monotonic=count(step=60.0).__next__, sleep=time.sleep)
    monkeypatch.setattr("lamina.observe.health.time", hurried)
    house = House(tmp_path)
    yield house
    house.close()


def test_every_operation_is_tried() -> None:
    assert set(LABELS) == OPERATIONS.keys() - ENDLESS


@pytest.mark.slow
@pytest.mark.parametrize("label", LABELS)
def test_no_answer_is_a_surprise(label: str, house: House) -> None:
    operation, statuses = OPERATIONS[label], []
    if label == "POST /v1/scopes":
        house.known["path"] = Scope("ws:new")
    cases = operation.as_strategy() | operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)

    @examples(
        max_examples=CASES,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @holds(case=cases, placed=st.booleans())
    def holds_for(case: Any, placed: bool) -> None:
        if placed:
            for values in (case.path_parameters, case.query, case.body):
                house.place(values)
        response = case.call(app=house.server.application, headers=HEADERS)
        assert response.status_code not in (500, 503), response.text
        case.validate_response(response, checks=CHECKS)
        statuses.append(response.status_code)

    holds_for()
    assert any(status < 300 for status in statuses), f"no request of {len(statuses)} was served"

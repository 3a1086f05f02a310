"""Random requests against the OpenAPI document: no crash, no status and no shape that it does not name.

Each operation has a server of its own over an embedded store that holds one of everything, copied from one that was filled once, and
an operator calls: whatever a policy document closes is closed for that operation alone. Half of the requests name what the store holds.
What a row is asked with so that it serves stands in flow/test_every_route.py: a new row needs its line there alone.
The lifecycle stream is left out: it has no end to wait for, and tests of its own (flow/test_lifecycle_stream.py).
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import given as holds
from hypothesis import settings as examples
from hypothesis import strategies as st

import capsules
import given
from documented import document, routes
from flow.test_every_route import CALLER, CLOSED, PEERS, RELAY, ROWS, VOCABULARY, made_by, put_in
from lamina import limits
from lamina.http.errors import error_response
from lamina.http.routes import PARAMETER, Route
from lamina.kernel.events import Stage
from lamina.kernel.ids import Prefix
from lamina.kernel.records import Entity, Mention, ObjectValue, Subject, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.language.entities import entity_id
from lamina.store.ports.writes import Writes
from lamina.store.sqlite import SqliteStore
from neighbours import ROOT, Neighbours

HOME = Scope("org:acme/user:alice")
HEADERS = {"X-Cortex-Actor": ROOT, "Authorization": "Bearer acme"}
CASES, CASES_OF_OTHERS = 6, 3
CASES_OF = {"POST /v1/experience/bulk": 2}
"""Each of its cases is a batch of what ``POST /v1/experience`` takes one by one: a second of making values up."""
ENDLESS = {"GET /v1/lifecycle/stream"}
ELSEWHERE = {
    "GET /v1/peers/{peer_id}/manifest",
    "POST /v1/messages/verify",
    "POST /v1/code/checks/run",
    "POST /v1/code/merge",
    "POST /v1/replication/pull",
    "POST /v1/replication/push",
}
"""Asks another server, or for a signing key, and here there is none: flow/test_peers_http.py and flow/test_messages_http.py have one.
The last four are off, or refuse: flow/test_replication_http.py and unit/test_checking.py have them on."""
TOKEN = "of-the-deployment"
INTERNAL = {"X-Internal-Token": TOKEN}


def _label(route: Route) -> str:
    return _plain(f"{route.verb} {route.path}")


def _plain(label: str) -> str:
    return PARAMETER.sub(r"{\1}", label)


ROUTES = routes()
LABELS = sorted({_label(route) for route in ROUTES} - ENDLESS)
OTHERS = frozenset(_label(route) for route in ROUTES if route.errors is not error_response)


@cache
def operations() -> dict[str, Any]:
    """The operations of the document by verb and path, as Schemathesis reads them: two seconds of loading."""
    import schemathesis
    from schemathesis.checks import load_all_checks

    load_all_checks()
    read = schemathesis.openapi.from_dict(document())
    return {result.ok().label: result.ok() for result in read.get_all_operations()}


ASKED = {_plain(label): asked for label, (asked, _, _) in ROWS.items()}


PHRASE = {
    "name": "fiscal_q3",
    "pattern": "fiscal Q3",
    "resolves_to": {"valid_during": ["2026-07-01", "2026-10-01"]},
}


BEN, ANA = entity_id("acme", "ben"), entity_id("acme", "ana")
SURELY: dict[str, dict[str, Any]] = {
    "GET /v1/beliefs/why": {"params": {"belief_id": given.belief(scope=HOME).id}},
    "GET /v1/entities/{entity_id}": {"params": {"scope": HOME}},
    "POST /v1/scopes": {"json": {"path": "ws:new"}},
    "DELETE /v1/scopes": {"params": {"path": CLOSED}},
    "POST /v1/temporal/phrases": {"json": PHRASE | {"name": "fiscal_q4", "pattern": "fiscal Q4"}},
    "POST /v1/entities/{entity_id}/merge": {"json": {"scope": HOME, "into": ANA}},
    "POST /v1/entities/{entity_id}/split": {
        "json": {"scope": HOME, "name": "Benjamin", "facts": [given.name_id(Prefix.FACT, "bens")]}
    },
}
"""What is asked where the row's own request is of something that is not there, or is there already."""


class House(Neighbours):
    """A server whose store holds one of everything, with its ids by the name of the parameter they go into."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        store = SqliteStore(folder, clock=given.ManualClock(), durable=False)
        self.made: dict[str, str] = {CALLER: ROOT}
        super().__init__(store=store, internal_token=TOKEN, data=folder)
        self.loop = asyncio.Runner()  # for all requests
        self.known: dict[str, Any] = {}

    def fill(self) -> None:
        """Put one of everything into the store."""
        self.know(**PEERS)
        self.register(HOME, alice="owner", root="owner")
        self.register(RELAY, by=ROOT, alice="owner", root="owner")
        self.register(CLOSED, alice="owner", root="owner")
        self.said("POST", "/v1/experience", self.envelope(HOME, idempotency_key="known"), by=ROOT)
        records = [make(scope=HOME) for make in (given.fact, given.belief, given.episode, given.concept)]
        ana = ObjectValue("entity", id=ANA, name="Ana")
        of_ben = given.fact("bens", scope=HOME, subject=Subject(BEN, "Ben"), object=ana)
        (event,) = given.append(self.store, "tea", scope=HOME)
        first, *_ = given.claim(self.store, Stage.EXTRACTED, now=self.clock.at + 1)
        entities = [
            Entity(tenant_id="acme", id=BEN, normalised_name="ben", type="person"),
            Entity(tenant_id="acme", id=ANA, normalised_name="ana", type="person"),
        ]
        mentions = [
            Mention(
                tenant_id="acme",
                entity_id=each.id,
                scope=HOME,
                event_id=event.id,
                position=event.position,
                surface=each.normalised_name,
            )
            for each in entities
        ]
        told = Support("acme", of_ben.id, event.id, Tie.EXTRACTED_FROM, recorded_at=given.NOON, at=given.NOON)
        writes = Writes(records=[*records, of_ben], entities=entities, mentions=mentions, supports=[told])
        self.store.jobs.finish([(first, writes)])
        row = self.said("GET", "/v1/lifecycle", by=ROOT)["items"][0]["lifecycle_id"]
        audit = self.said("GET", "/v1/audit", by=ROOT)["items"][0]["id"]
        self.said("POST", "/v1/temporal/phrases", PHRASE, by=ROOT)
        self.said("POST", "/v1/vocabularies", VOCABULARY, by=ROOT)
        gone = {"scope": "ws:gone", "audit_note": "case 1"}
        preview = self.said("POST", "/v1/erasures/preview", gone, by=ROOT)["preview_id"]
        erasure = self.said("POST", "/v1/erasures", gone, by=ROOT)["erasure_id"]
        ids = dict(
            zip(("fact_id", "belief_id", "episode_id", "concept_id"), (r.id for r in records), strict=True)
        )
        self.known = ids | {
            "entity_id": BEN,
            "event_id": event.id, "record_id": event.id, "evt_id": event.id, "lce_id": row, "since_lifecycle_id": row, "audit_id": audit,
            "scope": HOME, "path": HOME, "scope_path": HOME.replace("/", "%2F"), "tenant_id": "acme", "actor_id": ROOT,
            "erasure_id": erasure, "preview_id": preview, "key": "known", "expected_version": 1, "name": PHRASE["name"],
        }  # fmt: skip

    def settle(self) -> None:
        """Let a capsule and an archive, a reminder, a session with turns, a peer and its token stand too."""
        for label in (
            "POST /v1/continuity/upsert",
            "POST /v1/schedule/items",
            "POST /ingest",
            "POST /v1/peers/register",
            "POST /v1/security/tokens/issue",
        ):
            self.said(*label.split(), ASKED[label]["body"], by=ROOT)
        other = capsules.body(subject_id="landing", thread_descriptor={"label": "Landing"})
        subject = {"subject_kind": "thread", "subject_id": "landing"}
        self.said("POST", "/v1/continuity/upsert", {**subject, "capsule": other}, by=ROOT)
        self.said("POST", "/v1/continuity/archive", {**subject, "reason": "over"}, by=ROOT)

    def place(self, case: Any, asked: Mapping[str, Any]) -> None:
        """Put what the store holds, and what the row is well asked with, where random values stand."""
        in_path = {name: asked.get("in_path", "") for name in case.path_parameters or () if asked}
        for values, further in (
            (case.path_parameters, in_path),
            (case.query, asked.get("query", {})),
            (case.body, asked.get("body", {})),
        ):
            if isinstance(values, dict):
                held = {**further, **self.known}
                values.update({name: value for name, value in held.items() if name in values})

    def asked_well(self, label: str) -> httpx.Response:
        """The answer to the request that a row surely serves."""
        asked = put_in(ASKED[label], self.made)
        response = self.sent(
            label, json.dumps(asked["body"]) if "body" in asked else None, asked.get("query", {})
        )
        if label == "POST /v1/context/snapshot":
            self.made["never"] = response.json()["snapshot_id"]
        if "/coordination/" in label or label == "POST /v1/messages/send":
            self.made |= made_by(response.json())
        return response

    def sent(self, label: str, body: str | None, query: Mapping[str, str]) -> httpx.Response:
        """The answer to a body that need not be JSON, and to query parameters that need not be text."""
        verb, path = label.split()
        in_path = ASKED[label].get("in_path", "")
        path = re.sub("{[a-z_]+}", self.made.get(in_path, in_path), path)
        headers = {**HEADERS, **INTERNAL, "Content-Type": "application/json"}
        return self.requested(verb, path, content=body, params=query, headers=headers)

    def requested(self, verb: str, path: str, **asked: Any) -> httpx.Response:
        """The answer to a request; what the server raises is a 500, as it is to a caller."""

        async def send() -> httpx.Response:
            application = self.server.application
            transport = httpx.ASGITransport(application, raise_app_exceptions=False, client=("127.0.0.1", 1))
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return await client.request(verb, path, **asked)

        return self.loop.run(send())

    def close(self) -> None:
        """Mirrors ``Neighbours.close``."""
        self.loop.close()
        super().close()


def _check(label: str, response: httpx.Response) -> None:
    """A documented status with the shape that it has, and a code that its description names."""
    operation = operations()[label]
    described = operation.definition.raw["responses"]
    assert response.status_code not in (500, 503), response.text
    assert str(response.status_code) in described, response.text
    operation.validate_response(response)
    if response.status_code >= 400 and label in OTHERS:
        body = response.json()
        code = body.get("error_code", "UNKNOWN_HELP_ID")
        assert code in described[str(response.status_code)]["description"], response.text


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A house whose folder the others are copied from; closed, for all of it to stand in the database."""
    house = House(tmp_path_factory.mktemp("filled"))
    house.fill()
    house.close()
    return house


@pytest.fixture
def house(filled: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    monkeypatch.setattr(limits, "WAIT_S_MAX", 0.01)  # nobody derives here
    monkeypatch.setattr(limits, "LEARN_S_MAX", 0.01)
    # A clock for those who wait: each look at it is a minute later.
    hurried = SimpleNamespace(monotonic=count(step=60.0).__next__, sleep=time.sleep)
    monkeypatch.setattr("lamina.observe.health.time", hurried)
    shutil.copytree(filled.folder, tmp_path, dirs_exist_ok=True)
    house = House(tmp_path)
    house.known = dict(filled.known)
    yield house
    house.close()


def test_every_operation_is_tried() -> None:
    assert set(LABELS) == operations().keys() - ENDLESS


def test_every_row_of_another_door_serves_what_the_document_says(house: House) -> None:
    """In the order of the rows, each on what those before it left."""
    unserved = {}
    for label in ASKED:
        if label in OTHERS:
            response = house.asked_well(label)
            _check(label, response)
            if response.status_code >= 300 and label not in ELSEWHERE:
                unserved[label] = response.text
    assert set(ASKED) >= OTHERS, f"no request for {sorted(OTHERS - set(ASKED))}"
    assert not unserved, unserved


@pytest.mark.slow
@pytest.mark.parametrize("label", LABELS)
def test_no_answer_is_a_surprise(label: str, house: House) -> None:
    from schemathesis import GenerationMode
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    checks = [status_code_conformance, content_type_conformance, response_schema_conformance]
    operation, statuses, asked = operations()[label], [], ASKED[label] if label in OTHERS else {}
    if label == "POST /v1/scopes":
        house.known["path"] = Scope("ws:new")
    if label in OTHERS:
        house.settle()
    cases = operation.as_strategy() | operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)

    @examples(
        max_examples=CASES_OF.get(label, CASES_OF_OTHERS if label in OTHERS else CASES),
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @holds(case=cases, placed=st.booleans())
    def holds_for(case: Any, placed: bool) -> None:
        if placed:
            house.place(case, asked)
        response = case.call(app=house.server.application, headers=HEADERS | (INTERNAL if placed else {}))
        assert response.status_code not in (500, 503), response.text
        case.validate_response(response, checks=checks)
        statuses.append(response.status_code)

    holds_for()
    if label not in OTHERS and not any(status < 300 for status in statuses):
        # Chance may have put no known id beside what fits it.
        verb, path = label.split()
        path = re.sub("{([a-z_]+)}", lambda name: str(house.known[name[1]]), path)
        last = SURELY.get(label, {"json": ASKED[label].get("body")})
        served = house.requested(verb, path, headers=HEADERS, **last)
        assert served.status_code < 300, f"no request of {len(statuses)} was served, nor {served.text}"


ODD = {
    "a lone surrogate": r'"\ud800"',
    "NUL": r'"\u0000"',
    "a number without end": "9" * 5000,
    "a number past 64 bits": str(1 << 70),
    "no number": "NaN",
    "infinity": "1e999",
    "deep": "[" * 5000 + "]" * 5000,
    "deep enough": "[" * 150 + "]" * 150,
    "an object with a key twice": '{"a": 1, "a": [2]}',
    "a key that is a lone surrogate": r'{"\ud800": 1}',
}


def _odd_bodies(body: dict[str, Any]) -> Iterator[str]:
    """The odd things by themselves, and the body with a third of them, in turn, in the place of each of its values."""
    yield from ODD.values()
    text = json.dumps(body)
    yield text[:-1] + (", " if body else "") + text[1:]  # each key twice
    for turn, place in enumerate(_places(body)):
        placed = json.dumps(_with(body, place, "here"))
        yield from (placed.replace('"here"', odd) for odd in list(ODD.values())[turn % 3 :: 3])


def _places(value: Any) -> Iterator[tuple[str | int, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield (key,)
        yield from ((key, *further) for further in _places(each))
    if isinstance(value, dict):
        yield ("more",)


def _with(value: Any, place: tuple[str | int, ...], put: Any) -> Any:
    if not place:
        return put
    changed = dict(enumerate(value)) if isinstance(value, list) else dict(value)
    changed[place[0]] = _with(changed.get(place[0]), place[1:], put)
    return list(changed.values()) if isinstance(value, list) else changed


@pytest.mark.slow
@pytest.mark.parametrize("label", [label for label in LABELS if "body" in ASKED[label]])
def test_no_odd_body_is_a_fault(label: str, house: House) -> None:
    query = {name: house.known.get(name, value) for name, value in ASKED[label].get("query", {}).items()}
    if label in OTHERS:
        house.settle()
    for body in _odd_bodies(ASKED[label]["body"]):
        response = house.sent(label, body, query)
        assert response.status_code not in (500, 503), (body[:400], response.text)
        _check(label, response)


@pytest.mark.parametrize(
    "odd", ["9" * 5000, str(1 << 70), "NaN", "\x00", "%ED%A0%80", "\U0001f600", "-1", ""]
)
def test_no_odd_query_is_a_fault(odd: str, house: House) -> None:
    for label in LABELS:
        for parameter in operations()[label].definition.raw["parameters"]:
            if parameter["in"] == "query" and label.startswith("GET"):
                query = ASKED[label].get("query", {}) | {parameter["name"]: odd}
                response = house.sent(label, None, query)
                _check(label, response)

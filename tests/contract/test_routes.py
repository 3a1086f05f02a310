"""The server's route table against the list of the contracts, kept beside this file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lamina.app import build_server
from lamina.http.cortex import cortex_routes
from lamina.http.routes import Route
from lamina.http.synapse import synapse_routes
from lamina.settings import Settings
from lamina.store.memory import MemoryStore

PAGES = {"/docs", "/openapi.json"}  # served beside the contracts: they describe the server
ALSO_IN_THE_QUERY = {
    "GET /v1/policy/scope",
    "PUT /v1/policy/scope",
}  # a scope's path as ?path=, since it has slashes
SESSION_CALLS_ADDED = {
    "POST /session/close",
    "POST /session/ingest",
    "GET /session/startbrief",
    "POST /memory/query",
    "GET /memory/loops",
    "GET /user/identity",
    "PATCH /user/identity",
    "POST /internal/outbox/revive",
}
ISSUES_DUE = ("A", "B")

EXPECTED_LATER = {
    "C": {
        "POST /v1/answer",
        "POST /v1/understanding/synthesize",
        "POST /v1/vocabularies",
        "GET /v1/vocabularies",
        "GET /v1/vocabularies/{}",
        "PUT /v1/vocabularies/{}",
        "POST /v1/temporal/phrases",
        "GET /v1/temporal/phrases",
        "DELETE /v1/temporal/phrases/{}",
    },
    "D": {
        "POST /v1/forget",
        "POST /v1/erasures/preview",
        "GET /v1/erasures/preview/{}/manifest",
        "POST /v1/erasures",
        "GET /v1/erasures/{}",
        "GET /v1/erasures/{}/manifest",
        "POST /v1/erasures/{}/cancel",
        "POST /v1/import/mem0",
        "POST /v1/import/zep",
        "POST /v1/import/letta",
        "POST /v1/import/openai",
        "POST /v1/import/jsonl",
        "GET /v1/import/{}",
        "POST /v1/import/{}/cancel",
        "POST /v1/export",
        "GET /v1/export/{}",
        "POST /v1/blobs",
        "GET /v1/blobs/{}",
    },
    "G": {"GET /v1/admin/metrics"},
}
"""What the list has and the server does not yet, by the issue that brings it. Take a row out when it is there."""


@dataclass(frozen=True)
class Listed:
    """A row of the list. ``variant`` is set where it is another use of a path, such as ``?view=narrative``."""

    route: str
    variant: str
    tier: str
    capability: str
    issue: str


def listed(wanted: str = "cortex") -> list[Listed]:
    lines = (Path(__file__).parent / "routes.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return [
        Listed(
            f"{verb} {normalised(path.partition('?')[0])}", path.partition("?")[2], tier, capability, issue
        )
        for contract, verb, path, tier, capability, _, issue in rows
        if contract == wanted
    ]


def normalised(path: str) -> str:
    return re.sub(r"{[^}]*}", "{}", path)


@pytest.fixture(scope="module", name="served")
def _served() -> Iterator[dict[str, Route]]:
    server = build_server(Settings(), store=MemoryStore())
    yield {f"{row.verb} {normalised(row.path)}": row for row in cortex_routes(server.operations)}
    server.close()


def test_what_is_missing_is_what_is_expected_later(served: dict[str, Route]) -> None:
    missing: dict[str, set[str]] = {}
    for row in listed():
        if row.route not in served:
            missing.setdefault(row.issue, set()).add(row.route)
    assert missing == EXPECTED_LATER


def test_the_server_has_no_route_that_the_list_lacks(served: dict[str, Route]) -> None:
    assert served.keys() - {row.route for row in listed()} == ALSO_IN_THE_QUERY


def test_every_other_page_of_the_server_is_named(served: dict[str, Route]) -> None:
    from starlette.applications import Starlette

    server = build_server(Settings(host="127.0.0.1"), store=MemoryStore())
    inner = getattr(server.application, "_application", server.application)
    assert isinstance(inner, Starlette)
    paths = {getattr(route, "path", "") for route in inner.routes}
    server.close()
    beside = {row.path for row in synapse_routes(server.session_operations)}
    assert paths - {row.path for row in served.values()} - beside == PAGES


def test_the_session_contract_is_served_with_its_later_calls() -> None:
    server = build_server(Settings(), store=MemoryStore())
    paths = {f"{row.verb} {row.path}" for row in synapse_routes(server.session_operations)}
    server.close()
    assert paths - {row.route for row in listed("synapse")} == SESSION_CALLS_ADDED
    assert {row.route for row in listed("synapse")} - paths == set()


@pytest.mark.parametrize("row", [r for r in listed() if not r.variant], ids=lambda row: row.route)
def test_a_route_has_the_tier_and_capability_of_the_list(row: Listed, served: dict[str, Route]) -> None:
    if row.route not in served:
        pytest.skip("not there yet")
    operation = served[row.route].operation
    assert operation.tier.value == row.tier
    if row.capability == "(open)":
        assert operation.open
        return
    wanted = re.escape(re.split(r"[ ,(]", row.capability)[0]).replace(r"\*", ".+")
    if not row.capability.startswith("("):
        assert re.fullmatch(wanted, str(operation.capability))
    assert not operation.open

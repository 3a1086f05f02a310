"""The server's route table against the list of the contracts, kept beside this file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lamina.app import build_server
from lamina.http.relay.contract import MCP_LINES
from lamina.http.routes import Route
from lamina.settings import Settings
from lamina.store.memory import MemoryStore

PAGES = {
    "/",
    "/docs",
    "/openapi.json",
    "/mcp",
    "/v1/mcp",
}  # beside the contracts: they describe the server, or speak another protocol
ALSO_IN_THE_QUERY = {
    "GET /v1/policy/scope",
    "PUT /v1/policy/scope",
}  # a scope's path as ?path=, since it has slashes
ADDED = {
    "POST /session/close",
    "POST /session/ingest",
    "GET /session/startbrief",
    "POST /memory/query",
    "GET /memory/loops",
    "GET /user/identity",
    "PATCH /user/identity",
    "POST /internal/outbox/revive",
    "POST /v1/continuity/history",
    "POST /v1/continuity/diff",
    "POST /v1/facts/{}/correct",
    "GET /v1/entities/{}",
    "POST /v1/entities/{}/merge",
    "POST /v1/entities/{}/split",
    "POST /v1/facts/{}/retract",
    "GET /v1/why/{}",
    "GET /v1/erasures",
    "POST /v1/events/{}/forget-answer",
}  # later calls of the session contract, and our own beside the contracts

PROTOCOLS = set(MCP_LINES)  # served, and no operations: what is called there is a row of its own

EXPECTED_LATER = {
    "D": {
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


def listed() -> list[Listed]:
    lines = (Path(__file__).parent / "routes.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return [
        Listed(
            f"{verb} {normalised(path.partition('?')[0])}", path.partition("?")[2], tier, capability, issue
        )
        for _, verb, path, tier, capability, _, issue in rows
    ]


def normalised(path: str) -> str:
    return re.sub(r"{[^}]*}", "{}", path)


@pytest.fixture(scope="module", name="served")
def _served() -> Iterator[dict[str, Route]]:
    server = build_server(Settings(), store=MemoryStore())
    yield {f"{row.verb} {normalised(row.path)}": row for row in server.routes}
    server.close()


def test_what_is_missing_is_what_is_expected_later(served: dict[str, Route]) -> None:
    missing: dict[str, set[str]] = {}
    for row in listed():
        if row.route not in served and row.route not in PROTOCOLS:
            missing.setdefault(row.issue, set()).add(row.route)
    assert missing == EXPECTED_LATER


def test_the_server_has_no_route_that_the_list_lacks(served: dict[str, Route]) -> None:
    assert served.keys() - {row.route for row in listed()} == ALSO_IN_THE_QUERY | ADDED


def test_every_other_page_of_the_server_is_named(served: dict[str, Route]) -> None:
    from starlette.applications import Starlette

    server = build_server(Settings(host="127.0.0.1"), store=MemoryStore())
    inner: object = server.application
    while not isinstance(inner, Starlette):  # what stands before it: known hosts, rows without parameters
        inner = getattr(inner, "_application", None) or inner._otherwise  # type: ignore[attr-defined]  # ours
    fixed, *others = inner.routes
    paths = {*fixed.made, *(route.path for route in others)}  # type: ignore[attr-defined] # ours
    server.close()
    assert paths - {row.path for row in served.values()} == PAGES


@pytest.mark.parametrize(
    "row", [r for r in listed() if not r.variant and r.tier != "-"], ids=lambda row: row.route
)
def test_a_route_has_the_tier_and_capability_of_the_list(row: Listed, served: dict[str, Route]) -> None:
    if row.route not in served:
        pytest.skip("not there yet")
    operation = served[row.route].operation
    assert operation.tier.value == row.tier
    if row.capability == "(open)":
        assert operation.open
        return
    wanted = re.escape(re.split(r"[ ,(]", row.capability)[0]).replace(r"\*", ".+").replace("<mode>", ".+")
    if not row.capability.startswith("("):
        assert re.fullmatch(wanted, str(operation.capability))
    assert not operation.open

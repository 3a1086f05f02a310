"""The page of operations says what the rows say, and nothing in it runs or is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pytest

from lamina.app import build_server
from lamina.http.docs_page import docs_page
from lamina.http.routes import PARAMETER, Route
from lamina.settings import Settings
from lamina.store.memory import MemoryStore


class _Read(HTMLParser):
    """The cells of each table by the heading above it, and every tag with its attributes."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._heading, self._open = "", ""
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag if tag != "code" else self._open
        if tag == "tr":
            self.tables.setdefault(self._heading, []).append([])
        elif tag == "td":
            self.tables[self._heading][-1].append("")

    def handle_data(self, data: str) -> None:
        if self._open == "h2":
            self._heading, self._open = data, ""
        elif self._open == "td":
            self.tables[self._heading][-1][-1] += data.strip()


@pytest.fixture(scope="module", name="routes")
def _routes() -> Iterator[tuple[Route, ...]]:
    server = build_server(Settings(), store=MemoryStore())
    yield server.routes
    server.close()


def test_every_row_is_listed_once_under_its_contract(routes: tuple[Route, ...]) -> None:
    tables = _Read(docs_page(routes)).tables
    assert list(tables) == ["Cortex", "Relay", "Synapse"]
    for contract, rows in tables.items():
        assert [cells[:3] for cells in rows if cells] == [
            [row.verb, PARAMETER.sub(r"{\1}", row.path), row.operation.summary]
            for row in routes
            if row.contract == contract
        ]
    tiers = {cells[3].split(",")[0] for rows in tables.values() for cells in rows if cells}
    assert tiers == {"stable", "beta", "experimental"}


def test_a_row_belongs_to_the_contract_whose_paths_it_shares(routes: tuple[Route, ...]) -> None:
    by_path = {row.path: row.contract for row in routes}
    assert by_path["/v1/experience"] == by_path["/v1/recall"] == "Cortex"
    assert by_path["/v1/continuity/upsert"] == by_path["/v1/help"] == by_path["/health"] == "Relay"
    assert by_path["/brief"] == by_path["/internal/debug/user"] == "Synapse"


def test_what_the_rows_say_is_text_on_the_page(routes: tuple[Route, ...]) -> None:
    hostile = "<script>alert(1)</script> & <img src=x>"
    row = replace(routes[0], operation=replace(routes[0].operation, summary=hostile), path="/v1/<b>")
    page = docs_page([row])
    (cells,) = [cells for cells in _Read(page).tables["Cortex"] if cells]
    assert cells[1:3] == ["/v1/<b>", hostile]
    assert hostile.encode() not in page
    assert unescape(page.decode()).count(hostile) == 1


def test_the_page_runs_nothing_and_fetches_nothing(routes: tuple[Route, ...]) -> None:
    tags = _Read(docs_page(routes)).tags
    assert not {tag for tag, _ in tags} & {"script", "link", "img", "iframe", "object", "form", "base"}
    pointing = {value for _, attrs in tags for name, value in attrs.items() if name in ("src", "href")}
    assert pointing == {"/openapi.json"}
    assert not [name for _, attrs in tags for name in attrs if name.startswith("on")]

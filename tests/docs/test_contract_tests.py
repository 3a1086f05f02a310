"""The table of what holds the Relay contract: every section has a row, every test is there, and what is not built is not served."""

from __future__ import annotations

import re
from pathlib import Path

from lamina.app import build_server
from lamina.http.relay.contract import MCP_LINES, TOOLS
from lamina.settings import Settings
from lamina.store.memory import MemoryStore

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "contract-tests.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if re.match(r"\| \d", line)
]
PARTS = {0: 6, 1: 17, 2: 7, 3: 19, 4: 7, 5: 0, 6: 6, 7: 6}
"""How many parts each section of the contract has."""


def test_every_section_has_one_row() -> None:
    sections = [f"{whole}.{part}" if part else f"{whole}" for whole, last in PARTS.items() for part in range(1 if last else 0, last + 1)]  # fmt: skip
    assert [row[0] for row in ROWS] == sections


def test_every_test_that_is_named_is_there() -> None:
    for section, _, tests, without in ROWS:
        named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", tests)
        assert named or without, f"{section} has neither a test nor a word on why"
        assert len(named) == tests.count("`") // 2
        for path, name in named:
            text = (ROOT / path).read_text(encoding="utf-8")
            assert re.search(rf"^(async )?def {name}\(", text, re.MULTILINE), f"{section}: {path}::{name}"


def test_what_is_not_built_is_not_served_and_all_else_is() -> None:
    server = build_server(Settings(), store=MemoryStore())
    served = {f"{row.verb} {row.path}" for row in server.routes} | set(MCP_LINES)
    server.close()
    missing = {route for *_, without in ROWS for route in re.findall(r"`((?:GET|POST) /\S+)`", without)}
    assert missing == TOOLS.keys() - served

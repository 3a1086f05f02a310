"""The table of what holds the Relay contract: every section has a row, every test is there, and only what is not built is missing."""

from __future__ import annotations

import re
from pathlib import Path

from lamina.app import build_server
from lamina.coordination.operators.jobs import JOBS
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


def test_all_routes_and_jobs_are_served_but_those_that_are_not_built() -> None:
    server = build_server(Settings(), store=MemoryStore())
    routes = {f"{row.verb} {row.path}" for row in server.routes} | set(MCP_LINES)
    operations = {operation.name for operation in server.operations}
    server.close()
    jobs = {name for name, job in JOBS.items() if job.operation not in operations}
    assert {name for *_, without in ROWS for name in re.findall("`([^`]+)`", without)} == jobs | (
        TOOLS.keys() - routes
    )

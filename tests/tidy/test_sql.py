"""House rules about SQL: named blocks in files, each with its purpose, each in use."""

from __future__ import annotations

import re

import pytest
from house import MODULES, PACKAGE, report

ENGINES = sorted(path.parent.name for path in PACKAGE.glob("store/*/sql"))
_BLOCK = re.compile(r"^-- name: (\w+)\n(.*)$", re.MULTILINE)


def _blocks(engine: str) -> dict[str, str]:
    """Block names of an engine, each with the line that follows."""
    files = sorted((PACKAGE / "store" / engine / "sql").glob("*.sql"))
    return {name: line for path in files for name, line in _BLOCK.findall(path.read_text(encoding="utf-8"))}


def test_there_are_engines_to_look_at():
    assert ENGINES, "no engine keeps its SQL under store/<engine>/sql; has the layout changed?"


@pytest.mark.parametrize("engine", ENGINES)
def test_every_block_is_used(engine: str):
    modules = [module for module in MODULES if module.name.startswith(f"store/{engine}/")]
    strings = set().union(*(module.strings() for module in modules))
    unused = sorted(_blocks(engine).keys() - strings)
    assert not unused, report(f"Nothing in store/{engine} runs these blocks; delete them:", unused)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_block_says_its_purpose(engine: str):
    bare = sorted(name for name, line in _blocks(engine).items() if not line.startswith("-- "))
    assert not bare, report("Put a one-line purpose under `-- name:`", bare)

"""The gate gives one verdict for one tree; ``HYPOTHESIS_PROFILE=explore`` and ``SIMULATION_SEED`` look further."""

from __future__ import annotations

import os
import resource
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from lamina.pipeline.extract.syntax import Parser

# Before anything loads numpy, as the command line does: its threads would spin on cores that the other worker needs.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile("gate", derandomize=True)
settings.register_profile("explore")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))

WORKER_MIB_MAX: Final = 1536
"""Two workers, what they start and an editor fit into 8 GB."""


# ---- the parser, once for each process of the gate, with the examples of a module in one batch


@pytest.fixture(scope="session")
def parser() -> Parser:
    """The English parser, loaded once; a test that asks for it carries the mark `model`."""
    from parsing import ReadingAhead

    global _parser
    _parser = ReadingAhead()
    return _parser


_parser: Any = None
_examples: dict[Path, list[str]] = defaultdict(list)
_module: Path | None = None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note the texts in the tables of each module."""
    for item in session.items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            _examples[item.path] += [each for each in item.callspec.params.values() if isinstance(each, str)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Let the parser expect the texts of a module at its first test."""
    global _module
    if _parser is not None and item.path != _module:
        _module = item.path
        _parser.expect(_examples[item.path])
    return (yield)

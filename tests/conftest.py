"""The gate gives one verdict for one tree; ``HYPOTHESIS_PROFILE=explore`` and ``SIMULATION_SEED`` look further, and
``LAMINA_TEST_PROCESSES=3`` has the servers that tests start serve from so many processes."""

from __future__ import annotations

import gc
import importlib.util
import os
import resource
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import settings

import choosing

if TYPE_CHECKING:
    from lamina.pipeline.extract.syntax import Parser

# Before anything loads numpy, as the command line does: its threads would spin on cores that the other worker needs.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Servers that tests start are one process each, whatever the machine has, unless somebody asks for more.
os.environ["LAMINA_PROCESSES"] = os.environ.pop("LAMINA_TEST_PROCESSES", "1")

if importlib.util.find_spec("sniffio") is None:
    # httpx looks for it with every request to an application, and what is nowhere is looked for in every folder: 0.15 ms and more.
    sys.modules["sniffio"] = None  # type: ignore[assignment]  # which says that it is not there

settings.register_profile("gate", derandomize=True, deadline=None)  # how long a machine takes is no property
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))

gc.disable()  # until all tests are collected: what is made for them stays

WORKER_MIB_MAX: Final = 1536
"""Two workers, what they start and an editor fit into 8 GB."""

EXAMPLE_CHARS_MAX: Final = 500
"""A longer text is there to be hostile, and parsing it ahead would take seconds that its test does not need."""


_examples: dict[Path, list[str]] = defaultdict(list)
_module: Path | None = None


@pytest.fixture(scope="session")
def parser() -> Parser:
    """The English parser, loaded once; a test that asks for it carries the mark `model`."""
    from loaded import shared_parser

    return shared_parser()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Let models be loaded, databases and commands be made once, and note the texts in the tables of each module."""
    _collect_seldom()
    choosing.share()
    if "lamina.store.sqlite" in sys.modules:
        import stores

        stores.share()
    if "typer.testing" in sys.modules:
        import terminals

        terminals.share()
    if "lamina.pipeline.extract" not in sys.modules:
        return
    from loaded import share

    share()
    for item in session.items:
        if isinstance(item, pytest.Function):
            row = item.callspec.params.values() if hasattr(item, "callspec") else ()
            texts = _texts_in([*row, *getattr(item.obj, "rows", ())])
            _examples[item.path] += [each for each in texts if len(each) <= EXAMPLE_CHARS_MAX]


def _collect_seldom() -> None:
    """Look for garbage again, but not in what was loaded, and less often: as a server does (``cli/process.py``)."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    gc.enable()


def _texts_in(given: Iterable[object]) -> Iterator[str]:
    """The texts of a row, also of the stories in it; a name or a code is none."""
    for each in given:
        if isinstance(each, str):
            yield from [each] if " " in each else []
        elif isinstance(each, list | tuple):
            yield from _texts_in(each)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Let the parser expect the texts of a module from its first test on."""
    global _module
    if item.path != _module and "loaded" in sys.modules:
        from loaded import shared_parser

        _module = item.path
        if shared_parser.cache_info().currsize:
            shared_parser().expect(_examples[item.path])
    return (yield)


# ---- the memory that the workers of the gate took

_taken: dict[str, int] = {}


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:  # Any: xdist's own
    """Note what the worker held at most."""
    _taken[node.gateway.id] = getattr(node, "workeroutput", {}).get("mib", 0)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A worker tells what it held at most; the runner fails where it is too much."""
    if hasattr(session.config, "workeroutput"):
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        session.config.workeroutput["mib"] = most // (1024 * 1024 if sys.platform == "darwin" else 1024)
    elif exitstatus == pytest.ExitCode.OK and max(_taken.values(), default=0) > WORKER_MIB_MAX:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:  # Any: pytest's own
    """Print it, above the line with what passed."""
    if _taken:
        listed = ", ".join(f"{name} {mib} MiB" for name, mib in sorted(_taken.items()))
        terminalreporter.write_line(f"most memory of each worker: {listed} (at most {WORKER_MIB_MAX} MiB)")

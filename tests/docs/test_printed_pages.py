"""The pages that a newcomer follows print what they show: each is run in its order, against a server with its worker."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

import forks

ROOT = Path(__file__).parents[2]


def script() -> Any:
    loader = importlib.machinery.SourceFileLoader("pages_script", str(ROOT / "scripts" / "pages"))
    spec = importlib.util.spec_from_loader("pages_script", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["pages_script"] = module
    loader.exec_module(module)
    return module


SCRIPT = script()
SCRIPT.STEP_S = 0.0  # nobody reads on here: what was derived is there


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", SCRIPT.PAGES)
def test_a_page_prints_what_it_shows(name: str) -> None:
    """One page by commands that start from nothing, the others by forks, which tell the same of what is printed."""
    own = SCRIPT.OWN if name == "README.md" else shlex.join(forks.command())
    found = SCRIPT.differences(name, own)
    assert not found, "run scripts/pages, and read what it wrote:\n" + "\n".join(found)


def test_what_differs_from_run_to_run_is_left_out_of_the_comparison() -> None:
    one = "  fact_01a203e2-9e9c-717f-8c44-1396e280b5d0  Ana works\n  fact_01a203e2-9e9c-717f-9701-da88553442c2  Ana lives\n"
    other = "  fact_01a203e2-cce2-73c7-b9d0-8088da4ef5c8  Ana lives\n  fact_01a203e2-cce2-73c7-9921-2e1da8a87119  Ana works\n"
    assert SCRIPT.plain(one) == SCRIPT.plain(other)
    claims = "- Ana: Ana {}. Ana {}. [1]\n"
    assert SCRIPT.plain(claims.format("moved", "lives")) == SCRIPT.plain(claims.format("lives", "moved"))
    assert SCRIPT.plain(claims.format("moved", "lives")) != SCRIPT.plain(claims.format("lives", "works"))
    assert SCRIPT.plain("since 2026-11-22 15:31, 2.4 MB") == SCRIPT.plain("since 2027-01-02 05:00, 12 MB")
    assert SCRIPT.plain("Ana lives in Porto [1]") != SCRIPT.plain("Ana lives in Lisbon [1]")
    assert SCRIPT.plain("[1] fact 0.95") != SCRIPT.plain("[1] fact 0.62")

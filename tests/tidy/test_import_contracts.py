"""The import contracts name every package, so that a new one is left out of none unseen."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from house import report

ROOT = Path(__file__).parents[2]
WIRING = {"__init__", "__main__", "app", "cli"}
CLIENTS = {"client", "types", "kernel", "errors", "limits"}
CONTRACTS = {
    "Nothing behind the wiring names an engine": ("source_modules", WIRING | {"store"}),
    "No web framework behind the doors": ("source_modules", WIRING | {"http", "mcp", "client"}),
    "The issuer needs nothing of the server but its bounds, ids and errors": (
        "forbidden_modules",
        {"__init__", "__main__", "catalogue", "errors", "kernel", "limits"},
    ),
    "The client's distribution needs nothing of the server": ("forbidden_modules", CLIENTS | {"__init__"}),
}


@pytest.mark.parametrize("name", CONTRACTS)
def test_a_contract_names_every_package_but_those_it_is_not_about(name: str) -> None:
    key, exempt = CONTRACTS[name]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (each for each in settings["tool"]["importlinter"]["contracts"] if each["name"] == name)
    folder = ROOT / "src" / "lamina"
    there = {
        path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    named = {module.removeprefix("lamina.") for module in contract[key] if module.startswith("lamina.")}
    assert exempt <= there
    found = sorted(named ^ (there - exempt))
    assert not found, report(f"Bring the list of '{name}' in pyproject.toml up to what is there:", found)

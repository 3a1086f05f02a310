"""The clone holds two distributions: each file of the package is in one of them, and the client's needs two packages of others."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from typing import Any

from house import MODULES, PACKAGE, ROOT, Module

import lamina

SERVER, CLIENT = (
    tomllib.loads((ROOT / at / "pyproject.toml").read_text(encoding="utf-8"))
    for at in (".", "clients/python")
)
PARTS: list[str] = CLIENT["tool"]["hatch"]["build"]["hooks"]["custom"]["parts"]


def test_what_the_client_has_is_there_and_the_server_leaves_it_out():
    assert all((PACKAGE / part).exists() for part in PARTS)
    excluded = SERVER["tool"]["hatch"]["build"]["targets"]["wheel"]["exclude"]
    assert sorted(excluded) == sorted(f"/src/lamina/{part}" for part in PARTS)


def test_the_import_contract_is_about_what_the_client_has():
    contracts: list[dict[str, Any]] = SERVER["tool"]["importlinter"]["contracts"]
    (contract,) = [each for each in contracts if each["name"].startswith("The client's distribution")]
    modules = {f"lamina.{part.removesuffix('.py')}" for part in PARTS} - {
        "lamina.__init__",
        "lamina.py.typed",
    }
    assert set(contract["source_modules"]) == modules


def test_the_client_needs_httpx_and_pydantic_only():
    theirs = {name for module in MODULES if _is_clients(module) for name in _packages(module)}
    needs = {re.split(r"[<>=]", text)[0] for text in CLIENT["project"]["dependencies"]}
    assert needs == {"httpx", "pydantic"}
    assert theirs - {"pydantic_core"} == needs, "pydantic brings its core"


def test_both_have_the_version_of_the_package():
    version = lamina.__version__
    assert SERVER["project"]["version"] == CLIENT["project"]["version"] == version


def _is_clients(module: Module) -> bool:
    return module.name.split("/")[0] in PARTS


def _packages(module: Module) -> set[str]:
    """The packages of others that a module imports, wherever in it."""
    named: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            named |= {item.name for item in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            named.add(node.module)
    return {name.split(".")[0] for name in named} - sys.stdlib_module_names - {"lamina"}

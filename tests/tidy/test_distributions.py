"""The clone holds two distributions: each file of the package is in one of them, and the client's needs two packages of others."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

import pytest
from house import MODULES, PACKAGE, ROOT, Module

import lamina

SERVER, CLIENT = (
    tomllib.loads((ROOT / at / "pyproject.toml").read_text(encoding="utf-8"))
    for at in (".", "clients/python")
)
_SITE = f"import sys; sys.path.append({sysconfig.get_path('purelib')!r}); "
"""Others' packages without the interpreter's start, which would add an editable install of this clone."""
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


@pytest.mark.parametrize("order", [1, -1], ids=["client first", "server first"])
def test_installed_into_two_folders_they_are_one_package(tmp_path: Path, order: int):
    folders = [tmp_path / "client", tmp_path / "server"]
    for folder in folders:
        (folder / "lamina").mkdir(parents=True)
    for path in PACKAGE.iterdir():
        (folders[path.name not in PARTS] / "lamina" / path.name).symlink_to(path)
    program = "import lamina, lamina.client, lamina.catalogue; print(lamina.Client.__name__)"
    told = {"PYTHONPATH": os.pathsep.join(map(str, folders[::order])), "PYTHONDONTWRITEBYTECODE": "1"}
    said = subprocess.run(
        [sys.executable, "-S", "-c", _SITE + program], env=told, capture_output=True, text=True, check=False
    )
    assert said.stdout == "Client\n", said.stderr


def test_both_have_the_version_of_the_package():
    version = lamina.__version__
    assert SERVER["project"]["version"] == CLIENT["project"]["version"] == version


def _is_clients(module: Module) -> bool:
    return module.name.split("/")[0] in PARTS


def _packages(module: Module) -> set[str]:
    """The packages of others that a module imports, wherever in it."""
    named: set[str] = set()
    for node in module.nodes:
        if isinstance(node, ast.Import):
            named |= {item.name for item in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            named.add(node.module)
    return {name.split(".")[0] for name in named} - sys.stdlib_module_names - {"lamina"}

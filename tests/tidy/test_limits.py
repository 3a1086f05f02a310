"""A bound that nobody checks is a promise that nobody keeps."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from house import MODULES, report


def test_every_bound_is_checked_somewhere():
    (limits,) = [module for module in MODULES if module.name == "limits.py"]
    named = {node.target.id for node in limits.tree.body if isinstance(node, ast.AnnAssign)}
    used = set().union(*(_names(module.nodes) for module in MODULES if module is not limits))
    assert named, "limits.py names no bounds; has its form changed?"
    unused = sorted(named - used)
    assert not unused, report("Check these bounds of limits.py where they belong, or delete them:", unused)


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    names = set[str]()
    for node in nodes:
        if isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            names.update(name.name for name in node.names)
    return names

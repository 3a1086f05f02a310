"""A bound that nobody checks is a promise that nobody keeps."""

from __future__ import annotations

import ast

from house import MODULES, report

# Bounds of parts that are still being built. Take a name out as soon as its part is there.
AWAITED = {
    "FILTER_DEPTH_MAX",
    "FILTER_TERMS_MAX",
    "LAYER_LIMIT_MAX",
    "LIFECYCLE_LAG_S_MAX",
    "LIFECYCLE_REPLAY_S",
    "LIFECYCLE_STREAMS_MAX",
    "PACKS_KEPT_MAX",
    "PACK_TTL_S",
    "PAGE_LIMIT_DEFAULT",
    "QUERY_LENGTH_MAX",
    "RECALL_TOKENS_DEFAULT",
    "RECALL_TOKENS_MAX",
    "SCOPES_PER_RECALL_MAX",
}


def test_every_bound_is_checked_somewhere():
    (limits,) = [module for module in MODULES if module.name == "limits.py"]
    named = {node.target.id for node in limits.tree.body if isinstance(node, ast.AnnAssign)}
    used = set().union(*(_names(module.tree) for module in MODULES if module is not limits))
    assert named, "limits.py names no bounds; has its form changed?"
    unused = sorted(named - used - AWAITED)
    assert not unused, report("Check these bounds of limits.py where they belong, or delete them:", unused)
    gone = sorted(AWAITED - named)
    assert not gone, report("These awaited bounds are gone; take them out of the list above:", gone)


def _names(tree: ast.Module) -> set[str]:
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    imported = {
        name.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names
    }
    return attributes | imported

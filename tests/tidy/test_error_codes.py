"""Error codes are part of the contract: spelt one way, and explained in the reference."""

from __future__ import annotations

import ast
import re

from house import MODULES, ROOT, Module, report

from lamina import errors

REFERENCE = ROOT / "docs" / "reference" / "errors.md"
CLASSES = {name for name in errors.__all__ if isinstance(getattr(errors, name), type)}


def test_codes_are_upper_snake():
    wrong = sorted(code for code in _raised() if not re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", code))
    assert not wrong, report("Spell error codes UPPER_SNAKE:", wrong)


def test_codes_have_a_heading_in_the_reference():
    headings = set(re.findall(r"^### (\w+)$", REFERENCE.read_text(encoding="utf-8"), re.MULTILINE))
    raised = _raised()
    missing = sorted(f"{code} ({where})" for code, where in raised.items() if code not in headings)
    assert not missing, report("Give each a heading `### CODE` in docs/reference/errors.md:", missing)
    stale = sorted(headings - raised.keys())
    assert not stale, report(
        "Nothing raises these any more; take them out of docs/reference/errors.md:", stale
    )


def _raised() -> dict[str, str]:
    """Every code that the source raises, with a module that does."""
    return {code: module.name for module in MODULES for code in _codes(module)}


def _codes(module: Module) -> set[str]:
    codes: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            codes |= _texts(node.args[:1]) if name in CLASSES else set()
            codes |= _texts([item.value for item in node.keywords if item.arg == "invalid_code"])
        elif isinstance(node, ast.AnnAssign) and _named(node.target) == "invalid_code" and node.value:
            codes |= _texts([node.value])
    return codes


def _texts(nodes: list[ast.expr]) -> set[str]:
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def _named(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""

"""Error codes are part of the contract: spelt one way, and explained in the reference."""

from __future__ import annotations

import ast
import re

from house import MODULES, Module, report

from lamina import errors
from lamina.catalogue import CATALOGUE

CLASSES = {name for name in errors.__all__ if isinstance(getattr(errors, name), type)}


def test_codes_are_upper_snake():
    wrong = sorted(code for code in _raised() if not re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", code))
    assert not wrong, report("Spell error codes UPPER_SNAKE:", wrong)


def test_codes_stand_in_the_catalogue():
    raised = _raised()
    missing = sorted(f"{code} ({where})" for code, where in raised.items() if code not in CATALOGUE)
    assert not missing, report(
        "Explain each in src/lamina/catalogue/, then run scripts/error_pages:", missing
    )
    stale = sorted(CATALOGUE.keys() - raised.keys())
    assert not stale, report("Nothing raises these any more; take them out of the catalogue:", stale)


def test_a_code_has_the_class_that_the_catalogue_names():
    wrong = {
        code: entry.kind
        for code, entry in CATALOGUE.items()
        if entry.kind not in CLASSES or not any(entry.kind in kinds for kinds in _kinds(code))
    }
    assert not wrong, report(
        "No module raises these with this class:", [f"{c}: {k}" for c, k in wrong.items()]
    )


def test_every_error_says_what_helps():
    """A hint where it is raised, or else one in the catalogue for all that raise the code."""
    missing = []
    for module in MODULES:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CLASSES:
                hinted = any(item.arg == "hint" for item in node.keywords)
                codes = _texts(node.args[:1])
                missing += [f"{module.name}: {c}" for c in codes if not hinted and not CATALOGUE[c].hint]
    assert not missing, report("Give a hint, or its code one in src/lamina/catalogue/:", sorted(missing))


def _kinds(code: str) -> list[set[str]]:
    """The classes that modules raise a code with; all of them where it is given as ``invalid_code``."""
    found = []
    for module in MODULES:
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name in CLASSES and code in _texts(node.args[:1]):
                found.append({name})
            elif code in _texts([item.value for item in node.keywords if item.arg == "invalid_code"]):
                found.append({"Invalid"})
        if any(
            isinstance(n, ast.AnnAssign) and n.value and code in _texts([n.value])
            for n in ast.walk(module.tree)
        ):
            found.append({"Invalid"})
    return found


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

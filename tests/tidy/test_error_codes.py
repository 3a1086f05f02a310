"""Error codes are part of the contract: spelt one way, and explained in the reference."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from house import MODULES, Module, report

from lamina import errors
from lamina.catalogue import CATALOGUE

CLASSES = {name for name in errors.__all__ if isinstance(getattr(errors, name), type)}


@dataclass(frozen=True, slots=True)
class Raised:
    """A place in the source that names an error code. ``hinted``: it says itself what helps."""

    code: str
    kind: str
    where: str
    hinted: bool = False


def _raised(module: Module) -> Iterator[Raised]:
    """An error class called with a code, or a code handed on as ``invalid_code``, which ``Invalid`` is raised with."""
    for node in module.nodes:
        if isinstance(node, ast.Call):
            kind = node.func.id if isinstance(node.func, ast.Name) else ""
            if kind in CLASSES:
                hinted = any(item.arg == "hint" for item in node.keywords)
                yield from (Raised(code, kind, module.name, hinted) for code in _texts(node.args[:1]))
            handed = [item.value for item in node.keywords if item.arg == "invalid_code"]
            yield from (Raised(code, "Invalid", module.name, hinted=True) for code in _texts(handed))
        elif isinstance(node, ast.AnnAssign) and node.value and _named(node.target) == "invalid_code":
            yield from (Raised(code, "Invalid", module.name, hinted=True) for code in _texts([node.value]))


def _texts(nodes: list[ast.expr]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _named(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


@cache
def raised() -> list[Raised]:
    """Every place; found once, and by the process alone that runs these tests."""
    return [each for module in MODULES for each in _raised(module)]


def test_codes_are_upper_snake():
    wrong = sorted(
        {each.code for each in raised() if not re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", each.code)}
    )
    assert not wrong, report("Spell error codes UPPER_SNAKE:", wrong)


def test_codes_stand_in_the_catalogue():
    missing = sorted({f"{each.code} ({each.where})" for each in raised() if each.code not in CATALOGUE})
    assert not missing, report(
        "Explain each in src/lamina/catalogue/, then run scripts/error_pages:", missing
    )
    stale = sorted(CATALOGUE.keys() - {each.code for each in raised()})
    assert not stale, report("Nothing raises these any more; take them out of the catalogue:", stale)


def test_a_code_has_the_class_that_the_catalogue_names():
    pairs = {(each.code, each.kind) for each in raised()}
    wrong = [f"{code}: {entry.kind}" for code, entry in CATALOGUE.items() if (code, entry.kind) not in pairs]
    assert not wrong, report("No module raises these with this class:", wrong)


def test_every_error_says_what_helps():
    """A hint where it is raised, or else one in the catalogue for all that raise the code."""
    missing = sorted(
        f"{each.where}: {each.code}" for each in raised() if not each.hinted and not CATALOGUE[each.code].hint
    )
    assert not missing, report("Give a hint, or its code one in src/lamina/catalogue/:", missing)

"""Every bound of a continuity request, once: the limit that is checked and the help that explains it.

The rows are those of ``GET /v1/help/limits`` in its order and groups, and after them those that only the requests of
the continuity operations have. Types take their limits from here (``items_max`` and its kin), the rules of
``validate`` walk the rows, and tests are made from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from lamina.continuity.capsule.bound_rows import GROUPS, Bound, all_rows

__all__ = [
    "BOUNDS",
    "GROUPS",
    "PATCH_TARGETS",
    "Bound",
    "choices",
    "each_max",
    "help_row",
    "help_rows",
    "highest",
    "items_max",
    "length_max",
    "lowest",
    "part_max",
]

_REFERENCE = "docs/payload-reference.md"

BOUNDS: Final[Mapping[str, Bound]] = {row.path: row for row in all_rows()}
"""Every row by its path, in the order of the help."""

_TARGET = "patch.target."
PATCH_TARGETS: Final[Mapping[str, Bound]] = {
    path.removeprefix(_TARGET): row for path, row in BOUNDS.items() if path.startswith(_TARGET)
}
"""The lists that a patch may change."""


def items_max(path: str) -> int:
    """How many items the list at a path may have."""
    most = BOUNDS[path].max_items
    assert most is not None, f"{path} bounds no items"
    return most


def length_max(path: str) -> int:
    """How many characters, or bytes, the value at a path may have."""
    most = BOUNDS[path].max_length
    assert most is not None, f"{path} bounds no length"
    return most


def each_max(path: str) -> int:
    """How many characters each item of the list at a path may have."""
    most = BOUNDS[path].each_max
    assert most is not None, f"{path} bounds no items' length"
    return most


def part_max(path: str, name: str) -> int:
    """The bound of a named part of the objects at a path."""
    return BOUNDS[path].parts[name]


def lowest(path: str) -> int:
    """The least number at a path."""
    least = BOUNDS[path].minimum
    assert least is not None, f"{path} has no least value"
    return int(least)


def highest(path: str) -> int:
    """The greatest number at a path."""
    most = BOUNDS[path].maximum
    assert most is not None, f"{path} has no greatest value"
    return int(most)


def choices(path: str) -> tuple[str, ...]:
    """The words allowed at a path."""
    return BOUNDS[path].allowed


def help_row(bound: Bound) -> dict[str, Any]:
    """A row as ``GET /v1/help/limits/{field_path}`` shows it."""
    return {
        "field_path": bound.path,
        "category": bound.group,
        "value_type": bound.value_type,
        "max_items": bound.max_items,
        "max_length": bound.max_length,
        "per_item_max_length": bound.each_max,
        "subfield_limits": dict(bound.parts)
        | {
            name: value
            for name, value in (("min", bound.minimum), ("max", bound.maximum))
            if value is not None
        },
        "applies_to": list(bound.applies_to),
        "correction_guidance": bound.guidance,
        "reference": f"{_REFERENCE}#patch" if bound.group == "patch_targets" else _REFERENCE,
    }


@cache
def help_rows() -> tuple[Mapping[str, Any], ...]:
    """Every row as it is shown."""
    return tuple(help_row(bound) for bound in BOUNDS.values())

"""Patches: items of lists appended, removed and replaced, all or nothing.

What an operation may carry follows from its action and from whether the list holds texts or entries; what it matches
is the stored text, exactly.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from lamina.continuity.capsule.bounds import PATCH_TARGETS
from lamina.continuity.capsule.fields import ENTRIES
from lamina.continuity.capsule.requests import PatchAction, PatchOperation
from lamina.continuity.capsule.shape import CapsuleObject, IdentityAnchor
from lamina.errors import Malformed, NotFound

__all__ = ["check_operations", "patched"]

_ANCHORS: Final = "thread_descriptor.identity_anchors"
_ENTRIES: Final[dict[str, TypeAdapter[Any]]] = {kind.path: TypeAdapter(kind.model) for kind in ENTRIES} | {
    _ANCHORS: TypeAdapter(IdentityAnchor)
}
_IDENTITY: Final = {kind.path: kind.identity for kind in ENTRIES}
_CARRIES: Final[dict[tuple[PatchAction, bool], frozenset[str]]] = {
    ("append", False): frozenset({"value"}),
    ("append", True): frozenset({"value"}),
    ("remove", False): frozenset({"match"}),
    ("remove", True): frozenset({"match"}),
    ("replace_at", False): frozenset({"index", "value"}),
    ("replace_at", True): frozenset({"match", "value"}),
}
"""What an operation carries, by its action and whether the target holds entries."""


def check_operations(operations: list[PatchOperation]) -> None:
    """Nothing, or ``Malformed`` (INVALID_PATCH) for an operation that carries too little, too much or the wrong thing."""
    for operation in operations:
        structured = operation.target in _ENTRIES
        carried = {name for name in ("value", "match", "index") if getattr(operation, name) is not None}
        wanted = _CARRIES[operation.action, structured]
        if carried != wanted:
            raise _wrong(operation, f"takes exactly {' and '.join(sorted(wanted))}")
        if "value" in wanted and not structured and not isinstance(operation.value, str):
            raise _wrong(operation, "takes a string as its value")
        if "value" in wanted and structured:
            _entry(operation)


def patched(capsule: CapsuleObject, operations: list[PatchOperation]) -> CapsuleObject:
    """A copy with every operation applied, in order.

    Raises ``Malformed`` (INVALID_PATCH) past a list's bound or without a descriptor, ``NotFound`` (PATCH_NO_MATCH).
    """
    kept = deepcopy(capsule)
    for operation in operations:
        _apply(kept, operation)
    return kept


def _apply(capsule: CapsuleObject, operation: PatchOperation) -> None:
    items, bound = _list(capsule, operation), PATCH_TARGETS[operation.target]
    if operation.action == "append":
        assert bound.max_items is not None, "every target is a bounded list"
        if len(items) >= bound.max_items:
            raise _wrong(operation, f"would pass the {bound.max_items} items of the list")
        items.append(_value(operation))
    elif operation.action == "remove":
        del items[_place(operation, items)]
    else:
        items[_place(operation, items)] = _value(operation)


def _list(capsule: CapsuleObject, operation: PatchOperation) -> list[Any]:
    holder, _, name = operation.target.rpartition(".")
    if holder and holder not in capsule:
        raise _wrong(operation, "needs a thread_descriptor, which the capsule does not have")
    where = capsule[holder] if holder else capsule
    items: list[Any] = where.setdefault(name, [])
    return items


def _place(operation: PatchOperation, items: list[Any]) -> int:
    if operation.index is not None:
        if 0 <= operation.index < len(items):
            return operation.index
        raise _missing(operation, f"has no item {operation.index}: it has {len(items)}")
    for place, item in enumerate(items):
        if _key(operation.target, item) == operation.match:
            return place
    raise _missing(operation, "has no item that matches")


def _key(target: str, item: Any) -> str:
    if target == _ANCHORS:
        return f"{item['kind']}:{item['value']}"
    return str(item if target not in _IDENTITY else item[_IDENTITY[target]])


def _value(operation: PatchOperation) -> Any:
    return _entry(operation) if operation.target in _ENTRIES else operation.value


def _entry(operation: PatchOperation) -> dict[str, Any]:
    try:
        entry = _ENTRIES[operation.target].validate_python(operation.value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise _wrong(
            operation, f"takes an entry of the list as its value: {field or 'value'}: {first['msg']}"
        ) from error
    kept: dict[str, Any] = entry.model_dump(exclude_none=True, exclude={"created_at", "updated_at"})
    return kept


def _wrong(operation: PatchOperation, reason: str) -> Malformed:
    return Malformed(
        "INVALID_PATCH",
        f"{operation.action} on {operation.target} {reason}",
        details={"target": operation.target, "action": operation.action, "reason": reason},
    )


def _missing(operation: PatchOperation, reason: str) -> NotFound:
    return NotFound(
        "PATCH_NO_MATCH",
        f"{operation.target} {reason}",
        hint="read the capsule: matching is exact, on the stored text",
        details={"target": operation.target, "action": operation.action},
    )

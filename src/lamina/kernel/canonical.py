"""Canonical JSON: one byte string for one value, whatever order its keys arrived in.

Keys sorted by code point, no white space, UTF-8, shortest float form: RFC 8785 for everything that Lamina
stores, but for its number formatting of very large and very small floats, where Python's ``repr`` stands.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, Final

from pydantic_core import from_json, to_json

__all__ = ["canonical", "compact", "digest", "digest_of_json", "holds_nul", "indented", "not_finite"]


_CANONICAL: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def canonical(value: Any) -> bytes:  # Any: whatever JSON can hold
    """The canonical bytes of a JSON value; raises ``ValueError`` for NaN and infinities."""
    return _CANONICAL.encode(value).encode()


def compact(value: Any) -> str:  # Any: whatever JSON can hold
    """JSON without white space, keys as given: for storage, where the submitted order is kept.

    Raises ``ValueError`` for NaN and infinities.
    """
    made = to_json(value)
    if b"NaN" in made or b"Infinity" in made:  # a number, or a text that says so
        json.dumps(value, allow_nan=False)
    return made.decode()


def indented(value: Any) -> bytes:  # Any: whatever JSON can hold
    """JSON as documents have it that people read: UTF-8, indented by two blanks, keys as given, a line end at the end."""
    return f"{json.dumps(value, indent=2, ensure_ascii=False)}\n".encode()


def digest(value: Any) -> str:  # Any: whatever JSON can hold
    """``sha256:<hex>`` of the canonical bytes."""
    return f"sha256:{hashlib.sha256(canonical(value)).hexdigest()}"


def digest_of_json(body: bytes) -> str:
    """``digest`` of the value of a JSON text; raises ``ValueError`` for what is none, and for NaN and infinities."""
    return digest(from_json(body))


def not_finite(value: Any) -> str | None:  # Any: whatever JSON can hold
    """The path of a number that is none in JSON, NaN or an infinity, with dots between its parts; None without one."""
    left = [("", value)]
    while left:
        path, each = left.pop()
        if isinstance(each, float) and not math.isfinite(each):
            return path.removeprefix(".")
        children = (
            each.items() if isinstance(each, dict) else enumerate(each) if isinstance(each, list) else ()
        )
        left += [(f"{path}.{name}", child) for name, child in children]
    return None


def holds_nul(value: Any) -> bool:  # Any: whatever JSON can hold
    """Whether the character NUL stands in a text or a key, however deep: PostgreSQL can store neither."""
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, str):
            if "\x00" in each:
                return True
        elif isinstance(each, dict):
            left += each
            left += each.values()
        elif isinstance(each, list):
            left += each
    return False

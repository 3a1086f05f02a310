"""Canonical JSON: one byte string for one value, whatever order its keys arrived in.

Keys sorted by code point, no white space, UTF-8, shortest float form: RFC 8785 for everything that Lamina
stores, but for its number formatting of very large and very small floats, where Python's ``repr`` stands.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

__all__ = ["canonical", "compact", "digest"]


# Made once: ``json.dumps`` with arguments makes an encoder for each call, and this runs several times an event.
_COMPACT = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(value: Any) -> bytes:  # Any: whatever JSON can hold
    """The canonical bytes of a JSON value; raises ``ValueError`` for NaN and infinities."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def compact(value: Any) -> str:  # Any: whatever JSON can hold
    """JSON without white space, keys as given: for storage, where the submitted order is kept."""
    return _COMPACT.encode(value)


def digest(value: Any) -> str:  # Any: whatever JSON can hold
    """``sha256:<hex>`` of the canonical bytes."""
    return f"sha256:{hashlib.sha256(canonical(value)).hexdigest()}"

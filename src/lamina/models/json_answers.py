"""The JSON object in a model's answer, which some models wrap in a fence or in words."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["json_object_in"]


def json_object_in(text: str) -> dict[str, Any] | None:  # Any: JSON
    """What stands from the first brace to the last one; None where that is no JSON object."""
    start, end = text.find("{"), text.rfind("}")
    try:
        found = json.loads(text[start : end + 1]) if 0 <= start < end else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None

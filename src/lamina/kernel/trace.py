"""W3C Trace Context, level 1: the identity of a trace that a caller hands on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Trace", "trace_of"]

_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace, and the span in it that called."""

    trace_id: str
    parent_id: str
    sampled: bool


def trace_of(candidates: Iterable[str | None]) -> Trace | None:
    """The trace of the first candidate that is a valid ``traceparent`` (section 3.2); None when none is.

    A header that cannot be read is as good as none: a trace must never break a request.
    """
    for text in candidates:
        match = _TRACEPARENT.fullmatch(text.strip()) if text and len(text) <= 256 else None
        if match is None or match[1] == "ff" or (match[1] == "00" and match[5]):
            continue
        if int(match[2], 16) and int(match[3], 16):
            return Trace(match[2], match[3], bool(int(match[4], 16) & 1))
    return None

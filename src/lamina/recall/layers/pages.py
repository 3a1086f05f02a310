"""Pages of a list: opaque cursors that pin the instant of the first page, and bounded looking for rare rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.canonical import digest
from lamina.kernel.time import Instant
from lamina.kernel.wire import decode_cursor, encode_cursor
from lamina.types.layer_requests import ListRequest

__all__ = ["PageStart", "Scanned", "place_of", "scan"]

T = TypeVar("T")
_SHAPE: dict[str, type] = {"a": int, "f": str, "i": str, "n": int, "s": int}


@dataclass(frozen=True, slots=True)
class PageStart:
    """Where a page begins: after (``number``, ``id``), in the list as it stood at ``snapshot``.

    ``number`` is a log position or an instant, as the list is ordered; None is the first page. ``asked_at`` is when that was
    asked for: words of time mean on every page what they meant on the first.
    """

    snapshot: Instant
    filters: str
    asked_at: Instant
    number: int | None = None
    id: str = ""

    def cursor(self, number: int, record_id: str = "") -> str:
        """The cursor of the page after that row."""
        return encode_cursor(
            {"a": number, "i": record_id, "n": self.asked_at, "s": self.snapshot, "f": self.filters}
        )


def place_of(request: ListRequest, snapshot: Instant, asked_at: Instant) -> PageStart:
    """The place that a request's cursor names, or the beginning, as of ``snapshot`` and asked for at ``asked_at``.

    Raises ``Invalid`` (INVALID_CURSOR) for a cursor that is not ours or belongs to other filters.
    """
    asked = request.model_dump(mode="json", exclude={"cursor", "limit"}, fallback=_ends)
    filters = digest([type(request).__name__, asked])[7:19]
    if request.cursor is None:
        return PageStart(snapshot, filters, asked_at)
    parts = decode_cursor(request.cursor, **_SHAPE)
    if parts["f"] != filters:
        raise Invalid(
            "INVALID_CURSOR",
            "the cursor belongs to another list or to other filters",
            hint="repeat the filters of the first page, or leave the cursor out to start over",
        )
    return PageStart(parts["s"], filters, parts["n"], parts["a"], parts["i"])


def _ends(value: Any) -> Any:  # Any: whatever a request holds that JSON cannot
    return repr(value)


@dataclass(frozen=True, slots=True)
class Scanned(Generic[T]):
    """The rows of a page, and the row after which the next page begins, None when this is the last."""

    rows: list[T]
    last: T | None


def scan(
    fetch: Callable[[T | None, int], list[T]], limit: int, *, wanted: Callable[[T], bool] | None = None
) -> Scanned[T]:
    """Up to ``limit`` rows that are ``wanted``, from ``fetch(after, how_many)``.

    Looks through ``limits.LIST_SCAN_MAX`` rows at most: past that the page is short, and goes on from there.
    """
    found: list[T] = []
    last: T | None = None
    size = limit + 1 if wanted is None else max(limit + 1, 200)
    looked_at = 0
    while True:
        rows = fetch(last, size)
        for row in rows:
            if wanted is None or wanted(row):
                if len(found) == limit:
                    return Scanned(found, found[-1])
                found.append(row)
            last = row
        looked_at += len(rows)
        if len(rows) < size:
            return Scanned(found, None)
        if looked_at >= limits.LIST_SCAN_MAX:
            return Scanned(found, last)

"""What a client asks of the server, as values: nothing here sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

__all__ = ["Ask", "ask", "query_text"]

ResultT = TypeVar("ResultT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Ask(Generic[ResultT]):
    """One request, and the type that reads its answer.

    ``repeatable`` says that sending it twice does no more than sending it once: reads, and writes that carry
    an idempotency key. ``held_s`` is how long the server may hold the answer back on the caller's wish.
    """

    verb: str
    template: str
    path: str
    result: type[ResultT]
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    repeatable: bool = True
    held_s: float = 0.0

    @property
    def endpoint(self) -> str:
        """Which row of the server's table is asked: ``GET /v1/facts/{fact_id}``."""
        return f"{self.verb} {self.template}"

    def after(self, cursor: str) -> Ask[ResultT]:
        """The same list, from ``cursor`` on."""
        return replace(self, query={**self.query, "cursor": cursor})


def ask(
    verb: str,
    template: str,
    result: type[ResultT],
    *,
    names: Mapping[str, str] | None = None,
    query: Mapping[str, Any] | None = None,
    body: Mapping[str, Any] | None = None,
    repeatable: bool = True,
    held_s: float = 0.0,
) -> Ask[ResultT]:
    """An ask: ``names`` fill the path, and what is None in ``query`` is left out."""
    quoted = {name: _segment(value) for name, value in (names or {}).items()}
    asked = {name: query_text(value) for name, value in (query or {}).items() if value is not None}
    return Ask(
        verb=verb,
        template=template,
        path=template.format(**quoted),
        result=result,
        query=asked,
        body=body,
        repeatable=repeatable,
        held_s=held_s,
    )


def _segment(name: str) -> str:
    """A name as one segment of a path. ``.`` and ``..`` as they are would be taken for another path."""
    return name.replace(".", "%2E") if name in (".", "..") else quote(name, safe="", errors="surrogatepass")


def query_text(value: Any) -> str:
    """A value as a query parameter: ``true``, RFC 3339, ``A..B`` for a pair, and other lists with commas."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple) and len(value) == 2:
        return "..".join("" if end is None else query_text(end) for end in value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(query_text(item) for item in value)
    return str(value)

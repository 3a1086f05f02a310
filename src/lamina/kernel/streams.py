"""Server-sent events as values: what an operation that streams gives back (WHATWG HTML, section 9.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic_core import to_json

__all__ = ["Burst", "ServerSentEvent"]


@dataclass(frozen=True)
class ServerSentEvent:
    """One event: its name, its JSON data, and the id to resume from where the stream has one."""

    event: str
    data: Any  # Any: a model or whatever JSON can hold
    id: str | None = None

    def encode(self) -> bytes:
        """The bytes on the wire, made once. JSON has no raw line ends, so the data is one line."""
        return self._encoded

    @cached_property
    def _encoded(self) -> bytes:
        head = f"id: {self.id}\n" if self.id else ""
        return f"{head}event: {self.event}\ndata: ".encode() + to_json(self.data, by_alias=True) + b"\n\n"


@dataclass(frozen=True, slots=True)
class Burst:
    """Events that go out together."""

    events: Sequence[ServerSentEvent]

    def encode(self) -> bytes:
        """The bytes on the wire."""
        return b"".join(event.encode() for event in self.events)

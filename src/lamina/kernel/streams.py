"""Server-sent events as values: what an operation that streams gives back (WHATWG HTML, section 9.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic_core import to_json

__all__ = ["Beginning", "Burst", "ServerSentEvent"]


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


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where a stream begins, told before its first event: a comment, and the id to resume from until there is another.

    A block without data is no event to its readers, and they keep its id.
    """

    id: str

    def encode(self) -> bytes:
        """The bytes on the wire."""
        return f": from here on\nid: {self.id}\n\n".encode()

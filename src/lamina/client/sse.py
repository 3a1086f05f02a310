"""Reading server-sent events from bytes as they come (WHATWG HTML, section 9.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from pydantic_core import from_json

from lamina.errors import TooLarge, Unsupported

__all__ = ["EventReader", "Received"]

BUFFER_BYTES_MAX: Final = 64 * 1024 * 1024
"""No event of a recall comes near: a pack holds at most 200,000 tokens."""


@dataclass(frozen=True, slots=True)
class Received:
    """One event: its name, its JSON data, and its id where it has one."""

    event: str
    data: Any  # Any: whatever JSON holds
    id: str | None = None


class EventReader:
    """Feed it bytes, get the events that they complete.

    Lines end in LF or CRLF only. Text may hold other characters that Unicode counts as line ends, and JSON
    does not escape them.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._fields: dict[str, str] = {}
        self.signs = 0
        """How many events and comments there were: signs of life of a server that speaks this protocol."""
        self.last_id: str | None = None
        """The last id that came, with an event or by itself: where to go on from."""

    def feed(self, data: bytes) -> list[Received]:
        """The events that end in ``data``; comments and empty events give nothing."""
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = bytes(self._buffer) + lines[0]
            self._buffer = bytearray(rest)
        else:
            self._buffer += rest
        if len(self._buffer) > BUFFER_BYTES_MAX:
            raise TooLarge("RESPONSE_TOO_LARGE", f"an event has more than {BUFFER_BYTES_MAX} bytes")
        found = (self._line(_decoded(line)) for line in lines)
        return [event for event in found if event is not None]

    def _line(self, line: str) -> Received | None:
        if line:
            self.signs += line.startswith(":")
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "data" and "data" in self._fields:
                value = f"{self._fields['data']}\n{value}"
            self._fields[name] = value
            return None
        fields, self._fields = self._fields, {}
        self.last_id = fields.get("id", self.last_id)
        if "data" not in fields:
            return None
        try:
            data = from_json(fields["data"])
        except ValueError as error:
            raise Unsupported("UNREADABLE_RESPONSE", "an event of the stream is not JSON") from error
        self.signs += 1
        return Received(fields.get("event", "message"), data, fields.get("id"))


def _decoded(line: bytes) -> str:
    try:
        return line.removesuffix(b"\r").decode()
    except UnicodeDecodeError as error:
        raise Unsupported("UNREADABLE_RESPONSE", "a line of the stream is not UTF-8") from error

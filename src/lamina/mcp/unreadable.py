"""Lines of a host that are no message: each is answered, so that nobody waits for what was never heard.

A host that cuts a text in the middle of an emoji sends half of it, which is an escape that JSON does not take: the whole call is no message.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

if TYPE_CHECKING:  # a private module of the SDK, which names what its server takes
    from mcp.shared._stream_protocols import ReadStream, WriteStream

__all__ = ["AnsweringStream"]

_INVALID: Final = types.JSONRPCError(
    jsonrpc="2.0", id=None, error=types.ErrorData(code=types.INVALID_REQUEST, message="Invalid Request")
)


class AnsweringStream:
    """``ReadStream`` of the messages of another. What is no message it answers as the HTTP door does, under the id of the call where one
    can be read."""

    def __init__(
        self, incoming: ReadStream[SessionMessage | Exception], outgoing: WriteStream[SessionMessage]
    ) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    @property
    def last_context(self) -> object:
        """Mirrors ``ContextReceiveStream.last_context``."""
        return getattr(self._incoming, "last_context", None)

    def __aiter__(self) -> Self:
        """Itself."""
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        """The next message."""
        async for item in self._incoming:
            if isinstance(item, ValidationError):
                answer = _answer(item)
            elif isinstance(item, SessionMessage) and _lacks_id(item.message):
                answer = _INVALID
            else:
                return item
            if answer is not None:
                await self._outgoing.send(SessionMessage(answer))
        raise StopAsyncIteration

    async def receive(self) -> SessionMessage | Exception:
        """Mirrors ``ReadStream.receive``."""
        return await anext(self)

    async def aclose(self) -> None:
        """Mirrors ``ReadStream.aclose``."""
        await self._incoming.aclose()

    async def __aenter__(self) -> Self:
        """Itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self.aclose()


def _lacks_id(message: types.JSONRPCMessage) -> bool:
    """Whether this is a call whose id is null, a fraction or an object: the SDK drops such an id and takes what is left for a notification."""
    return isinstance(message, types.JSONRPCNotification) and not message.method.startswith("notifications/")


def _answer(error: ValidationError) -> types.JSONRPCError | None:
    wrong = error.errors(include_url=False)[0]
    if wrong["type"] != "json_invalid":
        return _INVALID
    line = str(wrong["input"])
    if not line.strip():
        return None  # a blank line is nothing
    said = types.ErrorData(code=types.PARSE_ERROR, message=f"Parse error: {wrong['ctx']['error']}")
    return types.JSONRPCError(jsonrpc="2.0", id=_id_of(line), error=said)


def _id_of(line: str) -> str | int | None:
    """The id of a call that Python's reader takes, half an emoji or not; none of an answer, whose ids are ours."""
    try:
        said = json.loads(line)
        named = said["id"] if "method" in said else None
        if isinstance(named, str):
            named.encode()  # what cannot be sent back is no id
            return named
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return named if isinstance(named, int) and not isinstance(named, bool) else None

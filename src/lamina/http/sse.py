"""Server-sent events at this door: the media type, the comment that keeps a quiet stream open, and the response that
carries them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator

from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from lamina import limits
from lamina.kernel.streams import ServerSentEvent

__all__ = ["HEARTBEAT", "MEDIA_TYPE", "EventStream", "ServerSentEvent"]

MEDIA_TYPE = "text/event-stream; charset=utf-8"
HEARTBEAT = b": still here\n\n"


class _StalledError(Exception):
    """The client has taken nothing for too long."""


class EventStream(StreamingResponse):
    """A response of events. A client that takes nothing of it for as long as a stream may lag is cut off."""

    def __init__(self, events: AsyncGenerator[bytes], headers: dict[str, str]) -> None:
        super().__init__(events, headers={**headers, "Cache-Control": "no-store"}, media_type=MEDIA_TYPE)
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Mirrors ``StreamingResponse.__call__``. Who asks with HEAD has the headers, and no stream that nobody would end."""
        if scope["method"] != "HEAD":
            await super().__call__(scope, receive, send)
            return
        await self._events.aclose()
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body"})

    async def stream_response(self, send: Send) -> None:
        """Mirrors ``StreamingResponse.stream_response``; whatever ends it, the events are closed."""

        async def send_in_time(message: Message) -> None:
            try:
                async with asyncio.timeout(limits.LIFECYCLE_LAG_S_MAX):
                    await send(message)
            except TimeoutError as error:
                raise _StalledError from error

        async with contextlib.aclosing(self._events):
            with contextlib.suppress(_StalledError):
                await super().stream_response(send_in_time)

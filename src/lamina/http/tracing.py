"""Spans of what comes in over HTTP, by OpenTelemetry's conventions. A span is named after its row: paths may hold names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lamina.observe.traces import Kind, Noted, span

__all__ = ["TracedDoor", "note_status", "spanned"]

_FAILED: Final = 500
_VERBS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def spanned(verb: str, path: str) -> tuple[str, Kind, Mapping[str, str]]:
    """The span of a request to a row."""
    verb = verb if verb in _VERBS else "_OTHER"
    return f"{verb} {path}", "server", {"http.request.method": verb, "http.route": path}


def note_status(opened: Noted, status: int) -> None:
    """How a request was answered; only what is the server's fault is a failure of it."""
    opened.note("http.response.status_code", status)
    if status >= _FAILED:
        opened.failed(str(status))


class TracedDoor:
    """A door of another protocol, each of whose requests is a span."""

    def __init__(self, door: ASGIApp, path: str) -> None:
        self._door = door
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._door(scope, receive, send)
            return
        with span(*spanned(scope["method"], self._path), headers=Headers(scope=scope)) as opened:

            async def noting(message: Message) -> None:
                if message["type"] == "http.response.start":
                    note_status(opened, message["status"])
                await send(message)

            await self._door(scope, receive, noting)

"""Server-sent events at this door: the media type, and the comment that keeps a quiet stream open."""

from __future__ import annotations

from lamina.kernel.streams import ServerSentEvent

__all__ = ["HEARTBEAT", "MEDIA_TYPE", "ServerSentEvent"]

MEDIA_TYPE = "text/event-stream; charset=utf-8"
HEARTBEAT = b": still here\n\n"

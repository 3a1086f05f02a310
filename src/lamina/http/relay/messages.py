"""The rows of the Relay contract for messages between peers (contract 1.11): verb and path to operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lamina.http.errors import ErrorStyle, detail_response
from lamina.http.routes import Route
from lamina.kernel.operations import Operation

__all__ = ["message_rows"]

_ROWS: Final = (
    ("POST", "/v1/messages/send", "messages_send"),
    ("POST", "/v1/messages/ack", "messages_ack"),
    ("GET", "/v1/messages/pending", "messages_pending"),
    ("GET", "/v1/messages/inbox", "messages_inbox"),
    ("GET", "/v1/messages/thread", "messages_thread"),
    ("POST", "/v1/messages/verify", "messages_verify"),
    ("POST", "/v1/relay/forward", "relay_forward"),
    ("POST", "/v1/replay/messages", "messages_replay"),
)
_SIGNED: Final = frozenset({"messages_send", "messages_verify", "relay_forward"})


@dataclass(frozen=True)
class _MessageRoute(Route):
    """A row whose body is taken as it was signed: a key in it is the message's own, and that of the header is the call's."""

    errors: ErrorStyle = detail_response

    def _keyed(self, body: bytes, offered: str | None) -> tuple[bytes, str | None]:
        if self.operation.name in _SIGNED:
            return body, offered
        return super()._keyed(body, offered)


def message_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    """A row for every path; errors have the ``detail`` bodies of the contract."""
    return [_MessageRoute(verb, path, by_name[name]) for verb, path, name in _ROWS]

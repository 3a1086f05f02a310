"""A server over HTTP, by the standard library: a socket of a folder or an address, and one deadline for all that a hook asks."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from lamina.hooks.choices import Choices
from lamina.kernel.folder_socket import socket_path

__all__ = ["Away", "Refused", "Send", "ServerClient", "hint_of", "sender"]

_DEFAULT_URL: Final = "http://127.0.0.1:8700"
_CONNECT_S: Final = 1.0
_ANSWER_BYTES_MAX: Final = 2 * 1024 * 1024
_ELSE: Final = "What answered seems to be no Lamina server; LAMINA_URL says where yours is."
_STREAMED: Final = "text/event-stream"

Send = Callable[[str, str, Mapping[str, str], bytes | None], tuple[int, str, bytes]]
"""Verb, path, headers and body to status, content type and body; raises ``OSError`` or ``http.client.HTTPException``."""


class Away(Exception):
    """Nobody answers, or not in time, or not in our words. The host is told nothing."""


class Refused(Exception):
    """The server answered that it will not; ``code`` and ``hint`` are its own. With status 0 it was not asked: no header can say who calls."""

    def __init__(self, status: int, code: str, hint: str) -> None:
        super().__init__(code)
        self.status, self.code, self.hint = status, code, hint


@dataclass
class ServerClient:
    """Asks a server, as ``headers`` say who calls."""

    send: Send
    headers: Mapping[str, str] = field(default_factory=dict)

    def ask(
        self, verb: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Any:  # Any: JSON both ways
        """The answer's JSON; raises ``Away`` and ``Refused``."""
        told = {"Accept": f"application/json, {_STREAMED}", **self.headers, **(headers or {})}
        given = None if body is None else json.dumps(body).encode()
        told |= {} if given is None else {"Content-Type": "application/json"}
        for name, value in told.items():
            if not (value.isascii() and value.isprintable()):
                raise Refused(0, name, "It has characters that no header takes.")
        try:
            status, kind, answer = self.send(verb, path, told, given)
            parsed = json.loads(_only_event(answer) if kind.startswith(_STREAMED) else answer)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Away(type(error).__name__) from error
        if status >= 500 or status == 429:
            raise Away(str(status))
        if status >= 400:
            said = parsed if isinstance(parsed, dict) else {}
            hint = hint_of(said) or ("" if "error_code" in said else _ELSE)
            raise Refused(status, str(said.get("error_code", status)), hint)
        return parsed


def hint_of(error: Mapping[str, Any]) -> str:
    """What an error says to do about it, itself or in its details; empty where it says nothing."""
    details = error.get("details")
    return str(error.get("hint") or (details.get("hint") if isinstance(details, dict) else None) or "")


def _only_event(stream: bytes) -> bytes:
    lines = [line[5:] for line in stream.splitlines() if line.startswith(b"data:") and line[5:].strip()]
    return lines[-1] if lines else b""


def sender(choices: Choices, until: float) -> Send:
    """Sends to the chosen server until ``until`` (of ``time.monotonic``): the address that was given, else whoever serves a data folder, else
    the default address."""

    def send(verb: str, path: str, headers: Mapping[str, str], body: bytes | None) -> tuple[int, str, bytes]:
        left_s = until - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        connection, base = _connection(choices, left_s)
        try:
            connection.request(verb, base + path, body, dict(headers))
            answer = connection.getresponse()
            said = answer.read(_ANSWER_BYTES_MAX + 1)
            if len(said) > _ANSWER_BYTES_MAX:
                raise OSError("more than a hook reads")
            return answer.status, answer.headers.get_content_type(), said
        finally:
            connection.close()

    return send


def _connection(choices: Choices, left_s: float) -> tuple[http.client.HTTPConnection, str]:
    if choices.url is None:
        path = next((each for each in map(socket_path, choices.data) if each.exists()), None)
        if path is not None:
            return _SocketConnection(path, left_s), ""
    address = urlsplit(choices.url or _DEFAULT_URL)
    host, base = address.hostname or "", address.path.rstrip("/")
    if address.scheme == "https":
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, address.port, timeout=left_s, context=context), base
    if address.scheme != "http":
        raise OSError("not an address of a server")
    return http.client.HTTPConnection(host, address.port, timeout=left_s), base


class _SocketConnection(http.client.HTTPConnection):
    """HTTP over the socket of a data folder."""

    def __init__(self, path: Path, left_s: float) -> None:
        super().__init__("localhost", timeout=left_s)
        self._path, self._left_s = path, left_s

    def connect(self) -> None:
        """Mirrors ``HTTPConnection.connect``."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(min(_CONNECT_S, self._left_s))
        self.sock.connect(str(self._path))
        self.sock.settimeout(self._left_s)

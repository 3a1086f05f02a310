"""The ways from ``lamina mcp`` to a server: one that has an address, and one that the processes of a folder keep among them."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from lamina.cli.local_socket import answers, lock_of, socket_path
from lamina.errors import Unavailable

if TYPE_CHECKING:
    import httpx

__all__ = ["FolderLink", "RemoteLink"]

_START_S: Final = 120.0
"""A first start on a busy machine loads the models and may rebuild what an older release derived."""
_LOOK_S: Final = 0.05


@dataclass(frozen=True)
class RemoteLink:
    """Mirrors ``Link``, to a server with an address."""

    url: str
    headers: Mapping[str, str]

    def client(self) -> httpx.AsyncClient:
        """Mirrors ``Link.client``."""
        import httpx

        from lamina.client.authorities import authorities

        return httpx.AsyncClient(trust_env=False, verify=authorities(self.url))

    def ready(self) -> None:
        """Mirrors ``Link.ready``: somebody else keeps it."""


class FolderLink:
    """Mirrors ``Link``, to whoever serves a folder. Where nobody does, this process starts a server: a process of its own that ends
    with this one, and holds the folder's lock until it has."""

    url = "http://localhost/mcp"

    def __init__(self, folder: Path, headers: Mapping[str, str]) -> None:
        self.headers = headers
        self._folder = folder
        self._server: subprocess.Popen[bytes] | None = None
        self._lock: IO[str] | None = None

    def client(self) -> httpx.AsyncClient:
        """Mirrors ``Link.client``."""
        import httpx

        from lamina.client.authorities import authorities

        transport = httpx.AsyncHTTPTransport(verify=authorities(self.url), uds=str(socket_path(self._folder)))
        return httpx.AsyncClient(transport=transport)

    def ready(self) -> None:
        """Mirrors ``Link.ready``."""
        until = time.monotonic() + _START_S
        while not answers(self._folder):
            if self._server is None or self._server.poll() is not None:
                self._start()
            if time.monotonic() > until:
                raise Unavailable(
                    "SERVER_UNREACHABLE",
                    f"nothing serves {self._folder} after {_START_S:.0f} s",
                    hint="lamina doctor looks at the folder; the log of this process says why a server ended",
                )
            time.sleep(_LOOK_S)

    def close(self) -> None:
        """Let the server of this process end, if it has one; nobody waits for it."""
        if self._server is not None and self._server.stdin is not None:
            with contextlib.suppress(OSError):
                self._server.stdin.close()
        if self._lock is not None:
            self._lock.close()

    def _start(self) -> None:
        """Start a server, unless another process has the lock or is about to."""
        if self._lock is None:
            self._lock = lock_of(self._folder)
        if self._lock is None:
            return
        if self._server is not None:
            time.sleep(1.0)  # it ended by itself: not again and again without a pause
        held = self._lock.fileno()
        command: list[Any] = [sys.executable, "-m", "lamina", "serve", "--data", str(self._folder)]
        command += ["--local", str(held)]
        # Its input ends when this process does, however that ends; its output is not to be mixed with the protocol.
        self._server = subprocess.Popen(  # noqa: S603 - our own module
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=(held,),
            start_new_session=True,
        )
        # The server alone holds it now: where it dies, whoever asks next takes over.
        self._lock.close()
        self._lock = None

"""The port that a server listens on."""

from __future__ import annotations

import errno
import socket
import time

from lamina.errors import Invalid
from lamina.settings import Settings

__all__ = ["listen"]

_AGAIN_S = 0.05


def listen(settings: Settings, *, patience_s: float = 0.0) -> socket.socket:
    """A socket bound to the address of the settings; raises ``Invalid`` (CANNOT_LISTEN).

    With ``patience_s`` an address that somebody uses may come free meanwhile, as it does when processes that lost their
    supervisor are still letting go of it.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    until = time.monotonic() + patience_s
    while True:
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, settings.port))
        except OSError as error:
            listener.close()
            if error.errno == errno.EADDRINUSE and time.monotonic() < until:
                time.sleep(_AGAIN_S)
                continue
            raise Invalid(
                "CANNOT_LISTEN", f"{settings.host}:{settings.port} cannot be used: {error.strerror}"
            ) from error
        return listener

"""``lamina serve``: the HTTP server in this process, derivation in a process of its own."""

from __future__ import annotations

import logging
import socket
import sys

import uvicorn

from lamina.app import build_server
from lamina.errors import Invalid
from lamina.settings import Settings

__all__ = ["run_server"]


def run_server(settings: Settings) -> None:
    """Serve until interrupted."""
    logging.basicConfig(
        level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    listener = _listen(settings)
    server = build_server(settings)
    host, port = listener.getsockname()[:2]
    print(f"lamina serves http://{host}:{port} from {settings.data}", file=sys.stderr, flush=True)
    config = uvicorn.Config(
        server.application,
        log_level=settings.log_level,
        access_log=False,
        lifespan="off",
        server_header=False,
    )
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        server.close()


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        raise Invalid(
            "CANNOT_LISTEN", f"{settings.host}:{settings.port} cannot be used: {error.strerror}"
        ) from error
    return listener

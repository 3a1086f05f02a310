"""``lamina serve``: the HTTP server in this process, derivation in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
import threading

import uvicorn
from starlette.types import ASGIApp

from lamina import limits
from lamina.app import Server, build_server
from lamina.cli.check import RegularCheck
from lamina.cli.local_socket import bound, lock_of
from lamina.cli.process import allow_connections, collect_seldom, share_heaps, use_one_core_a_product
from lamina.cli.retain import DailyRetention
from lamina.cli.supervise import Workers
from lamina.errors import Invalid
from lamina.http.connections import ConnectionBounds, Connections, bounded_protocol
from lamina.kernel.time import SystemClock
from lamina.observe.logs import set_up_logging
from lamina.settings import Settings
from lamina.store.opening import require_no_worker, usable

__all__ = ["run_server", "uvicorn_config"]

_KEEP_ALIVE_S = 75  # longer than the pause between two turns of a chat, so that clients need not connect anew


def run_server(settings: Settings, local: int | None = None) -> None:
    """Serve until interrupted.

    Beside the port the folder's own socket is served, for ``lamina mcp``. With ``local`` that alone is, until standard input ends;
    it is the file descriptor that holds the folder's lock, given by the process that started this one.
    """
    share_heaps()
    use_one_core_a_product()
    set_up_logging(settings.log_level)
    if local is not None:
        _end_with_input()
        with bound(settings.data) as beside:
            _serve(settings, [beside])
        return
    with _listen(settings) as listener, contextlib.ExitStack() as held:
        lock = lock_of(settings.data)
        if lock is None:
            _serve(settings, [listener])  # another server of the folder has the socket
            return
        held.enter_context(lock)
        _serve(settings, [listener, held.enter_context(bound(settings.data))])


def _end_with_input() -> None:
    """End this process in good order once its standard input has ended: whoever started it is gone."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="lamina-input", daemon=True).start()


def _serve(settings: Settings, listeners: list[socket.socket]) -> None:
    with usable(settings.data):
        if settings.workers > 0:
            require_no_worker(settings.data)
        server = build_server(settings)
    only_local = listeners[0].family == socket.AF_UNIX
    where = "a local socket"
    if not only_local:
        host, port = listeners[0].getsockname()[:2]
        where = f"http://{host}:{port}"
    print(f"lamina serves {where} from {settings.data}", file=sys.stderr, flush=True)
    server.store.documents.recover()
    # What a process beside an agent prints lies in that agent's log.
    token = None if only_local else server.first_token()
    if token is not None:
        print(f"the owner's token, shown this once: {token}", file=sys.stderr, flush=True)
    config = uvicorn_config(settings, server.application)
    # Uvicorn raises a signal again once it is done with it; the default action would end the process there and then,
    # before the worker is told.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    workers = Workers(settings, server.failures)
    workers.start()
    retention = DailyRetention(server.retention(), server.failures)
    retention.start()
    check = RegularCheck(server.store.upkeep, SystemClock(), server.failures)
    check.start()
    collect_seldom()
    try:
        with contextlib.suppress(KeyboardInterrupt):
            _Uvicorn(config, server).run(sockets=listeners)
    finally:
        check.stop()
        retention.stop()
        workers.stop()
        server.close()
        print("lamina stopped", file=sys.stderr, flush=True)


def uvicorn_config(settings: Settings, application: ASGIApp) -> uvicorn.Config:
    """How Uvicorn serves the application. Only a trusted proxy may say for whom it asks."""
    proxies = [name.strip() for name in settings.trusted_proxies.split(",") if name.strip()]
    connections = Connections(ConnectionBounds(most=allow_connections(limits.CONNECTIONS_MAX)), proxies)
    return uvicorn.Config(
        application,
        http=bounded_protocol(connections),
        log_level=settings.log_level,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=limits.STOP_S_MAX,
        proxy_headers=settings.trusted_proxies != "",
        forwarded_allow_ips=settings.trusted_proxies,
    )


class _Uvicorn(uvicorn.Server):
    """Uvicorn waits at its end for every connection: the streams among them have to be told."""

    def __init__(self, config: uvicorn.Config, server: Server) -> None:
        super().__init__(config)
        self._lamina = server

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then the server; a client that takes nothing does not keep it."""
        await asyncio.to_thread(self._lamina.stop_streams)
        asyncio.get_running_loop().call_later(limits.STOP_STUCK_S, self._cut_off_the_stuck)
        await super().shutdown(sockets)

    def _cut_off_the_stuck(self) -> None:
        for connection in list(self.server_state.connections):
            if connection.transport.get_write_buffer_size() > 0:
                connection.transport.abort()


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

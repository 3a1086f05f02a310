"""``lamina serve``: the HTTP server in this process, derivation in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
import threading
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from lamina import limits
from lamina.app import Beside, Server, build_server
from lamina.cli.check import RegularCheck
from lamina.cli.keeper import keeping
from lamina.cli.listening import listen
from lamina.cli.local_socket import bound, lock_of
from lamina.cli.process import allow_connections, collect_seldom, share_heaps, use_one_core_a_product
from lamina.cli.retain import DailyRetention
from lamina.cli.share import ServingProcess, SupervisorLine, say_token, say_where
from lamina.cli.supervise import Workers
from lamina.cli.trim import RegularTrim
from lamina.cli.warm import Warming
from lamina.http.connections import ConnectionBounds, Connections, bounded_protocol
from lamina.index.blocks import SharedBlocks
from lamina.kernel.time import SystemClock
from lamina.observe.logs import set_up_logging
from lamina.observe.rounds import BackgroundThread, Failures
from lamina.settings import Settings
from lamina.store.opening import require_no_worker, usable
from lamina.store.tallies import SharedTallies

__all__ = ["run_server", "uvicorn_config"]

_KEEP_ALIVE_S = 75  # longer than the pause between two turns of a chat, so that clients need not connect anew


def run_server(
    settings: Settings,
    local: int | None = None,
    share: ServingProcess | None = None,
    line: SupervisorLine | None = None,
) -> None:
    """Serve until interrupted; with ``share`` as one of several processes, until their supervisor at the other end of the ``line`` is gone.

    Beside the port the folder's own socket is served, for ``lamina mcp``. With ``local`` that alone is, until standard input ends;
    it is the file descriptor that holds the folder's lock, given by the process that started this one.
    """
    share_heaps()
    use_one_core_a_product()
    set_up_logging(settings.log_level)
    if share is not None:
        _serve(settings, [socket.socket(fileno=each) for each in share.listeners], share, line)
        return
    if local is not None:
        _end_with_input()
        with keeping(settings), bound(settings.data) as beside:
            _serve(settings, [beside], shows_token=False)  # hosts keep what is said there in their logs
        return
    with listen(settings) as listener, contextlib.ExitStack() as held:
        held.enter_context(keeping(settings))
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


def _serve(
    settings: Settings,
    listeners: list[socket.socket],
    share: ServingProcess | None = None,
    line: SupervisorLine | None = None,
    *,
    shows_token: bool = True,
) -> None:
    failures = Failures(None if line is None else lambda parts: line.tell({"failing": dict(parts)}))
    tallies = None if share is None else SharedTallies(share.tallies, share.number)
    blocks = None if share is None else SharedBlocks(share.blocks, share.number)
    with usable(settings.data):
        if settings.workers > 0 and (share is None or share.begins):
            require_no_worker(settings.data)
        of = 1 if share is None else share.of
        server = build_server(settings, beside=Beside(failures, tallies, of, blocks))
    if share is None:
        listeners[0].listen(limits.CONNECTIONS_WAITING_MAX)  # who reads where it is may connect at once
        say_where(settings, listeners[0])
    server.store.documents.recover()
    leads = share is None or share.leads
    token = server.first_token() if leads and shows_token else None
    if token is not None and line is None:
        say_token(token)
    config = uvicorn_config(settings, server.application)
    # Uvicorn raises a signal again once it is done with it; the default action would end the process there and then,
    # before the worker is told.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    beside = _beside(settings, server, share)
    if line is not None:
        line.pass_to(lambda message: failures.note_elsewhere(message.get("failing")))
    collect_seldom()
    try:
        with contextlib.suppress(KeyboardInterrupt):
            _Uvicorn(config, server, line, token).run(sockets=listeners)
    finally:
        with contextlib.ExitStack() as ending:  # the store last, also where something beside it does not stop
            ending.callback(server.close)
            for each in beside:
                ending.callback(each.stop)
        if share is None:
            print("lamina stopped", file=sys.stderr, flush=True)


def _beside(
    settings: Settings, server: Server, share: ServingProcess | None
) -> list[Workers | BackgroundThread]:
    """What runs beside the calls, begun: of several processes the first does what is done once for the folder."""
    begun: list[Workers | BackgroundThread] = [Warming(server.recalling.warm), RegularTrim(server.failures)]
    if share is None:
        begun.append(Workers(settings, server.failures))
    if share is None or share.leads:
        begun.append(DailyRetention(server.retention(), server.failures))
        begun.append(RegularCheck(server.store.upkeep, SystemClock(), server.failures))
    for each in begun:
        each.start()
    return begun


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

    def __init__(
        self,
        config: uvicorn.Config,
        server: Server,
        line: SupervisorLine | None = None,
        token: str | None = None,
    ) -> None:
        super().__init__(config)
        self._lamina = server
        self._line = line
        self._token = token

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to take connections, and tell the supervisor."""
        await super().startup(sockets)
        if self._line is not None:
            self._line.tell({"ready": True, "token": self._token})

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """An interrupt from the terminal reaches every process: the supervisor decides for all of them."""
        if self._line is None or sig != signal.SIGINT:
            super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then the server; a client that takes nothing does not keep it."""
        await asyncio.to_thread(self._lamina.stop_streams)
        asyncio.get_running_loop().call_later(limits.STOP_STUCK_S, self._cut_off_the_stuck)
        await super().shutdown(sockets)

    def _cut_off_the_stuck(self) -> None:
        for connection in list(self.server_state.connections):
            if connection.transport.get_write_buffer_size() > 0:
                connection.transport.abort()

"""Between the event loop and the threads that do the work: what each request costs, cut to what it needs.

Starlette's layers and the futures of two worlds are for what can happen to any request. A row whose path has no parameter is looked up
before them, and what runs on a thread says its end to the loop by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from typing import Any, ParamSpec, TypeVar

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from lamina import limits
from lamina.gateway import PostedCall, Reply
from lamina.kernel.operations import Posted

__all__ = ["Departures", "Endpoint", "FixedRows", "on_thread", "reply_of"]

P = ParamSpec("P")
R = TypeVar("R")
Endpoint = Callable[[HttpRequest], Awaitable[Response]]


class FixedRows:
    """Answers the verbs and paths that it knows, and leaves all others to an application."""

    def __init__(
        self,
        rows: Mapping[tuple[str, str], Endpoint],
        otherwise: ASGIApp,
        crashed: Callable[[HttpRequest, Exception], Awaitable[Response]],
    ) -> None:
        """``rows`` are endpoints by verb and path; ``crashed`` answers for one that failed without an answer."""
        self._rows = rows
        self._otherwise = otherwise
        self._crashed = crashed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        row = self._rows.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if row is None:
            await self._otherwise(scope, receive, send)
            return
        http = HttpRequest(scope, receive, send)
        try:
            response = await row(http)
        except Exception as failure:
            await (await self._crashed(http, failure))(scope, receive, send)
            raise
        await response(scope, receive, send)


async def on_thread(pool: Executor, run: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """What ``run`` gives back, done on a thread of the pool; as ``run_in_executor``, with one future in place of three."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[R] = loop.create_future()

    def work() -> None:
        try:
            result = run(*args, **kwargs)
        except BaseException as failure:
            _tell(loop, _fail, ended, failure)
        else:
            _tell(loop, _settle, ended, result)

    pool.submit(work)
    return await ended


class Departures:
    """When posted writes are sent: together, once a round of the event loop has begun no more of them.

    The thread that writes shares the interpreter with the loop. Called for the first of many calls at hand, it would take turns with the
    loop over every statement, and commit that one alone. Used on the event loop only.
    """

    def __init__(self) -> None:
        self._newest: Posted | None = None

    def join(self, posted: Posted) -> None:
        """One more write is begun, and sent with the others that are."""
        if self._newest is None:
            loop = asyncio.get_running_loop()
            loop.call_soon(self._look, loop, posted, loop.time() + limits.WRITE_JOINED_S)
        self._newest = posted

    def _look(self, loop: asyncio.AbstractEventLoop, seen: Posted, until: float) -> None:
        newest = self._newest
        assert newest is not None, "nobody else sends them"
        if newest is not seen and loop.time() < until:
            loop.call_soon(self._look, loop, newest, until)
            return
        self._newest = None
        newest.send()


async def reply_of(call: PostedCall, pool: Executor, departures: Departures) -> Reply:
    """What a call comes to whose write was posted: no thread waits for the disk, and many that share a commit wake the loop once."""
    if call.posted is not None:
        loop = asyncio.get_running_loop()
        over: asyncio.Future[None] = loop.create_future()
        call.posted.tell(lambda: _tell(loop, _settle, over, None))
        departures.join(call.posted)
        try:
            await over
        except asyncio.CancelledError:
            # Nobody is answered any more; its row lands all the same, and it counts.
            pool.submit(call.end)
            raise
    return call.end() if call.ends_at_once else await on_thread(pool, call.end)


def _tell(loop: asyncio.AbstractEventLoop, settle: Callable[..., None], *said: Any) -> None:
    # The loop may have ended meanwhile, and nobody waits.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(settle, *said)


def _settle(ended: asyncio.Future[R], result: R) -> None:
    if not ended.done():
        ended.set_result(result)


def _fail(ended: asyncio.Future[Any], failure: BaseException) -> None:
    if not ended.done():
        ended.set_exception(failure)

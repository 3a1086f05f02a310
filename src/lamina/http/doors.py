"""What stands before an application of another protocol: the origin and the caller are checked, then it is let in."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final

from starlette.requests import Request as HttpRequest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lamina.errors import Busy, Fault, LaminaError, Unavailable
from lamina.gateway import Gateway
from lamina.http.bodies import Bodies, HeldBody
from lamina.http.errors import error_response
from lamina.http.inbound import inbound_of, log
from lamina.http.origins import refuse_other_pages
from lamina.observe.logs import log_failure

__all__ = ["guarded_door", "made_on_demand"]

_LOG: Final = logging.getLogger("lamina.http")
_ENTERED: Final = "lamina.entered"
"""Under which key of the ASGI scope the application finds the request as the gateway takes it, and who calls."""


def guarded_door(
    gateway: Gateway, door: ASGIApp, path: str, pool: ThreadPoolExecutor, bodies: Bodies
) -> ASGIApp:
    """The application, for callers who are known. Pages of other origins are refused in every preset: what a protocol's
    own rules say of Origin holds whether or not its callers show tokens."""
    return _Guarded(gateway, door, path, pool, bodies)


def made_on_demand(make: Callable[[], ASGIApp], pool: ThreadPoolExecutor) -> ASGIApp:
    """The application that ``make`` gives, made by the first request: what it imports costs those nothing who never ask."""
    return _OnDemand(make, pool)


class _OnDemand:
    def __init__(self, make: Callable[[], ASGIApp], pool: ThreadPoolExecutor) -> None:
        self._make = make
        self._pool = pool
        self._lock = threading.Lock()
        self._door: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        door = self._door
        if door is None:
            door = await asyncio.get_running_loop().run_in_executor(self._pool, self._made)
        await door(scope, receive, send)

    def _made(self) -> ASGIApp:
        with self._lock:
            if self._door is None:
                self._door = self._make()
            return self._door


class _Guarded:
    def __init__(
        self, gateway: Gateway, door: ASGIApp, path: str, pool: ThreadPoolExecutor, bodies: Bodies
    ) -> None:
        self._gateway = gateway
        self._door = door
        self._channel = path.strip("/")
        self._pool = pool
        self._bodies = bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        http = HttpRequest(scope)
        inbound = inbound_of(self._gateway, http, f"{http.method} {scope['path']}")
        inbound = replace(inbound, credentials=replace(inbound.credentials, channel=self._channel))
        try:
            refuse_other_pages(http)
            loop = asyncio.get_running_loop()
            if self._gateway.identifying_waits:
                principal = await loop.run_in_executor(self._pool, self._gateway.recognise, inbound)
            else:
                principal = self._gateway.recognise(inbound)
        except LaminaError as error:
            if isinstance(error, Fault):
                log_failure(_LOG, error, inbound.request_id, self._channel)
            response = error_response(error, inbound.request_id, inbound.out)
            log(http, inbound, response.status_code, operation=self._channel, error_code=error.code)
            await response(scope, receive, send)
            return
        status = 0

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        scope[_ENTERED] = (inbound, principal)
        refused: LaminaError | None = None
        with self._bodies.holding(f"{principal.tenant_id}/{principal.actor}") as held:
            try:
                await self._door(scope, _counted(receive, held), noting)
            except (Busy, Unavailable) as error:
                if status:
                    raise
                refused = error
        if refused is not None:
            response = error_response(refused, inbound.request_id, inbound.out)
            status = response.status_code
            await response(scope, receive, send)
        code = None if refused is None else refused.code
        log(http, inbound, status, operation=self._channel, principal=principal, error_code=code)


def _counted(receive: Receive, held: HeldBody) -> Receive:
    """What comes in, counted as it does; raises as ``HeldBody.hold``."""
    size = 0

    async def counting() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        held.hold(size)
        return message

    return counting

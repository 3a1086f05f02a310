"""The ASGI application: one endpoint for every row of the doors' tables.

A call runs on a thread of a pool, since slices and store are plain synchronous code; reading the request and sending the response
are asynchronous, and so is a write that waits for nothing but the disk (``handing.py``).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.routing import Route as StarletteRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from lamina.errors import Fault, Invalid, LaminaError, NotFound, Unsupported
from lamina.gateway import Gateway, Inbound, Reply
from lamina.http.bodies import Bodies
from lamina.http.docs_page import PAGE_HEADERS, docs_page
from lamina.http.errors import ErrorStyle, error_response
from lamina.http.handing import Departures, FixedRows, on_thread, reply_of
from lamina.http.inbound import inbound_of, log
from lamina.http.openapi import openapi_document
from lamina.http.origins import refuse_other_pages
from lamina.http.routes import PARAMETER, Route
from lamina.http.sse import HEARTBEAT, EventStream, ServerSentEvent
from lamina.http.tracing import TracedDoor, note_status, spanned
from lamina.http.turns import WriteTurns
from lamina.http.unrouted import styles_of
from lamina.kernel.operations import Answer, Effect, Principal
from lamina.observe.logs import log_failure
from lamina.observe.traces import span

__all__ = ["create_application"]

_LOG = logging.getLogger("lamina.http")
_JSON = "application/json; charset=utf-8"
_CLIENT_LEFT = 499
"""What the log says of a call whose client went in the middle of its body: nobody is there to be answered."""


def create_application(
    gateway: Gateway,
    routes: Sequence[Route],
    *,
    pool: ThreadPoolExecutor,
    hosts: frozenset[str] | None = None,
    doors: Mapping[str, ASGIApp] | None = None,
    bodies: Bodies | None = None,
) -> ASGIApp:
    """The application over a gateway and the rows of its doors.

    ``hosts`` names the Host headers that are served, None serves any: on loopback it keeps out pages of other
    sites that resolve their own name to this machine. Where it names some, operations take no requests of other
    sites' pages either. ``doors`` are applications of other protocols by their path: behind the same hosts, with checks of their own.
    ``bodies`` are those that the doors count in as well.
    """
    shared = _Shared(gateway, pool, bodies or Bodies(), WriteTurns(), Departures())
    # Made for the first who asks: the document takes longer than all the rest of a start.
    document, listing = cache(partial(openapi_document, routes)), cache(partial(docs_page, routes))
    endpoints: dict[str, dict[str, Route]] = {}
    for route in routes:
        endpoints.setdefault(route.path, {})[route.verb] = route
    guarded = hosts is not None
    answering = {path: _endpoint(shared, by_verb, guarded=guarded) for path, by_verb in endpoints.items()}
    made: dict[str, Callable[[], StarletteRoute]] = {
        path: partial(StarletteRoute, path, answering[path], methods=sorted(by_verb))
        for path, by_verb in sorted(endpoints.items(), key=_fixed_paths_first)
    }
    for path, page, media_type in (
        ("/openapi.json", document, _JSON),
        ("/", listing, "text/html"),
        ("/docs", listing, "text/html"),
    ):
        made[path] = partial(StarletteRoute, path, _page(gateway, page, media_type, pool), methods=["GET"])
    for path, door in (doors or {}).items():
        made[path] = partial(StarletteRoute, path, TracedDoor(door, path))
    application = Starlette(
        routes=[_FixedPaths(made), *(make() for path, make in made.items() if PARAMETER.search(path))],
        exception_handlers={
            HTTPException: partial(_not_routed, gateway, styles_of(routes)),
            Exception: partial(_crashed, gateway),
        },
    )
    # A path with a slash too many is a mistake like any other: a redirect would say so in no envelope.
    application.router.redirect_slashes = False
    served = FixedRows(
        {
            (verb, path): answering[path]
            for path, by_verb in endpoints.items()
            for verb in by_verb
            if not PARAMETER.search(path)
        },
        application,
        partial(_crashed, gateway),
    )
    return served if hosts is None else _KnownHosts(served, gateway, hosts)


class _FixedPaths(BaseRoute):
    """The rows whose path has no parameter, looked up by it rather than tried one after another. A row is made when it is asked for,
    since calls of a known verb do not come here."""

    def __init__(self, made: Mapping[str, Callable[[], StarletteRoute]]) -> None:
        self.made = {path: make for path, make in made.items() if not PARAMETER.search(path)}
        self._rows: dict[str, StarletteRoute] = {}

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Mirrors ``BaseRoute.matches``."""
        path: str = scope["path"]
        if path not in self.made:
            return Match.NONE, {}
        if path not in self._rows:
            self._rows[path] = self.made[path]()
        return self._rows[path].matches(scope)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Mirrors ``BaseRoute.handle``."""
        await self._rows[scope["path"]].handle(scope, receive, send)


def _fixed_paths_first(item: tuple[str, Any]) -> tuple[int, str]:
    """``/v1/facts/timeline`` before ``/v1/facts/{fact_id}``."""
    return item[0].count("{"), item[0]


@dataclass(frozen=True, slots=True)
class _Shared:
    """What all calls of an application go through."""

    gateway: Gateway
    pool: ThreadPoolExecutor
    bodies: Bodies
    turns: WriteTurns
    departures: Departures


def _endpoint(
    shared: _Shared, by_verb: dict[str, Route], *, guarded: bool
) -> Callable[[HttpRequest], Awaitable[Response]]:
    gateway, pool = shared.gateway, shared.pool

    async def endpoint(http: HttpRequest) -> Response:
        route = by_verb.get(http.method) or by_verb["GET"]
        with span(*spanned(http.method, route.path), headers=http.headers) as opened:
            response = await answered(http, route)
            note_status(opened, response.status_code)
        return response

    async def answered(http: HttpRequest, route: Route) -> Response:
        name = route.operation.name
        inbound = inbound_of(gateway, http, f"{route.verb} {route.path}")
        inbound.out["X-Cortex-Stability"] = route.operation.tier.value
        principal, code = None, None
        try:
            if guarded:
                refuse_other_pages(http)
            principal = await _identified(gateway, inbound, route, pool)
            reply = await _run(shared, route, http, inbound, principal)
            response = _response(reply, pool, route.page)
        except ClientDisconnect:
            response = Response(status_code=_CLIENT_LEFT)
        except Exception as failure:
            error = _ours(failure, inbound.request_id, name)
            code = error.code
            response = route.errors(error, inbound.request_id, inbound.out)
        log(http, inbound, response.status_code, operation=name, principal=principal, error_code=code)
        return response

    return endpoint


def _ours(failure: Exception, request_id: str, operation: str | None) -> LaminaError:
    """The error to show; the log has what may not be shown."""
    if isinstance(failure, LaminaError) and not isinstance(failure, Fault):
        return failure
    log_failure(_LOG, failure, request_id, operation)
    if isinstance(failure, Fault):
        return failure
    return Fault("INTERNAL", "the server failed; its log has the cause under this request id")


async def _identified(
    gateway: Gateway, inbound: Inbound, route: Route, pool: ThreadPoolExecutor
) -> Principal:
    if not gateway.identifying_waits:
        return gateway.identify(inbound, route.operation)
    return await on_thread(pool, gateway.identify, inbound, route.operation)


async def _run(
    shared: _Shared, route: Route, http: HttpRequest, inbound: Inbound, principal: Principal
) -> Reply:
    gateway, pool, bodies, turns = shared.gateway, shared.pool, shared.bodies, shared.turns
    caller = f"{principal.tenant_id}/{principal.actor}" if principal.actor else inbound.asked.client_ip or ""
    with bodies.holding(caller) as held:
        try:
            read = await route.read(http, bodies, held)
        except LaminaError as error:
            gateway.refused(route.operation, error)
            raise
        inbound = replace(inbound, body=read.body, key=read.key)
        execute = partial(gateway.execute, route.operation, read.request, inbound, principal)
        if route.operation.effect is Effect.READ:
            return await on_thread(pool, execute)
        await turns.take(principal.tenant_id)
        try:
            if gateway.posts(route.operation, read.request, inbound, principal):
                call = gateway.post(route.operation, read.request, inbound, principal)
                return await reply_of(call, pool, shared.departures)
            return await on_thread(pool, execute)
        finally:
            turns.give(principal.tenant_id)


def _response(reply: Reply, pool: ThreadPoolExecutor, page: str | None) -> Response:
    answer, headers = reply.answer, dict(reply.headers)
    status = 202 if answer.accepted else 201 if answer.created else 200
    if answer.result is None:
        return Response(status_code=204, headers=headers)
    if page is not None:
        return Response(answer.result.text, status_code=status, headers=headers | {"Content-Type": page})
    if isinstance(answer.result, BaseModel):
        body = answer.result.__pydantic_serializer__.to_json(answer.result, by_alias=True)
        return Response(body, status_code=status, headers=headers, media_type=_JSON)
    if isinstance(answer.result, bytes):
        return Response(answer.result, status_code=status, headers=headers, media_type=_JSON)
    return EventStream(_encoded(answer, pool), headers)


async def _encoded(answer: Answer, pool: ThreadPoolExecutor) -> AsyncGenerator[bytes]:
    """The stream's events. An asynchronous result gives None when it only wants to show that it is alive."""
    if isinstance(answer.result, AsyncIterator):
        async with contextlib.aclosing(answer.result) as events:  # type: ignore[type-var] # ours are generators
            async for event in events:
                yield HEARTBEAT if event is None else event.encode()
        return
    result: Iterable[ServerSentEvent] = answer.result
    events_left = iter(result)
    loop = asyncio.get_running_loop()
    while (event := await loop.run_in_executor(pool, next, events_left, None)) is not None:
        yield event.encode()


async def _not_routed(
    gateway: Gateway, style_at: Callable[[str], ErrorStyle], http: HttpRequest, error: Exception
) -> Response:
    assert isinstance(error, HTTPException), "registered for this class"
    inbound = inbound_of(gateway, http, "")
    style = style_at(http.scope["path"])
    # Clients of Relay compare what its framework says.
    known = style is not error_response
    refusal: LaminaError = NotFound(
        "NOT_FOUND",
        "Not Found" if known else "there is no such path",
        hint="/openapi.json describes every path",
    )
    if error.status_code == 405:
        said = "Method Not Allowed" if known else f"{http.method} is not offered at this path"
        refusal = Unsupported("METHOD_NOT_ALLOWED", said)
    try:
        gateway.identify(inbound, None)
    except LaminaError as busy:
        refusal = busy
    response = style(refusal, inbound.request_id, inbound.out | dict(error.headers or {}))
    if refusal.code == "METHOD_NOT_ALLOWED":
        response.status_code = 405
    log(http, inbound, response.status_code, error_code=refusal.code)
    return response


async def _crashed(gateway: Gateway, http: HttpRequest, error: Exception) -> Response:
    inbound = inbound_of(gateway, http, "")
    response = error_response(_ours(error, inbound.request_id, None), inbound.request_id, inbound.out)
    log(http, inbound, response.status_code, error_code="INTERNAL")
    return response


def _page(
    gateway: Gateway, made: Callable[[], bytes], media_type: str, pool: ThreadPoolExecutor
) -> Callable[[HttpRequest], Awaitable[Response]]:
    async def page(http: HttpRequest) -> Response:
        inbound = inbound_of(gateway, http, "")
        inbound.out["X-Cortex-Stability"] = "stable"
        try:
            gateway.identify(inbound, None)
        except LaminaError as busy:
            return error_response(busy, inbound.request_id, inbound.out)
        content = await asyncio.get_running_loop().run_in_executor(pool, made)
        return Response(content, headers={**inbound.out, **PAGE_HEADERS}, media_type=media_type)

    return page


class _KnownHosts:
    """Serves only requests whose Host header names this machine."""

    def __init__(self, application: ASGIApp, gateway: Gateway, hosts: frozenset[str]) -> None:
        self._application = application
        self._gateway = gateway
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            host = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin-1")
            name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
            if name.strip("[]").lower() not in self._hosts:
                request_id = self._gateway.request_id(None)
                error = Invalid(
                    "UNKNOWN_HOST",
                    "this server answers to its loopback names only",
                    hint="use http://127.0.0.1 or http://localhost",
                )
                response = error_response(error, request_id, {"X-Cortex-Request-ID": request_id})
                response.status_code = 421
                await response(scope, receive, send)
                return
        await self._application(scope, receive, send)

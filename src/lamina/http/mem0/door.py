"""The door for Mem0's clients: who calls, the body, what is done, and errors in the shape that they read."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic_core import from_json, to_json
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from lamina import limits
from lamina.errors import Fault, Gone, Invalid, LaminaError, Malformed, Unsupported, outcome_of
from lamina.gateway import Gateway, Inbound
from lamina.http.bodies import Bodies, read_body
from lamina.http.errors import detailed
from lamina.http.inbound import inbound_of, log
from lamina.http.mem0.asking import Asker
from lamina.http.mem0.calls import CALLS, Given, MemoryCall
from lamina.http.mem0.credentials import CHANNEL, credentials_of
from lamina.http.origins import refuse_other_pages
from lamina.json_scan import JsonBounds
from lamina.kernel.operations import Operation, Principal
from lamina.kernel.time import Clock
from lamina.observe.logs import log_failure

__all__ = ["mem0_doors"]

_LOG = logging.getLogger("lamina.http")
_BOUNDS: Final = JsonBounds(limits.JSON_KEYS_MAX, limits.JSON_ELEMENTS_MAX)
_CLIENT_LEFT: Final = 499


@dataclass(frozen=True, slots=True)
class _House:
    """What every path of the door shares."""

    gateway: Gateway
    operations: Mapping[str, Operation[Any]]
    pool: Executor
    clock: Clock
    bodies: Bodies
    believes: bool


def mem0_doors(
    gateway: Gateway,
    operations: Sequence[Operation[Any]],
    *,
    pool: Executor,
    clock: Clock,
    bodies: Bodies,
    believes: bool,
) -> dict[str, ASGIApp]:
    """An ASGI application for every path of Mem0's. ``believes`` says that callers are not signed in, as in ``dev_local``."""
    by_name = {each.name: each for each in operations}
    house = _House(gateway, by_name, pool, clock, bodies, believes)
    return {path: _AtPath(house, path, by_verb) for path, by_verb in CALLS.items()}


class _AtPath:
    """One path, for every verb."""

    def __init__(self, house: _House, path: str, by_verb: Mapping[str, MemoryCall]) -> None:
        self._house = house
        self._path = path
        self._by_verb = by_verb

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        http = HttpRequest(scope, receive)
        gateway = self._house.gateway
        inbound = inbound_of(gateway, http, f"{http.method} {self._path}")
        credentials = credentials_of(
            inbound.credentials, http.headers.get("x-api-key"), believes=self._house.believes
        )
        inbound = replace(inbound, credentials=credentials)
        principal, code = None, None
        try:
            refuse_other_pages(http)
            call = self._by_verb.get(http.method)
            if call is None:
                raise Unsupported("METHOD_NOT_ALLOWED", f"{http.method} is not offered at this path")
            principal = await self._known(inbound)
            response = await self._answered(call, http, inbound, principal)
        except ClientDisconnect:
            response = Response(status_code=_CLIENT_LEFT)
        except Exception as failure:
            error = _shown(failure, inbound.request_id)
            code = error.code
            response = _refusal(error, inbound)
        log(http, inbound, response.status_code, operation=CHANNEL, principal=principal, error_code=code)
        await response(scope, receive, send)

    async def _known(self, inbound: Inbound) -> Principal:
        gateway = self._house.gateway
        if not gateway.identifying_waits:
            return gateway.recognise(inbound)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._house.pool, gateway.recognise, inbound)

    async def _answered(
        self, call: MemoryCall, http: HttpRequest, inbound: Inbound, principal: Principal
    ) -> Response:
        house = self._house
        with house.bodies.holding(f"{principal.tenant_id}/{principal.actor}") as held:
            body: object = None
            if call.takes_body:
                content, _ = await read_body(http, limits.BODY_BYTES_MAX, _BOUNDS, held)
                body = await house.bodies.parsed(lambda: _parsed(content), len(content))
            given = Given(
                {name: str(value) for name, value in http.path_params.items()},
                dict(http.query_params.items()),
                body,
                str(http.url.replace(query="")).rstrip("?"),
            )
            asker = Asker(
                gateway=house.gateway,
                operations=house.operations,
                inbound=inbound,
                actor=principal.actor,
                tenant_id=principal.tenant_id,
                key=uuid.uuid4().hex,
                now=house.clock.now(),
                out=inbound.out,
            )
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(house.pool, call.run, asker, given)
        return Response(
            to_json(answer), headers=dict(inbound.out), media_type="application/json; charset=utf-8"
        )


def _parsed(content: bytes) -> object:
    try:
        return from_json(content or b"{}")
    except ValueError as error:
        raise Malformed("INVALID_BODY", "the body is not JSON") from error


def _shown(failure: Exception, request_id: str) -> LaminaError:
    """The error to show; the log has what may not be shown."""
    if isinstance(failure, LaminaError) and not isinstance(failure, Fault):
        return failure
    log_failure(_LOG, failure, request_id, CHANNEL)
    if isinstance(failure, Fault):
        return failure
    return Fault("INTERNAL", "the server failed; its log has the cause under this request id")


def _refusal(error: LaminaError, inbound: Inbound) -> Response:
    """Mem0's error: ``detail`` in words, which its client puts into the exception. What is wrong with a request is 400 there, and what was
    deleted 404."""
    status = 400 if isinstance(error, Invalid | Malformed) else outcome_of(error).status
    status = 404 if isinstance(error, Gone) else 405 if error.code == "METHOD_NOT_ALLOWED" else status
    detail = error.message if not error.hint else f"{error.message}; {error.hint}"
    return detailed(error, inbound.request_id, inbound.out, detail=detail, status=status)

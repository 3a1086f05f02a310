"""``/v1/mcp`` as an ASGI application: origin, body and statuses as the contract has them (contracts/cognirelay.md 2.1, 2.2)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from lamina import limits
from lamina.errors import Fault, LaminaError
from lamina.gateway import Gateway, Inbound
from lamina.http.bodies import Bodies, read_json
from lamina.http.errors import detail_response
from lamina.http.inbound import inbound_of, log
from lamina.http.relay.rpc.messages import FORBIDDEN, RpcError, read_message
from lamina.http.relay.rpc.methods import RelayMethods
from lamina.json_scan import JsonBounds
from lamina.observe.logs import log_failure

__all__ = ["relay_mcp_door"]

_LOG: Final = logging.getLogger("lamina.http")
_BOUNDS: Final = JsonBounds(limits.JSON_KEYS_MAX, limits.JSON_ELEMENTS_MAX)
_OPERATION: Final = "relay_mcp"
_OWN_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_ORIGIN_SHOWN_MAX: Final = 256
_CLIENT_LEFT: Final = 499


def relay_mcp_door(
    gateway: Gateway, methods: RelayMethods, pool: ThreadPoolExecutor, bodies: Bodies
) -> ASGIApp:
    """The application over the methods. It checks Origin by the contract's rule and identifies callers per tool."""
    return _Door(gateway, methods, pool, bodies)


class _Door:
    def __init__(
        self, gateway: Gateway, methods: RelayMethods, pool: ThreadPoolExecutor, bodies: Bodies
    ) -> None:
        self._gateway = gateway
        self._methods = methods
        self._pool = pool
        self._bodies = bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        http = HttpRequest(scope, receive)
        inbound = inbound_of(self._gateway, http, f"{http.method} {scope['path']}")
        inbound = replace(inbound, credentials=replace(inbound.credentials, channel="mcp"))
        if http.method not in ("GET", "HEAD", "POST"):
            raise HTTPException(405, headers={"Allow": "POST"})
        response = await self._response(http, inbound)
        await response(scope, receive, send)

    async def _response(self, http: HttpRequest, inbound: Inbound) -> Response:
        code = None
        try:
            if http.method == "POST":
                response = await self._posted(http, inbound)
            else:
                self._gateway.identify(inbound, None)
                response = Response(status_code=405, headers={**inbound.out, "Allow": "POST"})
        except RpcError as refused:
            response = _json(refused.shown(None), refused.status, inbound.out)
        except LaminaError as error:
            code = error.code
            if isinstance(error, Fault):
                log_failure(_LOG, error, inbound.request_id, _OPERATION)
            response = detail_response(error, inbound.request_id, inbound.out)
        except ClientDisconnect:
            response = Response(status_code=_CLIENT_LEFT)
        log(http, inbound, response.status_code, operation=_OPERATION, error_code=code)
        return response

    async def _posted(self, http: HttpRequest, inbound: Inbound) -> Response:
        try:
            _check_origin(http)
            with self._bodies.holding(inbound.asked.client_ip or "") as held:
                body, _ = await read_json(http, limits.BODY_BYTES_MAX, _BOUNDS, held)
                message = await self._bodies.parsed(lambda: read_message(body), len(body))
        except RpcError:
            self._gateway.identify(inbound, None)  # what is no message counts as a call, too
            raise
        answer = await asyncio.get_running_loop().run_in_executor(
            self._pool, self._methods.answer, message, inbound
        )
        if answer is None:
            return Response(status_code=204, headers=inbound.out)
        return _json(answer, 200, inbound.out)


def _check_origin(http: HttpRequest) -> None:
    """Pages of this machine may call, whatever their port; raises ``RpcError`` (403) for those of any other."""
    for origin in http.headers.getlist("origin"):
        if not _is_own(origin):
            data = {"reason": "origin not allowed", "origin": origin[:_ORIGIN_SHOWN_MAX]}
            raise RpcError(FORBIDDEN, data, status=403)


def _is_own(origin: str) -> bool:
    try:
        parts = urlsplit(origin)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return False
    plain = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    return parts.scheme in ("http", "https") and host in _OWN_HOSTS and plain


def _json(shown: Mapping[str, Any], status: int, headers: Mapping[str, str]) -> Response:
    return Response(to_json(shown), status_code=status, headers=dict(headers), media_type="application/json")

"""What this door tells the gateway of a request, and the log of how it went."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from starlette.requests import Request as HttpRequest

from lamina.access.audit import AuditedCall
from lamina.access.principals import Credentials
from lamina.gateway import Gateway, Inbound
from lamina.kernel.operations import Principal
from lamina.kernel.trace import trace_of
from lamina.observe.logs import RequestLine, log_request, logs_requests

__all__ = ["inbound_of", "log"]

_NAMES_CALLER: Final = frozenset({b"authorization", b"x-cortex-actor"})
_READ: Final = _NAMES_CALLER | {b"x-cortex-request-id", b"x-request-id", b"user-agent"}


def inbound_of(gateway: Gateway, http: HttpRequest, endpoint: str) -> Inbound:
    """The request without its body; ``endpoint`` is the verb and path of its route."""
    scope = http.scope
    said = _said(scope["headers"])
    client = scope.get("client")
    offered = said.get(b"x-cortex-request-id") or said.get(b"x-request-id")
    request_id = gateway.request_id(offered)
    return Inbound(
        Credentials(
            channel="http", authorization=said.get(b"authorization"), actor=said.get(b"x-cortex-actor")
        ),
        request_id,
        asked=AuditedCall(
            method=scope["method"],
            path=scope["path"],
            endpoint=endpoint,
            headers=scope["headers"],
            client_ip=client[0] if client else None,
            user_agent=said.get(b"user-agent"),
            started_ns=time.perf_counter_ns(),
        ),
        query=scope["query_string"].decode("latin-1"),
        out={"X-Cortex-Request-ID": request_id},
    )


def _said(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, str]:
    """The headers that are read of every request. One that says who calls and is sent twice is both: what a proxy has checked must
    not differ from what we take. Of others the first counts."""
    said: dict[bytes, str] = {}
    for name, value in headers:
        if name not in _READ:
            continue
        text = value.decode("latin-1")
        if name not in said:
            said[name] = text
        elif name in _NAMES_CALLER:
            said[name] += f", {text}"
    return said


def log(
    http: HttpRequest,
    inbound: Inbound,
    status: int,
    *,
    operation: str | None = None,
    principal: Principal | None = None,
    error_code: str | None = None,
) -> None:
    """One line for the request, where the log takes such lines."""
    if not logs_requests():
        return
    trace = trace_of((http.headers.get("traceparent"), http.headers.get("x-cortex-trace-parent")))
    line = RequestLine(
        request_id=inbound.request_id,
        trace_id=trace.trace_id if trace else None,
        actor=(principal.actor or None) if principal else None,
        tenant_id=(principal.tenant_id or None) if principal else None,
        operation=operation,
        status=status,
        elapsed_ms=round((time.perf_counter_ns() - inbound.asked.started_ns) / 1e6, 3),
        error_code=error_code,
    )
    log_request(line)

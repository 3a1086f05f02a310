"""What this door tells the gateway of a request, and the log of how it went."""

from __future__ import annotations

import time

from starlette.requests import Request as HttpRequest

from lamina.access.audit import Asked
from lamina.access.principals import Credentials
from lamina.gateway import Gateway, Inbound
from lamina.kernel.operations import Principal
from lamina.kernel.trace import trace_of
from lamina.observe.logs import RequestLine, log_request

__all__ = ["inbound_of", "log"]


def inbound_of(gateway: Gateway, http: HttpRequest, endpoint: str) -> Inbound:
    """The request without its body; ``endpoint`` is the verb and path of its route."""
    headers = http.headers
    offered = headers.get("x-cortex-request-id") or headers.get("x-request-id")
    credentials = Credentials(
        channel="http",
        authorization=_header(http, "authorization"),
        actor=_header(http, "x-cortex-actor"),
    )
    asked = Asked(
        method=http.method,
        path=http.scope["path"],
        endpoint=endpoint,
        headers=headers.raw,
        client_ip=http.client.host if http.client else None,
        user_agent=headers.get("user-agent"),
        started_ns=time.perf_counter_ns(),
    )
    request_id = gateway.request_id(offered)
    inbound = Inbound(
        credentials, request_id, asked=asked, query=http.scope["query_string"].decode("latin-1")
    )
    inbound.out["X-Cortex-Request-ID"] = request_id
    return inbound


def _header(http: HttpRequest, name: str) -> str | None:
    """A header's value. Sent twice it is both: what a proxy has checked must not differ from what we take."""
    values = http.headers.getlist(name)
    return ", ".join(values) if values else None


def log(
    http: HttpRequest,
    inbound: Inbound,
    status: int,
    *,
    operation: str | None = None,
    principal: Principal | None = None,
    error_code: str | None = None,
) -> None:
    """One line for the request."""
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

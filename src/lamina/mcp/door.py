"""``/mcp`` of the server: each tool runs operations through the gateway, as every door does."""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any, Final

import mcp_types as types
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json
from starlette.requests import Request as HttpRequest
from starlette.types import Receive, Scope, Send

from lamina import limits
from lamina.errors import Fault, Invalid, LaminaError, Malformed
from lamina.gateway import Gateway, Inbound
from lamina.kernel.operations import Effect, Operation, Principal
from lamina.kernel.scopes import LOCAL_ACTOR
from lamina.kernel.time import Clock, Instant, instant
from lamina.kernel.wire import Nothing
from lamina.mcp.resources import listed_resources, read_resource
from lamina.mcp.running import ToolOutput, run_tool
from lamina.mcp.service import AT_META, DEFAULT_TOOLS, KEY_META, RequestContext, build_service, failed
from lamina.mcp.tools import GROUPS, TOOLS
from lamina.observe.logs import log_failure

__all__ = ["McpDoor"]

_LOG = logging.getLogger("lamina.mcp")
_ENTERED: Final = "lamina.entered"
"""Under which key of the ASGI scope the door before puts the request as the gateway takes it, and who calls."""
_TELL_S: Final = 1.0
"""How often a client that asked for progress hears that its call goes on."""
_SCOPE_HEADER, _AGENT_HEADER = "x-lamina-scope", "x-lamina-agent"

Refusal = Callable[[ValidationError, str], LaminaError]
"""One of our errors for what is wrong with a request, under a code."""


class McpDoor:
    """An ASGI application behind a check of host, origin and caller, which it finds in the scope.

    ``groups`` are further operations by their group. The SDK's manager belongs to an event loop: a new loop has a new one.
    """

    def __init__(
        self,
        gateway: Gateway,
        operations: Sequence[Operation[Any]],
        groups: Mapping[str, Sequence[Operation[Any]]],
        *,
        pool: Executor,
        clock: Clock,
        refusal: Refusal,
    ) -> None:
        self._service = build_service(_Gated(gateway, operations, groups, pool, clock, refusal))
        self._running: _Running | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        loop = asyncio.get_running_loop()
        running = self._running
        if running is None or running.loop is not loop:
            manager = StreamableHTTPSessionManager(
                self._service, stateless=True, max_request_body_size=limits.BODY_BYTES_MAX
            )
            running = self._running = _Running(manager, loop)
        await running.ready()
        await running.manager.handle_request(scope, receive, send)


class _Running:
    """A manager, kept running by a task of its own until its loop ends."""

    def __init__(self, manager: StreamableHTTPSessionManager, loop: asyncio.AbstractEventLoop) -> None:
        self.manager, self.loop = manager, loop
        self._started = asyncio.Event()
        self._task = loop.create_task(self._run(), name="lamina-mcp")

    async def ready(self) -> None:
        """Wait until requests can be handled."""
        await self._started.wait()

    async def _run(self) -> None:
        async with AsyncExitStack() as held:
            await held.enter_async_context(self.manager.run())
            self._started.set()
            await asyncio.Event().wait()


class _Gated:
    """Mirrors ``Backend``, over the gateway."""

    def __init__(
        self,
        gateway: Gateway,
        operations: Sequence[Operation[Any]],
        groups: Mapping[str, Sequence[Operation[Any]]],
        pool: Executor,
        clock: Clock,
        refusal: Refusal,
    ) -> None:
        self._gateway = gateway
        self._operations = {each.name: each for each in operations}
        self._groups = {name: [each for each in rows if _fits(each)] for name, rows in groups.items()}
        self._pool = pool
        self._clock = clock
        self._refusal = refusal

    async def tools(self, context: RequestContext) -> Sequence[types.Tool]:
        """Mirrors ``Backend.tools``."""
        more = self._more(context)
        return [*DEFAULT_TOOLS, *(_listed_operation(each) for each in more.values())]

    async def call(
        self, context: RequestContext, name: str, given: Mapping[str, Any]
    ) -> types.CallToolResult:
        """Mirrors ``Backend.call``."""
        gone = threading.Event()
        try:
            more = self._more(context)
            if name not in TOOLS and name not in more:
                raise MCPError(types.INVALID_PARAMS, f"there is no tool {name[:64]!r}")
            caller = self._caller(context, gone)
            running = asyncio.get_running_loop().run_in_executor(
                self._pool, self._run, name, more.get(name), given, caller
            )
            elapsed = 0.0
            while not (await asyncio.wait([running], timeout=_TELL_S))[0]:
                elapsed += _TELL_S
                await context.session.report_progress(elapsed, message=f"{name} goes on")
            outcome = await running
        except LaminaError as error:
            if isinstance(error, Fault):
                log_failure(_LOG, error, "", name)
            return failed(error)
        except asyncio.CancelledError:
            gone.set()  # what was begun ends by itself; whoever waits for derivation stops
            raise
        except MCPError:
            raise
        except Exception as error:
            log_failure(_LOG, error, "", name)
            return failed(Fault("INTERNAL", "the server failed; its log has the cause"))
        shown = outcome.result.model_dump(mode="json", by_alias=True)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=outcome.text)], structured_content=shown
        )

    async def resources(self, context: RequestContext) -> Sequence[types.Resource]:
        """Mirrors ``Backend.resources``."""
        caller = self._caller(context)
        return await asyncio.get_running_loop().run_in_executor(self._pool, listed_resources, caller)

    async def read(self, context: RequestContext, uri: str) -> str:
        """Mirrors ``Backend.read``."""
        caller = self._caller(context)
        return await asyncio.get_running_loop().run_in_executor(self._pool, read_resource, uri, caller)

    def _run(
        self, name: str, operation: Operation[Any] | None, given: Mapping[str, Any], caller: _GatewayCaller
    ) -> ToolOutput:
        if operation is not None:
            result = caller.ask(name, given)
            if result is None:
                result = Nothing()
            elif isinstance(result, bytes):  # what never changes is kept as it goes over HTTP
                result = operation.result.model_validate_json(result)
            return ToolOutput(result.model_dump_json(by_alias=True), result)
        try:
            arguments = TOOLS[name].arguments.model_validate(dict(given))
        except ValidationError as error:
            raise self._refusal(error, "INVALID_REQUEST") from error
        return run_tool(name, arguments, caller)

    def _more(self, context: RequestContext) -> dict[str, Operation[Any]]:
        """The operations of the groups that the client's URL names in ``tools=``; raises ``Invalid`` for an unknown one."""
        wanted = [each for each in _request(context).query_params.get("tools", "").split(",") if each]
        for each in wanted:
            if each not in GROUPS:
                raise Invalid(
                    "INVALID_REQUEST",
                    f"{each[:64]!r} is no group of tools",
                    hint="groups: " + ", ".join(GROUPS),
                    details={"field": "tools"},
                )
        names = self._groups if "all" in wanted else [each for each in self._groups if each in wanted]
        rows = [each for name in names for each in self._groups[name]]
        return {each.name: each for each in rows if each.name not in TOOLS}

    def _caller(self, context: RequestContext, gone: threading.Event | None = None) -> _GatewayCaller:
        entered: tuple[Inbound, Principal] = _request(context).scope[_ENTERED]
        inbound, principal = entered
        if gone is not None:
            inbound = replace(inbound, is_gone=gone.is_set)
        headers = _request(context).headers
        meta: Mapping[str, Any] = context.meta or {}
        key, at = meta.get(KEY_META), meta.get(AT_META)
        if key is not None and not _is_key(key):
            raise Invalid(
                "INVALID_REQUEST",
                f"_meta {KEY_META} must be 1 to {limits.IDEMPOTENCY_KEY_LENGTH_MAX} printable ASCII characters",
                details={"field": KEY_META},
            )
        now = instant(at, field=AT_META) if isinstance(at, str) else self._clock.now()
        actor = principal.actor
        return _GatewayCaller(
            self._gateway,
            self._operations,
            self._refusal,
            inbound,
            actor=actor,
            scope=headers.get(_SCOPE_HEADER) or actor or LOCAL_ACTOR,
            agent=headers.get(_AGENT_HEADER) or None,
            key=key or uuid.uuid4().hex,
            now=now,
        )


def _request(context: RequestContext) -> HttpRequest:
    assert context.request is not None, "only this door's own transport makes contexts"
    request: HttpRequest = context.request
    return request


def _fits(operation: Operation[Any]) -> bool:
    """Whether the operation gives one result that is JSON."""
    return operation.streams != "always" and issubclass(operation.result, BaseModel)


def _is_key(key: object) -> bool:
    long = limits.IDEMPOTENCY_KEY_LENGTH_MAX
    return isinstance(key, str) and 1 <= len(key) <= long and key.isascii() and key.isprintable()


def _listed_operation(operation: Operation[Any]) -> types.Tool:
    reads = operation.effect is Effect.READ
    hints = types.ToolAnnotations(
        read_only_hint=reads,
        destructive_hint=operation.effect is Effect.ERASE,
        idempotent_hint=reads,
        open_world_hint=False,
    )
    return types.Tool(
        name=operation.name,
        description=operation.summary,
        input_schema={"type": "object", **operation.request.model_json_schema()},
        annotations=hints,
    )


@dataclass(frozen=True, slots=True)
class _GatewayCaller:
    """Mirrors ``Caller``: every operation is identified, counted, allowed and audited by itself."""

    gateway: Gateway
    operations: Mapping[str, Operation[Any]]
    refusal: Refusal
    inbound: Inbound
    actor: str
    scope: str
    agent: str | None
    key: str
    now: Instant

    def ask(self, operation: str, request: Mapping[str, Any]) -> Any:
        """Mirrors ``Caller.ask``."""
        row = self.operations[operation]
        try:
            body = to_json(request)
        except ValueError as error:
            raise Malformed(
                "INVALID_BODY", "the arguments nest too deep", details={"field": "arguments"}
            ) from error
        try:
            parsed = row.request.model_validate(dict(request))
        except ValidationError as error:
            raise self.refusal(error, "INVALID_REQUEST") from error
        keyed = row.effect is not Effect.READ and b'"idempotency_key"' not in body
        inbound = replace(
            self.inbound,
            request_id=self.gateway.request_id(None),
            body=body,
            key=self.key if keyed else None,
            asked=replace(self.inbound.asked, endpoint=f"mcp {operation}"),
            out={},
        )
        principal = self.gateway.identify(inbound, row)
        return self.gateway.execute(row, parsed, inbound, principal).answer.result

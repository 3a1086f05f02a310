"""``lamina mcp``: the process that an agent starts. It lists the tools at once and passes their use on to a server.

The server may still be loading, or be gone and another one there: a call that was not answered is sent again under the same
key, so that it takes effect once.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import encode_header_value

from lamina import __version__
from lamina.errors import LaminaError, TooLarge, Unavailable
from lamina.mcp.service import AT_META, DEFAULT_TOOLS, KEY_META, RequestContext, build_service, failed
from lamina.mcp.tools import TOOLS
from lamina.mcp.unreadable import AnsweringStream

if TYPE_CHECKING:
    import httpx

__all__ = ["Link", "serve_stdio"]

_VERSION: Final = "2026-07-28"
_TRIES: Final = 5
_PAUSE_S: Final = 0.3
_TELL_S: Final = 1.0
_LISTED_S: Final = 2.0
"""How long the start of a server waits for the client to list the tools: both at once would share a small machine's cores."""
_ANSWER_S: Final = 120.0
"""How long a call may take at most: longer than a wait for derivation."""


class Link(Protocol):
    """The way to a server: ``url`` and ``headers`` are those of its ``/mcp``."""

    @property
    def url(self) -> str:
        """Where requests go."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Who calls."""
        ...

    def client(self) -> httpx.AsyncClient:
        """A new client over the link."""
        ...

    def ready(self) -> None:
        """Wait until a server can be asked, start one where that is ours to do; raises ``Unavailable``. It may take long, and runs
        on a thread."""
        ...


def serve_stdio(link: Link, groups: Sequence[str] = ()) -> None:
    """Speak MCP over standard input and output until the input ends, or nobody reads the output any more."""
    try:
        asyncio.run(_serve(_Passing(link, tuple(groups))))
    except* BrokenPipeError:
        pass  # the host is gone


async def _serve(passing: _Passing) -> None:
    service = build_service(passing)
    async with stdio_server() as (incoming, outgoing):
        warming = asyncio.get_running_loop().create_task(passing.warm())
        await service.run(
            AnsweringStream(incoming, outgoing), outgoing, service.create_initialization_options()
        )
        warming.cancel()
    await passing.close()


@dataclass
class _Passing:
    """Mirrors ``Backend``, over a link."""

    link: Link
    groups: tuple[str, ...]
    _client: httpx.AsyncClient | None = None
    _warm: bool = False
    _readying: asyncio.Lock = field(default_factory=asyncio.Lock)
    _listed: asyncio.Event = field(default_factory=asyncio.Event)

    async def warm(self) -> None:
        """Have the server loaded before the first call, behind the list of tools; whoever calls hears what is wrong."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._listed.wait(), _LISTED_S)
        try:
            await self._ready()
        except LaminaError:
            return

    async def close(self) -> None:
        """Give back the connection."""
        if self._client is not None:
            await self._client.aclose()

    async def tools(self, context: RequestContext) -> Sequence[types.Tool]:
        """Mirrors ``Backend.tools``: without groups nobody has to be asked."""
        self._listed.set()
        if not self.groups:
            return DEFAULT_TOOLS
        said = await self._asked(context, "tools/list", {})
        return types.ListToolsResult.model_validate(said).tools

    async def call(
        self, context: RequestContext, name: str, given: Mapping[str, Any]
    ) -> types.CallToolResult:
        """Mirrors ``Backend.call``."""
        if name not in TOOLS and not self.groups:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {name[:64]!r}")
        # What is cancelled twice under no id would be two things.
        again = name in TOOLS and (name != "cancel_last" or given.get("event_id") is not None)
        try:
            said = await self._asked(
                context, "tools/call", {"name": name, "arguments": dict(given)}, name=name, again=again
            )
        except LaminaError as error:
            return failed(error)
        return types.CallToolResult.model_validate(said)

    async def resources(self, context: RequestContext) -> Sequence[types.Resource]:
        """Mirrors ``Backend.resources``."""
        said = await self._asked(context, "resources/list", {})
        return types.ListResourcesResult.model_validate(said).resources

    async def read(self, context: RequestContext, uri: str) -> str:
        """Mirrors ``Backend.read``."""
        said = await self._asked(context, "resources/read", {"uri": uri}, name=uri)
        return str(said["contents"][0]["text"])

    async def _asked(
        self,
        context: RequestContext,
        method: str,
        params: Mapping[str, Any],
        *,
        name: str | None = None,
        again: bool = True,
    ) -> dict[str, Any]:
        """The result of a request to the server; raises ``MCPError`` for its errors, ``LaminaError`` where there is no answer."""
        import httpx

        body = self._request(method, params)
        headers = {
            **self.link.headers,
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": _VERSION,
            "mcp-method": method,
        }
        if name is not None:
            headers["mcp-name"] = encode_header_value(name)
        for attempt in range(_TRIES):
            await self._ready(context)
            try:
                return await self._exchange(context, body, headers)
            except httpx.ConnectError as error:
                lost: httpx.HTTPError = error
            except httpx.TransportError as error:
                lost = error
                if not again or isinstance(error, httpx.ReadTimeout):
                    break
            self._warm = False
            await asyncio.sleep(_PAUSE_S * (attempt + 1))
        raise Unavailable(
            "SERVER_UNREACHABLE",
            f"the memory server did not answer ({type(lost).__name__})",
            hint="try again; what was not acknowledged may or may not be stored",
        )

    def _request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        meta = {
            types.PROTOCOL_VERSION_META_KEY: _VERSION,
            types.CLIENT_INFO_META_KEY: {"name": "lamina-mcp", "version": __version__},
            types.CLIENT_CAPABILITIES_META_KEY: {},
            "progressToken": 1,
            KEY_META: uuid.uuid4().hex,
            AT_META: datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}

    async def _exchange(
        self, context: RequestContext, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> dict[str, Any]:
        if self._client is None:
            self._client = self.link.client()
        url = self.link.url + (f"?tools={','.join(self.groups)}" if self.groups else "")
        asked = self._client.build_request("POST", url, json=body, headers=headers, timeout=_ANSWER_S)
        response = await self._client.send(asked, stream=True)
        try:
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                async for line in response.aiter_lines():
                    if line.startswith("data:"):
                        message = _parsed(line.removeprefix("data:"))
                        if "method" not in message:
                            return _result(message)
                        await _told(context, message)
                import httpx

                raise httpx.RemoteProtocolError("the stream ended without a result")
            if response.status_code == 413:  # the SDK at the other end says so in plain words
                raise TooLarge(
                    "BODY_TOO_LARGE", "the call is larger than the server takes", hint="say less at once"
                )
            await response.aread()
            return _result(_parsed(response.text), response.status_code)
        finally:
            await response.aclose()

    async def _ready(self, context: RequestContext | None = None) -> None:
        """Wait for a server; who asked for progress hears of it."""
        async with self._readying:
            if self._warm:
                return
            waiting = asyncio.get_running_loop().run_in_executor(None, self.link.ready)
            waited = 0.0
            while not (await asyncio.wait([waiting], timeout=_TELL_S))[0]:
                waited += _TELL_S
                if context is not None:
                    await context.session.report_progress(waited, message="the memory server is starting")
            await waiting
            self._warm = True


async def _told(context: RequestContext, message: Mapping[str, Any]) -> None:
    said = message.get("params") or {}
    if message["method"] == "notifications/progress":
        await context.session.report_progress(said["progress"], said.get("total"), said.get("message"))


def _parsed(text: str) -> dict[str, Any]:
    from pydantic_core import from_json

    try:
        said = from_json(text)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise Unavailable(
            "UNREADABLE_RESPONSE",
            "what answered is no MCP endpoint",
            hint="LAMINA_URL is the address of a Lamina server, such as http://127.0.0.1:8700",
        )
    return said


def _result(message: Mapping[str, Any], status: int = 200) -> dict[str, Any]:
    if "result" in message:
        return dict(message["result"])
    error = message.get("error")
    if isinstance(error, dict) and "code" in error:
        raise MCPError(error["code"], error["message"], error.get("data"))
    details = message.get("details") or {}
    raise LaminaError(
        str(message.get("error_code") or "UNEXPECTED_STATUS"),
        str(message.get("message") or f"the server answered {status}"),
        hint=details.get("hint") or message.get("hint"),
    )

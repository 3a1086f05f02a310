"""The methods, in the contract's order: is there such a method, has the caller initialised, do the parameters fit."""

from __future__ import annotations

import logging
from functools import cached_property
from typing import Any, Final

from lamina import __version__
from lamina.errors import Busy, LaminaError
from lamina.gateway import Gateway, Inbound
from lamina.http.relay.bridge import Described
from lamina.http.relay.contract import MCP_METHODS
from lamina.http.relay.rpc.help_methods import HelpMethods
from lamina.http.relay.rpc.messages import (
    FAILED,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    RpcError,
    RpcMessage,
)
from lamina.http.relay.rpc.params import initialize_version, list_params, tool_use
from lamina.http.relay.rpc.readiness import Readiness
from lamina.http.relay.rpc.tool_calls import ToolCalls
from lamina.kernel.operations import Principal
from lamina.kernel.time import Clock, rfc3339
from lamina.observe.logs import log_failure
from lamina.store.ports.idempotency import Idempotency

__all__ = ["RelayMethods"]

_LOG = logging.getLogger("lamina.mcp")
_METHOD_SHOWN_MAX: Final = 64


class RelayMethods:
    """Answers messages. Its calls may wait for a disk: they have no place on an event loop."""

    def __init__(self, described: Described, gateway: Gateway, kept: Idempotency, clock: Clock) -> None:
        self._gateway = gateway
        self._clock = clock
        self._ready = Readiness(kept)
        self._help = HelpMethods(described)
        self._calls = ToolCalls(described.served, gateway)
        self._described = described

    def answer(self, message: RpcMessage, inbound: Inbound) -> dict[str, Any] | None:
        """The response to a message, None to a notification. Raises ``Busy`` for who calls too often."""
        if message.method != "tools/call":
            self._gateway.identify(inbound, None)  # it counts the call; a tool's own operation counts itself
        if message.is_notification:
            return None
        try:
            return {"jsonrpc": "2.0", "id": message.id, "result": self._result(message, inbound)}
        except RpcError as error:
            return error.shown(message.id)
        except Busy:
            raise  # of the door: HTTP says when to come again
        except Exception as error:
            # Our own bug or disk: a client that expects JSON-RPC gets JSON-RPC.
            log_failure(_LOG, error, inbound.request_id, message.method[:_METHOD_SHOWN_MAX])
            code = error.code if isinstance(error, LaminaError) else "INTERNAL"
            data = {"reason": "tool execution failed", "error_code": code}
            return RpcError(FAILED, data).shown(message.id)

    @cached_property
    def _listed(self) -> list[dict[str, Any]]:
        return [_listed(tool) for tool in self._described.served.tools()]

    def _result(self, message: RpcMessage, inbound: Inbound) -> dict[str, Any]:
        method = message.method
        if method not in MCP_METHODS and not self._help.knows(method):
            raise RpcError(METHOD_NOT_FOUND, {"method": method[:_METHOD_SHOWN_MAX]})
        if method == "initialize":
            return self._initialize(message, inbound)
        if method == "ping":
            return {"ok": True, "ts": rfc3339(self._clock.now())}
        if method == "tools/call":
            return self._tool_called(message, inbound)
        self._require_ready(inbound)
        if method == "tools/list":
            list_params(message)
            return {"tools": self._listed}
        return self._help.answer(message)

    def _tool_called(self, message: RpcMessage, inbound: Inbound) -> dict[str, Any]:
        try:
            self._require_ready(inbound)
            call = self._calls.prepared(tool_use(message))
        except RpcError:
            self._gateway.identify(inbound, None)  # no operation counts it
            raise
        return self._calls.answer(call, inbound)

    def _initialize(self, message: RpcMessage, inbound: Inbound) -> dict[str, Any]:
        version = initialize_version(message)
        header = inbound.credentials.authorization
        if header is not None:
            self._ready.mark(header, self._caller(inbound), self._clock.now())
        return {
            "protocolVersion": version,
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": "lamina", "version": __version__},
        }

    def _require_ready(self, inbound: Inbound) -> None:
        """Nothing for a caller who has initialised; who shows no Authorization header never has."""
        header = inbound.credentials.authorization
        if header is None or not self._ready.is_ready(
            header, self._clock.now(), lambda: self._caller(inbound)
        ):
            raise RpcError(NOT_INITIALIZED, {"required_step": "initialize"})

    def _caller(self, inbound: Inbound) -> Principal | None:
        """Whom the caller is, None where what they show does not hold: they may list tools all the same."""
        try:
            return self._gateway.known(inbound)
        except LaminaError:
            return None


def _listed(tool: dict[str, Any]) -> dict[str, Any]:
    metadata = {name: tool[name] for name in ("method", "path", "scopes", "idempotent")}
    return {
        "name": tool["name"],
        "description": tool["description"],
        "inputSchema": tool["input_schema"],
        "metadata": metadata | {"local_only": tool.get("local_only", False)},
    }

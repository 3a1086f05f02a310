"""The envelope of a message: what stands around a method, in the contract's order of checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic_core import from_json

__all__ = [
    "FAILED",
    "FORBIDDEN",
    "INITIALIZED",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "MESSAGES",
    "METHOD_NOT_FOUND",
    "NOT_FOUND",
    "NOT_INITIALIZED",
    "PARSE_ERROR",
    "UNAUTHORIZED",
    "RpcError",
    "RpcMessage",
    "read_message",
]

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
NOT_INITIALIZED: Final = -32000
UNAUTHORIZED: Final = -32001
FORBIDDEN: Final = -32002
FAILED: Final = -32003
NOT_FOUND: Final = -32004

MESSAGES: Final[Mapping[int, str]] = {
    PARSE_ERROR: "Parse error",
    INVALID_REQUEST: "Invalid Request",
    METHOD_NOT_FOUND: "Method not found",
    INVALID_PARAMS: "Invalid params",
    NOT_INITIALIZED: "Server not initialized",
    UNAUTHORIZED: "Unauthorized",
    FORBIDDEN: "Forbidden",
    FAILED: "Tool execution failed",
    NOT_FOUND: "Not Found",
}
"""What each code is called on the wire."""

INITIALIZED: Final = "notifications/initialized"
_METHOD_SHOWN_MAX: Final = 64

RpcId = str | int | float | None


class RpcError(Exception):
    """A JSON-RPC error: its code, what ``data`` says of it, and the HTTP status that carries it."""

    def __init__(
        self, code: int, data: Mapping[str, Any], *, status: int = 200, message: str | None = None
    ) -> None:
        super().__init__(code, data)
        self.code = code
        self.data = data
        self.status = status
        self.message = message or MESSAGES[code]

    def shown(self, message_id: RpcId) -> dict[str, Any]:
        """The response to the message with an id."""
        error = {"code": self.code, "message": self.message, "data": dict(self.data)}
        return {"jsonrpc": "2.0", "id": message_id, "error": error}


@dataclass(frozen=True, slots=True)
class RpcMessage:
    """A request, or the one notification that there is; ``params`` is None in ``has_params`` only where null was sent."""

    method: str
    id: RpcId
    has_params: bool
    params: Any  # Any: JSON; each method reads its own

    @property
    def is_notification(self) -> bool:
        """Whether nobody waits for an answer."""
        return self.method == INITIALIZED


def read_message(body: bytes) -> RpcMessage:
    """The message in a body; raises ``RpcError`` with HTTP status 400 for what is none, in the contract's order."""
    try:
        given = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise RpcError(PARSE_ERROR, {"reason": "the body is not JSON"}, status=400) from error
    if isinstance(given, list):
        raise _invalid("batches are not served")
    if not isinstance(given, dict):
        raise _invalid("a message is an object")
    if given.get("jsonrpc") != "2.0":
        raise _invalid('jsonrpc must be "2.0"')
    method = given.get("method")
    if not isinstance(method, str):
        raise _invalid("method must be a string")
    if method == INITIALIZED:
        if "id" in given:
            raise _invalid(f"{INITIALIZED} is a notification and has no id")
        return RpcMessage(method, None, "params" in given, given.get("params"))
    if "id" not in given:
        raise _invalid(f"{method[:_METHOD_SHOWN_MAX]!r} is no notification, so it needs an id")
    if not _is_id(given["id"]):
        raise _invalid("id must be a string or an integer")
    return RpcMessage(method, given["id"], "params" in given, given.get("params"))


def _is_id(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, str | int) or (isinstance(value, float) and value.is_integer())


def _invalid(reason: str) -> RpcError:
    return RpcError(INVALID_REQUEST, {"reason": reason}, status=400)

"""What the methods take as ``params``: each object is closed, and says which field is wrong."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lamina.http.relay.contract import MCP_VERSIONS
from lamina.http.relay.rpc.messages import INVALID_PARAMS, RpcError, RpcMessage

__all__ = ["ToolUse", "closed_params", "initialize_version", "list_params", "tool_use"]

_SHOWN_MAX: Final = 64
_META: Final = "_meta"
_CLIENT_TEXTS: Final = ("title", "description", "websiteUrl")


@dataclass(frozen=True, slots=True)
class ToolUse:
    """What ``tools/call`` asks for."""

    name: str
    arguments: dict[str, Any]  # Any: JSON, held against the tool's schema later


def initialize_version(message: RpcMessage) -> str:
    """The protocol version that a client asks for; raises ``RpcError`` for another than those served."""
    given = _object(message)
    if given is None:
        raise _wrong("params must be an object")
    _only(given, ("protocolVersion", "capabilities", "clientInfo", _META))
    wanted = given.get("protocolVersion")
    if not isinstance(wanted, str):
        raise _wrong("protocolVersion must be a string", "protocolVersion")
    for name in ("capabilities", "clientInfo", _META):
        if name in given and not isinstance(given[name], dict):
            raise _wrong(f"{name} must be an object", name)
    if "clientInfo" in given:
        _check_client(given["clientInfo"])
    if wanted not in MCP_VERSIONS:
        data = {"supported": list(MCP_VERSIONS), "requested": wanted[:_SHOWN_MAX]}
        raise RpcError(INVALID_PARAMS, data, message="Unsupported protocol version")
    return wanted


def _check_client(client: Mapping[str, Any]) -> None:
    _only(client, ("name", "version", *_CLIENT_TEXTS, "icons"), "clientInfo.")
    for name in ("name", "version"):
        value = client.get(name)
        missing = name not in client
        if (missing and name == "name") or (not missing and not (isinstance(value, str) and value.strip())):
            raise _wrong(f"clientInfo.{name} must be a string that is not blank", f"clientInfo.{name}")
    for name in _CLIENT_TEXTS:
        if name in client and not isinstance(client[name], str):
            raise _wrong(f"clientInfo.{name} must be a string", f"clientInfo.{name}")
    if "icons" in client and not isinstance(client["icons"], list):
        raise _wrong("clientInfo.icons must be a list", "clientInfo.icons")


def list_params(message: RpcMessage) -> None:
    """Nothing where ``tools/list`` asks for its only page; raises ``RpcError`` otherwise."""
    given = _object(message) or {}
    _only(given, ("cursor", _META))
    _check_meta(given)
    cursor = given.get("cursor")
    if cursor is not None and not isinstance(cursor, str):
        raise _wrong("cursor must be a string", "cursor")
    if cursor:
        raise _wrong("there is one page only, so no cursor is known", "cursor")


def tool_use(message: RpcMessage) -> ToolUse:
    """Which tool ``tools/call`` means, and its arguments; raises ``RpcError``."""
    given = _object(message)
    if given is None:
        raise _wrong("params must be an object")
    _only(given, ("name", "arguments", _META))
    _check_meta(given)
    name, arguments = _text(given, "name"), given.get("arguments", {})
    if not isinstance(arguments, dict):
        raise _wrong("arguments must be an object", "arguments")
    return ToolUse(name, arguments)


def closed_params(message: RpcMessage, name: str | None, kind: type[str] | type[int] = str) -> Any:
    """The one parameter of a help method, None where the method has none; raises ``RpcError``."""
    given = _object(message)
    if name is None:
        _only(given or {}, (_META,))
        _check_meta(given or {})
        return None
    if given is None:
        raise _wrong("params must be an object", name)
    _only(given, (name, _META))
    _check_meta(given)
    if kind is str:
        return _text(given, name)
    value = given.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(f"{name} must be an integer", name)
    return value


def _object(message: RpcMessage) -> Mapping[str, Any] | None:
    """The parameters, None where there are none; null is no object."""
    if not message.has_params:
        return None
    if not isinstance(message.params, dict):
        raise _wrong("params must be an object")
    return message.params


def _only(given: Mapping[str, Any], known: Collection[str], prefix: str = "") -> None:
    for name in given:
        if name not in known:
            raise _wrong("is not known here", f"{prefix}{name[:_SHOWN_MAX]}")


def _check_meta(given: Mapping[str, Any]) -> None:
    if _META in given and not isinstance(given[_META], dict):
        raise _wrong("_meta must be an object", _META)


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value.strip():
        raise _wrong(f"{name} must be a string that is not blank", name)
    return value


def _wrong(reason: str, field: str | None = None) -> RpcError:
    return RpcError(INVALID_PARAMS, {"reason": reason} | ({} if field is None else {"field": field}))

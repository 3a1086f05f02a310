"""The help as request methods: each answers with a summary, and with what the page of the help says (contracts/cognirelay.md 2.7)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml

from lamina.http.relay.bridge import Described
from lamina.http.relay.contract import HELP_METHODS, HELP_PATH
from lamina.http.relay.rpc.messages import INVALID_PARAMS, RpcError, RpcMessage
from lamina.http.relay.rpc.params import closed_params

__all__ = ["HelpMethods"]

_SHOWN_MAX: Final = 64


@dataclass(frozen=True, slots=True)
class _Method:
    """A method: the path of its page, its one parameter where it has one, and what an unknown one is called."""

    path: str
    parameter: str | None = None
    unknown: str = ""
    kind: type[str] | type[int] = str


_UNKNOWN: Final = {
    "system.tool_usage": "unknown tool",
    "system.topic_help": "unknown topic",
    "system.error_guide": "unknown error code",
    "system.onboarding_section": "unknown onboarding section",
    "system.validation_limit": "unknown validation limit",
}


def _method(path: str, name: str) -> _Method:
    base, brace, rest = path.partition("{")
    if not brace:
        return _Method(path)
    return _Method(base, rest.rstrip("}"), _UNKNOWN[name], int if name == "system.error_guide" else str)


_METHODS: Final = {name: _method(path, name) for path, name in HELP_METHODS.items()}


class HelpMethods:
    """The ten methods over the pages of the help."""

    def __init__(self, described: Described) -> None:
        self._described = described

    def knows(self, name: str) -> bool:
        """Whether this is a method of the help."""
        return name in _METHODS

    def answer(self, message: RpcMessage) -> dict[str, Any]:
        """The result of a method; raises ``RpcError`` for parameters that it does not take, and ids that the help does not have."""
        method = _METHODS[message.method]
        asked = closed_params(message, method.parameter, method.kind)
        shown = self._whole(method.path) if method.parameter is None else self._entry(message, method, asked)
        if shown is None:
            echoed = asked if isinstance(asked, int) else asked[:_SHOWN_MAX]
            raise RpcError(INVALID_PARAMS, {"reason": method.unknown, str(method.parameter): echoed})
        return {"content": [{"type": "text", "text": shown["summary"]}], "structuredContent": shown}

    def _whole(self, path: str) -> dict[str, Any] | None:
        surface = {HELP_PATH: "help_index", f"{HELP_PATH}/hooks": "hook_guide"}.get(path)
        if surface is not None:
            return {"surface": surface, "httpEquivalent": path, **_texts()["surfaces"][surface]}
        page = self._described.pages[path]
        return {**_texts()["surfaces"][page["kind"]], "httpEquivalent": path, **page}

    def _entry(self, message: RpcMessage, method: _Method, asked: str | int) -> dict[str, Any] | None:
        name = message.method
        path = f"{method.path}{asked}"
        if name == "system.error_guide":
            # The guide has the codes of JSON-RPC, which the pages over HTTP do not.
            guide = _texts()["errors"].get(asked)
            return guide and {"surface": "error_guide", "httpEquivalent": path, "code": asked, **guide}
        page = self._described.pages.get(path)
        if page is None:
            return None
        if name == "system.onboarding_section":
            return {"summary": page["title"], "httpEquivalent": path, **page}
        if name == "system.validation_limit":
            summary = page["limit"]["correction_guidance"]
            return {"summary": summary, "httpEquivalent": path, **page}
        surface = {"surface": name.removeprefix("system."), "httpEquivalent": path}
        summary = page["purpose"]
        if name == "system.topic_help":
            title = _texts()["titles"].get(asked, asked)
            return {**surface, "id": asked, "title": title, "summary": summary}
        more = _texts()["more"].get(asked)
        summary = f"{summary} {more}" if more else summary
        return {**surface, "surface": "tool_help", "name": asked, "summary": summary}


@cache
def _texts() -> Any:  # Any: the shape that the file shows
    text = files("lamina.http.relay.texts").joinpath("rpc.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)

"""``tools/call``: the arguments, then who calls, then the operation behind the tool (contracts/cognirelay.md 2.5).

A tool is a row of the Relay door. What it may do, how often and what is audited is the gateway's, as over HTTP.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import from_json

from lamina.coordination.refusals import refusal
from lamina.errors import Fault, Invalid, LaminaError, Unauthenticated, outcome_of
from lamina.gateway import Gateway, Inbound
from lamina.http.relay.catalogue import Served
from lamina.http.relay.rpc.argument_check import argument_problems
from lamina.http.relay.rpc.messages import (
    FAILED,
    FORBIDDEN,
    INVALID_PARAMS,
    NOT_FOUND,
    UNAUTHORIZED,
    RpcError,
)
from lamina.http.relay.rpc.params import ToolUse
from lamina.http.routes import Read, Route
from lamina.kernel.operations import Answer
from lamina.observe.logs import log_failure

__all__ = ["PreparedCall", "ToolCalls"]

_LOG = logging.getLogger("lamina.mcp")
_SCHEDULE: Final = "schedule."
_NAME_SHOWN_MAX: Final = 64
_INVALID: Final = "schema validation failed"
_REASONS: Final = {
    UNAUTHORIZED: "authentication required",
    FORBIDDEN: "forbidden",
    FAILED: "tool execution failed",
    NOT_FOUND: "not found",
}
_WITH_DETAIL: Final = frozenset({404, 409, 422, 503})
"""With which statuses the schedule's own words are passed on."""
_CODES: Final = {401: UNAUTHORIZED, 403: FORBIDDEN, 404: NOT_FOUND}
_KEYWORDS: Final = {
    "missing": "required",
    "extra_forbidden": "additionalProperties",
    "literal_error": "enum",
    "enum": "enum",
}
"""What the problems of a request are called in a schema; a wrong type is ``type``, the rest keeps Pydantic's word."""


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A tool with arguments that fit its schema; ``read`` is the request where it was read already."""

    name: str
    route: Route
    arguments: Mapping[str, Any]  # Any: JSON
    read: Read | None

    @property
    def of_schedule(self) -> bool:
        """Whether the tool is one of the schedule's, which has words of its own for what is wrong."""
        return self.name.startswith(_SCHEDULE)


class ToolCalls:
    """Runs tools."""

    def __init__(self, served: Served, gateway: Gateway) -> None:
        self._served = served
        self._gateway = gateway

    @cached_property
    def _schemas(self) -> Mapping[str, Any]:
        return {tool["name"]: tool["input_schema"] for tool in self._served.tools()}

    def prepared(self, use: ToolUse) -> PreparedCall:
        """A call, looked at as far as the contract looks before it asks who calls; raises ``RpcError``."""
        if use.name not in self._schemas:
            raise RpcError(INVALID_PARAMS, {"reason": "unknown tool", "name": use.name[:_NAME_SHOWN_MAX]})
        call = PreparedCall(use.name, self._served.route_of(use.name), use.arguments, None)
        if call.of_schedule:
            return replace(call, read=self._read_schedule(call))
        if problems := argument_problems(self._schemas[use.name], use.arguments):
            raise _not_valid([each.shown() for each in problems])
        return call

    def answer(self, call: PreparedCall, inbound: Inbound) -> dict[str, Any]:
        """The result of a tool; raises ``RpcError`` for all that goes wrong."""
        try:
            body = self._run(call, inbound)
        except LaminaError as error:
            if isinstance(error, Fault):
                log_failure(_LOG, error, inbound.request_id, call.name)
            raise _refused(error, of_schedule=call.of_schedule) from error
        return {"content": [{"type": "text", "text": f"Executed {call.name}"}], "structuredContent": body}

    def _read_schedule(self, call: PreparedCall) -> Read:
        try:
            read = call.route.read_arguments(call.arguments)
            if not call.route.has_body:
                self._check_types(call)
        except LaminaError as error:
            found = refusal(error)
            if found is None:
                raise _not_valid([]) from error
            raise RpcError(INVALID_PARAMS, {"reason": _INVALID, "detail": dict(found.detail)}) from error
        return read

    def _check_types(self, call: PreparedCall) -> None:
        """A number or a truth that a query says in text has a type of its own here."""
        for problem in argument_problems(self._schemas[call.name], call.arguments):
            field = f"query{problem.path.replace('/', '.')}"
            raise Invalid(
                "INVALID_SCHEDULE_QUERY",
                f"{field} {problem.message}",
                hint="tools/list has the schema: over MCP numbers and truths are no texts",
                details={"field": field},
            )

    def _run(self, call: PreparedCall, inbound: Inbound) -> Any:  # Any: JSON
        operation = call.route.operation
        asked = replace(inbound.asked, endpoint=f"mcp {call.name}", method=call.route.verb)
        inner = replace(inbound, request_id=self._gateway.request_id(None), asked=asked, query="", out={})
        if operation.open:
            # The operation asks nobody who they are; a token that is shown has to hold all the same.
            self._gateway.recognise(inner)
        principal = self._gateway.identify(inner, operation)
        read = call.read or call.route.read_arguments(call.arguments)
        inner = replace(inner, body=read.body, key=read.key)
        return _shown(self._gateway.execute(operation, read.request, inner, principal).answer)


def _refused(error: LaminaError, *, of_schedule: bool) -> RpcError:
    problems = error.details.get("problems")
    if problems is not None and not of_schedule:
        return _not_valid([_problem(each) for each in problems])
    found = refusal(error) if of_schedule else None
    if found is not None and found.status in _WITH_DETAIL:
        return RpcError(FAILED, {"reason": _REASONS[FAILED], "detail": dict(found.detail), **_ours(error)})
    code = _CODES.get(outcome_of(error).status, FAILED)
    return RpcError(code, {"reason": _REASONS[code], **_ours(error)})


def _ours(error: LaminaError) -> dict[str, str]:
    """Our code and hint, beside what the contract says of an error; its message it leaves out."""
    if isinstance(error, Unauthenticated):
        return {"error_code": error.code}
    return {"error_code": error.code} | ({"hint": error.hint} if error.hint else {})


def _not_valid(details: list[dict[str, str]]) -> RpcError:
    return RpcError(INVALID_PARAMS, {"reason": _INVALID, "details": details})


def _problem(problem: Mapping[str, Any]) -> dict[str, str]:
    """A problem that Pydantic has with a request, as the schema check lists its own."""
    kind = str(problem["type"])
    keyword = _KEYWORDS.get(kind) or ("type" if kind.endswith(("_type", "_parsing")) else kind)
    place = "".join(f"/{part}" for part in str(problem["field"]).split(".") if problem["field"] != "body")
    return {"path": place, "keyword": keyword, "message": str(problem["reason"])}


def _shown(answer: Answer) -> Any:  # Any: JSON
    """What the operation would have answered over HTTP."""
    if answer.result is None:
        return {}
    if isinstance(answer.result, BaseModel):
        return from_json(answer.result.__pydantic_serializer__.to_json(answer.result, by_alias=True))
    assert isinstance(answer.result, bytes), "no row of the Relay door streams"
    return from_json(answer.result)

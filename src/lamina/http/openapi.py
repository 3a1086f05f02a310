"""The OpenAPI 3.1 document, generated from the doors' tables.

Every status that an operation can answer with is named, with the error codes behind it; there is no ``default``.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema
from pydantic_core import to_json

from lamina import __version__, limits
from lamina.http.describing import ApiWords, words
from lamina.http.errors import Shown, error_response
from lamina.http.routes import PARAMETER, Route
from lamina.kernel.operations import Effect, Tier

__all__ = ["openapi_document"]

_REF = "#/components/schemas/{model}"
_JSON, _EVENTS = "application/json", "text/event-stream"
_EVENT: Mapping[str, Any] = {
    "type": "object",
    "required": ["event", "data"],
    "properties": {
        "event": {"type": "string"},
        "id": {"type": "string"},
        "data": {"type": "string", "contentMediaType": _JSON},
    },
}
"""One server-sent event; docs/reference/schemas/lifecycle_event.schema.json has what the lifecycle's data holds."""

_SIGNED_OR_NOT: Sequence[Mapping[str, Any]] = (
    {"bearer": [], "actor": []},
    {"bearer": []},
    {"actor": []},
    {},
)
"""A signed token with its actor, the token of a Relay peer, and what dev_local believes."""

_SAID: Mapping[int, str] = {
    200: "Done.",
    201: "It stands.",
    202: "Accepted; work goes on behind the answer.",
    204: "Done.",
}


def openapi_document(routes: Sequence[Route]) -> bytes:
    """The document as JSON bytes; it takes most of a second."""
    models = {route.operation.result for route in routes}
    models |= {shown.body for route in routes for code in _codes(route) for shown in _shown(route, code)}
    requests = {route.operation.request for route in routes}
    inputs: Sequence[Any] = [(model, "validation") for model in requests]
    outputs: Sequence[Any] = [(model, "serialization") for model in models]
    ordered = sorted([*inputs, *outputs], key=lambda item: (item[0].__name__, item[1]))
    refs, found = models_json_schema(ordered, ref_template=_REF)
    definitions = copy.deepcopy(found.get("$defs", {}))  # parts of it are constants of the types
    said = words()
    said.describe(definitions, (refs[request, "validation"] for request in requests))
    paths: dict[str, dict[str, Any]] = {}
    known: set[str] = set()
    for route in routes:
        path = PARAMETER.sub(r"{\1}", route.path)
        described = _described(route, refs, definitions, said)
        if described["operationId"] in known:
            described["operationId"] += "_by_query"
        known.add(described["operationId"])
        paths.setdefault(path, {})[route.verb.lower()] = described
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Lamina", "version": __version__, "description": said.about},
        "servers": [{"url": "/", "description": "The server that gave this document."}],
        "tags": said.tags(),
        "paths": paths,
        "components": {
            "schemas": definitions,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": said.security["bearer"]},
                "actor": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-Cortex-Actor",
                    "description": said.security["actor"],
                },
            },
        },
    }
    return to_json(document)


def _described(route: Route, refs: Any, definitions: Mapping[str, Any], said: ApiWords) -> dict[str, Any]:
    operation = route.operation
    answers = {str(status): _answer(route, status, refs, said) for status in operation.answers}
    described: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [said.tag(route.path)],
        "summary": operation.summary,
        "x-stability": operation.tier.value,
        "x-capability": str(operation.capability),
        "security": [] if operation.open else _SIGNED_OR_NOT,
        "parameters": [*_path_parameters(route, said), *_query(route, said), *_key(route)],
        "responses": answers | _failures(route, refs),
    }
    if route.has_body:
        schema = _body_schema(route, refs, definitions)
        described["requestBody"] = {
            "required": route.requires_a_body,
            "content": {_JSON: {"schema": schema}},
        }
        if operation.name in said.examples:
            described["requestBody"]["content"][_JSON]["example"] = said.examples[operation.name]
    return described


def _answer(route: Route, status: int, refs: Any, said: ApiWords) -> dict[str, Any]:
    if status == 204:
        return {"description": _SAID[status]}
    if route.page is not None:
        return {
            "description": _SAID[status],
            "content": {route.page.partition(";")[0]: {"schema": {"type": "string"}}},
        }
    schema = refs[route.operation.result, "serialization"]
    content = {} if route.operation.streams == "always" else {_JSON: {"schema": schema}}
    if route.operation.streams != "never":
        content[_EVENTS] = {"schema": {**_EVENT, "description": said.streams[route.operation.name]}}
    return {"description": _SAID[status], "content": content}


def _failures(route: Route, refs: Any) -> dict[str, Any]:
    """Responses by status, each with the codes that it may carry."""
    by_status: dict[int, dict[str, type[BaseModel]]] = {}
    for code in sorted(set(_codes(route))):
        for shown in _shown(route, code):
            by_status.setdefault(shown.status, {})[code] = shown.body
    return {
        str(status): {
            "description": f"An error: {', '.join(codes)}.",
            "content": {_JSON: {"schema": _one_of(codes.values(), refs)}},
        }
        for status, codes in sorted(by_status.items())
    }


def _shown(route: Route, code: str) -> Collection[Shown]:
    """How the row shows a code; what is said before any row is found has no style but Cortex's."""
    style = error_response if code == "UNKNOWN_HOST" else route.errors
    return style.describe(code)


def _one_of(models: Collection[type[BaseModel]], refs: Any) -> Any:
    schemas = [refs[model, "serialization"] for model in sorted(set(models), key=lambda m: m.__name__)]
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _codes(route: Route) -> Iterator[str]:
    """What the door and the gateway can answer with before, around and behind any operation of this kind."""
    operation = route.operation
    yield from operation.fails
    yield from ("RATE_LIMITED", "INTERNAL", "WAL_UNAVAILABLE", "UNKNOWN_HOST", "FOREIGN_ORIGIN")
    yield from ("INVALID_QUERY", "MISSING_REQUIRED_FIELD", route.invalid_code, "INVALID_REQUEST")
    if "{" in route.path:
        yield "NOT_FOUND"
    if route.has_body:
        yield from ("INVALID_BODY", "BODY_TOO_LARGE", "BODY_TOO_COMPLEX", "TOO_MUCH_AT_ONCE", "SERVER_FULL")
    if not operation.open:
        yield from (
            "MISSING_TOKEN",
            "INVALID_TOKEN_SIGNATURE",
            "EXPIRED_TOKEN",
            "REVOKED_TOKEN",
            "ACTOR_MISMATCH",
        )
        yield "WRONG_TENANT"
    if not operation.open and str(operation.capability):
        yield from ("POLICY_DENIED", "NOT_A_MEMBER")
    if operation.relay:
        yield from ("MISSING_SCOPE", "NAMESPACE_DENIED")
    if operation.effect is not Effect.READ:
        yield "IDEMPOTENCY_CONFLICT"
    if operation.tier is Tier.EXPERIMENTAL:
        yield "EXPERIMENTAL_DISABLED"


def _path_parameters(route: Route, said: ApiWords) -> Iterator[dict[str, Any]]:
    request = route.operation.request
    fields = request.model_fields
    for name in PARAMETER.findall(route.path):
        info = fields.get(route.named.get(name, name))
        kind: Any = str if info is None else info.rebuild_annotation()
        schema = TypeAdapter(kind).json_schema(ref_template=_REF)
        about = said.parameter(request.__name__, name)
        yield {"name": name, "in": "path", "required": True, **about, "schema": {"type": "string", **schema}}


def _query(route: Route, said: ApiWords) -> Iterator[dict[str, Any]]:
    by_field = {name: header for header, name in route.headers.items()}
    whole = route.has_body and route.body_field is None
    for name, info in route.operation.request.model_fields.items():
        wire_name = info.alias or name
        if wire_name in route.in_path or name == route.body_field or (whole and name not in route.query):
            continue
        kind: Any = info.rebuild_annotation()
        header = by_field.get(name)
        described = {
            "name": header or wire_name,
            "in": "header" if header else "query",
            "required": info.is_required(),
            **said.parameter(route.operation.request.__name__, header or wire_name),
            "schema": TypeAdapter(kind).json_schema(ref_template=_REF),
        }
        if name in route.lists:
            described |= {"style": "form", "explode": False}
        yield described


def _key(route: Route) -> Iterator[dict[str, Any]]:
    if route.takes_a_key:
        about = "As idempotency_key in the body."
        schema = {
            "type": "string",
            "minLength": 1,
            "maxLength": limits.IDEMPOTENCY_KEY_LENGTH_MAX,
            "pattern": "^[ -~]+$",
        }
        name = "X-Cortex-Idempotency-Key"
        yield {"name": name, "in": "header", "required": False, "description": about, "schema": schema}


def _body_schema(route: Route, refs: Any, definitions: Mapping[str, Any]) -> Any:
    """The shape of the body: of one field, or of the request without what the URL carries."""
    if route.body_field is not None:
        return _part(route, definitions)
    reference = refs[route.operation.request, "validation"]
    elsewhere = route.in_path | route.query
    if not elsewhere:
        return reference
    schema = copy.deepcopy(dict(definitions[reference["$ref"].rsplit("/", 1)[1]]))
    schema["properties"] = {k: v for k, v in schema["properties"].items() if k not in elsewhere}
    schema["required"] = [name for name in schema.get("required", ()) if name not in elsewhere]
    return schema


def _part(route: Route, definitions: Mapping[str, Any]) -> dict[str, Any]:
    assert route.body_field is not None, "asked for a route with a body field only"
    kind: Any = route.operation.request.model_fields[route.body_field].annotation
    assert kind.__name__ in definitions, f"{kind.__name__} stands twice in the document"
    return {"$ref": _REF.format(model=kind.__name__)}

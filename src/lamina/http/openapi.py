"""The OpenAPI 3.1 document, generated from the doors' tables, and a page that shows it without any script."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema
from pydantic_core import to_json

from lamina import __version__
from lamina.http.routes import Route
from lamina.kernel.wire import Nothing

__all__ = ["DOCS_PAGE", "openapi_document"]

_REF = "#/components/schemas/{model}"
_PARAMETER = re.compile(r"{([a-z_]+)(?::path)?}")

DOCS_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Lamina API</title>
<body><h1>Lamina API</h1><p>The machine-readable description is <a href="/openapi.json">/openapi.json</a>
(OpenAPI 3.1); the manual is in the project's <code>docs/reference</code>.</p></body></html>"""


class ErrorEnvelope(BaseModel):
    """The error envelope of seed 002, 6.6."""

    error_code: str
    message: str
    request_id: str
    details: dict[str, Any] = {}
    retriable: bool
    documentation: str


def openapi_document(routes: Sequence[Route]) -> bytes:
    """The document as JSON bytes, made once at start."""
    models = {route.operation.result for route in routes} | {ErrorEnvelope}
    requests = {route.operation.request for route in routes}
    inputs: Sequence[Any] = [(model, "validation") for model in requests]
    outputs: Sequence[Any] = [(model, "serialization") for model in models]
    ordered = sorted([*inputs, *outputs], key=lambda item: (item[0].__name__, item[1]))
    refs, definitions = models_json_schema(ordered, ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    known: set[str] = set()
    for route in routes:
        path = _PARAMETER.sub(r"{\1}", route.path)
        described = _described(route, refs)
        if described["operationId"] in known:
            described["operationId"] += "_by_query"
        known.add(described["operationId"])
        paths.setdefault(path, {})[route.verb.lower()] = described
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Lamina", "version": __version__},
        "paths": paths,
        "components": {"schemas": definitions.get("$defs", {})},
    }
    return to_json(document)


def _described(route: Route, refs: Any) -> dict[str, Any]:
    operation = route.operation
    in_path = _PARAMETER.findall(route.path)
    errors = {"$ref": _REF.format(model="ErrorEnvelope")}
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "x-stability": operation.tier.value,
        "x-capability": str(operation.capability),
        "parameters": [_path_parameter(name) for name in in_path] + _query(route, in_path),
        "responses": {
            "200": _content(refs[operation.result, "serialization"], "Done."),
            "202": _content(
                refs[operation.result, "serialization"], "Accepted; work goes on behind the answer."
            ),
            "default": _content(errors, "What went wrong, and whose move is next."),
        },
    }
    if operation.result is Nothing:
        del described["responses"]["200"], described["responses"]["202"]
        described["responses"]["204"] = {"description": "Done."}
    if route.has_body:
        described["requestBody"] = {"required": True, **_content(_body_schema(route, refs), "")}
        del described["requestBody"]["description"]
    return described


def _content(schema: Any, description: str) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _path_parameter(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _query(route: Route, in_path: Sequence[str]) -> list[dict[str, Any]]:
    parameters = []
    by_field = {name: header for header, name in route.headers.items()}
    for name, info in route.operation.request.model_fields.items():
        wire_name = info.alias or name
        if wire_name in in_path or name == route.body_field or (route.has_body and route.body_field is None):
            continue
        kind: Any = info.rebuild_annotation()
        schema = TypeAdapter(kind).json_schema(ref_template=_REF)
        header = by_field.get(name)
        parameters.append(
            {
                "name": header or wire_name,
                "in": "header" if header else "query",
                "required": info.is_required(),
                "schema": schema,
            }
        )
    return parameters


def _body_schema(route: Route, refs: Any) -> Any:
    if route.body_field is None:
        return refs[route.operation.request, "validation"]
    kind: Any = route.operation.request.model_fields[route.body_field].annotation
    return {"$ref": _REF.format(model=kind.__name__)}

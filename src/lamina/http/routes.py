"""A row of a door's table, and how a request is read by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.requests import Request as HttpRequest

from lamina import limits
from lamina.errors import Malformed, TooLarge
from lamina.http.errors import from_validation
from lamina.kernel.operations import Operation

__all__ = ["Read", "Route"]


@dataclass(frozen=True, slots=True)
class Read:
    """A parsed request, and the bytes it came as: they tell a repetition from another use of its key."""

    request: BaseModel
    body: bytes


@dataclass(frozen=True)
class Route:
    """Verb and path to an operation.

    The body fills the request field named ``body_field``, or the whole request when that is None and the verb
    carries a body; query and path parameters fill the rest. Query parameters named in ``lists`` hold several
    values separated by commas. ``headers`` maps a header to the request field that it fills.
    """

    verb: str
    path: str
    operation: Operation[Any]
    body_field: str | None = None
    invalid_code: str = "INVALID_REQUEST"
    lists: frozenset[str] = frozenset()
    headers: Mapping[str, str] = field(default_factory=dict)
    body_bytes_max: int = limits.BODY_BYTES_MAX

    @property
    def has_body(self) -> bool:
        """Whether the verb carries one."""
        return self.verb in ("POST", "PUT", "PATCH")

    async def read(self, http: HttpRequest) -> Read:
        """The request behind what came in; raises one of ours for what is wrong with it."""
        around = self._around(http)
        if not self.has_body:
            return Read(self._validated(around), b"")
        body = await _body(http, self.body_bytes_max)
        try:
            if self.body_field is not None:
                part = self._body_adapter.validate_json(body)
                return Read(self._validated(around | {self.body_field: part}), body)
            if not around:
                whole: BaseModel = self.operation.request.model_validate_json(body)
                return Read(whole, body)
            given = TypeAdapter(dict[str, Any]).validate_json(body or b"{}")
            return Read(self._validated(given | around), body)
        except ValidationError as error:
            raise from_validation(error, self.invalid_code) from error

    @property
    def _body_adapter(self) -> TypeAdapter[Any]:
        assert self.body_field is not None, "only routes with a body field have an adapter"
        return _adapter(self.operation.request, self.body_field)

    def _validated(self, given: Mapping[str, Any]) -> BaseModel:
        try:
            request: BaseModel = self.operation.request.model_validate(given)
        except ValidationError as error:
            raise from_validation(error, self.invalid_code) from error
        return request

    def _around(self, http: HttpRequest) -> dict[str, Any]:
        given: dict[str, Any] = dict(http.path_params)
        for name, value in http.query_params.multi_items():
            if name in given:
                raise Malformed(
                    "INVALID_QUERY",
                    f"query parameter {name[:64]} is given twice",
                    details={"field": name[:64]},
                )
            given[name] = [part for part in value.split(",") if part] if name in self.lists else value
        for header, name in self.headers.items():
            if header in http.headers:
                given[name] = http.headers[header]
        return given


_ADAPTERS: dict[tuple[type[BaseModel], str], TypeAdapter[Any]] = {}


def _adapter(model: type[BaseModel], name: str) -> TypeAdapter[Any]:
    if (model, name) not in _ADAPTERS:
        kind: Any = model.model_fields[name].annotation
        _ADAPTERS[model, name] = TypeAdapter(kind)
    return _ADAPTERS[model, name]


async def _body(http: HttpRequest, bytes_max: int) -> bytes:
    kind = http.headers.get("content-type", "application/json").split(";", 1)[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise Malformed(
            "INVALID_BODY", f"the content type is {kind[:64]}", hint="send application/json; charset=utf-8"
        )
    declared = http.headers.get("content-length")
    if declared is not None and declared.isdigit() and int(declared) > bytes_max:
        raise _too_large(bytes_max)
    chunks: list[bytes] = []
    size = 0
    async for chunk in http.stream():
        size += len(chunk)
        if size > bytes_max:
            raise _too_large(bytes_max)
        chunks.append(chunk)
    return b"".join(chunks)


def _too_large(bytes_max: int) -> TooLarge:
    return TooLarge(
        "BODY_TOO_LARGE",
        f"the body is larger than {bytes_max} bytes",
        hint="split it; up to 1000 items go into one bulk write",
        details={"bytes_max": bytes_max},
    )

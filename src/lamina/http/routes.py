"""A row of a door's table, and how a request is read by it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Final, Literal

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json, to_json
from starlette.requests import Request as HttpRequest

from lamina import limits
from lamina.errors import Invalid, LaminaError, Malformed
from lamina.http.batches import read_batch, told_of_item
from lamina.http.bodies import Bodies, HeldBody, read_body
from lamina.http.errors import ErrorStyle, Problem, error_response, from_validation
from lamina.http.problems import few_problems
from lamina.json_scan import JsonBounds, JsonScan
from lamina.kernel.operations import Effect, Operation

__all__ = ["PARAMETER", "Contract", "Read", "Route"]

PARAMETER = re.compile(r"{([a-z_]+)(?::path)?}")
"""A parameter of a path."""

Contract = Literal["Cortex", "Relay", "Synapse"]
"""Whose paths a row belongs to."""


_ITEM_BOUNDS = JsonBounds(limits.JSON_KEYS_MAX, limits.JSON_ELEMENTS_MAX)
_BATCH_BOUNDS = JsonBounds(limits.BULK_KEYS_MAX, limits.BULK_ELEMENTS_MAX)


@dataclass(frozen=True, slots=True)
class Read:
    """A parsed request, and the bytes it came as: they tell a repetition from another use of its ``key``."""

    request: BaseModel
    body: bytes
    key: str | None = None


@dataclass(frozen=True)
class Route:
    """Verb and path to an operation.

    The body fills the request field named ``body_field``, or the whole request when that is None and the verb
    carries a body; query and path parameters fill the rest. Query parameters named in ``lists`` hold several
    values separated by commas. ``headers`` maps a header to the request field that it fills, ``named`` a parameter of
    the path to a field of another name. ``query`` are the fields of a request with a body that its URL carries.
    ``errors`` is the style in which its contract shows them. ``items`` is the field of a batch: a large body is read item by item.
    ``page`` is the media type of a result whose ``text`` is the whole answer.
    """

    verb: str
    path: str
    operation: Operation[Any]
    body_field: str | None = None
    invalid_code: str = "INVALID_REQUEST"
    lists: frozenset[str] = frozenset()
    headers: Mapping[str, str] = field(default_factory=dict)
    body_bytes_max: int = limits.BODY_BYTES_MAX
    errors: ErrorStyle = error_response
    named: Mapping[str, str] = field(default_factory=dict)
    query: frozenset[str] = frozenset()
    contract: Contract = "Cortex"
    items: str | None = None
    page: str | None = None

    @property
    def has_body(self) -> bool:
        """Whether the verb carries one."""
        return self.verb in ("POST", "PUT", "PATCH")

    async def read(self, http: HttpRequest, bodies: Bodies, held: HeldBody) -> Read:
        """The request behind what came in; raises one of ours for what is wrong with it."""
        around = self._around(http)
        key = self._offered_key(http)
        if not self.has_body:
            return Read(self._validated(around), b"", key)
        body, scan = await read_body(http, self.body_bytes_max, self._bounds, held)
        if self.items is not None and scan is not None and len(body) > limits.BODY_BYTES_MAX:
            # The key that every write takes stands in a batch itself, and is read with it.
            return await bodies.parsed(lambda: self._parsed_by_items(body, scan, key), len(body))
        return await bodies.parsed(lambda: self._parsed(body, around, key), len(body))

    def read_arguments(self, given: Mapping[str, Any]) -> Read:
        """The request behind one object that holds path, query and body, as a tool of MCP is called with; raises as ``read`` does."""
        elsewhere = self.in_path | self.query if self.has_body else given.keys()
        around = {name: value for name, value in given.items() if name in elsewhere}
        if not self.has_body:
            return Read(self._validated(around), to_json(given), None)
        return self._parsed(
            to_json({name: v for name, v in given.items() if name not in around}), around, None
        )

    def _parsed(self, body: bytes, around: Mapping[str, Any], key: str | None) -> Read:
        content = body
        try:
            content, key = self._keyed(body, key)
            if self.body_field is not None:
                part = self._body_adapter.validate_json(content)
                return Read(self._validated({**around, self.body_field: part}), body, key)
            if not content and not self.requires_a_body:
                content = b"{}"
            if not around:
                return Read(self._whole(content), body, key)
            given = _OBJECT.validate_json(content or b"{}")
            return Read(self._validated({**given, **around}), body, key)
        except ValidationError as error:
            kind = self._body_adapter if self.body_field is not None else TypeAdapter(self.operation.request)
            few = partial(_few, content, around if self.body_field is None else {}, kind)
            raise from_validation(error, self.invalid_code, self._where, few) from error

    def _whole(self, content: bytes) -> BaseModel:
        """The request that a body is by itself; raises ``ValidationError``."""
        kind = self.operation.request
        if self.items is None:
            whole: BaseModel = kind.model_validate_json(content)
            return whole
        try:
            # What has validators of ours in front is made into objects of Python for each of them, again and again, where it is read from text.
            with suppress(ValueError):
                batch: BaseModel = kind.model_validate(from_json(content))
                return batch
            read: BaseModel = kind.model_validate_json(content)
        except LaminaError as error:
            raise told_of_item(error, content, kind, self.items) from error
        return read

    def _parsed_by_items(self, body: bytes, scan: JsonScan, offered: str | None) -> Read:
        """A large batch, item by item, so that other calls are answered between them."""
        assert self.items is not None, "a row without items has no batches"
        kind: Any = self.operation.request
        given = read_batch(body, scan, kind, self.items, self.invalid_code)
        if offered is not None:
            _check_one_key(given.get("idempotency_key"), offered)
            given["idempotency_key"] = offered
        return Read(self._validated(given), body, None)

    @property
    def _bounds(self) -> JsonBounds:
        return _ITEM_BOUNDS if self.items is None else _BATCH_BOUNDS

    @property
    def requires_a_body(self) -> bool:
        """Whether there is something to say that nothing else says."""
        elsewhere = self.in_path | self.query
        fields = self.operation.request.model_fields
        return any(item.is_required() for name, item in fields.items() if name not in elsewhere)

    @property
    def in_path(self) -> frozenset[str]:
        """The request fields that the path carries."""
        return frozenset(self.named.get(name, name) for name in PARAMETER.findall(self.path))

    @cached_property
    def _in_query(self) -> frozenset[str]:
        """What the query may carry beside a body: a name in both would win over what the body says."""
        if self.body_field is None:
            return self.query
        fields = self.operation.request.model_fields
        names = {info.alias or name for name, info in fields.items() if name != self.body_field}
        return frozenset(names - self.in_path - set(self.headers.values()))

    def _offered_key(self, http: HttpRequest) -> str | None:
        """The idempotency key of the header, where the operation takes one."""
        if not self.takes_a_key:
            return None
        key = http.headers.get("x-cortex-idempotency-key")
        return None if key is None else _checked(key)

    def _keyed(self, body: bytes, offered: str | None) -> tuple[bytes, str | None]:
        """The body that the request type is read from, and the key, which stands in the body or a header."""
        takes_key = self._takes_key
        if not self.takes_a_key or (takes_key and offered is None):
            return body, None
        if not takes_key and b"idempotency_key" not in body:
            return body, offered
        given = _OBJECT.validate_json(body or b"{}")
        inside = given.pop("idempotency_key", None)
        _check_one_key(inside, offered)
        key = offered if inside is None else _checked(inside)
        if takes_key:
            given["idempotency_key"] = key
        return to_json(given), key

    @property
    def takes_a_key(self) -> bool:
        """Whether a call may come with an idempotency key: every write, and a read whose body has a field for it."""
        return self.operation.effect is not Effect.READ or (self.has_body and self._takes_key)

    @cached_property
    def _takes_key(self) -> bool:
        """Whether the idempotency key is a field of the body."""
        return "idempotency_key" in self._body_model.model_fields

    @property
    def _body_model(self) -> type[BaseModel]:
        if self.body_field is None:
            return self.operation.request
        model: Any = self.operation.request.model_fields[self.body_field].annotation
        body_model: type[BaseModel] = model
        return body_model

    @property
    def _body_adapter(self) -> TypeAdapter[Any]:
        assert self.body_field is not None, "only routes with a body field have an adapter"
        return _adapter(self.operation.request, self.body_field)

    def _validated(self, given: Mapping[str, Any]) -> BaseModel:
        try:
            request: BaseModel = self.operation.request.model_validate(given)
        except ValidationError as error:
            raise from_validation(error, self.invalid_code, self._where) from error
        return request

    def _where(self, name: str) -> str:
        """The part of a request in which a field stands."""
        if name in self.in_path:
            return "path"
        if name in self.headers.values():
            return "header"
        return "body" if self.has_body and name not in self.query else "query"

    def _around(self, http: HttpRequest) -> dict[str, Any]:
        given: dict[str, Any] = {self.named.get(k, k): v for k, v in http.path_params.items()}
        for name, value in http.query_params.multi_items() if http.scope["query_string"] else ():
            if self.has_body and name not in self._in_query:
                if self.contract != "Cortex":
                    continue  # those contracts take no notice of it
                raise _unfit_query(name, "is none of this request: its fields are told in the body")
            if name in given:
                raise _unfit_query(name, "is given twice")
            given[name] = [part for part in value.split(",") if part] if name in self.lists else value
        for header, name in self.headers.items():
            if header in http.headers:
                given[name] = http.headers[header]
        return given


def _unfit_query(name: str, problem: str) -> Malformed:
    return Malformed("INVALID_QUERY", f"query parameter {name[:64]} {problem}", details={"field": name[:64]})


_OBJECT: Final = TypeAdapter(dict[str, Any])
_ADAPTERS: dict[tuple[type[BaseModel], str], TypeAdapter[Any]] = {}


def _adapter(model: type[BaseModel], name: str) -> TypeAdapter[Any]:
    if (model, name) not in _ADAPTERS:
        kind: Any = model.model_fields[name].annotation
        _ADAPTERS[model, name] = TypeAdapter(kind)
    return _ADAPTERS[model, name]


def _few(content: bytes, around: Mapping[str, Any], kind: TypeAdapter[Any]) -> Sequence[Problem]:
    given = from_json(content)
    return few_problems({**given, **around} if isinstance(given, dict) else given, kind.validate_python)


def _check_one_key(inside: object, offered: str | None) -> None:
    if None not in (inside, offered) and inside != offered:
        raise Malformed(
            "INVALID_REQUEST",
            "the idempotency keys of the body and of the header differ",
            details={"field": "idempotency_key"},
        )


def _checked(key: object) -> str:
    """An idempotency key: printable ASCII, at most 64 characters."""
    long = limits.IDEMPOTENCY_KEY_LENGTH_MAX
    if isinstance(key, str) and 1 <= len(key) <= long and key.isascii() and key.isprintable():
        return key
    raise Invalid(
        "INVALID_REQUEST",
        f"idempotency_key must be 1 to {long} printable ASCII characters",
        details={"field": "idempotency_key"},
    )

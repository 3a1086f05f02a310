"""Spans of OpenTelemetry, through its API alone: who installs its SDK and names an exporter sees where a call spends its time.

Names and attributes follow OpenTelemetry's conventions (HTTP, database, generative AI); what they do not name begins with ``lamina.``.
No attribute holds what callers or models say, and an error is its code. Nobody can have set up a collector without loading the API,
so where it is not loaded, or has no collector, nothing is made.
"""

from __future__ import annotations

import contextvars
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Any, Final, Literal, ParamSpec, Protocol, Self, TypeVar

from lamina import __version__
from lamina.observe.rounds import class_of

__all__ = ["CarryingPool", "Kind", "Noted", "Value", "collects_spans", "inner_span", "span"]

P = ParamSpec("P")
R = TypeVar("R")
Value = str | int | float | bool | list[str]
Kind = Literal["internal", "server", "client"]

_API: Final = "opentelemetry.trace"
_NAME: Final = "lamina"


class Noted(Protocol):
    """A span that is open: more can be noted of it."""

    def note(self, name: str, value: Value) -> None:
        """Set an attribute."""
        ...

    def failed(self, kind: str) -> None:
        """What it is about failed, with an error of this kind."""
        ...


class _Nothing:
    """``Noted`` where nobody looks."""

    def note(self, name: str, value: Value) -> None:
        """Mirrors ``Noted.note``."""

    def failed(self, kind: str) -> None:
        """Mirrors ``Noted.failed``."""


_OPEN: Final = contextvars.ContextVar("lamina_span_open", default=False)
_NOTHING: Final = nullcontext[Noted](_Nothing())


def span(
    name: str,
    kind: Kind = "internal",
    attributes: Mapping[str, Value] | None = None,
    *,
    headers: Mapping[str, str] | None = None,
) -> AbstractContextManager[Noted]:
    """A span for the length of a block, below the one that is open. ``headers`` are those of a request that may name its caller's span."""
    if (api := _collecting()) is None:
        return _NOTHING
    return _Span(api, name, kind, attributes, headers)


def inner_span(name: str, kind: Kind, attributes: Mapping[str, Value]) -> AbstractContextManager[Noted]:
    """A span below an open one of ours, and nothing where there is none: for what is done often, and says nothing by itself."""
    return span(name, kind, attributes) if _OPEN.get() else _NOTHING


class CarryingPool(ThreadPoolExecutor):
    """A pool whose threads work below the span that is open where the work is handed over."""

    def submit(self, run: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Mirrors ``ThreadPoolExecutor.submit``."""
        if _collecting() is None:
            return super().submit(run, *args, **kwargs)
        below = contextvars.copy_context()
        return super().submit(lambda: below.run(run, *args, **kwargs))


def collects_spans() -> bool:
    """Whether anybody collects spans."""
    return _collecting() is not None


def _collecting() -> Any:  # Any: the module of the API
    """The API, where somebody collects spans."""
    api: Any = sys.modules.get(_API)
    # While another thread loads it, as the first call of MCP does, it stands there by halves, and nobody collects yet.
    if api is None or getattr(api.__spec__, "_initializing", False):
        return None
    if isinstance(api.get_tracer_provider(), api.ProxyTracerProvider):
        return None
    return api


class _Span:
    """One span of the API."""

    def __init__(
        self,
        api: Any,  # Any: the module of the API
        name: str,
        kind: Kind,
        attributes: Mapping[str, Value] | None,
        headers: Mapping[str, str] | None,
    ) -> None:
        above = None
        if headers is not None:
            from opentelemetry.propagate import extract

            above = extract(headers)
        self._api = api
        # The API would keep the message of an error, which may quote a memory.
        self._opened = api.get_tracer(_NAME, __version__).start_as_current_span(
            name,
            context=above,
            kind=api.SpanKind[kind.upper()],
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        )
        self._span: Any = None  # Any: the API's

    def __enter__(self) -> Self:
        self._span = self._opened.__enter__()
        self._before = _OPEN.set(True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None
    ) -> None:
        if error is not None:
            self.failed(class_of(error))
        _OPEN.reset(self._before)
        self._opened.__exit__(kind, error, frames)

    def note(self, name: str, value: Value) -> None:
        """Mirrors ``Noted.note``."""
        self._span.set_attribute(name, value)

    def failed(self, kind: str) -> None:
        """Mirrors ``Noted.failed``."""
        self._span.set_attribute("error.type", kind)
        self._span.set_status(self._api.StatusCode.ERROR)

"""Asks that read: recall, the layers, and the lifecycle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from lamina.answer.requests import AnswerResponse
from lamina.client.asks import Ask, ask
from lamina.client.identity import Identity
from lamina.client.options import AnswerOptions, LifecycleFilters, RecallOptions, Time, TimeRange
from lamina.client.results import LifecycleEvent
from lamina.errors import Invalid
from lamina.lifecycle.requests import LifecyclePage, MemoryEventState
from lamina.observe.results import HealthReport, Version
from lamina.recall.requests import Pack

__all__ = [
    "answer_ask",
    "follow_ask",
    "health_ask",
    "lifecycle_ask",
    "list_ask",
    "one_ask",
    "recall_ask",
    "resumed",
    "state_ask",
    "version_ask",
]

ResultT = TypeVar("ResultT", bound=BaseModel)
_IN_BUDGETS = ("max_tokens", "per_layer_limits")
_RANGES = ("valid_during", "recorded_during")
_IN_TEMPORAL = ("natural", "reference_date", "as_of", *_RANGES, "include_superseded")


def recall_ask(identity: Identity, query: str, options: RecallOptions, *, stream: bool = False) -> Ask[Pack]:
    """Ask memory a question."""
    body = _search(identity, options, stream=stream) | {"query": query}
    return ask("POST", "/v1/recall", Pack, body=to_jsonable_python(body))


def answer_ask(
    identity: Identity, question: str, options: AnswerOptions, *, stream: bool = False
) -> Ask[AnswerResponse]:
    """Have a question answered from memory."""
    body = _search(identity, options, stream=stream) | {"question": question}
    return ask("POST", "/v1/answer", AnswerResponse, body=to_jsonable_python(body))


def _search(identity: Identity, options: RecallOptions, *, stream: bool) -> dict[str, Any]:
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    budgets = {name: given.pop(name) for name in _IN_BUDGETS if name in given}
    given |= {name: _both(name, given[name]) for name in _RANGES if name in given}
    temporal = dict(given.pop("temporal", {})) | {
        name: given.pop(name) for name in _IN_TEMPORAL if name in given
    }
    body = {**given, "scope": identity.scope_for(given.get("scope"))}
    if budgets:
        body["budgets"] = budgets
    if temporal:
        body["temporal"] = temporal
    if stream:
        body["stream"] = True
    return body


def _both(name: str, value: TimeRange) -> list[Time]:
    sides = value.split("..") if isinstance(value, str) else value
    named = [side for side in sides if side]
    if len(named) != 2 or len(sides) != 2:
        raise Invalid(
            "INVALID_RANGE",
            f"{name} is {value!r} and not two times joined by '..'",
            hint="write for example 2026-04-01..2026-05-01, both sides",
            details={"field": name},
        )
    return named


def list_ask(
    identity: Identity, path: str, result: type[ResultT], filters: Mapping[str, Any]
) -> Ask[ResultT]:
    """A list over a scope."""
    scope = identity.scope_for(filters.get("scope"))
    return ask("GET", path, result, query={**filters, "scope": scope})


def one_ask(template: str, result: type[ResultT], name: str, record_id: str, **query: Any) -> Ask[ResultT]:
    """One record by its id, which fills ``{name}`` in the path."""
    return ask("GET", template, result, names={name: record_id}, query=query)


def lifecycle_ask(filters: Mapping[str, Any]) -> Ask[LifecyclePage]:
    """A page of what happened, in order of arrival. No scope means everything that the caller may read."""
    return ask("GET", "/v1/lifecycle", LifecyclePage, query=filters)


def follow_ask(filters: LifecycleFilters) -> Ask[LifecycleEvent]:
    """A stream of what happens."""
    return ask("GET", "/v1/lifecycle/stream", LifecycleEvent, query=filters)


def resumed(asked: Ask[ResultT], last_id: str | None) -> Ask[ResultT]:
    """The same stream, from behind the last event that was seen."""
    return replace(asked, headers={**asked.headers, "Last-Event-ID": last_id}) if last_id else asked


def state_ask(event_id: str) -> Ask[MemoryEventState]:
    """How far an event has come."""
    return one_ask("/v1/lifecycle/memory-event/{evt_id}", MemoryEventState, "evt_id", event_id)


def health_ask() -> Ask[HealthReport]:
    """How the server is."""
    return ask("GET", "/v1/admin/health", HealthReport)


def version_ask() -> Ask[Version]:
    """Which build answers."""
    return ask("GET", "/v1/admin/version", Version)

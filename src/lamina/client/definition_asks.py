"""Asks about what a tenant defines for itself: vocabularies and words for stretches of time (seed 002, 8.14 and 8.17)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from lamina.client.asks import Ask, ask
from lamina.client.options import Time, VocabularyOptions
from lamina.client.session import new_key
from lamina.kernel.wire import Nothing
from lamina.types.phrases import PhraseList, PhraseView
from lamina.types.vocabularies import VocabularyList, VocabularyReplaced, VocabularyView

__all__ = [
    "phrases",
    "register_phrase",
    "register_vocabulary",
    "remove_phrase",
    "replace_vocabulary",
    "vocabularies",
    "vocabulary",
]

ResultT = TypeVar("ResultT", bound=BaseModel)


def vocabularies(as_of: Time | None) -> Ask[VocabularyList]:
    """The tenant's vocabularies."""
    return ask("GET", "/v1/vocabularies", VocabularyList, query={"as_of": as_of})


def vocabulary(name: str, as_of: Time | None) -> Ask[VocabularyView]:
    """One vocabulary."""
    path = "/v1/vocabularies/{name}"
    return ask("GET", path, VocabularyView, names={"name": name}, query={"as_of": as_of})


def register_vocabulary(name: str, options: VocabularyOptions) -> Ask[VocabularyView]:
    """Register a vocabulary."""
    body = {"name": name, **_said(options)}
    return _keyed(ask("POST", "/v1/vocabularies", VocabularyView, body=body))


def replace_vocabulary(name: str, options: VocabularyOptions) -> Ask[VocabularyReplaced]:
    """Put a vocabulary in the place of the one of its name."""
    path = "/v1/vocabularies/{name}"
    return _keyed(ask("PUT", path, VocabularyReplaced, names={"name": name}, body=_said(options)))


def phrases() -> Ask[PhraseList]:
    """The tenant's words for stretches of time."""
    return ask("GET", "/v1/temporal/phrases", PhraseList)


def register_phrase(name: str, pattern: str, valid_from: Time, valid_to: Time) -> Ask[PhraseView]:
    """Register words for a stretch of time."""
    during = to_jsonable_python([valid_from, valid_to])
    body = {"name": name, "pattern": pattern, "resolves_to": {"valid_during": during}}
    return _keyed(ask("POST", "/v1/temporal/phrases", PhraseView, body=body))


def remove_phrase(name: str) -> Ask[Nothing]:
    """Take words for a stretch of time back."""
    return _keyed(ask("DELETE", "/v1/temporal/phrases/{name}", Nothing, names={"name": name}))


def _said(options: VocabularyOptions) -> dict[str, Any]:  # Any: JSON
    given = {name: value for name, value in options.items() if value is not None}
    given.setdefault("kind", "relation" if "relations" in given else "predicate")
    said: dict[str, Any] = to_jsonable_python(given)
    return said


def _keyed(asked: Ask[ResultT]) -> Ask[ResultT]:
    return replace(asked, headers={"X-Cortex-Idempotency-Key": new_key()})

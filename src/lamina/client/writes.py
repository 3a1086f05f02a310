"""Asks that write: one experience, many, and the way back from an idempotency key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, cast

from pydantic_core import to_jsonable_python

from lamina import limits
from lamina.client.asks import Ask, ask
from lamina.client.identity import Identity
from lamina.client.options import BulkOptions, ExperienceOptions, FeedbackOptions, Stage, time_text
from lamina.client.results import Stored, StoredBatch
from lamina.errors import Invalid
from lamina.kernel.feedback import Verdict
from lamina.kernel.time import instant
from lamina.types.lifecycle import Cancelled, MemoryEventState
from lamina.types.writes import StoredByKey

__all__ = [
    "LOOK_S",
    "bulk_ask",
    "by_key_ask",
    "cancel_ask",
    "experience_ask",
    "feedback_ask",
    "item_of",
    "last_key",
    "reached",
]

LOOK_S: Final = 0.1
"""How long between two looks at how far a batch has come."""
_CONVERSATION = "conversation"
_PLACED_ELSEWHERE = {"text", "role", "observed_at", "labels", "session", "scope"}


def experience_ask(
    identity: Identity,
    text: str | None,
    options: ExperienceOptions,
    wait: Stage | None,
    *,
    now: datetime,
    new_key: Callable[[], str],
) -> Ask[Stored]:
    """Store one experience. Without a key it gets one, so that it may be sent again."""
    given: dict[str, Any] = {**options, **({} if text is None else {"text": text})}
    body = {
        "scope": identity.scope_for(options.get("scope")),
        **item_of(identity, given, now=now, new_key=new_key),
    }
    held_s = limits.WAIT_S_MAX if wait in ("indexed", "consolidated") else 0.0
    return ask("POST", "/v1/experience", Stored, query={"wait": wait}, body=body, held_s=held_s)


def feedback_ask(
    identity: Identity,
    target_id: str,
    verdict: Verdict,
    note: str | None,
    options: FeedbackOptions,
    wait: Stage | None,
    *,
    now: datetime,
    new_key: Callable[[], str],
) -> Ask[Stored]:
    """Judge a fact or a belief: an experience of its own."""
    content = {"target_id": target_id, "verdict": verdict, **({} if note is None else {"note": note})}
    whole = cast("ExperienceOptions", {**options, "modality": "feedback", "content": content})
    return experience_ask(identity, None, whole, wait, now=now, new_key=new_key)


def item_of(
    identity: Identity,
    given: Mapping[str, Any],
    *,
    now: datetime,
    new_key: Callable[[], str],
    batch_actor: bool = False,
) -> dict[str, Any]:
    """What one experience is, without saying where it goes, from the short or the long way of saying it.

    ``batch_actor`` says that a batch names the actor of the items that name none.
    """
    item: dict[str, Any] = {
        name: to_jsonable_python(value)
        for name, value in given.items()
        if name not in _PLACED_ELSEWHERE and value is not None
    }
    if "actor" in item:
        item.setdefault("observed_actor", item.pop("actor"))
    for name in ("observed_actor", "subject"):
        if isinstance(item.get(name), str):
            item[name] = {"id": item[name]}
    session = given.get("session")
    if session is not None:
        speaker = item.get("observed_actor") or (
            None if batch_actor else {"id": identity.actor_for_session()}
        )
        if speaker is None:
            raise Invalid(
                "INVALID_ENVELOPE",
                "an item has a session and no observed_actor of its own",
                hint="name the item's observed_actor, or put the session into the batch's",
                details={"field": "session"},
            )
        item["observed_actor"] = {**speaker, "session": session}
    item.setdefault("modality", _CONVERSATION)
    if "content" not in item:
        item["content"] = _content(given, item)
    item["context"] = _context(given, now)
    item.setdefault("idempotency_key", new_key())
    return item


def _content(given: Mapping[str, Any], item: Mapping[str, Any]) -> dict[str, Any]:
    text = given.get("text")
    if text is None:
        raise Invalid(
            "INVALID_ENVELOPE",
            "an experience needs text or content",
            hint='for example experience("I moved to Lisbon"), or content={"kind": "json", ...}',
            details={"field": "content"},
        )
    if item["modality"] != _CONVERSATION and "role" not in given:
        return {"kind": "text", "text": text}
    speaker = str((item.get("observed_actor") or {}).get("id", ""))
    role = given.get("role") or ("assistant" if speaker.startswith("agent:") else "user")
    return {"kind": "message", "role": role, "text": text}


def _context(given: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    context = dict(given.get("context") or {})
    for name in ("observed_at", "labels"):
        if given.get(name) is not None:
            context[name] = given[name]
    context["observed_at"] = time_text(context.get("observed_at", now))
    return dict(to_jsonable_python(context))


def bulk_ask(
    identity: Identity,
    items: Iterable[str | Mapping[str, Any]],
    options: BulkOptions,
    *,
    now: datetime,
    new_key: Callable[[], str],
) -> Ask[StoredBatch]:
    """Store up to a thousand experiences of one scope, all or none. Items may be texts, short or whole.

    Raises ``Invalid`` (INVALID_ENVELOPE) for what is no list of these, and for an item that names another scope.
    """
    items = _listed(items)
    batch_actor = options.get("observed_actor")
    scope = identity.scope_for(options.get("scope"))
    for item in items:
        _check_scope(item, scope)
    shaped = [
        item_of(
            identity,
            {"text": item} if isinstance(item, str) else item,
            now=now,
            new_key=new_key,
            batch_actor=batch_actor is not None,
        )
        for item in items
    ]
    body: dict[str, Any] = {
        **to_jsonable_python(options),
        "scope": scope,
        "items": shaped,
    }
    if isinstance(batch_actor, str):
        body["observed_actor"] = {"id": batch_actor}
    body.setdefault("idempotency_key", new_key())
    return ask("POST", "/v1/experience/bulk", StoredBatch, body=body)


def _listed(items: object) -> list[str | Mapping[str, Any]]:
    """The items of a batch; of one text alone they would be its letters, of a mapping its keys."""
    if not isinstance(items, str | Mapping) and isinstance(items, Iterable):
        listed = list(items)
        if all(isinstance(item, str | Mapping) for item in listed):
            return listed
    raise Invalid(
        "INVALID_ENVELOPE",
        "a batch is a list of texts and mappings",
        hint='for example experience_bulk(["I moved to Lisbon"]); experience stores one',
        details={"field": "items"},
    )


def _check_scope(item: str | Mapping[str, Any], scope: str) -> None:
    """Left out in silence, the scope of an item would put one person's words into another's memory."""
    given = None if isinstance(item, str) else item.get("scope")
    if given is not None and given != scope:
        raise Invalid(
            "INVALID_ENVELOPE",
            "an item names another scope than its batch",
            hint="a batch has one scope; send the items of each scope as a batch of their own",
            details={"field": "scope"},
        )


def last_key(asked: Ask[StoredBatch]) -> str:
    """The key of the item that is derived last: a scope's events are derived in the order in which they are stored."""
    body = asked.body or {}
    items: Sequence[Mapping[str, Any]] = body["items"]
    if body.get("ordering") == "strict_temporal":
        items = sorted(items, key=lambda item: instant(item["context"]["observed_at"]))
    return str(items[-1]["idempotency_key"])


def reached(stored: StoredBatch, state: MemoryEventState, stage: str) -> StoredBatch | None:
    """The batch as it stands, by the state of its last event; None while the stage may still come."""
    if stage in state.stages_completed:
        return stored.model_copy(update={"status": stage})
    return None if stage in state.stages_pending and not state.errors else stored


def by_key_ask(key: str) -> Ask[StoredByKey]:
    """The event that an idempotency key of the last 24 hours led to."""
    return ask("GET", "/v1/experience/by-idempotency-key/{key}", StoredByKey, names={"key": key})


def cancel_ask(event_id: str, note: str | None) -> Ask[Cancelled]:
    """Stop deriving from an event. Repeatable without a key: cancelling again does nothing more."""
    body = {} if note is None else {"audit_note": note}
    path = "/v1/lifecycle/memory-event/{evt_id}/cancel"
    return ask("POST", path, Cancelled, names={"evt_id": event_id}, body=body)

"""The hash by which the same item of a batch is recognised when it comes again."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from pydantic_core import to_json

from lamina.kernel.local import LocalTime
from lamina.types.envelope import EnvelopeContext, Item, PartyIn

__all__ = ["item_hash"]


def item_hash(item: Item) -> str:
    """The hash of an item's fields' values, whatever the order of its keys.

    An item with a default left out is the same as one that spells it out. A batch has a thousand of these, so the
    fields are read as they are, without serialising the model first.
    """
    made = to_json(_sorted(item)) if _is_plain(item) else _FIELDS.encode(vars(item)).encode()
    return f"sha256:{hashlib.sha256(made).hexdigest()}"


_WORDS: Final = frozenset({str})


def _is_plain(item: Item) -> bool:
    """Whether both ways to write an item give the same bytes: they write numbers with a point differently."""
    context = item.context
    return (
        item.directives is None
        and context.observed_offset is None
        and (context.location is None or type(context.location) is str)
        and (context.recorded_at is None or type(context.recorded_at) is str)
        and set(map(type, item.content.values())) <= _WORDS
    )


def _sorted(item: Item) -> dict[str, Any]:  # Any: JSON
    return {
        "content": dict(sorted(item.content.items())),
        "context": _sorted_context(item.context),
        "directives": None,
        "idempotency_key": item.idempotency_key,
        "modality": item.modality,
        "observed_actor": _sorted_party(item.observed_actor),
        "subject": _sorted_party(item.subject),
    }


def _sorted_context(context: EnvelopeContext) -> dict[str, Any]:  # Any: JSON
    return {
        "intent": context.intent,
        "labels": context.labels,
        "location": context.location,
        "observed_at": context.observed_at.at,
        "preceded_by": context.preceded_by,
        "recorded_at": context.recorded_at,
        "source_recorded_at": context.source_recorded_at,
    }


def _sorted_party(party: PartyIn | None) -> dict[str, str | None] | None:
    if party is None:
        return None
    return {"id": party.id, "name": party.name, "session": party.session, "type": party.type}


_LATER: Final = frozenset({"observed_offset", "consolidate_only"})


def _fields_of(value: Any) -> Any:  # Any: a part of an item
    """The fields of a part; a time is its instant, and what earlier releases did not have is no field where nobody gave it: keys of theirs still hold."""
    if isinstance(value, LocalTime):
        return value.at
    fields = vars(value)
    if any(fields.get(name, 0) is None for name in _LATER):
        return {name: each for name, each in fields.items() if each is not None or name not in _LATER}
    return fields


_FIELDS: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_fields_of
)

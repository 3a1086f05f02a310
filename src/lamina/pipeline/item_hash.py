"""The hash by which the same item of a batch is recognised when it comes again."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from pydantic_core import to_json

from lamina.kernel.local import LocalTime
from lamina.types.envelope import EnvelopeContext, Item, PartyIn

__all__ = ["ItemHashes"]


class ItemHashes:
    """The hashes of the items of a batch: of the values of an item's fields, whatever the order of its keys. An item with a default left out
    is the same as one that spells it out.

    A batch has a thousand of them, so the text of a usual one is put together of its fields, without making values that are only written,
    and what many say of who speaks is written once.
    """

    def __init__(self) -> None:
        self._parties: dict[tuple[str | None, ...], str] = {}

    def of(self, item: Item) -> str:
        """``sha256:<hex>`` of one item."""
        text = self._text(item) if _is_plain(item) else _FIELDS.encode(vars(item))
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"

    def _text(self, item: Item) -> str:
        """What ``_FIELDS`` would write of a plain item."""
        return (
            f'{{"content":{_text_of_content(item.content)},"context":{_text_of_context(item.context)},"directives":null,'
            f'"idempotency_key":{_json(item.idempotency_key)},"modality":{_json(item.modality)},'
            f'"observed_actor":{self._text_of_party(item.observed_actor)},"subject":{self._text_of_party(item.subject)}}}'
        )

    def _text_of_party(self, party: PartyIn | None) -> str:
        if party is None:
            return "null"
        words = party.id, party.name, party.session, party.type
        text = self._parties.get(words)
        if text is None:
            text = self._parties[words] = _json(dict(zip(_PARTY, words, strict=True)))
        return text


_WORDS: Final = frozenset({str})
_MESSAGE: Final = ("kind", "role", "text")
_PARTY: Final = ("id", "name", "session", "type")


def _is_plain(item: Item) -> bool:
    """Whether both ways to write an item give the same text: they write numbers with a point differently."""
    context = item.context
    return (
        item.directives is None
        and context.observed_offset is None
        and (context.location is None or type(context.location) is str)
        and (context.recorded_at is None or type(context.recorded_at) is str)
        and _WORDS.issuperset(map(type, item.content.values()))
    )


def _json(value: Any) -> str:  # Any: JSON
    return to_json(value).decode()


def _text_of_content(content: dict[str, Any]) -> str:  # Any: JSON
    if tuple(content) == _MESSAGE and content["kind"] == "message":
        # Its role is one of four words.
        return f'{{"kind":"message","role":"{content["role"]}","text":{_json(content["text"])}}}'
    return _json(dict(sorted(content.items())))


def _text_of_context(context: EnvelopeContext) -> str:
    more = (context.intent, context.location, context.recorded_at, context.source_recorded_at)
    if more == _NOTHING_MORE and not context.labels and not context.preceded_by:
        return (
            f'{{"intent":null,"labels":[],"location":null,"observed_at":{context.observed_at.at},'
            '"preceded_by":[],"recorded_at":null,"source_recorded_at":null}'
        )
    return _json(
        {
            "intent": context.intent,
            "labels": context.labels,
            "location": context.location,
            "observed_at": context.observed_at.at,
            "preceded_by": context.preceded_by,
            "recorded_at": context.recorded_at,
            "source_recorded_at": context.source_recorded_at,
        }
    )


_NOTHING_MORE: Final = (None, None, None, None)
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

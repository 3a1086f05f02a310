"""The hash of an item of a batch: keys that were used with it still hold."""

import hashlib
import json
from typing import Any

import pytest

from lamina.pipeline.item_hash import ItemHashes
from lamina.types.envelope import EnvelopeContext, Item, PartyIn

PLAIN: dict[str, Any] = {
    "modality": "conversation",
    "content": {"text": 'tea "at" five\n\x7f\\ é 😀 \u2028', "role": "user", "kind": "message"},
    "context": {"observed_at": "2026-05-13T12:00:00.5+02:00"},
    "idempotency_key": "k-1",
}
CONTEXT = {
    "source_recorded_at": "2026-05-13T10:00:01Z",
    "location": "at home",
    "recorded_at": "yesterday",
    "preceded_by": ["evt_01a208b4-af5e-732e-898e-eb44aac71fb7"],
    "intent": "to tell",
    "labels": ["b", "a"],
}
ITEMS = {
    "plain": PLAIN,
    "with parties": PLAIN
    | {
        "observed_actor": {"id": "user:ana", "name": "Ana", "session": "s"},
        "subject": {"id": "user:ben", "type": "x"},
    },
    "with its context": PLAIN | {"context": PLAIN["context"] | CONTEXT},
    "with a clock": PLAIN | {"context": {"observed_at": "2026-05-13T10:00:00Z", "observed_offset": "+02:00"}},
    "with a place": PLAIN
    | {"context": PLAIN["context"] | {"location": {"lat": 1e-05, "at": [1, None, True]}}},
    "with numbers": PLAIN | {"content": {"kind": "json", "b": 1e16, "a": 0.1}},
    "with directives": PLAIN | {"directives": {"confidence_floor": 0.25, "extract": ["facts"]}},
    "without control characters": PLAIN | {"content": {"kind": "text", "text": "\b\f\r\t\x01\x1f"}},
}


@pytest.mark.parametrize("given", ITEMS.values(), ids=ITEMS)
def test_an_item_has_the_hash_of_its_fields_as_json_with_sorted_keys(given: dict[str, Any]) -> None:
    item = Item.model_validate(given)
    fields = item.model_dump()
    fields["context"]["observed_at"] = item.context.observed_at.at
    if item.context.observed_offset is None:
        del fields["context"]["observed_offset"]
    if item.directives is not None:
        del fields["directives"]["consolidate_only"]
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert ItemHashes().of(item) == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def test_items_of_a_batch_have_the_hashes_that_each_has_alone() -> None:
    ana: dict[str, Any] = {"id": "user:ana", "name": "Ana", "session": "s"}
    parties = (ana, ana | {"session": "t"}, ana | {"name": None}, ana, ana | {"type": "user"})
    given = [*ITEMS.values(), *(PLAIN | {"observed_actor": each, "subject": ana} for each in parties)]
    items = [Item.model_validate(each) for each in given]
    hashes = ItemHashes()
    assert [hashes.of(each) for each in items] == [ItemHashes().of(each) for each in items]
    assert len({ItemHashes().of(each) for each in items}) == len(items) - 1, "one is there twice"


def test_the_order_of_keys_and_a_default_that_is_spelled_out_make_no_other_item() -> None:
    item = PLAIN | {"observed_actor": {"id": "user:ana"}}
    turned: dict[str, Any] = dict(reversed(item.items()))
    turned["content"] = dict(reversed(item["content"].items()))
    turned |= {"subject": None, "observed_actor": {"type": None, "id": "user:ana"}}
    assert ItemHashes().of(Item.model_validate(turned)) == ItemHashes().of(Item.model_validate(item))


@pytest.mark.parametrize("given", ITEMS.values(), ids=ITEMS)
def test_each_field_counts(given: dict[str, Any]) -> None:
    item = Item.model_validate(given)
    known = ItemHashes().of(item)
    for name in Item.model_fields:
        assert ItemHashes().of(item.model_copy(update={name: _other(getattr(item, name))})) != known, name
    for name in set(EnvelopeContext.model_fields) - {"observed_at"}:
        other = item.context.model_copy(update={name: _other(getattr(item.context, name))})
        assert ItemHashes().of(item.model_copy(update={"context": other})) != known, name
    for name in PartyIn.model_fields:
        party = PartyIn(id="user:ana").model_copy(update={name: "another"})
        assert ItemHashes().of(item.model_copy(update={"subject": party})) != known, name


def _other(value: Any) -> Any:
    match value:
        case dict():
            return value | {"z": "z"}
        case EnvelopeContext():
            return value.model_copy(update={"intent": f"{value.intent} z"})
        case list():
            return [*value, "z"]
        case int():
            return value + 1
        case PartyIn():
            return None
        case _ if value is None:
            return PartyIn(id="user:zoe")
    return f"{value}z"

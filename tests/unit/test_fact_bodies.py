"""Bodies of facts: what comes back of them, and that those of earlier releases say what they said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from given import fact, loop
from lamina.kernel.canonical import compact
from lamina.kernel.events import Trust
from lamina.kernel.records import Fact, ObjectValue, Subject
from lamina.store.rows import BODY, read_head, read_record, record_row, with_body

PORTO = ObjectValue("entity", None, None, None, "ent_porto", "Porto")
FACTS = [
    fact(),
    loop(),
    fact(object=PORTO, supersedes="fact_1", negated=True, external=True),
    fact(object=ObjectValue("literal", 3, "number", "km"), trust=Trust.DELEGATED),
    fact(object=ObjectValue("entity", None, None, None, "ent_porto"), trust=Trust.EXTERNAL),
    fact(object=ObjectValue("literal", None)),
    fact(object=ObjectValue("literal", "tea", "string"), kind="event"),
    fact(object=ObjectValue("literal", "Green tea", "string"), extractor="lamina-rules/12"),
    fact(object=ObjectValue("literal", "tea", "date"), extractor="lamina-rules/007"),
    fact(object=ObjectValue("entity", None, None, None, "ent_porto", "")),
    fact(subject=Subject("ent_x", "x", "literal"), extractor="lamina-rules/"),
]


def of_before(one: Fact) -> str:
    """Its body as an earlier release wrote it."""
    value = one.object
    body: dict[str, Any] = {
        "subject": [one.subject.name, one.subject.type],
        "object": [value.type, value.value, value.datatype, value.unit, value.id, value.name],
        "negated": one.negated,
        "event_id": one.event_id,
        "kind": one.kind,
        "text": one.text,
        "external": one.external,
        "extractor": one.extractor,
        "supersedes": one.supersedes,
    }
    return compact(body if one.trust is Trust.PRINCIPAL else {**body, "trust": one.trust.value})


@pytest.mark.parametrize("one", FACTS)
def test_a_fact_comes_back_whichever_release_wrote_it(one: Fact) -> None:
    row = record_row(one)
    assert read_record(row) == one
    for body in (of_before(one), in_a_list(one)):
        before = with_body(row, body)
        assert read_record(before) == one
        assert read_head(before) == read_head(row)


def in_a_list(one: Fact) -> str:
    """Its body as the last release wrote it."""
    value = [
        one.object.type,
        one.object.value,
        one.object.datatype,
        one.object.unit,
        one.object.id,
        one.object.name,
    ]
    if value[4] is not None:
        value[4] = 1
    while value[-1] is None:
        value.pop()
    trust = list(Trust).index(one.trust)
    told = [one.event_id, one.text, one.extractor, trust, one.subject.name, one.subject.type, *value]
    said = {"negated": one.negated, "external": one.external, "supersedes": one.supersedes}
    return compact({**{key: value for key, value in said.items() if value}, "kind": one.kind, "told": told})


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (ObjectValue("entity", None, None, None, "ent_porto", "Porto"), [1, "Porto"]),
        (ObjectValue("literal", "tea", "string"), [0]),
        (ObjectValue("literal", "Green tea", "string"), [0, "Green tea"]),
        (ObjectValue("literal", "tea"), ["literal", "tea"]),
    ],
)
def test_what_has_a_column_or_is_usual_is_not_said_again(value: ObjectValue, kept: list[Any]) -> None:
    said = json.loads(record_row(fact(object=value, extractor="lamina-rules/7", kind="event"))[BODY])
    assert said["told"][2:] == [7, list(Trust).index(fact().trust), fact().subject.name, 0, *kept]
    assert "kind" not in said

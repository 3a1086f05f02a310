"""Bodies of facts: what comes back of them, and that those of earlier releases say what they said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from given import fact, loop
from lamina.kernel.canonical import compact
from lamina.kernel.events import Trust
from lamina.kernel.records import Fact, ObjectValue
from lamina.store.rows import BODY, read_head, read_record, record_row, with_body

PORTO = ObjectValue("entity", None, None, None, "ent_porto", "Porto")
FACTS = [
    fact(),
    loop(),
    fact(object=PORTO, supersedes="fact_1", negated=True, external=True),
    fact(object=ObjectValue("literal", 3, "number", "km"), trust=Trust.DELEGATED),
    fact(object=ObjectValue("entity", None, None, None, "ent_porto"), trust=Trust.EXTERNAL),
    fact(object=ObjectValue("literal", None)),
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
    before = with_body(row, of_before(one))
    assert read_record(row) == read_record(before) == one
    assert read_head(row) == read_head(before)


def test_an_id_that_has_a_column_is_not_said_again() -> None:
    said = json.loads(record_row(fact(object=PORTO))[BODY])
    assert said["told"][6:] == ["entity", None, None, None, 1, "Porto"]

"""Mem0's filters in every form that its clients send, and the values that an update gives a fact."""

from __future__ import annotations

from typing import Any

import pytest

from lamina.errors import Invalid
from lamina.http.mem0.entities import OwnerIds, entities_of
from lamina.http.mem0.filters import parse_memory_filter
from lamina.http.mem0.memories import Mem0Memory, Origin
from lamina.http.mem0.writing import value_in
from lamina.kernel.time import instant
from lamina.kernel.views import EventView, FactView
from tables import every_row

AT = instant("2026-05-13T12:00:00Z")


def turn(scope: str, **tags: Any) -> EventView:
    party = {"id": "user:ana", "type": "user", "session": "monday"}
    return EventView.model_validate(
        {
            "id": "evt_1",
            "scope": scope,
            "tenant_id": "acme",
            "actor": "user:ana",
            "caller": "user:ana",
            "observed_actor": party,
            "subject": party,
            "modality": "conversation",
            "content": {"kind": "message", "role": "user", "text": "Tea.", "mem0": tags},
            "context": {
                "observed_at": AT,
                "recorded_at": AT,
                "source_recorded_at": None,
                "preceded_by": [],
                "intent": None,
                "labels": [],
            },
            "derives": [],
            "wal_offset": 1,
            "origin": {"channel": "mem0", "trust": "principal"},
        }
    )


def memory(scope: str = "app:shop/user:ana", **tags: Any) -> Mem0Memory:
    origin = Origin(type="fact", record_id="fact_1", scope=scope)
    kept = {"agent_id": "bot", "metadata": {"src": "mail", "rank": 3, "tags": ["a", "b"]}, **tags}
    return Mem0Memory(
        "mem_1", "Ana likes Darjeeling", origin, ("preference",), AT, AT, AT, turn(scope, **kept)
    )


@every_row(
    ("tree", "passes"),
    [
        ({"user_id": "ana"}, True),
        ({"user_id": "bob"}, False),
        ({"user_id": {"eq": "ana"}, "app_id": "shop"}, True),
        ({"user_id": {"in": ["bob", "ana"]}}, True),
        ({"user_id": {"ne": "bob"}, "app_id": "*"}, True),
        ({"user_id": "ana", "agent_id": "*"}, True),
        ({"user_id": "ana", "agent_id": None}, False),
        ({"user_id": "ana", "run_id": "monday"}, True),
        ({"AND": [{"user_id": "ana"}, {"agent_id": "other"}]}, False),
        ({"OR": [{"user_id": "bob"}, {"user_id": "ana"}]}, True),
        ({"AND": [{"user_id": "ana"}, {"NOT": {"categories": {"in": ["preference"]}}}]}, False),
        ({"AND": [{"user_id": "ana"}, {"NOT": [{"keywords": {"contains": "Assam"}}]}]}, True),
        ({"AND": [{"user_id": "ana"}, {"NOT": {"OR": [{"src": "web"}, {"src": "mail"}]}}]}, False),
        ({"$or": [{"user_id": "ana"}]}, True),
        ({"user_id": "ana", "created_at": {"gte": "2026-05-13", "lt": "2026-05-14"}}, True),
        ({"user_id": "ana", "updated_at": {"gt": "2026-05-13T12:00:00Z"}}, False),
        ({"user_id": "ana", "timestamp": {"lte": 1_778_673_600}}, True),
        ({"user_id": "ana", "keywords": {"icontains": "darjeeling"}}, True),
        ({"user_id": "ana", "keywords": {"contains": "darjeeling"}}, False),
        ({"user_id": "ana", "categories": {"contains": "preference"}}, True),
        ({"user_id": "ana", "metadata": {"src": "mail"}}, True),
        ({"user_id": "ana", "metadata": {"src": {"ne": "mail"}}}, False),
        ({"user_id": "ana", "metadata": {"tags": {"contains": "b"}}}, True),
        ({"user_id": "ana", "rank": {"gte": 3}}, True),
        ({"user_id": "ana", "rank": {"gt": "two"}}, False),
        ({"user_id": "ana", "absent": "*"}, False),
        ({"user_id": "ana", "absent": {"ne": "x"}}, True),
        ({"user_id": "ana", "memory_ids": ["mem_1", "mem_2"]}, True),
    ],
)
def test_a_filter_says_which_memories_pass(tree: dict[str, Any], passes: bool) -> None:
    assert parse_memory_filter(tree).passes(memory()) is passes


@pytest.mark.parametrize(
    ("tree", "homes"),
    [
        ({"user_id": "ana"}, [{"user_id": "ana"}]),
        ({"AND": [{"user_id": "ana"}, {"run_id": "*"}]}, [{"user_id": "ana", "run_id": "*"}]),
        ({"AND": [{"user_id": "*"}, {"user_id": "ana"}]}, [{"user_id": "ana"}]),
        ({"AND": [{"user_id": "ana"}, {"user_id": "bob"}]}, []),
        ({"OR": [{"user_id": "ana"}, {"agent_id": "bot"}]}, [{"user_id": "ana"}, {"agent_id": "bot"}]),
        ({"user_id": {"in": ["ana", "bob"]}, "app_id": "shop"}, [
            {"user_id": "ana", "app_id": "shop"}, {"user_id": "bob", "app_id": "shop"},
        ]),
        # What is left out, or only excluded, names nobody.
        ({"OR": [{"user_id": "ana"}, {"src": "mail"}]}, [{"user_id": "ana"}, {}]),
        ({"NOT": [{"user_id": "ana"}]}, [{}]),
        ({"user_id": {"ne": "ana"}}, [{}]),
    ],
)  # fmt: skip
def test_a_filter_says_whose_memories_can_pass(tree: dict[str, Any], homes: list[dict[str, str]]) -> None:
    assert [dict(each) for each in parse_memory_filter(tree).homes] == homes


@every_row(
    "tree",
    [
        {"user_id": {"like": "ana"}},
        {"user_id": {"in": "ana"}},
        {"user_id": ["ana", 1.5]},
        {"user_id": ""},
        {"user_id": "a\nb"},
        {"user_id": "x" * 94},
        {"created_at": {"gte": "soon"}},
        {"created_at": {"contains": "2026"}},
        {"metadata": "mail"},
        {"AND": []},
        {"AND": "user_id"},
        {"categories": {}},
        {"user_id": {"in": [str(number) for number in range(33)]}},
        {"AND": [{"src": str(number)} for number in range(65)]},
    ],
)
def test_a_filter_that_cannot_be_read_is_refused(tree: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        parse_memory_filter(tree)


def test_a_filter_that_nests_too_deep_is_refused() -> None:
    tree: dict[str, Any] = {"user_id": "ana"}
    for _ in range(9):
        tree = {"AND": [tree]}
    with pytest.raises(Invalid, match="deeper"):
        parse_memory_filter(tree)


@pytest.mark.parametrize(
    ("entities", "scope"),
    [
        (OwnerIds(user_id="ana"), "user:ana"),
        (OwnerIds(user_id="ana@example.org"), "user:b64-YW5hQGV4YW1wbGUub3Jn"),
        (OwnerIds(agent_id="bot"), "agent:bot"),
        (OwnerIds(run_id="r1"), "ws:r1"),
        (OwnerIds(app_id="shop"), "app:shop"),
        (OwnerIds(user_id="ana", app_id="shop"), "app:shop/user:ana"),
    ],
)
def test_where_a_memory_lives_says_whose_it_is(entities: OwnerIds, scope: str) -> None:
    assert entities.home() == scope
    assert entities_of(scope) == entities


def test_a_user_has_one_memory_whatever_agent_and_run_serve_them() -> None:
    assert OwnerIds(user_id="ana", agent_id="bot", run_id="r1").home() == "user:ana"
    assert entities_of("org:acme/user:ana") is None
    assert entities_of("user:ana/app:shop") is None


def fact(text: str, value: Any, unit: str | None = None) -> FactView:
    thing = {"type": "entity", "id": "ent_1", "name": value}
    if not isinstance(value, str) or unit is not None:
        thing = {"type": "literal", "datatype": "integer", "value": value, "unit": unit}
    common = {"id": "fact_1", "scope": "user:ana", "version": 1, "confidence": 0.9, "recorded_from": AT}
    claim = {"subject": {"type": "entity", "id": "ent_0", "name": "Ana"}, "predicate": "p", "object": thing}
    rest = {"negated": False, "kind": "place", "text": text, "supports": [], "extractor": "x"}
    ends = dict.fromkeys(("valid_to", "recorded_to", "superseded_by", "supersedes"))
    return FactView.model_validate({**common, **claim, **rest, **ends, "valid_from": AT})


@pytest.mark.parametrize(
    ("text", "value", "unit", "said", "found"),
    [
        ("Ana lives in Lisbon", "Lisbon", None, "Ana lives in Braga.", "Braga"),
        ("Ana lives in Lisbon", "Lisbon", None, "ana  lives in  São Paulo", "São Paulo"),
        ("Ana lives in Lisbon", "Lisbon", None, "Ana moved to Braga", None),
        ("Ana lives in Lisbon", "Lisbon", None, "Ana lives in", None),
        ("Ana has 2 cats", 2, None, "Ana has 3 cats", 3),
        ("Ana has 2 cats", 2, None, "Ana has many cats", None),
        ("Ana weighs 60 kg", 60, "kg", "Ana weighs 61 kg", {"value": 61, "unit": "kg"}),
        ("Ana likes tea", "coffee", None, "Ana likes coffee", None),
    ],
)
def test_an_update_is_a_correction_where_only_the_value_differs(
    text: str, value: Any, unit: str | None, said: str, found: Any
) -> None:
    assert value_in(fact(text, value, unit), said) == found

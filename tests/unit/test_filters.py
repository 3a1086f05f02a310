"""What a filter says of an item: yes, no, or nothing, where the layer has no such field."""

from __future__ import annotations

import random
from typing import Any

import pytest

from given import ALICE, BOB, NOON, TENANT, append, belief, concept, episode, fact, land, support
from lamina.errors import Invalid
from lamina.kernel.events import Context, Event, Party
from lamina.kernel.operations import Principal
from lamina.kernel.scopes import Scope
from lamina.recall.filters import parse_filter
from lamina.recall.plan import plan_recall
from lamina.recall.sources import events_behind
from lamina.store.memory import MemoryStore
from lamina.store.ports.writes import Writes
from lamina.store.queries import Shown
from lamina.types.recall import Recall
from tables import every_row


def event(text: str = "tea", session: str | None = None, labels: tuple[str, ...] = (), **more: Any) -> Event:
    store = MemoryStore()
    context = Context(observed_at=NOON, labels=labels)
    (found,) = append(store, text, session=session, context=context, **more)
    return found


IN_A, IN_B, NOWHERE = event(session="a", labels=("x", "y")), event(session="b", labels=("z",)), event()


def passing(tree: dict[str, Any], *items: Any) -> list[bool]:
    chosen = parse_filter(tree)
    return [chosen.passes(item) for item in items]


@every_row(
    ("tree", "wanted"),
    [
        ({"session": "a"}, [True, False, False]),
        ({"NOT": {"session": "a"}}, [False, True, True]),
        ({"session": {"ne": "a"}}, [False, True, True]),
        ({"session": {"in": ["a", "b"]}}, [True, True, False]),
        ({"labels": ["zz"]}, None),
        ({"labels": "zz"}, [False, False, False]),
        ({"labels": {"in": ["y", "z"]}}, [True, True, False]),
        ({"labels": {"ne": "x"}}, [False, True, True]),
        ({"NOT": {"predicate": "lives_in"}}, [True, True, True]),
        ({"predicate": "lives_in"}, [True, True, True]),
        ({"OR": [{"predicate": "lives_in"}, {"session": "a"}]}, [True, False, False]),
        ({"AND": [{"confidence": {"gte": 0.9}}, {"session": "b"}]}, [False, True, False]),
        ({"NOT": {"OR": [{"session": "a"}, {"confidence": {"gte": 0.1}}]}}, [False, True, True]),
        ({"session": "a", "labels": "y"}, [True, False, False]),
        ({"intent": "plan"}, [False, False, False]),
    ],
)
def test_events(tree: dict[str, Any], wanted: list[bool] | None) -> None:
    if wanted is None:
        with pytest.raises(Invalid):
            parse_filter(tree)
        return
    assert passing(tree, IN_A, IN_B, NOWHERE) == wanted


@pytest.mark.parametrize(
    ("tree", "wanted"),
    [
        ({"predicate": "lives_in"}, True),
        ({"NOT": {"predicate": "lives_in"}}, False),
        ({"NOT": {"topic": "tea"}}, True),
        ({"OR": [{"topic": "tea"}, {"predicate": "likes"}]}, False),
        ({"confidence": {"gte": 0.95}}, False),
        ({"confidence": {"gte": 0.5, "lt": 0.95}}, True),
        ({"scope": str(ALICE)}, True),
        ({"NOT": {"scope": str(ALICE)}}, False),
    ],
)
def test_fields_of_a_record_need_no_events(tree: dict[str, Any], wanted: bool) -> None:
    assert parse_filter(tree).passes(fact(predicate="lives_in", confidence=0.9)) is wanted


@every_row(
    ("tree", "behind", "wanted"),
    [
        ({"session": "a"}, (IN_A, IN_B), True),
        ({"session": "a"}, (IN_B, NOWHERE), False),
        ({"session": "a"}, (), False),
        ({"NOT": {"session": "a"}}, (IN_A,), False),
        ({"NOT": {"session": "a"}}, (IN_A, IN_B), True),
        ({"NOT": {"session": "a"}}, (), False),
        ({"AND": [{"session": "a"}, {"labels": "z"}]}, (IN_A, IN_B), False),
        ({"AND": [{"session": "a"}, {"predicate": "lives_in"}]}, (IN_A,), True),
        ({"AND": [{"session": "a"}, {"predicate": "likes"}]}, (IN_A,), False),
        ({"OR": [{"session": "a"}, {"predicate": "lives_in"}]}, (IN_B,), True),
    ],
)
def test_a_record_passes_when_one_event_behind_it_does(
    tree: dict[str, Any], behind: tuple[Event, ...], wanted: bool
) -> None:
    chosen = parse_filter(tree)
    assert chosen.reads_events
    assert chosen.passes(fact(predicate="lives_in"), behind) is wanted


def test_understanding_is_in_the_words_of_all_its_events_and_passes_with_all() -> None:
    chosen = parse_filter({"session": "a"})
    assert chosen.passes(concept(), (IN_A,))
    assert not chosen.passes(concept(), (IN_A, IN_B))
    assert not chosen.passes(concept(), ())


def test_an_episode_has_a_session_of_its_own_and_those_of_its_events() -> None:
    chosen = parse_filter({"session": "a"})
    assert chosen.passes(episode(session="a"), (IN_A,))
    assert not chosen.passes(episode(session="b"), (IN_B,))


def test_a_claim_is_about_a_name_and_rests_on_what_was_said_of_an_actor() -> None:
    (said,) = [event(subject=Party.of("user:alice"))]
    claim = fact()
    for wanted in (claim.subject.name, claim.subject.id, "user:alice"):
        assert parse_filter({"subject": wanted}).passes(claim, (said,))
    assert not parse_filter({"subject": "user:bob"}).passes(claim, (said,))


@every_row(
    "tree",
    [
        {"session": ["a", "b"]},
        {"session": 1},
        {"session": None},
        {"session": {"in": ["a", 1]}},
        {"confidence": {"gte": "0.6"}},
        {"confidence": {"in": ["0.6"]}},
        {"confidence": True},
        {"sealed": "yes"},
        {"sealed": {"gte": True}},
        {"labels": {"eq": ["zz"]}},
        {"predicate": {"gte": 1}},
    ],
)
def test_a_value_of_another_type_is_refused_and_told_what_to_write(tree: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refused:
        parse_filter(tree)
    assert refused.value.code == "INVALID_FILTER"
    assert next(iter(tree)) in str(refused.value)
    assert refused.value.hint


@every_row("seed", range(30))
def test_not_keeps_what_a_filter_drops_and_nothing_that_it_keeps(seed: int) -> None:
    """Of items that have every field that is asked for, a filter and its NOT are each other's rest."""
    rng = random.Random(seed)
    tree = _tree(rng, 0)
    for item in (IN_A, IN_B, NOWHERE):
        assert parse_filter(tree).passes(item) is not parse_filter({"NOT": tree}).passes(item)
    for item in (belief(), concept(), fact(), episode()):
        rest = {"NOT": {"NOT": tree}}
        assert parse_filter(tree).passes(item, (IN_A,)) is parse_filter(rest).passes(item, (IN_A,))


def _tree(rng: random.Random, depth: int) -> dict[str, Any]:
    kind = rng.choice(("leaf", "AND", "OR", "NOT")) if depth < 3 else "leaf"
    if kind == "NOT":
        return {"NOT": _tree(rng, depth + 1)}
    if kind in ("AND", "OR"):
        return {kind: [_tree(rng, depth + 1) for _ in range(rng.randint(1, 3))]}
    field, values = rng.choice((("session", "ab"), ("labels", "xyz"), ("modality", ["conversation", "x"])))
    return {field: {rng.choice(("eq", "ne")): rng.choice(values)}}


@pytest.mark.parametrize(("open_scopes", "wanted"), [((ALICE, BOB), True), ((BOB,), False)])
def test_what_a_closed_scope_holds_lets_nothing_pass(open_scopes: tuple[Scope, ...], wanted: bool) -> None:
    store = MemoryStore()
    theirs = belief(id="belief_bob", scope=BOB)
    (said,) = append(store, "tea", session="a")
    edges = [support(fact().id, said.id), support(theirs.id, fact().id)]
    land(store, Writes(records=[fact(), theirs], supports=edges))
    shown = Shown(store.records, TENANT, lambda scope: scope in open_scopes)
    asked = Recall.model_validate({"scope": BOB, "query": "tea", "filters": {"session": "a"}})
    caller = Principal(tenant_id=TENANT, actor="user:bob", channel="http")
    plan = plan_recall(asked, caller, [BOB], said.recorded_at + 1)
    behind = events_behind(plan, [theirs], shown, store.log)
    assert plan.filter.passes(theirs, behind.get(theirs.id, ())) is wanted

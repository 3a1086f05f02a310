"""What every engine promises of derived records."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from given import (
    ALICE,
    BOB,
    NOON,
    TENANT,
    append,
    belief,
    concept,
    episode,
    fact,
    land,
    loop,
    now_axes,
    support,
)
from lamina.kernel.events import Context
from lamina.kernel.heads import RecordHead
from lamina.kernel.records import (
    LOOPS_OPEN,
    Author,
    Fact,
    Horizon,
    Layer,
    Loop,
    LoopStatus,
    ObjectValue,
    Record,
    Stance,
    Subject,
)
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Axes, Interval
from lamina.kernel.understanding import FactState
from lamina.store.ports.records import Attestation, InputState, NewerFact, RecordQuery
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Closing, Writes

FACTS = RecordQuery(tenant_id=TENANT, layer=Layer.FACTS, scopes=[ALICE, BOB], axes=now_axes())


def found(store: Store, query: RecordQuery) -> list[tuple[str, int]]:
    return [(record.id, record.version) for record in store.records.query(query)]


def places(*records: Record) -> list[tuple[str, int]]:
    return [(record.id, record.version) for record in records]


@pytest.mark.parametrize(
    "record",
    [
        fact(slot="ent_alice|lives_in", supersedes="fact_0", valid_to=NOON + 9, negated=True),
        fact(valid_to=NOON + 9, from_offset=330, to_offset=-480),
        fact(from_offset=0),
        loop(due_at=NOON + 9, due_offset=-480, from_offset=-480),
        loop(),
        belief(valid_to=NOON + 9, from_offset=None, to_offset=60),
        fact(object=ObjectValue("entity", id="ent_b", name="Bob"), subject=Subject("c", "C", "concept")),
        belief(),
        belief(contradicts=(), stance=Stance.DEPRECATED, superseded_by="belief_2", recorded_to=NOON + 4),
        episode(),
        episode(session=None, sealed=False, follows="ep_0", actors=()),
        concept(),
        concept(edges=()),
    ],
    ids=lambda record: type(record).__name__,
)
def test_a_record_comes_back_as_it_was_derived(store: Store, record: Record) -> None:
    land(store, Writes(records=[record]))
    assert store.records.get(TENANT, [record.id, "fact_none"]) == {record.id: record}
    assert store.records.get("other", [record.id]) == {}
    assert store.records.get(TENANT, []) == {}


def test_the_scope_of_a_record_is_told_by_its_id(store: Store) -> None:
    of_bob = belief(scope=BOB)
    land(store, Writes(records=[fact(), replace(fact(), version=2), of_bob]))
    assert store.records.scopes_of(TENANT, [fact().id, of_bob.id, "fact_none"]) == {
        fact().id: ALICE,
        of_bob.id: BOB,
    }
    assert store.records.scopes_of("other", [fact().id]) == {}
    assert store.records.scopes_of(TENANT, []) == {}


def test_the_same_version_again_is_the_same_row(store: Store) -> None:
    land(store, Writes(records=[fact(), fact(confidence=0.1)]))
    assert store.records.versions(TENANT, fact().id) == [fact()]


def test_a_version_is_closed_once_and_keeps_its_first_end(store: Store) -> None:
    closing = Closing(TENANT, fact().id, 1, NOON + 3, "fact_2")
    land(store, Writes(records=[fact()]))
    land(store, Writes(closings=[closing]))
    land(store, Writes(closings=[replace(closing, recorded_to=NOON + 9, closed_by="fact_3")]))
    land(store, Writes(closings=[replace(closing, tenant_id="other", version=1)]))
    [closed] = store.records.versions(TENANT, fact().id)
    assert (closed.recorded_to, closed.closed_by) == (NOON + 3, "fact_2")


def test_versions_are_seen_as_they_stood(store: Store) -> None:
    old = fact(recorded_to=NOON + 4)
    new = fact(version=2, recorded_from=NOON + 4, confidence=0.5)
    land(store, Writes(records=[new, old]))
    assert store.records.versions(TENANT, old.id) == [old, new]
    assert store.records.get(TENANT, [old.id]) == {old.id: new}

    def seen(at: int, *, superseded: bool = False) -> list[tuple[str, int]]:
        return found(store, replace(FACTS, axes=Axes(seen_at=at, superseded=superseded)))

    assert seen(NOON - 1) == []
    assert seen(NOON) == places(old)
    assert seen(NOON + 3) == places(old)
    assert seen(NOON + 4) == places(new)
    assert seen(NOON + 4, superseded=True) == places(new, old)
    assert seen(NOON + 3, superseded=True) == places(old)


VALID = [
    (Axes(seen_at=NOON + 10, valid_at=NOON - 1), []),
    (Axes(seen_at=NOON + 10, valid_at=NOON), ["past", "open"]),
    (Axes(seen_at=NOON + 10, valid_at=NOON + 4), ["past", "open"]),
    (Axes(seen_at=NOON + 10, valid_at=NOON + 5), ["open"]),
    (Axes(seen_at=NOON + 10, valid_at=NOON + 50), ["open", "future"]),
    (Axes(seen_at=NOON + 10), ["past", "open", "future"]),
    (Axes(seen_at=NOON + 10, valid_during=Interval(NOON + 5, NOON + 50)), ["open"]),
    (Axes(seen_at=NOON + 10, valid_during=Interval(NOON + 4, NOON + 51)), ["past", "open", "future"]),
    (Axes(seen_at=NOON + 10, valid_during=Interval(None, NOON)), []),
    (Axes(seen_at=NOON + 10, valid_during=Interval(NOON + 50, None)), ["open", "future"]),
    (Axes(seen_at=NOON + 10, valid_during=Interval()), ["past", "open", "future"]),
    (Axes(seen_at=NOON + 10, recorded_during=Interval(NOON + 2, NOON + 3)), ["open"]),
    (Axes(seen_at=NOON + 10, recorded_during=Interval(None, NOON + 2)), ["past"]),
    (Axes(seen_at=NOON + 2, recorded_during=Interval(NOON, None)), ["past", "open"]),
]


@pytest.mark.parametrize(("axes", "names"), VALID)
def test_a_reader_sees_from_its_place_on_both_axes(store: Store, axes: Axes, names: list[str]) -> None:
    made = {
        "past": fact("past", slot="s", valid_to=NOON + 5, recorded_from=NOON + 1),
        "open": fact("open", slot="s", recorded_from=NOON + 2),
        "future": fact("future", slot="s", valid_from=NOON + 50, recorded_from=NOON + 3),
    }
    land(store, Writes(records=list(made.values())))
    assert sorted(found(store, replace(FACTS, axes=axes))) == sorted(places(*(made[name] for name in names)))


def test_no_scopes_means_no_records(store: Store) -> None:
    land(store, Writes(records=[fact(slot="s")]))
    for narrowed_by in ({}, {"slot": "s"}, {"claim_key": fact().claim_key}):
        assert store.records.query(replace(FACTS, scopes=[], **narrowed_by)) == []


def test_a_query_stays_inside_its_tenant_its_scopes_and_its_layer(store: Store) -> None:
    ours, bobs = fact("ours", slot="s"), fact("bobs", BOB, slot="s")
    theirs = fact("theirs", tenant_id="other", slot="s")
    land(store, Writes(records=[ours, bobs, theirs, belief(), episode(), concept()]))
    for narrowed_by in ({}, {"slot": "s"}, {"claim_key": ours.claim_key}):
        assert found(store, replace(FACTS, scopes=[ALICE], **narrowed_by)) == places(ours)
    for layer, record in (
        (Layer.BELIEFS, belief()), (Layer.EPISODES, episode()), (Layer.UNDERSTANDING, concept()),
    ):  # fmt: skip
        assert found(store, replace(FACTS, layer=layer)) == places(record)


def test_each_filter_of_a_query_narrows_it(store: Store) -> None:
    wanted = fact(
        "wanted",
        slot="s2",
        subject=Subject("ent_bob", "Bob"),
        predicate="owns",
        object=ObjectValue("literal", "Cat"),
        confidence=0.95,
    )
    land(store, Writes(records=[fact("other", slot="s1"), wanted]))
    filters = [
        {"subject": "ent_bob"}, {"predicate": "owns"}, {"object_key": "cat"}, {"slot": "s2"},
        {"claim_key": wanted.claim_key}, {"min_confidence": 0.95},
    ]  # fmt: skip
    for each in filters:
        assert found(store, replace(FACTS, **each)) == places(wanted), each


@pytest.mark.parametrize("lookup", [{"slot": "s"}, {"claim_key": fact().claim_key}])
def test_a_slot_or_a_claim_is_looked_up_whatever_its_validity(store: Store, lookup: dict[str, str]) -> None:
    old = fact("old", slot="s", recorded_to=NOON + 4, valid_to=NOON + 1)
    new = fact("new", slot="s", recorded_from=NOON + 4, valid_from=NOON + 900)
    land(store, Writes(records=[old, new]))
    for seen_at, expected in ((NOON - 1, []), (NOON + 3, [old]), (NOON + 4, [new])):
        assert found(store, replace(FACTS, **lookup, axes=Axes.at(seen_at))) == places(*expected)
    axes = Axes(seen_at=NOON + 4, superseded=True)
    assert found(store, replace(FACTS, **lookup, axes=axes)) == places(new, old)


@pytest.mark.parametrize("seed", range(8))
def test_several_slots_are_read_as_each_of_them(store: Store, seed: int) -> None:
    random = Random(seed)
    made = [
        fact(
            f"f{n}",
            random.choice([ALICE, BOB]),
            slot=random.choice(["a", "b", "c", None]),
            recorded_from=NOON + random.randrange(5),
            recorded_to=random.choice([None, None, NOON + 9]),
            excluded=random.random() < 0.2,
        )
        for n in range(40)
    ]
    land(store, Writes(records=made))
    one_by_one = {
        slot: store.records.query(replace(FACTS, scopes=[ALICE], slot=slot, limit=3))
        for slot in ("a", "c", "none")
    }
    together = store.records.in_slots(TENANT, ALICE, ["a", "c", "none"], limit=3)
    assert together == {slot: held for slot, held in one_by_one.items() if held}
    assert store.records.in_slots("other", ALICE, ["a"], limit=3) == {}
    heads = store.records.heads_in_slots(TENANT, ALICE, ["a", "c", "none"], limit=3)
    assert heads == sorted(heads, key=lambda head: (head.recorded_from, head.id, head.version), reverse=True)
    assert set(heads) == {RecordHead.of(each) for held in together.values() for each in held}
    assert store.records.heads_in_slots("other", ALICE, ["a"], limit=3) == []


def test_statements_are_told_with_their_times_in_the_order_of_the_log(store: Store) -> None:
    late = land(store, Writes(records=[fact()]), context=Context(observed_at=NOON + 900))
    early, gone = append(store, "early", "gone", context=Context(observed_at=NOON - 900))
    told = [support(fact().id, event.id, actor="user:alice", at=NOON + 5) for event in (gone, early, late)]
    land(store, Writes(supports=told))
    store.log.cancel(TENANT, gone.id)
    assert store.records.statements(TENANT, [fact().id, "fct_none"]) == {
        fact().id: [
            Attestation(
                fact().id,
                event.id,
                told[0].relation,
                "user:alice",
                NOON + 5,
                event.context.observed_at,
                event.recorded_at,
            )
            for event in (late, early)
        ]
    }
    assert store.records.statements("other", [fact().id]) == {}


@pytest.mark.parametrize("seed", range(8))
def test_loops_come_by_their_day_and_then_as_they_were_spoken_of_last(store: Store, seed: int) -> None:
    random = Random(seed)
    horizons: list[Horizon] = ["today", "this_week", "ongoing"]
    made = [
        loop(
            f"l{n}",
            random.choice([ALICE, ALICE, BOB]),
            status=random.choice([*LoopStatus, *[LoopStatus.ACTIVE] * 4]),
            salience=random.randrange(1, 6),
            horizon=random.choice(horizons),
            due_at=random.choice([None, NOON + random.randrange(-9, 9)]),
            seen_at=NOON + random.randrange(-9, 9),
            recorded_from=NOON + random.randrange(20),
            recorded_to=random.choice([None, None, None, NOON + 30]),
            excluded=random.random() < 0.1,
        )
        for n in range(40)
    ]
    land(store, Writes(records=made))
    since: dict[Horizon, int] = {"today": NOON, "this_week": NOON - 5}
    read = random.choice([5, 90])
    newest = store.records.query(replace(FACTS, scopes=[ALICE], topic=LOOPS_OPEN, limit=read))
    wanted = [
        each
        for each in newest
        if isinstance(each, Loop)
        and each.status == "active"
        and (each.horizon not in since or each.last_at >= since[each.horizon])
    ]
    due = (NOON - 2, NOON + 4)
    wanted.sort(key=lambda each: (-each.seen_at, -each.salience, each.id))
    pressing = [each for each in wanted if each.due_at is not None and due[0] <= each.due_at <= due[1]]
    pressing.sort(key=lambda each: each.due_at or 0)
    wanted = [*pressing, *(each for each in wanted if each not in pressing)]
    assert store.records.spoken_of(TENANT, ALICE, since, due=due, read=read, limit=4) == wanted[:4]
    assert store.records.spoken_of("other", ALICE, since, due=due, read=90, limit=4) == []


def test_layers_have_filters_of_their_own(store: Store) -> None:
    unsure = belief("unsure", stance=Stance.UNCERTAIN)
    land(store, Writes(records=[belief(), unsure, episode(), concept()]))
    beliefs = replace(FACTS, layer=Layer.BELIEFS)
    assert found(store, replace(beliefs, stances=["uncertain", "deprecated"])) == places(unsure)
    assert found(store, replace(beliefs, stances=[])) == []
    assert found(store, replace(FACTS, layer=Layer.EPISODES, session="s-1")) == places(episode())
    assert found(store, replace(FACTS, layer=Layer.EPISODES, session="s-2")) == []
    assert found(store, replace(FACTS, layer=Layer.UNDERSTANDING, topic="drinks")) == places(concept())
    assert found(store, replace(FACTS, layer=Layer.UNDERSTANDING, topic="food")) == []


def test_records_come_newest_first_and_page_without_gap_or_repeat(store: Store) -> None:
    made = [fact(f"f{n}", (ALICE, BOB)[n % 2], recorded_from=NOON + n // 3, slot="s") for n in range(9)]
    land(store, Writes(records=made))
    expected = places(*sorted(made, key=lambda record: (record.recorded_from, record.id), reverse=True))
    query, seen = replace(FACTS, limit=2), []
    while page := store.records.query(query):
        seen += places(*page)
        query = replace(query, after=(page[-1].recorded_from, page[-1].id))
    assert seen == expected


def test_excluded_records_are_left_out_of_queries(store: Store) -> None:
    event = land(store, Writes(records=[fact(slot="s")]))
    land(store, Writes(supports=[support(fact().id, event.id)]))
    store.log.cancel(TENANT, event.id)
    for narrowed_by in ({}, {"slot": "s"}, {"claim_key": fact().claim_key}):
        assert store.records.query(replace(FACTS, **narrowed_by)) == []
        assert found(store, replace(FACTS, **narrowed_by, with_excluded=True)) == places(fact())
    assert store.records.get(TENANT, [fact().id])[fact().id].excluded


def test_whatever_changes_is_named_or_all_is(store: Store) -> None:
    steps = [
        (Writes(records=[fact(id="fact_1")], supports=[support("fact_1", "evt_1")]), {"fact_1", "evt_1"}),
        (Writes(closings=[Closing(TENANT, "fact_1", 1, NOON + 9)]), {"fact_1"}),
        (Writes(supports=[support("fact_1", "evt_2")]), {"fact_1", "evt_2"}),
    ]
    before = store.records.touched(TENANT, 0).number
    for writes, ids in steps:
        land(store, writes)
        touched = store.records.touched(TENANT, before)
        assert touched.number > before
        assert touched.ids is None or ids == set(touched.ids)
        before = touched.number
        assert not store.records.touched(TENANT, before).ids
        assert store.records.touched(TENANT, before).ids is not None
    assert not store.records.touched("other", 0).ids


def test_how_inputs_of_concepts_stand_is_told_without_their_words(store: Store) -> None:
    records = [
        fact("plain"),
        fact("denied", negated=True),
        fact("read", external=True),
        fact("replaced", superseded_by="fact_9", valid_to=NOON + 9),
        fact("ended", recorded_to=NOON + 4, closed_by="fact_9"),
        fact("beside", slot="ent_alice@user:bob|lives_in"),
        fact("of-an-address", slot="ent_alice|a@b"),
        fact("told-by-bob", said_by=Author("user:bob", "Bob"), kind="event"),
        loop(),
        loop("promised", kind="commitment"),
        belief(),
        episode(),
        fact("out", excluded=True),
    ]
    land(store, Writes(records=records))
    ids = [*(each.id for each in records), "fact_none"]
    for seen_at in (None, NOON + 2, NOON + 6, NOON - 1):
        as_read = store.records.get(TENANT, ids, seen_at=seen_at)
        assert store.records.input_states(TENANT, ids, seen_at=seen_at) == {
            i: InputState(each.excluded, FactState.of(each) if isinstance(each, Fact) else None)
            for i, each in as_read.items()
        }
    counting = {
        i for i, each in store.records.input_states(TENANT, ids).items() if each.fact and each.fact.counts
    }
    assert counting == {records[at].id for at in (0, 6, 7, 9, 12)}
    assert store.records.input_states(TENANT, []) == store.records.input_states("other", ids) == {}


def test_how_newer_facts_about_an_entity_stand_is_told_without_their_words(store: Store) -> None:
    bob = ObjectValue("entity", None, None, None, "ent_bob", "Bob")
    records = [
        fact("plain", recorded_from=NOON + 1),
        fact("known", recorded_from=NOON),
        fact("denied", negated=True, recorded_from=NOON + 2),
        fact("read", external=True, recorded_from=NOON + 2, object=bob),
        fact("replaced", superseded_by="fact_9", valid_to=NOON + 9, recorded_from=NOON + 3),
        fact("ended", recorded_from=NOON + 3, recorded_to=NOON + 6, closed_by="fact_9"),
        fact("beside", slot="ent_alice@user:bob|lives_in", recorded_from=NOON + 4),
        fact(
            "told-by-bob", said_by=Author("user:bob", "Bob"), kind="state", recorded_from=NOON + 4, object=bob
        ),
        fact("of-bob", subject=Subject("ent_bob", "Bob", "entity"), recorded_from=NOON + 5),
        fact("elsewhere", BOB, recorded_from=NOON + 5),
        fact("out", excluded=True, recorded_from=NOON + 5),
        replace(loop(), recorded_from=NOON + 5),
        replace(belief(), recorded_from=NOON + 5),
    ]
    land(store, Writes(records=records))
    for seen_at, limit in ((NOON + 9, 20), (NOON + 9, 3), (NOON + 4, 20), (NOON, 20)):
        for entity, named_as in (("ent_alice", "subject"), ("ent_bob", "subject"), ("ent_bob", "object")):
            named = {"subject": entity} if named_as == "subject" else {"object_key": entity}
            axes = Axes(seen_at=seen_at)
            query = replace(FACTS, scopes=[ALICE], axes=axes, newer_than=NOON, limit=limit, **named)
            told = store.records.newer_facts(
                TENANT, ALICE, entity, named_as, newer_than=NOON, seen_at=seen_at, limit=limit
            )
            assert told == [
                NewerFact(each.recorded_from, FactState.of(each))
                for each in store.records.query(query)
                if isinstance(each, Fact)
            ]
            assert told or seen_at == NOON or entity == "ent_bob"
    nothing = store.records.newer_facts(
        "other", ALICE, "ent_alice", "subject", newer_than=NOON, seen_at=NOON + 9, limit=20
    )
    assert nothing == []


def test_the_head_of_a_version_is_told_without_the_rest_of_it(store: Store) -> None:
    entity = ObjectValue("entity", None, None, None, "ent_bob", "Bob")
    records = [
        fact("plain"),
        fact("denied", negated=True, from_offset=60, to_offset=-120, valid_to=NOON + 9),
        fact("named", object=entity, slot="ent_alice|knows", superseded_by="fact_plain"),
        fact("measured", object=ObjectValue("literal", 30, "integer", "km")),
        fact("fading", fades_at=NOON + 50, kind="plan"),
        fact("ended", recorded_to=NOON + 4, closed_by="fact_9"),
        loop(),
        loop("promised", kind="commitment"),
        fact("beside", slot="ent_alice@user:bob|lives_in"),
        fact("read", external=True, said_by=Author("user:bob", "Bob")),
        belief(),
        belief("deprecated", stance=Stance.DEPRECATED),
        episode(),
        concept(),
        fact("out", excluded=True),
    ]
    land(store, Writes(records=records))
    ids = [*(each.id for each in records), "fact_none"]
    for seen_at in (None, NOON + 2, NOON + 6, NOON - 1):
        as_read = store.records.get(TENANT, ids, seen_at=seen_at)
        heads = store.records.heads(TENANT, ids, seen_at=seen_at)
        assert heads == {i: RecordHead.of(each) for i, each in as_read.items()}
    query = RecordQuery(tenant_id=TENANT, layer=Layer.FACTS, scopes=[ALICE], axes=Axes(seen_at=NOON + 2))
    assert store.records.query_heads(query) == [RecordHead.of(each) for each in store.records.query(query)]
    assert len({head.claim for head in store.records.heads(TENANT, ids).values()}) > 4
    assert store.records.heads(TENANT, []) == store.records.heads("other", ids) == {}


def test_a_query_may_ask_for_what_is_newer_in_one_scope_and_in_several(store: Store) -> None:
    facts = [fact(f"{at}", scope, recorded_from=NOON + at) for at in range(6) for scope in (ALICE, BOB)]
    facts = [replace(each, id=f"{each.id}-{each.scope[-3:]}") for each in facts]
    land(store, Writes(records=facts))
    axes = now_axes()
    for scopes in ([ALICE], [ALICE, BOB], [BOB, BOB]):
        for newer_than in (None, NOON + 2, NOON + 9):
            for named in ({}, {"subject": "ent_alice"}):
                query = replace(FACTS, scopes=scopes, axes=axes, newer_than=newer_than, limit=3, **named)
                fitting = [
                    each
                    for each in facts
                    if each.scope in scopes and (newer_than is None or each.recorded_from > newer_than)
                ]
                fitting.sort(key=lambda each: (each.recorded_from, each.id), reverse=True)
                assert found(store, query) == places(*fitting[:3])


def test_a_version_is_read_as_it_stood(store: Store) -> None:
    first = fact(recorded_from=NOON)
    second = replace(first, version=2, recorded_from=NOON + 5, confidence=0.4)
    ends = [Closing(TENANT, first.id, 1, NOON + 5, "fact_2"), Closing(TENANT, first.id, 2, NOON + 9, "evt_3")]
    land(store, Writes(records=[first, second], closings=ends))
    ended = replace(second, recorded_to=NOON + 9, closed_by="evt_3")
    assert store.records.get(TENANT, [first.id]) == {first.id: ended}
    for seen_at, held in (
        (NOON - 1, None),
        (NOON, first),
        (NOON + 4, first),
        (NOON + 5, second),
        (NOON + 9, ended),
    ):
        assert store.records.get(TENANT, [first.id], seen_at=seen_at) == ({first.id: held} if held else {})
    assert store.records.query(replace(FACTS, axes=Axes(seen_at=NOON + 4))) == [first]
    both = Axes(seen_at=NOON + 5, superseded=True)
    assert store.records.query(replace(FACTS, axes=both)) == [
        second,
        replace(first, recorded_to=NOON + 5, closed_by="fact_2"),
    ]


def test_what_has_ended_since_is_read_as_it_stood(store: Store) -> None:
    first, other = concept(recorded_from=NOON), concept("another", recorded_from=NOON + 1)
    second = replace(first, version=2, recorded_from=NOON + 5)
    hidden = concept("hidden", recorded_from=NOON, excluded=True)
    bobs = concept("of bob", scope=BOB, recorded_from=NOON)
    ends = [Closing(TENANT, each.id, 1, NOON + 5, None) for each in (first, hidden, bobs)]
    land(store, Writes(records=[first, second, other, hidden, bobs], closings=ends))

    def ended(seen_at: int, scopes: list[Scope], limit: int = 10) -> list[Record]:
        return store.records.ended_since(TENANT, scopes, Layer.UNDERSTANDING, seen_at, limit)

    assert ended(NOON + 4, [ALICE]) == [first]
    assert (ended(NOON - 1, [ALICE]), ended(NOON + 5, [ALICE]), ended(NOON + 4, [])) == ([], [], [])
    assert {each.id for each in ended(NOON + 4, [ALICE, BOB])} == {first.id, bobs.id}
    assert len(ended(NOON + 4, [ALICE, BOB], limit=1)) == 1
    assert store.records.ended_since(TENANT, [ALICE], Layer.EPISODES, NOON + 4, 10) == []

"""What every engine promises of the why graph: what records rest on, and what rests on them."""

from __future__ import annotations

import pytest

from given import ALICE, BOB, NOON, TENANT, append, finish_all, land, loop, now_axes, support
from lamina.kernel.records import EpisodeRole, Layer, Record
from lamina.kernel.ties import Tie
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Writes

FACTS = RecordQuery(tenant_id=TENANT, layer=Layer.FACTS, scopes=[ALICE, BOB], axes=now_axes())


def found(store: Store, query: RecordQuery) -> list[tuple[str, int]]:
    return [(record.id, record.version) for record in store.records.query(query)]


def places(*records: Record) -> list[tuple[str, int]]:
    return [(record.id, record.version) for record in records]


@pytest.mark.parametrize("relation", ["completed_by", "dropped_by", "affirmed_by"])
@pytest.mark.parametrize("late", [False, True])
def test_what_has_no_words_of_a_loop_does_not_hold_it(store: Store, relation: str, late: bool) -> None:
    opening = land(store, Writes(records=[loop()]))
    opened = support(loop().id, opening.id, relation=Tie.OPENED_BY)
    ending = land(store, Writes(supports=[opened]))
    if late:
        store.log.cancel(TENANT, opening.id)
        finish_all(store)
    again = land(store, Writes(supports=[support(loop().id, ending.id, relation=relation)]))
    if not late:
        assert found(store, FACTS) == places(loop())
        store.log.cancel(TENANT, opening.id)
        finish_all(store)
    assert found(store, FACTS) == []
    land(store, Writes(supports=[support(loop().id, again.id, relation=Tie.SAID_AGAIN_BY)]))
    assert found(store, FACTS) == places(loop())


@pytest.mark.parametrize("cancelled", ["offer", "yes", "both", "none"])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("late", [False, True])
def test_an_offer_and_the_yes_to_it_hold_a_loop_together(
    store: Store, cancelled: str, own: bool, late: bool
) -> None:
    offer, yes, worded = append(store, "offer", "yes", "worded")
    gone = {"offer": [offer], "yes": [yes], "both": [offer, yes], "none": []}[cancelled]
    told = [
        support(loop().id, yes.id, relation=Tie.OPENED_BY),
        support(loop().id, offer.id, relation=Tie.OFFERED_IN, accepted_in=yes.id),
    ]
    if own:
        told.append(support(loop().id, worded.id, relation=Tie.SAID_AGAIN_BY))
    if late:
        for event in gone:
            store.log.cancel(TENANT, event.id)
    land(store, Writes(records=[loop()], supports=told))
    if not late:
        for event in gone:
            store.log.cancel(TENANT, event.id)
    assert found(store, FACTS) == (places(loop()) if own or not gone else [])


# ---- the why graph


def test_supports_are_ordered_by_place_and_read_from_both_ends(store: Store) -> None:
    edges = [
        support("ep_1", "evt_2", place=2, weight=0.5, part=EpisodeRole.OUTCOME),
        support("ep_1", "evt_3", place=1, polarity="against"),
        support("ep_0", "evt_3"),
    ]
    land(store, Writes(supports=[*edges, support("ep_1", "evt_3", tenant_id="other")]))
    assert store.records.supports_of(TENANT, ["ep_1", "ep_9"]) == {"ep_1": [edges[1], edges[0]]}
    assert store.records.dependants_of(TENANT, ["evt_3"]) == {"evt_3": [edges[2], edges[1]]}
    assert store.records.supports_of(TENANT, []) == {}
    assert store.records.dependants_of(TENANT, []) == {}


def test_ids_of_what_rests_on_a_source_come_once_and_in_order(store: Store) -> None:
    edges = [
        support("fact_2", "evt_1"),
        support("fact_2", "evt_1", relation=Tie.HANDED_OVER_IN),
        support("fact_1", "evt_1"),
        support("belief_1", "fact_1"),
        support("fact_9", "evt_1", tenant_id="other"),
    ]
    land(store, Writes(supports=edges))
    assert store.records.resting_on(TENANT, ["evt_1", "fact_1", "evt_2"]) == {
        "evt_1": ["fact_1", "fact_2"],
        "fact_1": ["belief_1"],
    }
    assert store.records.resting_on(TENANT, []) == {}


def test_ids_of_sources_and_of_episodes_are_read_as_they_were_known(store: Store) -> None:
    edges = [
        support("fact_1", "evt_2", relation="extracted_from", recorded_at=NOON),
        support("fact_1", "evt_1", relation="extracted_from", recorded_at=NOON + 5),
        support("fact_1", "evt_3", relation="held_until", recorded_at=NOON),
        support("fact_2", "evt_9", relation="extracted_from", recorded_at=NOON, tenant_id="other"),
        support("ep_1", "evt_1", relation="contains", recorded_at=NOON + 5),
        support("ep_1", "evt_2", relation="contains", recorded_at=NOON),
        support("fact_2", "evt_2", relation="extracted_from", recorded_at=NOON),
    ]
    land(store, Writes(supports=edges))
    records, early, late = store.records, {"seen_at": NOON}, {"seen_at": NOON + 5}
    said = ["fact_1", "fact_3"]
    assert records.sources_of(TENANT, said, "extracted_from", **early) == {"fact_1": ["evt_2"]}
    assert records.sources_of(TENANT, said, "extracted_from", **late) == {"fact_1": ["evt_1", "evt_2"]}
    assert records.episodes_of(TENANT, ["evt_1", "evt_2", "evt_3"], **early) == {"evt_2": ["ep_1"]}
    assert records.episodes_of(TENANT, ["evt_1", "evt_2"], **late) == {"evt_1": ["ep_1"], "evt_2": ["ep_1"]}
    assert records.sources_of(TENANT, [], "extracted_from", **late) == {}
    assert records.episodes_of(TENANT, [], **late) == {}


def test_of_what_records_rest_on_that_is_read_which_is_looked_for(store: Store) -> None:
    edges = [support("concept_1", "fact_2", place=1), support("concept_1", "fact_1", place=2), support("concept_1", "fact_3", place=3),
             support("belief_1", "fact_1")]  # fmt: skip
    land(store, Writes(supports=[*edges, edges[0]._replace(relation=Tie.DECIDES, recorded_at=NOON + 9)]))
    among = store.records.sources_among
    wanted = {"concept_1": ("fact_1", "fact_2", "fact_9"), "belief_1": ("fact_2",), "belief_2": ("fact_1",)}
    assert among(TENANT, wanted) == {"concept_1": ["fact_2", "fact_2", "fact_1"]}
    assert among(TENANT, wanted, seen_at=NOON + 8) == {"concept_1": ["fact_2", "fact_1"]}
    assert among(TENANT, {}) == among("other", wanted) == {}


def test_what_records_rest_on_is_read_down_to_events(store: Store) -> None:
    edges = [support("fact_1", "evt_1"), support("fact_2", "evt_2"), support("belief_1", "fact_2", place=1),
             support("belief_1", "fact_1", place=2), support("concept_1", "belief_1")]  # fmt: skip
    land(store, Writes(supports=[*edges, edges[0]._replace(relation=Tie.DECIDES)]))
    below = store.records.sources_below
    assert below(TENANT, ["belief_1"], 1, 9) == {"belief_1": ["fact_2", "fact_1"]}
    assert below(TENANT, ["concept_1"], 4, 9) == {
        "concept_1": ["belief_1"],
        "belief_1": ["fact_2", "fact_1"],
        "fact_1": ["evt_1", "evt_1"],
        "fact_2": ["evt_2"],
    }
    assert below(TENANT, ["belief_1"], 4, 1).keys() == {"belief_1", "fact_2"}, "of the first sources alone"
    assert below(TENANT, ["belief_1"], 4, 1, most=1) == {"belief_1": ["fact_2"], "fact_2": ["evt_2"]}
    assert below(TENANT, ["belief_1"], 4, 9, seen_at=edges[0].recorded_at - 1) == {}
    assert below(TENANT, [], 4, 9) == below("other", ["belief_1"], 4, 9) == {}


def test_supports_are_read_of_those_alone_that_have_one_of_a_relation(store: Store) -> None:
    edges = [support("fact_1", "evt_1"), support("fact_2", "evt_2"), support("fact_2", "evt_3", relation=Tie.MAY_CHANGE, recorded_at=NOON)]  # fmt: skip
    land(store, Writes(supports=edges))
    related = store.records.supports_related
    assert related(TENANT, ["fact_1", "fact_2"], Tie.MAY_CHANGE) == store.records.supports_of(
        TENANT, ["fact_2"]
    )
    assert related(TENANT, ["fact_2"], Tie.MAY_CHANGE, seen_at=NOON - 1) == {}
    assert related(TENANT, [], Tie.MAY_CHANGE) == related("other", ["fact_2"], Tie.MAY_CHANGE) == {}


def test_what_ended_a_claim_is_told_without_what_bore_it_out(store: Store) -> None:
    edges = [
        support("fact_1", "evt_1", at=NOON),
        support("fact_1", "evt_2", at=NOON + 9),
        support("fact_1", "evt_3", polarity="against", recorded_at=NOON + 5),
        support("fact_1", "evt_4", at=NOON + 9, relation=Tie.MAY_CHANGE),
        support("fact_2", "evt_5", at=NOON + 9),
    ]
    land(store, Writes(supports=edges))
    ended_by = store.records.ended_by
    last = {"fact_1": NOON + 9, "fact_2": None}
    assert ended_by(TENANT, last) == {"fact_1": {"evt_2": NOON, "evt_3": NOON + 5}}
    assert ended_by(TENANT, {"fact_1": None}) == {"fact_1": {"evt_3": NOON + 5}}
    assert ended_by(TENANT, {}) == ended_by("other", last) == {}


def test_an_edge_known_already_stays_as_it_is(store: Store) -> None:
    first = support("fact_1", "evt_1", weight=0.5)
    land(store, Writes(supports=[first, first._replace(weight=0.9)]))
    land(store, Writes(supports=[first._replace(relation=Tie.HANDED_OVER_IN)]))
    assert store.records.supports_of(TENANT, ["fact_1"])["fact_1"].count(first) == 1
    assert len(store.records.supports_of(TENANT, ["fact_1"])["fact_1"]) == 2


def test_supports_are_read_as_they_were_known(store: Store) -> None:
    edges = [
        support("belief_1", "fact_1", recorded_at=NOON),
        support("belief_1", "fact_2", recorded_at=NOON + 5),
        support("belief_2", "fact_1", recorded_at=NOON + 5),
        support("belief_2", "fact_1", recorded_at=NOON + 9, relation=Tie.EXTRACTED_FROM),
    ]
    land(store, Writes(supports=edges))
    early = {"seen_at": NOON + 4}
    assert store.records.supports_of(TENANT, ["belief_1", "belief_2"], **early) == {"belief_1": edges[:1]}
    assert store.records.supports_of(TENANT, ["belief_1"], seen_at=NOON + 5) == {"belief_1": edges[:2]}
    assert store.records.resting_on(TENANT, ["fact_1", "fact_2"], **early) == {"fact_1": ["belief_1"]}
    everything = {"fact_1": ["belief_1", "belief_2"], "fact_2": ["belief_1"]}
    assert store.records.resting_on(TENANT, ["fact_1", "fact_2"], seen_at=NOON + 9) == everything
    assert store.records.resting_on(TENANT, ["fact_1", "fact_2"]) == everything
    assert store.records.resting_on("other", ["fact_1"], seen_at=NOON + 9) == {}

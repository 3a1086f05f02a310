"""What a process keeps of its reads follows every write, whoever makes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from given import NOON, TENANT, concept, fact, land, support
from lamina.kernel.records import Record
from lamina.kernel.ties import Tie
from lamina.store.kept import KeptReads, ReadsOfNow
from lamina.store.ports.records import Records
from lamina.store.ports.writes import Closing, Writes
from lamina.store.sqlite import SqliteStore

FACTS = [f"fact_{n}" for n in range(6)]
EVENTS = [f"evt_{n}" for n in range(6)]
BELIEFS = ["belief_1", "belief_2", "concept_1"]
IDS = [*FACTS, *BELIEFS]


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[SqliteStore, SqliteStore]]:
    """Two processes over one folder."""
    ours, theirs = SqliteStore(tmp_path), SqliteStore(tmp_path)
    yield ours, theirs
    theirs.close()
    ours.close()


def all_of(records: Records | ReadsOfNow) -> list[object]:
    return [
        dict(records.get(TENANT, IDS, seen_at=NOON + 10**6)),
        records.heads(TENANT, IDS),
        records.heads(TENANT, IDS, seen_at=NOON + 10**6),
        records.input_states(TENANT, IDS),
        records.resting_on(TENANT, EVENTS),
        records.resting_on(TENANT, [*FACTS[:3], *EVENTS[:2]]),
        records.supports_of(TENANT, IDS),
        records.supports_related(TENANT, IDS, Tie.EXTRACTED_FROM),
        records.sources_below(TENANT, ["concept_1", *FACTS[:2]], 4, 2, most=4),
        records.sources_below(TENANT, IDS, 1, 0),
        records.ended_by(TENANT, {each: at for at, each in enumerate(FACTS)}),
        records.sources_among(TENANT, {"concept_1": FACTS[:4], "belief_1": FACTS}),
        records.sources_among(TENANT, {"belief_2": FACTS[2:]}),
    ]


def test_what_is_kept_is_what_the_store_holds(stores: tuple[SqliteStore, SqliteStore]) -> None:
    ours, theirs = stores
    kept, draw = KeptReads(ours.records), Random(7)
    for step in range(40):
        writer = draw.choice((ours, theirs))
        records: list[Record] = []
        closings: list[Closing] = []
        if draw.random() < 0.5:
            chosen = draw.choice(FACTS)
            standing = ours.records.get(TENANT, [chosen]).get(chosen)
            version = standing.version if standing else 0
            records = [fact(id=chosen, version=version + 1, recorded_from=NOON + step, text=f"{step}")]
            if standing is not None:
                closings = [Closing(TENANT, chosen, version, NOON + step)]
        edges = [
            support(draw.choice(FACTS), draw.choice(EVENTS), at=step),
            support(draw.choice(BELIEFS[:2]), draw.choice(FACTS), place=step),
            support("concept_1", draw.choice([*BELIEFS[:2], *FACTS]), place=step),
        ]
        land(writer, Writes(records=records, closings=closings, supports=edges[: draw.randrange(4)]))
        for _ in range(2):
            assert all_of(kept.now(TENANT)) == all_of(ours.records), step


def test_a_second_reading_asks_the_store_for_nothing(stores: tuple[SqliteStore, SqliteStore]) -> None:
    ours, _ = stores
    land(ours, Writes(records=[fact(id="fact_0")], supports=[support("fact_0", "evt_0")]))
    kept = KeptReads(ours.records)
    known = all_of(kept.now(TENANT))
    reads = kept.now(TENANT)
    reads._records = None  # type: ignore[assignment] # whoever asks it for anything fails
    assert all_of(reads) == known


def test_nothing_outlives_what_forgets_the_changes(stores: tuple[SqliteStore, SqliteStore]) -> None:
    ours, theirs = stores
    land(
        ours,
        Writes(records=[fact(id="fact_0"), concept(id="concept_1")], supports=[support("fact_0", "evt_0")]),
    )
    kept = KeptReads(ours.records)
    all_of(kept.now(TENANT))
    theirs._writer.write(lambda connection: connection.execute("DELETE FROM record"))
    theirs._writer.write(lambda connection: connection.execute("DELETE FROM touched"))
    now = kept.now(TENANT)
    assert now._tables.records == {}
    assert all_of(now) == all_of(ours.records)


def test_more_changes_than_are_kept_let_everything_go(stores: tuple[SqliteStore, SqliteStore]) -> None:
    ours, theirs = stores
    land(ours, Writes(supports=[support("fact_0", "evt_0")]))
    kept = KeptReads(ours.records)
    all_of(kept.now(TENANT))
    land(theirs, Writes(supports=[support("fact_0", f"evt_{n}") for n in range(1, 1100)]))
    assert ours.records.touched(TENANT, 1).ids is None
    assert all_of(kept.now(TENANT)) == all_of(ours.records)


def test_what_was_read_before_a_change_is_not_kept_after_it(stores: tuple[SqliteStore, SqliteStore]) -> None:
    ours, theirs = stores
    land(ours, Writes(supports=[support("fact_0", "evt_0")]))
    kept = KeptReads(ours.records)
    slow = kept.now(TENANT)
    read = ours.records.resting_on
    with pytest.MonkeyPatch.context() as patch:

        def reading(*asked: object, **more: object) -> object:
            found = read(*asked, **more)  # type: ignore[arg-type]
            land(theirs, Writes(supports=[support("fact_1", "evt_0")]))
            kept.now(TENANT)
            return found

        patch.setattr(ours.records, "resting_on", reading)
        slow.resting_on(TENANT, ["evt_0"])
    assert kept.now(TENANT).resting_on(TENANT, ["evt_0"]) == {"evt_0": ["fact_0", "fact_1"]}


def test_a_change_that_the_call_beside_did_not_see_is_seen(stores: tuple[SqliteStore, SqliteStore]) -> None:
    ours, theirs = stores
    land(ours, Writes(supports=[support("fact_0", "evt_0")]))
    kept = KeptReads(ours.records)
    kept.now(TENANT).resting_on(TENANT, ["evt_0"])
    touched = ours.records.touched
    with pytest.MonkeyPatch.context() as patch:

        def looking(*asked: object) -> object:
            patch.setattr(ours.records, "touched", touched)
            land(theirs, Writes(supports=[support("fact_9", "evt_9")]))
            kept.now(TENANT)  # another call looks, and is done before this one
            land(theirs, Writes(supports=[support("fact_1", "evt_0")]))
            return touched(*asked)  # type: ignore[arg-type]

        patch.setattr(ours.records, "touched", looking)
        now = kept.now(TENANT)
    assert now.resting_on(TENANT, ["evt_0"]) == {"evt_0": ["fact_0", "fact_1"]}


def test_no_more_than_a_bound_is_kept(stores: tuple[SqliteStore, SqliteStore]) -> None:
    ours, _ = stores
    land(ours, Writes(supports=[support(each, "evt_0") for each in FACTS]))
    kept = KeptReads(ours.records, values_max=3)
    for each in FACTS:
        assert kept.now(TENANT).supports_of(TENANT, [each]) == ours.records.supports_of(TENANT, [each])
    kept.now("other").supports_of("other", ["fact_0"])
    assert sum(1 + len(each.tables) for each in kept._kept.values()) <= 3


def test_the_bound_counts_what_is_there_of_all_tenants(stores: tuple[SqliteStore, SqliteStore]) -> None:
    ours, theirs = stores
    kept, draw = KeptReads(ours.records, values_max=40), Random(11)
    for step in range(60):
        tenant = draw.choice((TENANT, "other", "third"))
        now, beside = kept.now(tenant), kept.now(draw.choice((TENANT, "fourth")))
        for reads in (now, beside, now):
            reads.supports_of(reads._tenant_id, draw.sample(IDS, 5))
            reads.heads(reads._tenant_id, draw.sample(IDS, 3))
        if step % 3 == 0:
            land(theirs, Writes(supports=[support(draw.choice(FACTS), "evt_0", at=step)]))
        held = sum(1 + len(each.tables) for each in kept._kept.values())
        assert kept._size == held <= 40

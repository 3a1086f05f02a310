"""What every engine promises of the log."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from given import ALICE, BOB, NOON, TENANT, ManualClock, append, claim, draft, finish_all, key
from lamina.errors import Conflict, NotFound
from lamina.kernel.events import SYNTHESIS, Context, Directives, Event, Origin, Party, Stage, Trust
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.store.ports.lifecycle import LifecycleQuery
from lamina.store.ports.log import Appended, Capture, EventQuery
from lamina.store.ports.store import Store

EVERYTHING = EventQuery(tenant_id=TENANT, scopes=[ALICE, BOB])


def ids(events: list[object]) -> list[str]:
    return [event.id for event in events]  # type: ignore[attr-defined]


# ---- append


def test_an_event_comes_back_as_it_was_given(store: Store) -> None:
    given = draft(
        observed_actor=Party("user:bob", "agent", "Bobby"),
        subject=Party("thing", "thing"),
        session="s-1",
        content={"kind": "json", "data": {"b": [1, 2.5, None, True], "a": "ü\u2028\x00 \"'"}},
        context=Context(
            observed_at=NOON - 5,
            observed_offset=-210,
            source_recorded_at=NOON - 9,
            location={"lat": 1.5},
            preceded_by=("evt_1",),
            intent="ask",
            labels=("x", "y"),
        ),
        directives=Directives(
            extract=("facts",),
            consolidate_into=BOB,
            consolidate_only=("Acme", "lives_in"),
            confidence_floor=0.25,
            belief_ttl_us=7,
            event_ttl_us=9,
            embed="none",
        ),
        batch_id="batch_1",
    )
    [appended] = store.log.append([Capture(given)])
    stored = store.log.get(TENANT, [appended.event.id])[appended.event.id]
    assert stored == appended.event
    assert {name: getattr(stored, name) for name in given.__slots__} == {
        name: getattr(given, name) for name in given.__slots__
    }
    assert list(stored.content["data"]) == ["b", "a"]


def test_an_event_without_extras_comes_back_as_it_was_given(store: Store) -> None:
    [event] = append(store, "plain")
    assert store.log.get(TENANT, [event.id]) == {event.id: event}
    assert (event.context, event.directives) == (Context(observed_at=NOON), Directives())


def test_what_the_caller_changes_later_does_not_reach_the_log(store: Store) -> None:
    content = {"text": "first"}
    [appended] = store.log.append([Capture(draft(content=content))])
    content["text"] = "changed"
    assert store.log.get(TENANT, [appended.event.id])[appended.event.id].content == {"text": "first"}


def test_an_event_lands_with_its_lifecycle_row_and_its_first_job(store: Store) -> None:
    [event] = append(store, "a", batch_id="batch_1")
    [row] = store.lifecycle.query(LifecycleQuery(tenant_id=TENANT, event_id=event.id))
    [job] = store.jobs.of_event(TENANT, event.id)
    assert (row.name, row.number, row.scope, row.job_id) == ("captured", 1, ALICE, "batch_1")
    assert row.payload == {"actor": "user:alice", "modality": "conversation", "wal_offset": 1}
    assert (job.stage, job.state, job.attempts) == (Stage.EXTRACTED, "pending", 0)


def test_positions_count_per_tenant_from_one(store: Store) -> None:
    ours = append(store, "a", "b")
    theirs = append(store, "c", tenant_id="other")
    more = append(store, "d")
    assert [event.position for event in ours + more] == [1, 2, 3]
    assert theirs[0].position == 1


@pytest.mark.parametrize("step", [0, -5 * SECOND_US, 1])
def test_recorded_at_rises_strictly_whatever_the_clock_does(
    store: Store, clock: ManualClock, step: int
) -> None:
    moments = []
    for _ in range(4):
        moments += [event.recorded_at for event in append(store, "a", "b")]
        clock.at += step
    assert moments == sorted(set(moments))
    assert moments[0] == NOON


def test_ids_sort_in_the_order_of_the_log(store: Store) -> None:
    events = append(store, *"abcdef")
    assert ids(events) == sorted(ids(events))


def test_appending_nothing_stores_nothing(store: Store) -> None:
    assert store.log.append([]) == []
    assert store.log.tenants() == []


def test_one_unstorable_event_takes_the_whole_call_with_it(store: Store) -> None:
    captures = [Capture(draft("fine")), Capture(draft(content={"text": float("nan")}))]
    with pytest.raises(ValueError, match="JSON"):
        store.log.append(captures)
    assert store.log.walk(TENANT, 0, 10) == []
    assert store.lifecycle.last_sequence(TENANT) == 0
    assert store.scopes.get(TENANT, ALICE) is None
    assert append(store, "next")[0].position == 1


def test_many_threads_make_positions_without_gaps_visible_in_order(store: Store) -> None:
    seen: list[list[int]] = []

    def write(number: int) -> None:
        for turn in range(12):
            append(store, f"{number}-{turn}")

    def read() -> None:
        for _ in range(60):
            seen.append([event.position for event in store.log.walk(TENANT, 0, 1000)])

    with ThreadPoolExecutor(9) as pool:
        list(pool.map(lambda task: task(), [read, *(lambda n=n: write(n) for n in range(8))]))
    assert all(positions == list(range(1, len(positions) + 1)) for positions in seen)
    events = store.log.walk(TENANT, 0, 1000)
    assert len(events) == 96
    assert all(a.recorded_at < b.recorded_at for a, b in itertools.pairwise(events))


def test_a_posted_capture_comes_to_what_append_gives_back(store: Store) -> None:
    capture = Capture(draft(), key("k"), "sha256:a")
    told = threading.Event()
    posted = store.log.post(capture)
    posted.tell(told.set)
    [landed] = posted.result()
    assert told.wait(30)
    assert store.log.get(TENANT, [landed.event_id]) == {landed.event_id: landed.event}
    assert store.log.append([capture]) == [Appended.of(landed.event, replayed=True)]
    with pytest.raises(Conflict):
        store.log.post(capture._replace(body_hash="sha256:b")).result()


# ---- reading


def test_get_returns_only_what_exists_in_the_tenant(store: Store) -> None:
    [event] = append(store, "a")
    assert store.log.get(TENANT, [event.id, "evt_none"]) == {event.id: event}
    assert store.log.get("other", [event.id]) == {}
    assert store.log.get(TENANT, []) == {}


def test_a_list_is_newest_first_and_pages_by_position(store: Store) -> None:
    events = append(store, *"abcde")
    first = store.log.query(replace(EVERYTHING, limit=2))
    rest = store.log.query(replace(EVERYTHING, after=first[-1].position))
    assert first + rest == events[::-1]


def test_a_list_can_be_oldest_first_and_pages_too(store: Store) -> None:
    events = append(store, *"abcde")
    first = store.log.query(replace(EVERYTHING, ascending=True, limit=2))
    rest = store.log.query(replace(EVERYTHING, ascending=True, after=first[-1].position))
    assert first + rest == events


def test_no_scopes_means_no_events(store: Store) -> None:
    append(store, "a")
    assert store.log.query(replace(EVERYTHING, scopes=[])) == []
    assert store.log.count(TENANT, []) == 0


def test_events_are_counted_as_of_an_instant(store: Store, clock: ManualClock) -> None:
    (first,) = append(store, "a")
    clock.at += SECOND_US
    (second,) = append(store, "b")
    counted = [
        store.log.count(TENANT, [ALICE], seen_at=at)
        for at in (first.recorded_at - 1, first.recorded_at, second.recorded_at)
    ]
    assert counted == [0, 1, 2]


def test_a_list_holds_only_the_scopes_and_the_tenant_asked_for(store: Store) -> None:
    [ours] = append(store, "a")
    append(store, "b", scope=BOB)
    append(store, "below", scope=Scope(f"{ALICE}/app:x"))
    append(store, "theirs", tenant_id="other")
    assert store.log.query(replace(EVERYTHING, scopes=[ALICE])) == [ours]
    assert store.log.query(replace(EVERYTHING, scopes=[ALICE, ALICE])) == [ours]
    assert (store.log.count(TENANT, [ALICE]), store.log.count(TENANT, [ALICE, BOB])) == (1, 2)
    assert store.log.count("nobody", [ALICE]) == 0


def test_each_filter_of_a_list_narrows_it(store: Store, clock: ManualClock) -> None:
    append(store, "early", session="s-1", context=Context(observed_at=NOON - 10))
    clock.at += 100
    [wanted] = append(
        store,
        "wanted",
        session="s-2",
        modality="document",
        observed_actor=Party.of("user:bob"),
        context=Context(observed_at=NOON),
    )
    clock.at += 100
    append(store, "late", session="s-3", context=Context(observed_at=NOON + 10))
    filters = [
        {"session": "s-2"},
        {"modality": "document"},
        {"observed_actor": "user:bob"},
        {"observed_from": NOON, "observed_to": NOON + 10},
        {"recorded_from": NOON + 100, "recorded_to": NOON + 200},
    ]
    for each in filters:
        for ascending in (True, False):
            assert store.log.query(replace(EVERYTHING, **each, ascending=ascending)) == [wanted], each


def test_previous_gives_the_turns_before_one_of_the_same_session(store: Store) -> None:
    turns = append(store, *"abcd", session="s-1")
    append(store, "no session")
    append(store, "elsewhere", session="s-1", scope=BOB)
    append(store, "theirs", session="s-1", tenant_id="other")
    [last] = append(store, "e", session="s-1")
    assert store.log.previous(last, 2) == turns[2:]
    assert store.log.previous(last, 10) == turns
    assert store.log.previous(turns[0], 10) == []


def test_previous_without_a_session_gives_turns_without_one(store: Store) -> None:
    [first] = append(store, "a")
    append(store, "b", session="s-1")
    [last] = append(store, "c")
    assert store.log.previous(last, 5) == [first]


def test_walking_the_log_shows_all_of_a_tenant_cancelled_events_too(store: Store) -> None:
    events = append(store, *"abc")
    append(store, "d", scope=BOB)
    append(store, "theirs", tenant_id="other")
    store.log.cancel(TENANT, events[1].id)
    assert [event.position for event in store.log.walk(TENANT, 1, 2)] == [2, 3]
    assert [event.position for event in store.log.walk(TENANT, 0, 99)] == [1, 2, 3, 4]


def test_tenants_are_sorted(store: Store) -> None:
    for tenant in ("b", "a", "c", "a"):
        append(store, "x", tenant_id=tenant)
    assert store.log.tenants() == ["a", "b", "c"]


# ---- cancel


def test_cancelling_a_new_event_drops_every_stage(store: Store) -> None:
    [event] = append(store, "a")
    assert store.log.cancel(TENANT, event.id) == (
        Stage.EXTRACTED, Stage.INDEXED, Stage.CONSOLIDATED, Stage.COMPRESSED,
    )  # fmt: skip
    assert store.jobs.of_event(TENANT, event.id) == []
    assert store.log.get(TENANT, [event.id])[event.id].cancelled_after is Stage.CAPTURED
    assert claim(store) == []


def test_cancelling_half_way_drops_the_stages_that_are_left(store: Store) -> None:
    [event] = append(store, "a")
    finish_all(store, Stage.EXTRACTED)
    finish_all(store, Stage.INDEXED)
    assert store.log.cancel(TENANT, event.id) == (Stage.CONSOLIDATED, Stage.COMPRESSED)
    assert store.log.get(TENANT, [event.id])[event.id].cancelled_after is Stage.INDEXED


def test_cancelling_twice_or_at_the_end_drops_nothing(store: Store) -> None:
    [event] = append(store, "a")
    for stage in tuple(Stage)[1:]:
        finish_all(store, stage)
    assert store.log.cancel(TENANT, event.id) == ()
    assert store.log.cancel(TENANT, event.id) == ()
    assert store.log.get(TENANT, [event.id])[event.id].cancelled_after is Stage.COMPRESSED


def test_a_cancelled_event_is_out_of_lists_and_counts(store: Store) -> None:
    gone, kept = append(store, "a", "b")
    store.log.cancel(TENANT, gone.id)
    assert store.log.query(EVERYTHING) == [kept]
    assert store.log.count(TENANT, [ALICE]) == 1
    assert ids(store.log.query(replace(EVERYTHING, with_excluded=True))) == [kept.id, gone.id]


def test_a_cancellation_is_an_entry_of_the_log_where_derivation_had_begun(store: Store) -> None:
    told, waiting = append(store, "a", "b")
    store.log.cancel(TENANT, waiting.id)
    assert len(store.log.walk(TENANT, 0, 9)) == 2
    finish_all(store, Stage.EXTRACTED)
    store.log.cancel(TENANT, told.id)
    store.log.cancel(TENANT, told.id)
    entry = store.log.walk(TENANT, 2, 9)[0]
    assert (entry.cancels, entry.scope, entry.excluded) == (told.id, ALICE, True)
    assert (entry.position, entry.recorded_at > waiting.recorded_at) == (3, True)
    assert store.log.previous(entry, 9) == []
    assert store.log.query(EVERYTHING) == []
    assert [job.event.id for job in claim(store, Stage.EXTRACTED)] == [entry.id]


def test_no_content_makes_an_event_a_cancellation(store: Store) -> None:
    content = {"kind": "cancellation", "event_id": "evt_1"}
    [event] = append(store, "a", content=content, modality="cancellation")
    assert event.cancels is None


def test_cancelling_what_is_not_there_is_not_found(store: Store) -> None:
    [event] = append(store, "a")
    with pytest.raises(NotFound):
        store.log.cancel("other", event.id)
    assert not store.log.get(TENANT, [event.id])[event.id].excluded


# ---- the store itself


@pytest.mark.parametrize("ascending", [False, True])
def test_a_session_is_listed_page_by_page_in_either_order(store: Store, ascending: bool) -> None:
    wanted = []
    for number in range(5):
        wanted += append(store, f"turn {number}", session="s-1", scope=BOB if number % 2 else ALICE)
        append(store, f"beside {number}", session="s-2" if number % 2 else None)
    wanted = wanted if ascending else wanted[::-1]
    found: list[Event] = []
    while True:
        after = found[-1].position if found else None
        page = store.log.query(
            EventQuery(
                tenant_id=TENANT,
                scopes=[ALICE, BOB],
                session="s-1",
                ascending=ascending,
                after=after,
                limit=2,
            )
        )
        if not page:
            break
        found += page
    assert found == wanted


# ---- entries


def test_an_entry_has_a_place_and_a_lifecycle_and_is_in_no_list(store: Store) -> None:
    told = append(store, "tea")[0]
    entry = store.log.append_entry(
        draft(content={"kind": "synthesis"}, origin=Origin("user:ana", SYNTHESIS, Trust.PRINCIPAL))
    )
    assert (entry.position, entry.is_entry, entry.excluded, told.is_entry) == (2, True, True, False)
    assert [each.id for each in store.log.query(EventQuery(tenant_id=TENANT, scopes=[ALICE]))] == [told.id]
    rows = store.lifecycle.query(LifecycleQuery(tenant_id=TENANT, event_id=entry.id))
    assert [(row.name, row.payload["wal_offset"]) for row in rows] == [("captured", 2)]
    assert [job.event.id for job in claim(store)] == [told.id, entry.id]

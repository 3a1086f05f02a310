"""What every engine promises about a summary that rules folded and a language model words behind them."""

from __future__ import annotations

from typing import Any

import pytest

from given import ALICE, NOON, TENANT, draft
from lamina.kernel.time import SECOND_US
from lamina.store.ports.log import Capture
from lamina.store.ports.sessions import Fold, OutboxRow, Reworded, SessionKey, Sitting
from lamina.store.ports.store import Store
from lamina.store.ports.traces import ErasedBeside
from lamina.store.ports.writes import BRIDGE, FOLD, Inquiry, inquiry_of

HOME = SessionKey(TENANT, ALICE, "s")
LEASE = NOON + 30 * SECOND_US


def rows_of(store: Store, turns: int) -> list[OutboxRow]:
    store.sessions.take([Capture(draft(f"turn {n}", ALICE, session="s")) for n in range(turns)])
    return store.sessions.claim(limit=99, lease_until=LEASE, now=NOON, owner="drain")


def fold(store: Store, rows: list[OutboxRow], summary: str, **more: Any) -> bool:
    events = store.log.get(TENANT, [row.event_id for row in rows])
    given: dict[str, Any] = {
        "inquiries": tuple(inquiry_of(events[row.event_id], FOLD, NOON) for row in rows),
        "bridge": None,
        "revision": sitting(store).revision,
        **more,
    }
    ids = tuple(row.id for row in rows)
    of = rows[0]
    return store.sessions.fold(
        Fold(place=HOME, number=1, ids=ids, fence=of.fence, summary=summary, at=NOON, sent=True, **given)
    )


def sitting(store: Store) -> Sitting:
    held = store.sessions.sitting(HOME)
    assert held is not None
    return held


def ask(store: Store) -> Inquiry:
    (asked,) = store.inquiries.claim(limit=1, lease_until=LEASE, now=NOON, owner="one")
    return asked


def reword(store: Store, asked: Inquiry, worded: str | None, summary: str, **more: Any) -> bool:
    given: dict[str, Any] = {"sitting": sitting(store), "bridge": None, **more}
    return store.sessions.reword(Reworded(inquiry=asked, worded=worded, summary=summary, **given))


def test_rules_words_stand_until_a_model_has_worded_each_turn_in_order(store: Store) -> None:
    rows = rows_of(store, 14)
    assert fold(store, rows, "by rules")
    assert (sitting(store).summary, sitting(store).worded) == ("by rules", "")
    first = ask(store)
    wording = store.sessions.wording(TENANT, first.event_id)
    assert wording is not None
    assert (wording.sitting, wording.waiting) == (sitting(store), tuple(row.event_id for row in rows))
    assert reword(store, first, "first by a model", "first by a model, second by rules")
    assert (sitting(store).worded, sitting(store).folded) == ("first by a model", 2)
    assert reword(store, ask(store), None, "both by a model")
    assert (sitting(store).summary, sitting(store).worded) == ("both by a model", None)
    assert store.sessions.wording(TENANT, first.event_id) is None
    assert store.inquiries.unsettled(TENANT, None, 9) == []


def test_of_a_fold_and_a_models_words_over_the_same_summary_one_lands(store: Store) -> None:
    first, second = rows_of(store, 14)
    assert fold(store, [first], "first")
    before = sitting(store)
    asked = ask(store)
    assert fold(store, [second], "first and second")
    assert not reword(store, asked, None, "the first alone", sitting=before)
    assert sitting(store).summary == "first and second"
    assert reword(store, asked, "the first", "the first, and second")
    assert not fold(store, [second], "twice", revision=before.revision)


def test_who_lost_its_lease_words_nothing(store: Store) -> None:
    assert fold(store, rows_of(store, 13), "by rules")
    late = ask(store)
    store.inquiries.take_over()
    held = ask(store)
    assert not reword(store, late, None, "late")
    assert sitting(store).summary == "by rules"
    assert reword(store, held, None, "mine")


def test_a_fold_without_a_model_ends_what_waited_for_one(store: Store) -> None:
    first, second = rows_of(store, 14)
    assert fold(store, [first], "first")
    assert fold(store, [second], "first and second", inquiries=())
    assert (sitting(store).summary, sitting(store).worded) == ("first and second", None)
    assert store.sessions.wording(TENANT, first.event_id) is None


def test_a_cancelled_turn_takes_all_that_a_model_made_of_its_sitting_with_it(store: Store) -> None:
    rows = rows_of(store, 14)
    assert fold(store, rows, "by rules")
    asked = ask(store)
    store.log.cancel(TENANT, rows[0].event_id)
    assert not reword(store, asked, None, "told of what was cancelled")
    assert (sitting(store).summary, sitting(store).worded) == ("", None)
    assert [each for each in store.inquiries.unsettled(TENANT, None, 9) if each.task == FOLD] == []
    again = store.sessions.claim(limit=9, lease_until=LEASE, now=NOON, owner="drain")
    assert fold(store, again, "anew")
    assert store.upkeep.state().summaries_waiting == 2


@pytest.mark.parametrize("way", ["cancelled", "erased"])
def test_the_question_about_a_bridge_goes_with_any_turn_of_its_sitting(store: Store, way: str) -> None:
    rows = rows_of(store, 14)
    last = store.log.get(TENANT, [rows[1].event_id])[rows[1].event_id]
    assert store.sessions.left(TENANT, rows[0].event_id) == sitting(store)
    assert store.sessions.left(TENANT, sitting(store).window[0]) is None
    assert fold(store, rows, "by rules", bridge="the end", inquiries=(inquiry_of(last, BRIDGE, NOON),))
    (asked,) = store.inquiries.unsettled(TENANT, None, 9)
    assert (asked.task, asked.event_id) == (BRIDGE, last.id)
    if way == "cancelled":
        store.log.cancel(TENANT, rows[0].event_id)
    else:
        store.traces.erase_beside(ErasedBeside(tenant_id=TENANT, event_ids=[rows[0].event_id]))
    assert [each.task for each in store.inquiries.unsettled(TENANT, None, 9) if each.task == BRIDGE] == []
    assert sitting(store).bridge is None


def test_other_words_are_put_in_the_place_of_a_summary_unless_it_changed(store: Store) -> None:
    rows = rows_of(store, 14)
    assert fold(store, rows[:1], "first", inquiries=(), bridge="the end")
    before = sitting(store)
    assert store.sessions.folded(HOME, 1) == [rows[0].event_id]
    assert store.sessions.walk(None, 5) == [before]
    assert store.sessions.walk(before, 5) == []
    assert store.sessions.retell(before, "anew", None)
    assert (sitting(store).summary, sitting(store).bridge, sitting(store).folded) == ("anew", "the end", 1)
    assert not store.sessions.retell(before, "late", "late")
    assert store.sessions.retell(sitting(store), "again", "another end")
    assert (sitting(store).summary, sitting(store).bridge) == ("again", "another end")

"""What every engine promises of text and vector rows."""

from __future__ import annotations

from dataclasses import replace

from given import (
    ALICE,
    BOB,
    STAGES,
    TENANT,
    append,
    episode,
    fact,
    finish_all,
    found_by,
    land,
    support,
    text_row,
    vector_row,
)
from lamina.kernel.events import Stage
from lamina.store.ports.index import TextRow, Tip
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Writes


def put(store: Store, *rows: TextRow) -> None:
    land(store, Writes(texts=list(rows)))


def test_rows_stay_inside_their_scopes_and_its_tenant(store: Store) -> None:
    put(store, text_row("fact_1", "tea"), text_row("fact_2", "tea", BOB))
    put(store, text_row("fact_3", "tea", tenant_id="other"))
    assert found_by(store, "tea") == ["fact_1"]
    assert sorted(found_by(store, "tea", scopes=[ALICE, BOB])) == ["fact_1", "fact_2"]
    assert found_by(store, "tea", tenant_id="other") == ["fact_3"]
    assert found_by(store, "tea", scopes=[]) == []


def test_a_record_put_again_is_found_by_its_new_words_only(store: Store) -> None:
    put(store, text_row("ep_1", "tea", keys="k1"))
    changes = store.index.changes(TENANT, ALICE)
    [before] = store.index.texts_after(TENANT, ALICE, 0, 10)
    put(store, text_row("ep_1", "coffee", keys="k2"))
    assert (found_by(store, "tea", "k1"), found_by(store, "coffee")) == ([], ["ep_1"])
    assert store.index.changes(TENANT, ALICE) == changes
    [after] = store.index.texts_after(TENANT, ALICE, 0, 10)
    assert after.row > before.row


def test_a_record_put_again_stays_findable_from_when_it_first_was(store: Store) -> None:
    early, late = text_row("ep_1", "tea"), text_row("ep_1", "coffee")
    put(store, early)
    put(store, late._replace(recorded_at=early.recorded_at + 1000))
    [row] = store.index.texts_after(TENANT, ALICE, 0, 10)
    assert row.recorded_at == early.recorded_at


def test_a_record_that_moved_is_found_in_its_new_scope_only(store: Store) -> None:
    put(store, text_row("ep_1", "tea"))
    changes = store.index.changes(TENANT, ALICE)
    put(store, text_row("ep_1", "tea", BOB))
    assert (found_by(store, "tea"), found_by(store, "tea", scopes=[BOB])) == ([], ["ep_1"])
    assert store.index.changes(TENANT, ALICE) > changes


def test_text_rows_come_in_the_order_of_indexing_and_page_by_number(store: Store) -> None:
    rows = [text_row(f"fact_{n}", "x", session="s", speaker="Al", role="user", keys="k") for n in (3, 1, 2)]
    put(store, *rows, text_row("fact_4", "x", BOB), text_row("fact_5", "x", tenant_id="other"))
    first = store.index.texts_after(TENANT, ALICE, 0, 2)
    rest = store.index.texts_after(TENANT, ALICE, first[-1].row, 10)
    assert [row._replace(row=0) for row in first + rest] == rows
    assert first[0].row > 0


def test_adding_rows_does_not_count_as_a_change(store: Store) -> None:
    put(store, text_row("fact_1", "tea"))
    before = store.index.changes(TENANT, ALICE)
    put(store, text_row("fact_2", "tea"))
    assert store.index.changes(TENANT, ALICE) == before


def test_the_tip_is_where_reading_a_scope_ends(store: Store) -> None:
    assert store.index.tip(TENANT, ALICE, "m") == Tip(0, 0, 0, 0)
    put(store, text_row("fact_1", "tea"), text_row("fact_2", "tea"), text_row("fact_3", "tea", BOB))
    store.index.embed(
        [vector_row("fact_1"), vector_row("fact_3", BOB), replace(vector_row("fact_2"), model="other")]
    )
    tip = store.index.tip(TENANT, ALICE, "m")
    assert tip.text == store.index.texts_after(TENANT, ALICE, 0, 10)[-1].row
    assert [tip.vector] == [number for number, _, _ in store.index.vectors_after(TENANT, ALICE, "m", 0, 10)]
    assert (tip.changes, tip.end) == (0, 0)
    put(store, text_row("fact_2", "tea", BOB))
    assert store.index.tip(TENANT, ALICE, "m").changes == store.index.changes(TENANT, ALICE) == 1
    assert store.index.tip("other", ALICE, "m") == Tip(0, 0, 0, 0)


def test_the_tip_tells_how_far_the_log_goes_and_what_waits(store: Store) -> None:
    first, second = append(store, "one"), append(store, "two", scope=BOB)
    assert store.index.tip(TENANT, ALICE, "m").log == first[0].position
    assert store.index.tip(TENANT, BOB, "m").log == second[0].position
    assert store.index.tip(TENANT, ALICE, "m").waiting_since == first[0].recorded_at
    for stage in STAGES[:-1]:
        finish_all(store, stage)
        assert store.index.tip(TENANT, ALICE, "m").waiting_since == first[0].recorded_at
    finish_all(store, STAGES[-1])
    assert store.index.tip(TENANT, ALICE, "m").waiting_since is None
    assert store.index.tip("other", BOB, "m") == Tip(0, 0, 0, 0)


def test_what_is_not_indexed_waits_in_the_order_of_the_log(store: Store) -> None:
    one, two, three = (append(store, text)[0] for text in ("one", "two", "three"))
    append(store, "elsewhere", scope=BOB)
    assert store.index.waiting(TENANT, ALICE, 0, 10) == [one, two, three]
    assert store.index.waiting(TENANT, ALICE, one.position, 10) == [two, three]
    assert store.index.waiting(TENANT, ALICE, 0, 2) == [two, three], "the newest, where there are more"
    assert store.index.waiting("other", ALICE, 0, 10) == []
    changes = store.index.changes(TENANT, ALICE)
    store.log.cancel(TENANT, two.id)
    assert store.index.waiting(TENANT, ALICE, 0, 10) == [one, three]
    assert store.index.changes(TENANT, ALICE) > changes, "who has taken it in must learn of it"
    finish_all(store)
    assert store.index.waiting(TENANT, ALICE, 0, 10) == [one, three]
    finish_all(store, Stage.INDEXED)
    assert store.index.waiting(TENANT, ALICE, 0, 10) == []


def test_excluded_rows_are_not_found(store: Store) -> None:
    event = land(store, Writes(records=[fact("gone")]))
    land(store, Writes(supports=[support(fact("gone").id, event.id)]))
    put(store, text_row(fact("gone").id, "tea"), text_row("fact_kept", "tea with many other words around"))
    store.log.cancel(TENANT, event.id)
    assert found_by(store, "tea") == ["fact_kept"]


def test_an_excluded_record_put_again_is_found_again(store: Store) -> None:
    event = land(store, Writes(texts=[text_row("ep_1", "tea")], supports=[]))
    land(store, Writes(supports=[support("ep_1", event.id)]))
    store.log.cancel(TENANT, event.id)
    assert found_by(store, "tea") == []
    put(store, text_row("ep_1", "tea again"))
    assert found_by(store, "tea") == ["ep_1"]


def test_a_record_that_is_kept_out_is_not_found_when_its_words_change(store: Store) -> None:
    event = land(store, Writes(records=[episode("tea")], texts=[text_row(episode("tea").id, "tea")]))
    land(store, Writes(supports=[support(episode("tea").id, event.id)]))
    store.log.cancel(TENANT, event.id)
    put(store, text_row(episode("tea").id, "tea again"))
    assert found_by(store, "tea") == []


def test_the_words_of_a_cancelled_event_are_not_found_when_they_are_put_again(store: Store) -> None:
    event = land(store, Writes())
    put(store, text_row(event.id, "tea"))
    store.log.cancel(TENANT, event.id)
    put(store, text_row(event.id, "tea again"))
    assert found_by(store, "tea") == []


def test_vectors_come_in_order_by_scope_and_model(store: Store) -> None:
    wanted = [vector_row("fact_2"), vector_row("fact_1")]
    others = [vector_row("fact_3", BOB), vector_row("fact_1", model="n"), vector_row("x", tenant_id="other")]
    land(store, Writes(vectors=[*wanted, *others]))
    found = store.index.vectors_after(TENANT, ALICE, "m", 0, 10)
    assert [(name, pooled) for _, name, pooled in found] == [(v.record_id, v.pooled) for v in wanted]
    assert store.index.vectors_after(TENANT, ALICE, "m", found[0][0], 1) == found[1:]
    assert store.index.vectors_after(TENANT, ALICE, "none", 0, 10) == []


def test_vectors_that_are_there_stay(store: Store) -> None:
    land(store, Writes(vectors=[vector_row("fact_1"), vector_row("fact_1", tokens=b"other")]))
    [(row, name, _)] = store.index.vectors_after(TENANT, ALICE, "m", 0, 10)
    assert name == "fact_1"
    assert store.index.tokens(TENANT, [row, row + 9]) == {row: vector_row("fact_1").tokens}
    assert store.index.tokens("other", [row]) == {}
    assert store.index.tokens(TENANT, []) == {}


def test_token_vectors_come_back_as_they_were_whatever_their_length(store: Store) -> None:
    lengths = [0, 1, 499, 500, 501, 1441, 128_000, 128_001]
    wanted = {f"fact_{length}": bytes(at % 251 for at in range(length)) for length in lengths}
    land(store, Writes(vectors=[vector_row(name, tokens=tokens) for name, tokens in wanted.items()]))
    names = {row: name for row, name, _ in store.index.vectors_after(TENANT, ALICE, "m", 0, 10)}
    assert {names[row]: tokens for row, tokens in store.index.tokens(TENANT, names).items()} == wanted


def test_rows_that_want_vectors_are_listed_until_they_have_them(store: Store) -> None:
    put(store, text_row("fact_1", "x"), *(text_row(f"fact_{n}", "x", wants_vector=True) for n in (3, 2)))
    put(store, text_row("fact_4", "x", tenant_id="other", wants_vector=True))
    assert store.index.unembedded(2) == [(TENANT, "fact_3"), (TENANT, "fact_2")]
    store.index.embed([vector_row("fact_3"), vector_row("fact_2", tenant_id="other")])
    assert store.index.unembedded(9) == [(TENANT, "fact_2"), ("other", "fact_4")]
    [(row, name, _)] = store.index.vectors_after(TENANT, ALICE, "m", 0, 10)
    assert (name, store.index.tokens(TENANT, [row])) == ("fact_3", {row: vector_row("fact_3").tokens})


def test_what_was_noted_of_days_comes_back_with_its_row(store: Store) -> None:
    put(
        store, text_row("fact_1", "tea", days="1 0123abcd (yesterday: 2026-03-01)"), text_row("fact_2", "tea")
    )
    put(store, text_row("fact_1", "tea", days="1 0123abcd"))
    rows = {row.record_id: row.days for row in store.index.texts_after(TENANT, ALICE, 0, 10)}
    assert rows == {"fact_1": "1 0123abcd", "fact_2": ""}

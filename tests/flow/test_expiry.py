"""What is past its time to live is over at an entry of the log, and a replay makes the same of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from given import ALICE, BOB, STAGES, TENANT, append, finish_all
from lamina.cli.main import app
from lamina.forget.expired import ExpiredEraser
from lamina.forget.expiring import Expirer, ExpiringCount
from lamina.forget.stepping import erased_in_steps
from lamina.kernel.erasure_rules import ErasureRules, LegalHold
from lamina.kernel.events import Context, Directives, Event, Origin, Trust
from lamina.kernel.expiry import TtlRules
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, rfc3339
from lamina.store.backups.tombstones import NoTombstones
from lamina.store.ports.log import EventQuery
from lamina.store.sqlite import SqliteStore
from told import ANA, DAY, START, Memory

TEAM = Scope("org:acme/ws:atlas")
SHORT = TtlRules({Layer.EVENTS: 10 * DAY})


def expirer(memory: Memory, rules: TtlRules, others: Mapping[Scope, TtlRules] | None = None) -> Expirer:
    """What looks for what is over, with rules for Alice's scope and for others."""
    known = {ALICE: rules, **(others or {})}

    def ttl_rules(tenant_id: str, scope: Scope) -> TtlRules:
        return known.get(scope, TtlRules())

    eraser = ExpiredEraser(memory.store, memory.clock, ttl_rules, lambda _: ErasureRules(), NoTombstones())
    return Expirer(memory.store, memory.clock, ttl_rules, eraser)


def let_pass(memory: Memory, days: float) -> None:
    memory.clock.at += int(days * DAY)


def expire(memory: Memory, rules: TtlRules = SHORT) -> dict[Layer, int]:
    done = expirer(memory, rules).step()
    memory.derive()
    return dict(done)


def tell_with(memory: Memory, text: str, directives: Directives, scope: Scope = ALICE) -> Event:
    memory.clock.at += SECOND_US
    content = {"kind": "message", "role": "user", "text": text}
    context = Context(observed_at=memory.clock.at)
    (event,) = append(
        memory.store, text, content=content, observed_actor=ANA, subject=ANA, scope=scope, context=context,
        directives=directives, origin=Origin("service:app", "http", Trust.PRINCIPAL),
    )  # fmt: skip
    return event


def shown(memory: Memory, scope: Scope = ALICE) -> list[str]:
    query = EventQuery(tenant_id=TENANT, scopes=[scope], ascending=True)
    return [event.id for event in memory.store.log.query(query)]


def predicates(records: Iterable[Any]) -> set[str]:
    return {record.predicate for record in records}


def replays(memory: Memory) -> bool:
    live, replayed = memory.replayed()
    return live == replayed


# ---- events


def test_what_rests_on_expired_events_alone_ends_where_the_log_says_so(memory: Memory) -> None:
    memory.tell("I work as a baker.", START)
    memory.derive()
    let_pass(memory, 9)
    fresh = memory.tell("I live in Porto.", START + DAY)
    memory.derive()
    assert expire(memory) == {}
    let_pass(memory, 2)
    assert expire(memory) == {Layer.EVENTS: 1}
    assert shown(memory) == [fresh.id]
    assert memory.homes() == [("Porto", START + DAY, None)]
    assert predicates(memory.held(Layer.FACTS)) == {"lives_in"}
    assert predicates(memory.held(Layer.BELIEFS)) == {"lives_in"}
    (entry,) = memory.store.expiries.entries(TENANT, ALICE, after=0, limit=9)
    before = memory.held(Layer.FACTS, entry.recorded_at - 1)
    assert predicates(before) == {"lives_in", "works_as"}, "readers of that time see what was held then"
    assert expire(memory) == {}, "what is over is over once"
    assert replays(memory)


def test_nothing_is_over_where_nobody_says_how_long_it_lives(memory: Memory) -> None:
    told = memory.tell("I live in Porto.", START)
    memory.derive()
    let_pass(memory, 100_000)
    assert expire(memory, TtlRules()) == {}
    assert (shown(memory), len(memory.homes())) == ([told.id], 1)


def test_an_event_may_say_itself_how_long_it_lives(memory: Memory) -> None:
    tell_with(memory, "I live in Porto.", Directives(event_ttl_us=3 * DAY))
    stays = tell_with(memory, "I work as a baker.", Directives())
    memory.derive()
    let_pass(memory, 2)
    assert expire(memory, TtlRules()) == {}
    let_pass(memory, 2)
    assert expire(memory, TtlRules()) == {Layer.EVENTS: 1}
    assert (shown(memory), memory.homes()) == ([stays.id], [])
    assert replays(memory)


def test_what_an_expired_event_had_ended_stays_ended(memory: Memory) -> None:
    memory.tell("I live in Porto.", memory.clock.at)
    tell_with(memory, "I live in Lisbon.", Directives(event_ttl_us=DAY))
    memory.derive()
    (porto, _) = memory.homes()
    let_pass(memory, 2)
    expire(memory, TtlRules())
    assert memory.homes() == [porto]
    assert porto[2] is not None
    assert replays(memory)


def test_what_was_said_again_stays_until_that_is_over_too(memory: Memory) -> None:
    memory.tell("I live in Porto.", START)
    memory.derive()
    let_pass(memory, 6)
    memory.tell("I live in Porto.", START + DAY)
    memory.derive()
    let_pass(memory, 6)
    expire(memory)
    assert [home for home, _, _ in memory.homes()] == ["Porto"]
    let_pass(memory, 6)
    expire(memory)
    assert memory.homes() == []
    memory.tell("I live in Porto.", START + 20 * DAY)
    memory.derive()
    assert memory.homes() == [("Porto", START + 20 * DAY, None)], "told once more it begins anew"
    assert replays(memory)


def test_a_cancellation_beside_it_brings_nothing_back(memory: Memory) -> None:
    memory.tell("I live in Porto.", START)
    memory.derive()
    let_pass(memory, 6)
    wrong = memory.tell("I live in Lisbon.", START + DAY)
    memory.tell("I live in Berlin.", START + 2 * DAY)
    memory.derive()
    let_pass(memory, 6)
    expire(memory)
    memory.cancel(wrong)
    memory.derive()
    assert [home for home, _, _ in memory.homes()] == ["Berlin"]
    assert replays(memory)


def test_what_was_sent_to_another_scope_ends_there(memory: Memory) -> None:
    tell_with(memory, "I live in Porto.", Directives(consolidate_into=TEAM))
    tell_with(memory, "I work as a baker.", Directives())
    memory.derive()

    def believed() -> list[str]:
        return [key for key, scope in beliefs(memory).items() if scope == TEAM]

    assert len(believed()) == 1
    let_pass(memory, 11)
    assert expire(memory) == {Layer.EVENTS: 2}
    assert believed() == []
    assert len(memory.store.expiries.entries(TENANT, ALICE, after=0, limit=9)) == 2
    assert replays(memory)


def beliefs(memory: Memory) -> dict[str, Scope]:
    """The beliefs that stand, in whichever scope."""
    found = {}
    for scope in (ALICE, TEAM):
        old = memory.store.expiries.unrenewed(TENANT, scope, Layer.BELIEFS, memory.clock.at, limit=99)
        found |= dict.fromkeys((each.id for each in old), scope)
    return found


def test_what_still_waits_for_derivation_is_not_over_yet(memory: Memory) -> None:
    memory.tell("I live in Porto.", START)
    let_pass(memory, 11)
    rules = expirer(memory, SHORT)
    assert rules.step() == {}
    memory.derive()
    assert rules.step() == {Layer.EVENTS: 1}


# ---- layers


def test_facts_may_outlive_the_words_that_they_came_from(memory: Memory) -> None:
    rules = TtlRules({Layer.EVENTS: 10 * DAY, Layer.FACTS: 30 * DAY})
    memory.tell("I live in Porto.", START)
    memory.derive()
    let_pass(memory, 11)
    assert expire(memory, rules) == {Layer.EVENTS: 1}
    assert (shown(memory), len(memory.homes()), len(beliefs(memory))) == ([], 1, 1)
    let_pass(memory, 20)
    assert expire(memory, rules) == {Layer.FACTS: 1}
    assert (memory.homes(), beliefs(memory)) == ([], {})
    assert expire(memory, rules) == {}
    assert replays(memory)


@pytest.mark.parametrize("layer", [Layer.BELIEFS, Layer.EPISODES, Layer.UNDERSTANDING])
def test_a_layer_may_live_shorter_than_what_it_is_made_of(memory: Memory, layer: Layer) -> None:
    for text in ("I live in Porto.", "I work as a baker.", "I have a dog.", "I like chess."):
        memory.tell(text, START)
    memory.derive()
    assert memory.held(layer)
    let_pass(memory, 2)
    done = expire(memory, TtlRules({layer: DAY}))
    assert done == {layer: done[layer]}
    assert [each for each in memory.held(layer) if str(getattr(each, "stance", "")) != "deprecated"] == []
    assert len(memory.homes()) == 1
    assert expire(memory, TtlRules({layer: DAY})) == {}
    assert replays(memory)


# ---- holds, rehearsals, erasing


def test_what_a_legal_hold_keeps_is_neither_over_nor_erased(memory: Memory) -> None:
    tell_with(memory, "I live in Porto.", Directives(event_ttl_us=DAY))
    tell_with(memory, "I work as a baker.", Directives())
    memory.derive()
    let_pass(memory, 11)
    held = replace(SHORT, erases=True, holds=[LegalHold("case", Scope("org:acme"))])
    assert expire(memory, held) == {}
    assert expirer(memory, held).count(TENANT) == []
    assert len(shown(memory)) == 2
    assert expire(memory, replace(held, holds=[])) == {Layer.EVENTS: 2}
    expirer(memory, held).step()
    assert words_of(memory), "a hold that came after it keeps the words"


def words_of(memory: Memory) -> list[str]:
    """The words that the log has still."""
    told = memory.store.log.walk(TENANT, 0, 99)
    return [str(event.content["text"]) for event in told if "text" in event.content]


def test_what_was_found_to_be_done_is_not_read_again(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    looks_for = expirer(memory, replace(SHORT, erases=True))
    read: list[Event] = []
    entries = memory.store.expiries.entries

    def reads(*asked: Any, **more: Any) -> Any:
        found = entries(*asked, **more)
        read.extend(found)
        return found

    monkeypatch.setattr(memory.store.expiries, "entries", reads)
    for _ in range(4):
        memory.tell("I live in Porto.", memory.clock.at)
        memory.derive()
        let_pass(memory, 11)
        looks_for.step()
        memory.derive()
        looks_for.step()
        assert words_of(memory) == []
        read.clear()
        looks_for.step()
        assert read == []


def test_it_is_erased_only_where_the_policy_says_so(memory: Memory) -> None:
    memory.tell("I live in Porto.", START)
    memory.derive()
    let_pass(memory, 11)
    expire(memory)
    expire(memory)
    assert words_of(memory) == ["I live in Porto."]
    (entry,) = memory.store.expiries.entries(TENANT, ALICE, after=0, limit=9)
    erases = replace(SHORT, erases=True)
    assert expirer(memory, erases).count(TENANT) == [ExpiringCount(TENANT, ALICE, Layer.EVENTS, 0, 1)]
    expire(memory, erases)
    assert words_of(memory) == []
    assert "Porto" not in str(list(memory.store.snapshot()))
    assert [event.id for event in memory.store.log.walk(TENANT, 0, 99)][-1] == entry.id, "places stay"
    (row,) = [row for row in memory.store.audit.walk(TENANT, 0, 99) if row.draft.endpoint == "expiry"]
    assert (row.draft.actor, row.draft.scope, row.draft.gdpr) == ("system:expiry", ALICE, 0)
    assert "Porto" not in str(row)
    assert expirer(memory, erases).count(TENANT) == []
    assert replays(memory)


def test_facts_that_outlive_erased_words_are_kept_as_they_stand(memory: Memory) -> None:
    rules = TtlRules({Layer.EVENTS: 10 * DAY, Layer.FACTS: 30 * DAY}, erases=True)
    memory.tell("I live in Porto.", START)
    memory.derive()
    let_pass(memory, 11)
    expire(memory, rules)
    expire(memory, rules)
    assert (words_of(memory), [home for home, _, _ in memory.homes()]) == ([], ["Porto"])
    assert replays(memory)
    let_pass(memory, 30)
    expire(memory, rules)
    assert memory.homes() == []
    expire(memory, rules)
    assert "Porto" not in str([row for table, row in memory.store.snapshot() if table == "record"])
    assert replays(memory)


def test_what_another_scope_believed_of_it_is_erased_with_it(memory: Memory) -> None:
    tell_with(memory, "I live in Porto.", Directives(consolidate_into=TEAM))
    memory.derive()
    assert TEAM in beliefs(memory).values()
    let_pass(memory, 11)
    for _ in range(2):
        expire(memory, replace(SHORT, erases=True))
    assert "Porto" not in str([row for table, row in memory.store.snapshot() if table == "record"])
    assert replays(memory)


def test_whoever_is_killed_between_entry_and_erasure_goes_on(memory: Memory, monkeypatch: Any) -> None:
    for text in ("I live in Porto.", "I work as a baker.", "I have a dog."):
        memory.tell(text, START)
    memory.derive()
    let_pass(memory, 11)
    erases = replace(SHORT, erases=True)
    expire(memory, erases)
    assert len(words_of(memory)) == 3, "nothing is erased before the entry is derived"

    def killed(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("lamina.forget.stepping.erased_in_steps", killed)
    with pytest.raises(KeyboardInterrupt):
        expirer(memory, erases).step()
    monkeypatch.setattr("lamina.forget.stepping.erased_in_steps", erased_in_steps)
    assert len(words_of(memory)) == 3
    expirer(memory, erases).step()
    assert words_of(memory) == []
    rows = [row for row in memory.store.audit.walk(TENANT, 0, 99) if row.draft.endpoint == "expiry"]
    assert len(rows) == 1
    assert replays(memory)


def test_a_rehearsal_counts_by_scope_and_layer_and_changes_nothing(memory: Memory) -> None:
    memory.tell("I live in Porto.", START)
    memory.tell("I work as a baker.", START, scope=BOB)
    tell_with(memory, "I have a dog.", Directives(event_ttl_us=DAY))
    memory.derive()
    let_pass(memory, 11)
    before = list(memory.store.snapshot())
    rules = TtlRules({Layer.EVENTS: 10 * DAY, Layer.FACTS: 20 * DAY}, erases=True)
    others = {BOB: TtlRules({Layer.FACTS: DAY})}
    counted = expirer(memory, rules, others).count(TENANT)
    assert counted == [
        ExpiringCount(TENANT, ALICE, Layer.EVENTS, 2, 2),
        ExpiringCount(TENANT, BOB, Layer.FACTS, 1, 0),
    ]
    assert list(memory.store.snapshot()) == before
    assert expirer(memory, rules, others).step() == {Layer.EVENTS: 2, Layer.FACTS: 1}


# ---- over HTTP, and on the command line


def test_who_asks_for_what_is_over_is_told_so_under_its_id_alone(world: Any) -> None:
    memory = Memory(world.store, world.clock)
    sent = {
        "scope": str(ALICE), "modality": "conversation", "idempotency_key": "k",
        "content": {"kind": "message", "role": "user", "text": "I live in Porto."},
        "context": {"observed_at": "2026-05-13T12:00:00Z"}, "directives": {"ttl_for_event_layer": "P1D"},
    }  # fmt: skip
    event_id = world.post("/v1/experience", sent).json()["event_id"]
    memory.derive()
    (fact_id,) = world.ids("/v1/facts")
    (belief_id,) = world.ids("/v1/beliefs")
    then = memory.clock.at
    let_pass(memory, 2)
    expire(memory, TtlRules())
    assert [world.ids(f"/v1/{each}") for each in ("events", "facts", "beliefs", "episodes")] == [[]] * 4
    assert world.ids("/v1/facts", as_of=rfc3339(then)) == [fact_id]
    shown_as = world.get(f"/v1/events/{event_id}")
    assert (shown_as["expired"], shown_as["excluded_from_recall"]) == (True, True)
    assert world.get(f"/v1/facts/{fact_id}")["recorded_to"] is not None
    assert world.refused(f"/v1/beliefs/{belief_id}") == (410, "RESOURCE_DELETED")
    asked = {"query": "Where does Alice live?", "scope": str(ALICE)}
    assert "Porto" not in world.post("/v1/recall", asked).text
    rows = world.get("/v1/lifecycle", scope=str(ALICE), events="expired")["items"]
    assert [row["payload"] for row in rows] == [{"layer": "events", "count": 1}]


def test_a_timeline_has_nothing_that_is_over(world: Any) -> None:
    memory = Memory(world.store, world.clock)
    memory.tell("I live in Porto.", memory.clock.at)
    memory.derive()
    let_pass(memory, 6)
    memory.tell("I live in Lisbon.", memory.clock.at)
    memory.derive()
    asked = {"subject": "Ana", "predicate": "lives_in", "scope": str(ALICE)}

    def values(**more: Any) -> list[str]:
        return [each["value"] for each in world.get("/v1/facts/timeline", **asked, **more)["timeline"]]

    assert values() == ["Porto", "Lisbon"]
    before = rfc3339(memory.clock.at)
    let_pass(memory, 6)
    expire(memory)
    assert values() == ["Lisbon"]
    assert values(as_of=before) == ["Porto", "Lisbon"]
    recalled = world.post("/v1/recall", {"query": "Where does Ana live?", "scope": str(ALICE)}).text
    assert ("Lisbon" in recalled, "Porto" in recalled) == (True, False)


@pytest.mark.parametrize("length", ["PT0S", "P101Y", "a week"])
def test_a_time_to_live_that_means_nothing_is_refused(world: Any, length: str) -> None:
    sent = {
        "scope": str(ALICE), "modality": "conversation", "idempotency_key": "k",
        "content": {"kind": "text", "text": "I live in Porto."},
        "context": {"observed_at": "2026-05-13T12:00:00Z"}, "directives": {"ttl_for_event_layer": length},
    }  # fmt: skip
    response = world.call("POST", "/v1/experience", body=sent)
    assert response.status_code == 422
    assert "ttl_for_event_layer" in response.text


def test_the_command_shows_what_is_over_and_lets_it_expire(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, durable=False)
    said = {"observed_actor": ANA, "subject": ANA, "directives": Directives(event_ttl_us=SECOND_US)}
    (event,) = append(store, "I live in Porto.", **said)
    for stage in STAGES:
        finish_all(store, stage)
    store.close()
    run = partial(CliRunner().invoke, app)
    shown_first = run(["expire", "--dry-run", "--data", str(tmp_path)])
    assert shown_first.output.splitlines()[1].split() == [TENANT, str(ALICE), "events", "1", "0"]
    assert run(["expire", "--data", str(tmp_path)]).output == "expired 1 events; a worker derives the rest\n"
    assert run(["expire", "--dry-run", "--data", str(tmp_path)]).output == "nothing is over\n"
    again = SqliteStore(tmp_path, durable=False)
    assert again.log.get(TENANT, [event.id])[event.id].is_expired
    again.close()

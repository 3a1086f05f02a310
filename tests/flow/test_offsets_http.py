"""Every door that takes a time keeps the offset that it came with, and shows it again; a brief is due on the speaker's days."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lamina import limits
from lamina.cli.importing import import_jsonl
from lamina.kernel.time import SECOND_US
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.item_hash import ItemHashes
from lamina.pipeline.worker import Worker
from lamina.types.envelope import Item

WHO = {"tenantId": "tenant_a", "userId": "user_1", "personaId": "persona_1"}
SCOPE = "org:tenant_a/user:user_1"
SENT = [
    "2026-06-30T00:30:00+05:30",
    "2026-06-29T12:00:00-07:00",
    "2026-06-29T19:00:00Z",
    "2026-06-29T19:00:00-00:00",
]
KEPT = ["+05:30", "-07:00", None, None]
ONE_INSTANT = "2026-06-29T19:00:00Z"


def item(at: str, key: str, **context: Any) -> dict[str, Any]:
    return {
        "modality": "conversation",
        "content": {"kind": "text", "text": f"tea {key}"},
        "context": {"observed_at": at, **context},
        "idempotency_key": f"key-{key}",
    }


def work(world: Any) -> None:
    world.clock.at += SECOND_US
    deriver = Deriver(world.store, RulesExtractor(find_times, use_parser=False), None)
    Worker(world.store, deriver, None, world.clock, "test").drain()


def clocks(world: Any, scope: str = SCOPE) -> list[tuple[str, str | None]]:
    """When the events of a scope happened, as they are shown, oldest first."""
    events = world.get("/v1/events", scope=scope)["items"]
    assert world.get(f"/v1/events/{events[0]['id']}")["context"] == events[0]["context"]
    return [(each["context"]["observed_at"], each["context"]["observed_offset"]) for each in reversed(events)]


def test_single_experiences_keep_the_offset(world):
    for at in SENT:
        world.post("/v1/experience", {"scope": SCOPE, **item(at, at)})
    assert clocks(world) == [(ONE_INSTANT, offset) for offset in KEPT]


def test_a_batch_keeps_the_offset_of_each_item_and_is_ordered_by_the_instants(world):
    items = [item(at, at) for at in [*SENT, "2026-06-29T23:00:00+05:30"]]
    world.post("/v1/experience/bulk", {"scope": SCOPE, "items": items, "ordering": "strict_temporal"})
    assert clocks(world) == [("2026-06-29T17:30:00Z", "+05:30"), *((ONE_INSTANT, each) for each in KEPT)]


def test_a_batch_item_is_recognised_as_it_was_before_offsets_were_kept():
    """A batch that was sent to an older release is sent again to this one."""
    given = item("2026-05-13T12:00:00+02:00", "a")
    known = "sha256:7ee3556db67e7aab8b4d5ea2cd8753998609f4da15770c003d85f819eb77ec76"
    assert ItemHashes().of(Item.model_validate(given)) == known
    assert ItemHashes().of(Item.model_validate(item("2026-05-13T10:00:00Z", "a"))) == known


def test_turns_keep_the_offset_and_repeat_by_their_instant(world):
    for number, at in enumerate(SENT):
        body = {**WHO, "role": "user", "text": f"tea {number}", "timestamp": at, "sessionId": "s"}
        world.post("/ingest", body)
        world.post("/ingest", {**body, "timestamp": ONE_INSTANT})
    assert clocks(world) == [(ONE_INSTANT, offset) for offset in KEPT]
    assert world.post("/brief", {**WHO, "now": ONE_INSTANT, "sessionId": "s"}).json()["workingMemory"] == [
        {"role": "user", "text": f"tea {number}", "timestamp": ONE_INSTANT} for number in range(4)
    ]


def test_a_session_that_is_taken_in_whole_keeps_the_offsets(world):
    messages = [{"role": "user", "text": f"tea {number}", "timestamp": at} for number, at in enumerate(SENT)]
    world.post("/session/ingest", {**WHO, "sessionId": "s", "messages": messages})
    assert clocks(world) == [(ONE_INSTANT, offset) for offset in KEPT]


def test_what_is_shown_can_be_sent_again(world):
    """An event that was read has its time in UTC and the offset beside it."""
    world.post("/v1/experience", {"scope": SCOPE, **item(ONE_INSTANT, "a", observed_offset="+05:30")})
    world.post("/v1/experience", {"scope": SCOPE, **item(SENT[0], "b", observed_offset="+05:30")})
    world.post("/v1/experience", {"scope": SCOPE, **item(ONE_INSTANT, "c", observed_offset=None)})
    assert clocks(world) == [(ONE_INSTANT, "+05:30"), (ONE_INSTANT, "+05:30"), (ONE_INSTANT, None)]


@pytest.mark.parametrize(
    ("at", "offset", "code"),
    [
        (SENT[0], "-08:00", "INVALID_ENVELOPE"),
        (ONE_INSTANT, "5.5", "INVALID_TIMESTAMP"),
        (ONE_INSTANT, 330, "INVALID_TIMESTAMP"),
        ("2026-06-30T00:30:00+25:00", None, "INVALID_TIMESTAMP"),
    ],
)
def test_an_offset_that_cannot_be_is_refused_and_nothing_is_stored(world, at, offset, code):
    response = world.call(
        "POST", "/v1/experience", body={"scope": SCOPE, **item(at, "a", observed_offset=offset)}
    )
    assert (response.status_code, response.json()["error_code"]) == (422, code)
    assert world.get("/v1/events", scope=SCOPE)["items"] == []


def test_a_promise_for_tomorrow_is_due_on_the_speakers_tomorrow(world):
    body = {**WHO, "role": "user", "sessionId": "s"}
    said = {
        "I need to call mum tomorrow.": "2026-11-22T20:00:00-08:00",
        "I need to pay the rent today.": "2026-11-22T20:01:00-08:00",
    }
    for text, at in said.items():
        world.post("/ingest", {**body, "text": text, "timestamp": at})
    work(world)
    told = world.post("/brief", {**WHO, "now": "2026-11-23T04:05:00Z", "sessionId": "s"}).json()[
        "activeLoops"
    ]
    assert [(loop["text"], loop["dueDate"]) for loop in told] == [
        ("Pay the rent", "2026-11-22"),
        ("Call mum", "2026-11-23"),
    ]


def test_a_zone_that_was_set_before_counts_for_turns_in_utc(make_world, monkeypatch):
    monkeypatch.setattr(limits, "LEARN_S_MAX", 0.0)  # nobody derives here
    world = make_world()
    world.clock.at += 10 * SECOND_US
    body = {**{name: WHO[name] for name in ("tenantId", "userId")}, "timezone": "America/Los_Angeles"}
    assert world.call("PATCH", "/user/identity", body=body).status_code == 202
    turn = {**WHO, "role": "user", "text": "I need to call mum tomorrow.", "sessionId": "s"}
    world.post("/ingest", {**turn, "timestamp": "2026-11-23T04:00:00Z"})
    work(world)
    brief = world.post("/brief", {**WHO, "now": "2026-11-23T04:05:00Z", "sessionId": "s"}).json()
    assert [loop["dueDate"] for loop in brief["activeLoops"]] == ["2026-11-23"]
    assert [offset for _, offset in clocks(world)] == [None, None]


def test_a_fact_says_by_which_clock_its_days_are_meant(world):
    world.post(
        "/v1/experience",
        {
            "scope": SCOPE,
            **item("2026-11-22T20:00:00-08:00", "a"),
            "content": {"kind": "triple", "subject": "Ana", "predicate": "lives_in", "object": "Pune"},
        },
    )
    work(world)
    (fact,) = world.get("/v1/facts", scope=SCOPE, valid_during="2026-11-01..2026-12-31")["items"]
    assert (fact["valid_from"], fact["valid_from_offset"], fact["valid_to_offset"]) == (
        "2026-11-23T04:00:00Z",
        "-08:00",
        None,
    )
    pack = world.post(
        "/v1/recall",
        {
            "scope": SCOPE,
            "query": "Where does Ana live?",
            "include": ["facts"],
            "temporal": {"valid_during": ["2026-11-01", "2026-12-31"]},
        },
    ).json()
    assert "(said 2026-11-22)" in pack["context_block"]


def test_imported_lines_keep_their_offsets(tmp_path: Path):
    class Client:
        """Takes what an import sends."""

        def __init__(self) -> None:
            self.items: list[dict[str, Any]] = []

        def experience_bulk(self, items: list[dict[str, Any]], **_: Any) -> None:
            self.items += items

    file, client = tmp_path / "lines.jsonl", Client()
    file.write_text(
        '{"text": "a", "observed_at": "2026-06-30T00:30:00+05:30", "scope": "user:ana"}\n'
        '{"text": "b", "context": {"observed_at": "2026-06-29T19:00:00Z", "observed_offset": "+05:30"}, "scope": "user:ana"}\n'
        '{"text": "c", "context": {"observed_at": "2026-06-29T19:00:00Z", "observed_offset": "+99:30"}, "scope": "user:ana"}\n'
    )
    report = import_jsonl(client, file, scope=None, actor="user:ana")  # type: ignore[arg-type]  # only what is used
    assert (report.stored, report.refused) == (2, 1)
    assert [each["context"] for each in client.items] == [
        {"observed_at": "2026-06-30T00:30:00+05:30"},
        {"observed_at": "2026-06-29T19:00:00Z", "observed_offset": "+05:30"},
    ]

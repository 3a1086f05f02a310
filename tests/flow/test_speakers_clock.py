"""Days are those of whoever speaks: by the offset that a time was sent with, or the zone that was known of them; the same after a replay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lamina.pipeline.zones
from given import ALICE, NOON, TENANT, ManualClock, append
from lamina.kernel.events import Context, Event, Party
from lamina.kernel.local import local_time, offset_text_or_none
from lamina.kernel.records import Fact, Layer, Loop
from lamina.kernel.time import SECOND_US, Axes, instant, rfc3339
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.recall.render import line_of
from lamina.session.loops import open_loops
from lamina.store.memory import MemoryStore
from lamina.store.ports.log import Capture
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore

PLAIN, PARSING = RulesExtractor(find_times, use_parser=False), RulesExtractor(find_times)
DAY = 24 * 3600 * SECOND_US
PLACES = {
    "ana": ("Lisbon", "2026-06-30T23:45:00+01:00"),
    "ben": ("Denver", "2026-06-30T20:00:00-06:00"),
    "chitra": ("Pune", "2026-06-30T00:30:00+05:30"),
    "dai": ("Tokyo", "2026-06-30T06:00:00+09:00"),
    "eve": ("Honolulu", "2026-06-30T22:15:00-10:00"),
}
"""Five people, and when each speaks; for all of them it is June 30."""


class Conversation:
    def __init__(self, store: Store, extractor: RulesExtractor = PLAIN) -> None:
        self.store, self.clock, self.extractor = store, ManualClock(NOON + 90 * DAY), extractor
        self.worker = self.working()

    def working(self, **more: Any) -> Worker:
        return Worker(self.store, Deriver(self.store, self.extractor, None, **more), None, self.clock, "test")

    def say(self, text: str, at: str, who: str = "alice", *, derive: bool = True, **more: Any) -> Event:
        person, told = Party.of(f"user:{who}"), local_time(at)
        values = {
            "observed_actor": person,
            "subject": person,
            "session": "s",
            "content": {"kind": "message", "role": "user", "text": text},
            "context": Context(observed_at=told.at, observed_offset=told.offset),
        }
        (event,) = append(self.store, text, **{**values, **more})
        if derive:
            self.worker.drain()
        return event

    def zone(self, name: str, at: str = "2026-06-01T00:00:00Z", who: str = "alice", **more: Any) -> Event:
        """Mirrors a correction of the user's identity."""
        content = {
            "kind": "triple",
            "subject": who.capitalize(),
            "predicate": "timezone",
            "object": {"value": name, "datatype": "string"},
        }
        return self.say("", at, who, content=content, modality="feedback", session=None, **more)

    def facts(self) -> list[Fact]:
        query = RecordQuery(
            tenant_id=TENANT, layer=Layer.FACTS, scopes=[ALICE], axes=Axes(seen_at=1 << 62), limit=500
        )
        found = [each for each in self.store.records.query(query) if isinstance(each, Fact)]
        return sorted(found, key=lambda fact: (fact.position, fact.id))

    def homes(self) -> dict[str, str]:
        """By place, since when somebody lives there as a reader sees it, and the instant."""
        homes = [fact for fact in self.facts() if fact.predicate == "lives_in"]
        return {
            fact.object.text: f"{line_of(fact, ()).split('(')[1]} {rfc3339(fact.valid_from)}"
            for fact in homes
        }

    def dues(self) -> list[str | None]:
        loops = sorted(open_loops(self.store.records, TENANT, ALICE), key=lambda loop: loop.position)
        return [loop.due_day for loop in loops]

    def offsets(self) -> list[str | None]:
        return [offset_text_or_none(event.offset) for event in self.store.log.walk(TENANT, 0, 100)]

    def replays(self, **more: Any) -> None:
        before, offsets = list(self.store.snapshot()), self.offsets()
        self.store.jobs.reset()
        self.working(**more).drain()
        assert list(self.store.snapshot()) == before
        assert self.offsets() == offsets


@pytest.fixture(params=["sqlite", "memory"])
def talk(request: pytest.FixtureRequest, tmp_path: Path):
    clock = ManualClock()
    store: Store = (
        SqliteStore(tmp_path, clock=clock, durable=False)
        if request.param == "sqlite"
        else MemoryStore(clock=clock)
    )
    yield Conversation(store)
    store.close()


@pytest.fixture
def parsed(talk):
    """The talk, read with the parser, which tells a place from the time behind it."""
    talk.extractor = PARSING
    talk.worker = talk.working()
    return talk


@pytest.mark.parametrize(
    ("words", "day"), [("yesterday", "2026-06-29"), ("today", "2026-06-30"), ("on Sunday", "2026-06-28")]
)
def test_people_of_five_zones_moved_on_their_own_days(parsed, words, day):
    for who, (place, at) in PLACES.items():
        parsed.say(f"I moved to {place} {words}.", at, who)
    midnights = {place: rfc3339(instant(f"{day}T00:00:00{at[-6:]}")) for place, at in PLACES.values()}
    assert parsed.homes() == {place: f"since {day}) {midnight}" for place, midnight in midnights.items()}
    parsed.replays()


def test_what_they_will_do_tomorrow_is_due_on_their_own_tomorrow(talk):
    for _, at in PLACES.values():
        # One person who travels: loops are of the person of the scope.
        talk.say(f"I need to call number {at[-5:-3]} tomorrow.", at)
    assert talk.dues() == ["2026-07-01"] * 5
    talk.replays()


def test_tonight_west_of_greenwich_is_not_tomorrow(talk):
    talk.say("I need to call mum tomorrow.", "2026-11-22T20:00:00-08:00")
    talk.say("I need to pay the rent today.", "2026-11-22T20:01:00-08:00")
    assert talk.dues() == ["2026-11-23", "2026-11-22"]
    (mum, _) = sorted(open_loops(talk.store.records, TENANT, ALICE), key=lambda loop: loop.position)
    assert (rfc3339(mum.due_at), mum.text[-15:]) == ("2026-11-24T08:00:00Z", " due 2026-11-23")
    talk.replays()


def test_without_an_offset_the_zone_that_was_known_before_counts(talk):
    talk.say("I need to water the plants tomorrow.", "2026-11-23T04:00:00Z")
    talk.zone("America/Los_Angeles", "2026-11-23T04:01:00Z")
    talk.say("I need to call mum tomorrow.", "2026-11-23T04:02:00Z")
    talk.say("I need to buy milk tomorrow.", "2026-11-23T04:03:00+09:00")
    assert talk.dues() == ["2026-11-24", "2026-11-23", "2026-11-24"]
    assert talk.offsets() == [None, None, "-08:00", "+09:00"]
    events = talk.store.log.walk(TENANT, 0, 9)
    assert [event.context.observed_offset for event in events] == [None, None, None, 540]
    talk.replays()


def test_the_users_own_words_tell_the_zone_and_nobody_elses(parsed):
    parsed.say("My timezone is Asia/Tokyo.", "2026-11-20T08:00:00Z", "bob")
    parsed.say("I need to call mum tomorrow.", "2026-11-22T20:00:00Z")
    parsed.say("My timezone is Asia/Kolkata.", "2026-11-22T20:01:00Z")
    parsed.say("I need to buy milk tomorrow.", "2026-11-22T20:02:00Z")
    assert parsed.dues() == ["2026-11-23", "2026-11-24"]
    parsed.replays()


@pytest.mark.parametrize("land_max", [1, 100])
def test_what_is_read_together_is_read_by_the_zone_that_came_just_before(parsed, land_max):
    parsed.zone("Asia/Kolkata", "2026-06-29T18:00:00Z", derive=False)
    parsed.say("I moved to Pune yesterday.", "2026-06-29T19:00:00Z", derive=False)
    parsed.say("I need to call mum tomorrow.", "2026-06-29T19:01:00Z", derive=False)
    parsed.working(land_max=land_max).drain()
    assert parsed.homes() == {"Pune": "since 2026-06-29) 2026-06-28T18:30:00Z"}
    assert parsed.dues() == ["2026-07-01"]
    parsed.replays(land_max=101 - land_max)


def test_summer_time_is_that_of_the_instant(talk):
    talk.zone("America/New_York", "2026-01-01T00:00:00Z")
    talk.say("I need to call mum tomorrow.", "2026-11-01T03:30:00Z")  # 23:30 in summer time
    talk.say("I need to buy milk tomorrow.", "2026-11-02T04:30:00Z")  # 23:30 in winter time
    assert talk.dues() == ["2026-11-01", "2026-11-02"]
    assert talk.offsets()[1:] == ["-04:00", "-05:00"]
    talk.replays()


def test_a_zone_that_was_taken_back_counts_no_more(talk):
    talk.zone("America/Los_Angeles", "2026-11-01T00:00:00Z")
    content = {"kind": "triple", "subject": "Alice", "predicate": "timezone", "object": None}
    talk.say("", "2026-11-02T00:00:00Z", content=content, modality="feedback", session=None)
    talk.say("I need to call mum tomorrow.", "2026-11-23T04:00:00Z")
    assert talk.dues() == ["2026-11-24"]
    talk.replays()


def test_a_replay_takes_no_tables_of_zones(talk, monkeypatch):
    """Where tables change, or are gone, what was read by the old ones stays."""
    talk.zone("America/Los_Angeles", "2026-11-01T00:00:00Z")
    talk.say("I need to call mum tomorrow.", "2026-11-23T04:00:00Z")
    monkeypatch.setattr(lamina.pipeline.zones, "offset_in", lambda zone, at: 14 * 60)
    talk.replays()
    assert talk.dues() == ["2026-11-23"]


def test_a_cancelled_zone_changes_nothing_that_was_read_by_it(talk):
    told = talk.zone("America/Los_Angeles", "2026-11-01T00:00:00Z")
    talk.say("I need to call mum tomorrow.", "2026-11-23T04:00:00Z")
    talk.store.log.cancel(TENANT, told.id)
    talk.worker.drain()
    talk.say("I need to buy milk tomorrow.", "2026-11-23T04:01:00Z")
    assert talk.dues() == ["2026-11-23", "2026-11-24"]
    talk.replays()


def test_events_of_an_older_log_are_read_as_before(parsed):
    """They have no offset, and nothing of them is known but the instant."""
    parsed.say("I moved to Pune yesterday.", "2026-06-29T19:00:00Z")
    assert parsed.homes() == {"Pune": "since 2026-06-28) 2026-06-28T00:00:00Z"}
    (fact,) = [fact for fact in parsed.facts() if fact.predicate == "lives_in"]
    assert (fact.from_offset, fact.to_offset) == (None, None)
    assert parsed.offsets() == [None]


def test_what_ends_a_claim_is_dated_by_the_clock_of_who_ended_it(parsed):
    parsed.say("I moved to Denver yesterday.", "2026-05-01T20:00:00-06:00")
    parsed.say("I moved to Pune yesterday.", "2026-06-30T00:30:00+05:30")
    assert parsed.homes()["Denver"] == "2026-04-30 to 2026-06-29) 2026-04-30T06:00:00Z"
    parsed.say("I moved to Boulder on May 20.", "2026-06-30T00:30:00-06:00")
    assert parsed.homes() == {
        "Denver": "2026-04-30 to 2026-05-20) 2026-04-30T06:00:00Z",
        "Boulder": "2026-05-20 to 2026-06-29) 2026-05-20T06:00:00Z",
        "Pune": "since 2026-06-29) 2026-06-28T18:30:00Z",
    }
    parsed.replays()


def test_an_event_is_shown_by_the_clock_that_it_came_with(talk):
    event = talk.say("I moved to Pune yesterday.", "2026-06-30T00:30:00+05:30")
    assert (
        line_of(event, ()) == '2026-06-30 00:30 Alice: "I moved to Pune yesterday." (yesterday: 2026-06-29)'
    )


def test_a_loop_that_is_said_again_elsewhere_is_due_on_the_day_named_last(talk):
    talk.say("I need to call mum tomorrow.", "2026-11-22T20:00:00-08:00")
    talk.say("I need to call mum tomorrow.", "2026-11-24T06:00:00+09:00")
    assert talk.dues() == ["2026-11-25"]
    (loop,) = open_loops(talk.store.records, TENANT, ALICE)
    assert isinstance(loop, Loop)
    assert rfc3339(loop.due_at) == "2026-11-25T15:00:00Z"
    talk.replays()


def test_the_first_clock_that_lands_stays_and_a_sent_one_is_never_replaced(talk):
    talk.zone("Asia/Tokyo")
    unsent = talk.say("I need to call mum tomorrow.", "2026-11-22T20:00:00Z")
    sent = talk.say("I need to buy milk tomorrow.", "2026-11-22T20:00:00+00:00")
    stored = talk.store.log.get(TENANT, [unsent.id, sent.id])
    assert stored[unsent.id] == replace(unsent, zone_offset=540)
    assert stored[sent.id] == sent
    assert (sent.context.observed_offset, sent.offset) == (0, 0)
    assert talk.store.log.append([Capture(unsent)])[0].event.zone_offset is None

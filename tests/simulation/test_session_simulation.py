"""Random conversations against a plain model of the contract: the brief is what the model says, on both engines."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from given import NOON, CountedIds, ManualClock, outbox_states
from lamina import limits
from lamina.access.policy import PolicyPermits
from lamina.kernel.operations import Call, Principal
from lamina.kernel.time import SECOND_US, duration_text, instant, rfc3339
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.session.brief import Briefing
from lamina.session.drain import Drain
from lamina.session.folding import TurnWords, bridge_text, fold_turn
from lamina.session.ingest import Ingesting
from lamina.session.names import scope_of
from lamina.store.memory import MemoryStore
from lamina.store.ports.sessions import SessionKey
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore
from lamina.types.sessions import BriefAsked, Ingest
from policies import OpenPolicy

STEPS = 300
SEEDS = [int(os.environ["SIMULATION_SEED"])] if "SIMULATION_SEED" in os.environ else [1, 2]
MINUTE = 60 * SECOND_US
DAY = 24 * 60 * MINUTE
WORDS = ["ok", "We moved to Lisbon.", "Shall I book it?", "My flight is at 9."]
OPENS = {
    "I need to call Ana on Friday.": ("commitment", "Call Ana"),
    "I need to pay rent.": ("commitment", "Pay rent"),
    "I'm still waiting for the landlord.": ("thread", "Waiting for the landlord"),
    "My laptop keeps crashing.": ("friction", "My laptop keeps crashing"),
}
ON_FRIDAY = {"Call Ana"}
ENDS = {
    "I called Ana.": "Call Ana",
    "I paid the rent.": "Pay rent",
    "Never mind the rent.": "Pay rent",
    "The laptop works again.": "My laptop keeps crashing",
}
TELLS = {
    "I live in Lisbon.": ("home", "Lisbon"),
    "I live in Porto.": ("home", "Porto"),
    "I work as a nurse.": ("occupation", "nurse"),
    "My name is Kai.": ("name", "Kai"),
    "My name is Bo.": ("name", "Bo"),
}
FIRST, LAST = instant("0001-01-01T00:00:00Z"), instant("9999-12-31T23:59:59.999999Z")
SAYINGS = [*WORDS, *OPENS, *ENDS, *TELLS]
EXTRACTOR = RulesExtractor(find_times, use_parser=False)
USERS = [("acme", "u1"), ("acme", "u2"), ("other", "u1")]
SESSIONS = ["s-1", "s-2"]


def day_of(seen_at: int) -> int:
    """The end of the Friday that is meant by what was said last."""
    day = seen_at // DAY
    thursday = 0  # 1 January 1970
    return (day + (thursday + 1 - day) % 7 + 1) * DAY


def presses(text: str, seen_at: int, now: int) -> bool:
    """What is due within a week, or was since yesterday."""
    return text in ON_FRIDAY and now - DAY <= day_of(seen_at) <= now + 7 * DAY


@dataclass
class Sitting:
    """Contract: 12 messages; what leaves is folded, in order, once, and until then told in the words of the rules.

    A clock that ran ahead is not believed.
    """

    last_at: int
    recorded_at: int
    number: int
    window: list[tuple[str, str, int]] = field(default_factory=list)
    waiting: list[TurnWords] = field(default_factory=list)
    summary: str = ""
    closed: bool = False

    def heard_at(self, now: int) -> int:
        if self.last_at > now + 30 * MINUTE and self.last_at > self.recorded_at:
            return self.recorded_at
        return self.last_at

    def over(self, now: int) -> bool:
        return self.closed or now - self.heard_at(now) > 30 * MINUTE

    def close(self) -> None:
        self.closed = True
        self.waiting += [TurnWords(role, text) for role, text, _ in self.window]

    def fold(self) -> None:
        while self.waiting:
            self.summary = fold_turn(self.summary, self.waiting.pop(0))

    def unfolded(self) -> list[TurnWords]:
        """What left the window and is not folded, as far back as a read goes."""
        return self.waiting[-limits.SESSION_UNFOLDED_READ_MAX :]

    def told(self) -> str:
        summary = self.summary
        for turn in self.unfolded():
            summary = fold_turn(summary, turn)
        return summary

    def bridge(self) -> str:
        window = [] if self.closed else [TurnWords(role, text) for role, text, _ in self.window]
        return bridge_text(self.summary, [*self.unfolded(), *window])


@dataclass
class Person:
    """What a user left open, and said of themselves, by their own words; in the order of arrival."""

    waiting: list[tuple[str, int, int]] = field(default_factory=list)
    loops: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    """Salience and when it was last spoken of."""
    said: dict[str, tuple[int, str]] = field(default_factory=dict)
    """When each was said last: at the time of the turn, at most when it was recorded."""

    def derive(self) -> None:
        while self.waiting:
            self.hear(*self.waiting.pop(0))

    def hear(self, text: str, at: int, recorded_at: int) -> None:
        if text in OPENS:
            salience, seen_at = self.loops.get(OPENS[text], (2, at))
            self.loops[OPENS[text]] = min(5, salience + 1), max(seen_at, at)
        for loop in [loop for loop in self.loops if loop[1] == ENDS.get(text)]:
            del self.loops[loop]
        if text in TELLS:
            key, value = TELLS[text]
            new = min(at, recorded_at), value
            self.said[key] = max(new, self.said.get(key, new), key=lambda item: item[0])

    def shown(self, now: int) -> dict[str, Any]:
        known = {key: value for key, (_, value) in self.said.items()}
        return {
            "identity": {"name": known.pop("name", None), "timezone": None, "facts": known},
            "activeLoops": [
                {
                    "type": kind,
                    "status": "active",
                    "text": text,
                    "salience": salience,
                    "dueDate": rfc3339(day_of(seen_at) - 1)[:10] if text in ON_FRIDAY else None,
                }
                for (kind, text), (salience, seen_at) in sorted(
                    self.loops.items(),
                    key=lambda item: (
                        not presses(item[0][1], item[1][1], now),
                        -item[1][1],
                        -item[1][0],
                        item[0],
                    ),
                )
            ],
        }


class Model:
    def __init__(self) -> None:
        self.sittings: dict[tuple[str, str, str], list[Sitting]] = {}
        self.people: dict[tuple[str, str], Person] = {user: Person() for user in USERS}
        self.known: set[Any] = set()
        self.count = 0

    def ingest(
        self, user: tuple[str, str], session: str, role: str, text: str, at: int, recorded_at: int
    ) -> None:
        if (user, session, role, text, at) in self.known:
            return
        self.known.add((user, session, role, text, at))
        self.count += 1
        if role == "user":
            self.people[user].waiting.append((text, at, recorded_at))
        sittings = self.sittings.setdefault((*user, session), [])
        counted_at = recorded_at if at > recorded_at + 366 * DAY else at
        if sittings and not sittings[-1].closed and sittings[-1].over(counted_at):
            sittings[-1].close()
        if not sittings or sittings[-1].closed:
            sittings.append(Sitting(counted_at, recorded_at, self.count))
        sitting = sittings[-1]
        sitting.window.append((role, text, at))
        if len(sitting.window) > 12:
            sitting.waiting.append(TurnWords(*sitting.window.pop(0)[:2]))
        sitting.last_at = max(sitting.heard_at(counted_at), counted_at)
        sitting.recorded_at, sitting.number = recorded_at, self.count

    def brief(self, user: tuple[str, str], session: str, now: int, mode: str) -> dict[str, Any]:
        of_user = sorted(
            (s for place, held in self.sittings.items() if place[:2] == user for s in held),
            key=lambda sitting: -sitting.number,
        )
        here = self.sittings.get((*user, session), [])
        last = here[-1].heard_at(now) if here else of_user[0].heard_at(now) if of_user else None
        over = [sitting for sitting in of_user[:8] if sitting.over(now)]
        return {
            "temporalAuthority": {
                "now": rfc3339(now),
                "lastInteractionTime": None if last is None else rfc3339(last),
                "timeSinceLastInteraction": None if last is None else duration_text(now - last),
            },
            "workingMemory": [
                {"role": role, "text": text, "timestamp": rfc3339(at)}
                for role, text, at in (here[-1].window if here and not here[-1].closed else [])
            ],
            "rollingSummary": here[-1].told() if here else "",
            "episodeBridge": over[0].bridge() if over and mode == "session_start" else "",
            **self.people[user].shown(now),
        }


class Simulation:
    def __init__(self, seed: int, folder: Path) -> None:
        self.random = random.Random(seed)
        self.clock = ManualClock()
        self.at = NOON
        self.model = Model()
        self.stores: list[Store] = [
            SqliteStore(folder, clock=self.clock, ids=CountedIds(), durable=False),
            MemoryStore(clock=self.clock, ids=CountedIds()),
        ]
        self.workers = [
            Worker(store, Deriver(store, EXTRACTOR, None), None, self.clock, "simulated")
            for store in self.stores
        ]
        self.said: list[dict[str, Any]] = []

    def call(self) -> Call:
        principal = Principal("lamina", "service:app", "http")
        return Call(principal, "req_1", self.clock.at, PolicyPermits(OpenPolicy(), principal))

    def step(self) -> None:
        act = self.random.choices(
            [self.ingest, self.repeat, self.fold, self.derive, self.close, self.brief], [12, 2, 2, 2, 1, 4]
        )
        act[0]()

    def ingest(self) -> None:
        self.clock.at += SECOND_US
        self.at += self.random.choice([1, 5, 30, 31, 29]) * (
            MINUTE if self.random.random() < 0.1 else SECOND_US
        )
        at = self.at - self.random.choice([0, 0, 0, 2 * MINUTE, 50 * MINUTE])
        text = self.random.choice(SAYINGS)
        if self.random.random() < 0.05:
            text = self.random.choice([*WORDS, *TELLS])  # a loop of another century would not be active
            at = self.random.choice([at + DAY, at + 100 * 365 * DAY, FIRST, LAST])
        tenant, user = self.random.choice(USERS)
        body = {
            "tenantId": tenant,
            "userId": user,
            "personaId": "p",
            "role": self.random.choice(["user", "assistant"]),
            "text": text,
            "timestamp": rfc3339(at),
            "metadata": {"sessionId": self.random.choice(SESSIONS)},
        }
        self.said.append(body)
        self.send(body, at)

    def repeat(self) -> None:
        if self.said:
            body = self.random.choice(self.said[-20:])
            self.send(body, None)

    def send(self, body: dict[str, Any], at: int | None) -> None:
        request = Ingest.model_validate(body)
        user, session = (body["tenantId"], body["userId"]), body["metadata"]["sessionId"]
        if at is not None:
            self.model.ingest(user, session, body["role"], body["text"], at, self.clock.at)
        for store in self.stores:
            answer = Ingesting(store).ingest(request, self.call())
            assert answer.result.model_dump(by_alias=True) == {"ok": True, "sessionId": session}

    def fold(self) -> None:
        for store in self.stores:
            Drain(store, self.clock).drain()
        for sittings in self.model.sittings.values():
            for sitting in sittings:
                sitting.fold()

    def derive(self) -> None:
        for worker in self.workers:
            worker.drain()
        for person in self.model.people.values():
            person.derive()

    def replay(self) -> None:
        for store, worker in zip(self.stores, self.workers, strict=True):
            before = list(store.snapshot())
            store.jobs.reset()
            worker.drain()
            assert list(store.snapshot()) == before

    def close(self) -> None:
        user, session = self.random.choice(USERS), self.random.choice(SESSIONS)
        held = self.model.sittings.get((*user, session), [])
        for store in self.stores:
            ended = store.sessions.close(SessionKey("lamina", scope_of(*user), session), self.clock.at)
            assert (ended is not None) == bool(held and not held[-1].closed)
        if held and not held[-1].closed:
            held[-1].close()

    def brief(self) -> None:
        user, session = self.random.choice(USERS), self.random.choice([*SESSIONS, "never"])
        mode = self.random.choice(["session_start", "in_session"])
        now = self.at + self.random.choice([0, 31, 31, -40, 2000]) * MINUTE
        asked = BriefAsked(
            tenant_id=user[0],
            user_id=user[1],
            persona_id="p",
            session_id=session,
            now=rfc3339(now),
            mode=mode,
        )
        wanted = self.model.brief(user, session, now, mode)
        for store in self.stores:
            given = Briefing(store).brief(asked, self.call()).result.model_dump(mode="json", by_alias=True)
            for loop in given["activeLoops"]:
                del loop["id"]
            facts = given["identity"]["facts"]
            for doubt in [each for each in facts if each.endswith("MayHaveChanged")]:
                del facts[
                    doubt
                ]  # a sign of change is no matter of the model, and stands beside the value alone
                assert doubt.removesuffix("MayHaveChanged") in facts
            assert {name: given[name] for name in wanted} == wanted


@pytest.mark.parametrize("seed", SEEDS)
def test_every_brief_is_what_the_model_of_the_contract_says(seed: int, tmp_path: Path) -> None:
    simulation = Simulation(seed, tmp_path)
    for _ in range(STEPS):
        simulation.step()
    simulation.fold()
    simulation.derive()
    simulation.replay()
    simulation.brief()
    for store in simulation.stores:
        assert outbox_states(store) == []
        store.close()
    people = simulation.model.people.values()
    assert any(person.loops for person in people)
    assert any(person.said for person in people)
    assert any(len(sittings) > 1 for sittings in simulation.model.sittings.values())

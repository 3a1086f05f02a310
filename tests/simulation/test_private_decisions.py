"""Histories with and without what senders decide of who is who: the scope that they send to believes the same, to the last figure.

The gate tries some two hundred; ``TRAVEL_CASES=5000`` tries so many, ``SIMULATION_SEED`` begins at another seed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from given import TENANT, ManualClock, draft
from lamina.forget.stepping import erased_in_steps
from lamina.kernel.events import IDENTITY, Context, Directives, Event, Origin, Party, Trust
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.records import Belief, Fact, Layer, Stance
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, Axes
from lamina.language.entities import entity_id, normalise_name
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.values import EntityRef, Extraction, Kind, Span, TakenBack, Triple, Utterance
from lamina.pipeline.upgrading import Upgrader
from lamina.pipeline.worker import Worker
from lamina.store.entities import standing_entity
from lamina.store.memory import MemoryStore
from lamina.store.ports.erasing import Erasure
from lamina.store.ports.log import Capture
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore
from told import DAY, START, Memory
from upgrades import derive_anew

CASES = int(os.environ.get("TRAVEL_CASES", "40"))
FIRST_SEED = int(os.environ.get("SIMULATION_SEED", "1")) * 1_000_000
SOME_OF = 6
"""One history of so many is replayed, and told to the other engine, too."""
ENTRIES_MAX = 8
VERSIONS = {"facts": "1"}
TEAM, ANA, EVE = Scope("ws:launch"), Scope("user:ana"), Scope("ws:eve")
SPEAKERS = {"ana": Party("user:ana", "user", "Ana"), "bob": Party("user:bob", "user", "Bob")}
NAMES = ("Bob", "Robert", "Rob")
VALUES = ("Oslo", "Rome", "Christiania")
SINGLE, MANY = ("lives_in", "works_at"), ("likes", "dislikes", "knows", "friend_of")
AFTER = START + 90 * DAY


@dataclass(frozen=True)
class Told:
    """Something that is told in a scope, stated or in words, and where it is sent."""

    scope: Scope
    into: Scope | None
    content: dict[str, Any] | Extraction
    day: int
    speaker: Party
    trust: Trust
    only: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Decided:
    """That two are one, or one is two, in a scope; ``seed`` chooses among what is known there then."""

    scope: Scope
    seed: int
    merges_alone: bool = False


@dataclass(frozen=True)
class Gone:
    """One of the events so far is cancelled or erased, or Eve's scope is forgotten; ``seed`` chooses which."""

    how: str
    seed: int


Entry = Told | Decided | Gone | None


class EntryIds:
    """Ids that depend on the entry alone, so that histories with and without decisions have the same ones."""

    def __init__(self) -> None:
        self.entry = self._count = 0

    def begin(self, entry: int) -> None:
        self.entry, self._count = entry, 0

    def stamped(self, prefix: Prefix, at_us: int) -> str:
        self._count += 1
        return derived_id(prefix, at_us, self.entry, self._count)


def some_telling(chance: random.Random, predicates: Sequence[str]) -> Told:
    scope = chance.choice([ANA, ANA, ANA, EVE, TEAM])
    predicate = chance.choice(predicates)
    value = chance.choice([*VALUES, *NAMES[:2]] if predicate in MANY else VALUES)
    day = chance.randrange(40)
    content: dict[str, Any] = {
        "kind": "triple",
        "subject": {"type": "entity", "name": chance.choice(["Ana", *NAMES[:2], *NAMES])},
        "predicate": predicate,
        "object": {"type": "entity", "name": value},
    }
    if chance.random() < 0.12:
        content["negated"] = True
    elif chance.random() < 0.1:
        content["object"] = None
    if chance.random() < 0.15:
        content["valid_from"] = f"2026-03-{chance.randrange(1, 28):02}"
        if chance.random() < 0.4:
            content["valid_to"] = f"2026-04-{chance.randrange(1, 28):02}"
    if chance.random() < 0.3:
        content["confidence"] = chance.choice([0.5, 0.7])
    return Told(
        scope=scope,
        into=chance.choice([ANA, None] if scope == TEAM else [TEAM, TEAM, TEAM, None]),
        content=some_words(chance) if predicate in SINGLE and chance.random() < 0.5 else content,
        day=day,
        speaker=SPEAKERS[chance.choice(["ana", "ana", "bob"])],
        trust=Trust.EXTERNAL if chance.random() < 0.1 else Trust.PRINCIPAL,
        only=("lives_in", "Bob") if chance.random() < 0.1 else None,
    )


def some_words(chance: random.Random) -> Extraction:
    """What a person says of people, whom they may introduce; or that something is so no more."""
    person, speaker = chance.choice(NAMES[:2]), EntityRef("Ana", "ana", "person")
    subject = EntityRef(person, normalise_name(person), "person")
    predicate = chance.choice(SINGLE)
    value = chance.choice(VALUES)
    of_place = EntityRef(value, normalise_name(value), "place")
    if chance.random() < 0.15:
        return Extraction(taken_back=(TakenBack(subject, predicate, chance.choice([None, of_place])),))
    triples = [_triple(subject, predicate, of_place, negated=chance.random() < 0.1)]
    if chance.random() < 0.4:
        tie = _triple(speaker, chance.choice(["friend_of", "colleague_of"]), subject, kind="relation")
        triples.insert(0, tie)
    return Extraction(triples=tuple(triples))


def _triple(
    subject: EntityRef, predicate: str, value: EntityRef, *, kind: Kind = "attribute", negated: bool = False
) -> Triple:
    return Triple(
        subject=subject,
        predicate=predicate,
        object=value,
        kind=kind,
        confidence=0.9,
        evidence=Span(0, 0),
        negated=negated,
        single_valued=predicate in SINGLE,
    )


class Reader(RulesExtractor):
    """Reads what was told by its number: words are not what is tried here."""

    def __init__(self) -> None:
        super().__init__(find_times, use_parser=False)
        self.said: dict[str, Extraction] = {}

    def extract(self, utterances: Sequence[Utterance]) -> Iterator[Extraction]:
        for utterance in utterances:
            yield self.said[utterance.text]


def history(chance: random.Random, *, decides: Sequence[Scope], gone: str | None = None) -> list[Entry]:
    entries: list[Entry] = []
    # Few matters, so that those meet of whom somebody decides.
    predicates = [chance.choice([*SINGLE, *MANY]), chance.choice(SINGLE)]
    for _ in range(chance.randint(4, ENTRIES_MAX)):
        if entries and chance.random() < 0.35:
            entries.append(Decided(chance.choice(decides), chance.getrandbits(32)))
        else:
            entries.append(some_telling(chance, predicates))
    if gone is not None:
        entries.insert(chance.randint(1, len(entries)), Gone(gone, chance.getrandbits(32)))
    return entries


class Story:
    """A memory to which a history is told."""

    def __init__(self, store_of: Callable[[ManualClock, EntryIds], Store]) -> None:
        self.clock, self.ids = ManualClock(AFTER), EntryIds()
        self.reader = Reader()
        self.memory = Memory(store_of(self.clock, self.ids), self.clock, self.reader)
        self.upgrader = Upgrader(self.memory.store, VERSIONS, self._worker_of, self.clock)
        self.memory.store.rederivation.note_all(VERSIONS)
        self.told: list[Event] = []

    def _worker_of(self, store: Store) -> Worker:
        return Worker(store, Deriver(store, self.reader, None), None, self.clock, "aside")

    def tell(self, entries: Sequence[Entry], *, without: Sequence[Scope] = (), pauses: int = 0) -> Story:
        chance = random.Random(pauses)
        for number, entry in enumerate(entries):
            self.clock.at = AFTER + (number + 1) * SECOND_US * 10
            self.ids.begin(number)
            match entry:
                case Told():
                    self._tell(entry)
                case Decided():
                    self.memory.derive()
                    if entry.scope not in without:
                        self._decide(entry)
                case Gone():
                    self.memory.derive()
                    self._take_away(entry)
                case None:
                    self.memory.derive()
            if chance.random() < 0.4:
                self.memory.derive()
        self.memory.derive()
        return self

    def _tell(self, told: Told) -> None:
        content = told.content
        if isinstance(content, Extraction):
            text = f"telling {self.ids.entry}"
            self.reader.said[text] = content
            content = {"kind": "message", "role": "user", "text": text}
        told_event = draft(
            content=content,
            scope=told.scope,
            caller=told.speaker.id,
            observed_actor=told.speaker,
            subject=told.speaker,
            context=Context(observed_at=START + told.day * DAY),
            directives=Directives(consolidate_into=told.into, consolidate_only=told.only if told.into else None),
            origin=Origin("service:app", "http", told.trust),
        )  # fmt: skip
        self.told.append(self.memory.store.log.append([Capture(told_event)])[0].event)

    def _decide(self, decided: Decided) -> None:
        chance, store = random.Random(decided.seed), self.memory.store
        names = [*NAMES, *VALUES] if chance.random() < 0.4 else list(NAMES)
        one, other = chance.choice(names), chance.choice(["Ana", *names])
        standing = {name: standing_entity(store, TENANT, decided.scope, of(name)) for name in (one, other)}
        if decided.merges_alone or chance.random() < 0.6:
            if standing[one] == standing[other]:
                return
            said = {"action": "merge", "entity_id": standing[one], "into": standing[other]}
        else:
            here = [event.id for event in self.told if event.scope == decided.scope]
            taken_in = standing[one] != of(one)
            new = one if taken_in else f"{one} the other"
            events = [] if taken_in else chance.sample(here, min(2, len(here)))
            said = {"action": "split", "entity_id": standing[one], "new_id": of(new), "name": new, "events": events}  # fmt: skip
        entry = draft(
            content={"kind": IDENTITY, **said},
            scope=decided.scope,
            modality=IDENTITY,
            origin=Origin("user:ana", IDENTITY, Trust.PRINCIPAL),
            directives=Directives(embed="none"),
        )
        store.log.append_entry(entry)

    def _take_away(self, gone: Gone) -> None:
        if not self.told:
            return
        event = random.Random(gone.seed).choice(self.told)
        if gone.how == "cancel":
            self.memory.store.log.cancel(TENANT, event.id)
            return
        step = Erasure(
            tenant_id=TENANT,
            erasure_id="audit_x",
            by_actor="user:ana",
            cascade="redact_events",
            redact=[event.id],
        )
        if gone.how == "forget":
            own = [each.id for each in self.memory.store.log.walk(TENANT, 0, 100) if each.scope == EVE]
            step = replace(step, cascade="gdpr", redact=[], delete=own, scopes=[EVE], actor="redacted:x")
        list(erased_in_steps(self.memory.store, step))
        self.upgrader.begin()
        derive_anew(self.upgrader)


def of(name: str) -> str:
    return entity_id(TENANT, normalise_name(name))


def in_memory(clock: ManualClock, ids: EntryIds) -> Store:
    return MemoryStore(clock=clock, ids=ids)


def believed(
    store: Store, scope: Scope = TEAM, *, deprecated: bool = True, but_for: Collection[str] = ()
) -> list[str]:
    """What a scope believes, but for some claims, and for ids, recorded times and how often it was revised."""
    query = RecordQuery(
        tenant_id=TENANT, layer=Layer.BELIEFS, scopes=[scope], axes=Axes(seen_at=1 << 60), limit=500
    )
    beliefs = {
        each.id: each
        for each in store.records.query(query)
        if isinstance(each, Belief) and each.claim_key not in but_for
        if deprecated or each.stance is not Stance.DEPRECATED
    }
    facts = store.records.get(TENANT, {e.source_id for b in beliefs.values() for e in b.evidence})

    def rests_on(source_id: str) -> str:
        """Of a fact of the scope what it says, of any other only from where it was sent."""
        fact = facts[source_id]
        assert isinstance(fact, Fact), "beliefs rest on facts that are there"
        return fact.claim_key if fact.scope == scope else str(fact.scope)

    def named(belief: Belief) -> tuple[Any, ...]:
        return belief.claim_key, belief.valid_from, belief.valid_to

    return sorted(
        repr((named(b), b.subject, b.object, b.confidence, b.alpha, b.beta, b.lower, b.upper, b.stance.value, b.external,
              b.trust, b.said_by, b.by_assistant, b.handed_over, b.demoted_by,
              sorted(repr(named(beliefs[other])) for other in b.contradicts if other in beliefs),
              sorted((rests_on(e.source_id), e.weight, e.polarity) for e in b.evidence)))
        for b in beliefs.values()
    )  # fmt: skip


def unfindable(store: Store, scope: Scope) -> set[str]:
    """The beliefs of a scope that search has no words of."""
    query = RecordQuery(
        tenant_id=TENANT, layer=Layer.BELIEFS, scopes=[scope], axes=Axes(seen_at=1 << 60), limit=500
    )
    rows = store.index.texts_after(TENANT, scope, 0, 1_000)
    return {each.id for each in store.records.query(query)} - {each.record_id for each in rows}


def without_words(store: Store) -> set[str]:
    """The claims of beliefs that rest on erased words: these are kept as they stood, by the sender's names."""
    bare = {each.id for each in store.log.walk(TENANT, 0, 100) if each.redacted_by is not None}
    behind = {each for found in store.records.resting_on(TENANT, bare).values() for each in found}
    resting = {each for found in store.records.resting_on(TENANT, behind).values() for each in found}
    found = store.records.get(TENANT, resting).values()
    return {each.claim_key for each in found if isinstance(each, Belief)}


def named_in_beliefs(store: Store) -> set[str]:
    """The entities that the team's beliefs name."""
    query = RecordQuery(
        tenant_id=TENANT, layer=Layer.BELIEFS, scopes=[TEAM], axes=Axes(seen_at=1 << 60), limit=500
    )
    beliefs = [each for each in store.records.query(query) if isinstance(each, Belief)]
    standing = [each for each in beliefs if each.stance is not Stance.DEPRECATED]
    return {key for each in standing for key in (each.subject.id, each.object.id) if key is not None}


@pytest.mark.parametrize("gone", [None, "cancel", "erase", "forget"])
@pytest.mark.parametrize("scope", [TEAM, ANA])
def test_what_a_sender_decides_shows_nowhere_else(scope: Scope, gone: str | None) -> None:
    print(f"{CASES // 2} histories from seed {FIRST_SEED}")
    for seed in range(FIRST_SEED, FIRST_SEED + CASES // 2):
        entries = history(random.Random(seed), decides=[ANA, ANA, EVE, TEAM], gone=gone)
        senders = [each for each in (ANA, EVE, TEAM) if each != scope]
        decided = Story(in_memory).tell(entries, pauses=seed)
        plain = Story(in_memory).tell(entries, without=senders, pauses=seed)
        stores = [decided.memory.store, plain.memory.store]
        bare = set().union(*map(without_words, stores))
        one, other = (believed(store, scope, but_for=bare) for store in stores)
        assert one == other, f"seed {seed}"
        assert not unfindable(stores[0], scope), f"seed {seed}"
        if seed % SOME_OF == 0 and gone in (None, "cancel"):
            live, again = decided.memory.replayed()
            assert live == again, f"seed {seed}"


def test_what_a_scope_decides_holds_for_what_was_sent_to_it_before_and_after() -> None:
    print(f"{CASES // 2} histories from seed {FIRST_SEED}")
    for seed in range(FIRST_SEED, FIRST_SEED + CASES // 2):
        chance = random.Random(seed)
        entries = history(chance, decides=[ANA, EVE])
        merge = Decided(TEAM, chance.getrandbits(32), merges_alone=True)
        half = len(entries) // 2
        places = ((merge, None, None), (None, merge, None), (None, None, merge))
        stories = [
            Story(in_memory).tell([first, *entries[:half], middle, *entries[half:], last])
            for first, middle, last in places
        ]
        outcomes = [believed(each.memory.store, deprecated=False) for each in stories]
        assert outcomes[0] == outcomes[1] == outcomes[2], f"seed {seed}"
        for story in stories:
            store = story.memory.store
            named = named_in_beliefs(store)
            assert all(standing_entity(store, TENANT, TEAM, each) == each for each in named), f"seed {seed}"


def test_both_engines_believe_the_same(tmp_path: Path) -> None:
    for seed in range(FIRST_SEED, FIRST_SEED + max(1, CASES // SOME_OF)):
        entries = history(random.Random(seed), decides=[ANA, EVE, TEAM], gone="cancel")

        def on_disk(clock: ManualClock, ids: EntryIds, seed: int = seed) -> Store:
            return SqliteStore(tmp_path / str(seed), clock=clock, ids=ids, durable=False)

        kept, held = Story(on_disk).tell(entries), Story(in_memory).tell(entries)
        assert list(kept.memory.store.snapshot()) == list(held.memory.store.snapshot()), f"seed {seed}"
        kept.memory.store.close()

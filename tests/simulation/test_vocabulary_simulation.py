"""Vocabularies that change in the middle of a log, against a naive model that keeps every state: what is held, now and as of each change.

The gate tries a few dozen logs; ``VOCABULARY_CASES=2000`` tries so many, ``SIMULATION_SEED`` begins at another seed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from given import ALICE, BOB, TENANT, ManualClock
from lamina.errors import Invalid
from lamina.kernel.ids import RandomIds
from lamina.kernel.records import Fact, Layer, Stance
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, Axes
from lamina.pipeline.vocabularies.stated import require_in_vocabulary
from lamina.store.memory import MemoryStore
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore
from lamina.store.vocabularies import active_terms
from told import START, Memory
from vocabularies import activate, put

CASES = int(os.environ.get("VOCABULARY_CASES", "24"))
FIRST_SEED = int(os.environ.get("SIMULATION_SEED", "1")) * 1_000_000
STEPS = 30
ON_SQLITE_OF = 6
"""One log of so many is told to SQLite."""
ACME = Scope("org:acme")
WORDS = ("tier", "step", "owner", "level")
VALUES: tuple[str | int, ...] = ("red", "Green", "blue", "white", 1, 2)
Terms = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Held:
    """A fact as the model has it; ``alone`` where it follows the others of its predicate."""

    predicate: str
    text: str
    since: int
    until: int | None
    alone: bool
    vocabulary: str | None

    @property
    def shown(self) -> tuple[Any, ...]:
        return self.predicate, self.text.casefold(), self.since, self.until, self.vocabulary


@dataclass
class Model:
    """What everybody was told, applied at once and in order."""

    vocabularies: dict[str, Terms] = field(default_factory=dict)
    active: dict[str, list[str]] = field(default_factory=dict)
    held: dict[Scope, list[Held]] = field(default_factory=lambda: {ALICE: [], BOB: []})

    def define(self, name: str, terms: Terms) -> None:
        lost = self.vocabularies.get(name, {}).keys() - terms.keys()
        self.vocabularies[name] = terms
        for scope, facts in self.held.items():
            self.held[scope] = [f for f in facts if f.vocabulary != name or f.predicate not in lost]

    def match(self, scope: Scope, said: str) -> tuple[str, str] | None:
        names = self.active.get(scope, self.active.get(ACME, []))
        for name in names:
            terms = self.vocabularies[name]
            for term_id, term in terms.items():
                if said == term_id or (said not in terms and said in term.get("synonyms", [])):
                    return name, term_id
        return None

    def fits(self, term: dict[str, Any], value: str | int) -> str | None:
        """The value in the words of the term."""
        if isinstance(value, int) != (term["datatype"] == "integer"):
            return None
        listed = term.get("values")
        if listed and str(value).casefold() not in [str(each).casefold() for each in listed]:
            return None
        return f"{value} {term['unit']}" if "unit" in term else str(value)

    def tell(self, scope: Scope, said: str, value: str | int | None, at: int) -> None:
        facts = self.held[scope]
        match = self.match(scope, said)
        term = None if match is None else self.vocabularies[match[0]][match[1]]
        if value is None:
            predicate = said if match is None else match[1]
            self._end(scope, at, lambda f: f.predicate == predicate and f.alone)
            return
        text = None if term is None else self.fits(term, value)
        if match is None or term is None or text is None:
            self._place(scope, Held(said, str(value), at, None, isinstance(value, int), None))
            return
        alone = term["cardinality"] == "one"
        fresh = Held(match[1], text, at, None, alone, match[0])
        if not alone and any(_same(f, fresh) and f.alone and f.until is None for f in facts):
            return
        self._place(scope, fresh)
        if alone:
            also = {match[1], *term.get("synonyms", [])}
            self._end(scope, at, lambda f: f.predicate in also and not (f.alone and f.predicate == match[1]))

    def _place(self, scope: Scope, fresh: Held) -> None:
        facts = self.held[scope]
        rivals = [
            f for f in facts if f.predicate == fresh.predicate and f.alone == fresh.alone and f.until is None
        ]
        if any(_same(f, fresh) for f in rivals):
            return
        if fresh.alone:
            self._end(scope, fresh.since, lambda f: f in rivals)
        self.held[scope].append(fresh)

    def _end(self, scope: Scope, at: int, chosen: Any) -> None:
        self.held[scope] = [
            replace(f, until=at) if f.until is None and f.since < at and chosen(f) else f
            for f in self.held[scope]
        ]


def _same(one: Held, other: Held) -> bool:
    return (one.predicate, one.text.casefold()) == (other.predicate, other.text.casefold())


def _terms(chance: random.Random) -> Terms:
    chosen = chance.sample(WORDS, chance.randint(1, 3))
    free = [word for word in (*WORDS, "stand", "mark") if word not in chosen]
    chance.shuffle(free)
    terms: Terms = {}
    for word in chosen:
        datatype = chance.choice(["string", "string", "integer"])
        term: dict[str, Any] = {
            "id": word,
            "datatype": datatype,
            "cardinality": chance.choice(["one", "one", "many"]),
            "synonyms": [free.pop()] if chance.random() < 0.6 else [],
        }
        if datatype == "integer" and chance.random() < 0.4:
            term["unit"] = "points"
        if datatype == "string" and chance.random() < 0.6:
            term["values"] = ["red", "green", "blue"]
        terms[word] = term
    return terms


def _spelled(term: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in term.items() if value != []}


@contextmanager
def _store(chance: random.Random, folder: Path, clock: ManualClock) -> Iterator[Store]:
    store: Store
    if chance.randrange(ON_SQLITE_OF) == 0:
        store = SqliteStore(folder, clock=clock, ids=RandomIds(), durable=False)
    else:
        store = MemoryStore(clock=clock, ids=RandomIds())
    yield store
    store.close()


def _held(store: Store, scope: Scope, seen_at: int) -> list[tuple[Any, ...]]:
    query = RecordQuery(
        tenant_id=TENANT, layer=Layer.FACTS, scopes=[scope], axes=Axes(seen_at=seen_at), limit=500
    )
    facts = [fact for fact in store.records.query(query) if isinstance(fact, Fact)]
    shown = [
        (f.predicate, f.object.text.casefold(), f.valid_from, f.valid_to, f.binding and f.binding.vocabulary)
        for f in facts
    ]
    return sorted(shown, key=repr)


def _agrees_at_the_door(memory: Memory, model: Model, scope: Scope, content: dict[str, Any]) -> None:
    match, value = model.match(scope, content["predicate"]), content["object"]
    fits = (
        match is None
        or value is None
        or model.fits(model.vocabularies[match[0]][match[1]], value) is not None
    )
    try:
        require_in_vocabulary(active_terms(memory.store.definitions, TENANT, scope), content)
        accepted = True
    except Invalid:
        accepted = False
    assert accepted == fits, content


def _beliefs_are_supported(memory: Memory) -> None:
    facts = {fact.id for fact in memory.held(Layer.FACTS)}
    for belief in memory.held(Layer.BELIEFS):
        supports = {each.source_id for each in belief.evidence if each.polarity == "supports"}
        assert (belief.stance is Stance.DEPRECATED) == (not supports & facts), belief


def _told(chance: random.Random, memory: Memory) -> list[tuple[int, dict[Scope, list[tuple[Any, ...]]]]]:
    """Tell a random log; what the model holds after each step, with the instant."""
    model, states = Model(), []
    for step in range(STEPS):
        memory.clock.at += SECOND_US
        kind = chance.random()
        if kind < 0.15 or step == 0:
            name, terms = chance.choice(["sales", "trade"]), _terms(chance)
            put(memory, *map(_spelled, terms.values()), name=name)
            model.define(name, terms)
        elif kind < 0.3 or step == 1:
            path = chance.choice([ACME, ACME, ALICE, BOB])
            known = sorted(model.vocabularies)
            names = (
                None
                if step > 1 and chance.random() < 0.2
                else chance.sample(known, chance.randint(1, len(known)))
            )
            activate(memory, names, path)
            model.active.pop(path, None)
            if names is not None:
                model.active[path] = names
        else:
            scope, said = chance.choice([ALICE, ALICE, BOB]), chance.choice([*WORDS, "stand", "mark"])
            value = None if chance.random() < 0.08 else chance.choice(VALUES)
            content = {"kind": "triple", "subject": "Acme", "predicate": said, "object": value}
            _agrees_at_the_door(memory, model, scope, content)
            at = START + step * SECOND_US
            memory.tell(content, at, scope=scope)
            model.tell(scope, said, value, at)
        if chance.random() < 0.2:
            memory.derive()
        shown = {scope: sorted((f.shown for f in facts), key=repr) for scope, facts in model.held.items()}
        states.append((memory.clock.at + SECOND_US // 2, shown))
    memory.derive()
    return states


@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + CASES))
def test_what_is_held_is_what_the_model_holds(seed: int, tmp_path: Path) -> None:
    chance, clock = random.Random(seed), ManualClock(START + 10**6 * SECOND_US)
    with _store(chance, tmp_path, clock) as store:
        memory = Memory(store, clock)
        for at, held in _told(chance, memory):
            for scope, wanted in held.items():
                assert _held(store, scope, at) == wanted, f"seed {seed}, {scope} at {at}"
        _beliefs_are_supported(memory)
        live, again = memory.replayed()
        assert live == again, f"seed {seed}"

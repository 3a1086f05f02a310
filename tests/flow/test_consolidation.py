"""What one scope sends another to believe: that and nothing else, in whatever order the scopes are derived."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from given import TENANT, append, draft
from lamina.forget.stepping import erased_in_steps
from lamina.kernel.events import IDENTITY, Context, Directives, Event, Origin, Party, Stage, Trust
from lamina.kernel.records import Belief, Layer, Stance
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Axes
from lamina.language.entities import entity_id
from lamina.language.temporal import find_times
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.store.ports.erasing import Erasure
from lamina.store.ports.records import RecordQuery
from lamina.store.redactions import redactions_behind
from told import DAY, START, Memory

MakeMemory = Callable[..., Memory]
TEAM, ANA, BOB = Scope("ws:launch"), Scope("user:ana"), Scope("user:bob")
PARTIES = {"ana": Party("user:ana", "user", "Ana"), "bob": Party("user:bob", "user", "Bob")}


def tell(
    memory: Memory,
    text: str,
    day: int,
    who: str = "ana",
    *,
    scope: Scope = ANA,
    into: Scope | None = TEAM,
    only: tuple[str, ...] | None = None,
) -> Event:
    memory.clock.at += 1_000_000
    party = PARTIES[who]
    (event,) = append(
        memory.store, text, content={"kind": "message", "role": "user", "text": text}, scope=scope,
        context=Context(observed_at=START + day * DAY), caller=party.id, observed_actor=party, subject=party,
        origin=Origin(party.id, "http", Trust.PRINCIPAL), directives=Directives(consolidate_into=into, consolidate_only=only),
    )  # fmt: skip
    return event


def beliefs(memory: Memory, scope: Scope = TEAM) -> list[Belief]:
    query = RecordQuery(
        tenant_id=TENANT, layer=Layer.BELIEFS, scopes=[scope], axes=Axes(seen_at=1 << 60), limit=200
    )
    return [each for each in memory.store.records.query(query) if isinstance(each, Belief)]


def told(memory: Memory) -> list[tuple[Any, ...]]:
    """What a reader of the team sees, without ids."""
    return sorted(
        (
            b.subject.name,
            b.predicate,
            b.object.text,
            b.negated,
            b.valid_from,
            b.valid_to or 0,
            b.alpha,
            b.beta,
            b.stance,
        )
        for b in beliefs(memory)
    )


PRIVATE = (
    ("I moved to Kiel.", 10),
    ("I don't live in Leipzig anymore.", 12),
    ("I live in Leipzig.", 1),
    ("I used to live in Leipzig.", 20),
    ("I moved to Bonn last week.", 5),
)


@pytest.mark.parametrize("number", range(len(PRIVATE)))
def test_what_was_not_sent_shows_nowhere(make_memory: MakeMemory, number: int) -> None:
    """Neither an end nor a beginning nor a figure of the team's beliefs comes of it."""
    text, day = PRIVATE[number]
    with_it, without = make_memory(), make_memory()
    for memory in (with_it, without):
        tell(memory, "I live in Leipzig.", 3)
        if memory is with_it:
            tell(memory, text, day, into=None)
        memory.derive()
        tell(memory, "I live in Leipzig.", 30)
        tell(memory, "Ana lives in Leipzig.", 31, "bob", scope=TEAM, into=None)
        memory.derive()
    assert told(with_it) == told(without)
    assert any(place == "Leipzig" for _, _, place, *_ in told(without))


@pytest.fixture(name="parsing", scope="module")
def _parsing() -> RulesExtractor:
    return RulesExtractor(find_times)


@pytest.mark.parametrize("later", ["Ben lives in Bath.", "My colleague Ben lives in Bath."])
def test_a_namesake_who_was_not_sent_shows_nowhere(
    make_memory: MakeMemory, parsing: RulesExtractor, later: str
) -> None:
    """Two people of one name are told apart in Ana's scope; the team knows of one of them."""
    with_it, without = make_memory(parsing), make_memory(parsing)
    for memory in (with_it, without):
        if memory is with_it:
            tell(memory, "My friend Ben lives in Leeds.", 1, into=None)
            memory.derive()
        tell(memory, "My colleague Ben lives in Cardiff.", 3)
        memory.derive()
        tell(memory, later, 20)
        memory.derive()
    assert told(with_it) == told(without)
    assert any(place == "Cardiff" and until for _, _, place, _, _, until, *_ in told(without))


def test_what_was_sent_still_ends_what_was_sent(make_memory: MakeMemory) -> None:
    memory = make_memory()
    tell(memory, "I live in Leipzig.", 3)
    tell(memory, "I moved to Kiel.", 10)
    memory.derive()
    assert [(place, until) for _, _, place, _, _, until, *_ in told(memory)] == [
        ("Kiel", 0),
        ("Leipzig", START + 10 * DAY),
    ]


def test_words_that_may_be_somebody_elses_do_not_travel(make_memory: MakeMemory) -> None:
    memory = make_memory()
    tell(memory, "I work at Fernhill.\nBoss: I live in Quito.", 3)
    memory.derive()
    assert [(p, o) for _, p, o, *_ in told(memory)] == [("works_at", "Fernhill")]


def test_the_sender_chooses_which_claims_travel(make_memory: MakeMemory) -> None:
    memory = make_memory()
    tell(
        memory,
        "I work at Fernhill. I live in Leipzig. I am allergic to peanuts.",
        3,
        only=("Fernhill", "lives_in"),
    )
    memory.derive()
    assert [(p, o) for _, p, o, *_ in told(memory)] == [("lives_in", "Leipzig"), ("works_at", "Fernhill")]
    assert len(beliefs(memory, ANA)) == 3


STORY = (
    "I live in Leipzig.", "I moved to Kiel.", "I live in Bonn.", "I work at Fernhill.", "I work at Acme.", "I am allergic to peanuts.",
    "I am not allergic to peanuts.", "I don't live in Kiel anymore.", "I like green tea.", "I don't like green tea.",
    "I used to work at Acme.",
)  # fmt: skip


def story(memory: Memory, seed: int) -> None:
    chance = random.Random(seed)
    events: list[Event] = []
    for _ in range(26):
        scope = chance.choice([ANA, BOB, TEAM])
        into = chance.choice([TEAM, TEAM, None]) if scope != TEAM else chance.choice([None, None, ANA])
        events.append(
            tell(
                memory,
                chance.choice(STORY),
                chance.randrange(40),
                chance.choice(["ana", "bob"]),
                scope=scope,
                into=into,
            )
        )
        if chance.random() < 0.12:
            memory.clock.at += 1_000_000
            memory.store.log.cancel(TENANT, chance.choice(events).id)


def derive_in_random_order(memory: Memory, seed: int) -> None:
    """Stages and scopes as they come: what can run runs, a job or a few at a time, now and then by somebody who goes away."""
    chance = random.Random(seed)
    deriver = memory.worker._deriver
    stages = list(Stage)[1:]
    idle = 0
    while idle < 40:
        stage = chance.choice(stages)
        jobs = memory.store.jobs.claim(
            stage, limit=chance.choice([1, 2, 5]), lease_until=1 << 60, now=memory.clock.at, owner="r"
        )
        idle = 0 if jobs else idle + 1
        if jobs and chance.random() < 0.2:
            memory.store.jobs.release("r")
            continue
        # Of what was claimed together, some scopes are left for another time.
        scopes = sorted({job.event.scope for job in jobs})
        left = chance.choice([None, *scopes]) if len(scopes) > 1 else None
        first = (
            next((n for n, job in enumerate(jobs) if job.event.scope == left), len(jobs))
            if left
            else len(jobs)
        )
        for group in deriver.run(stage, jobs[:first]) if first else ():
            memory.store.jobs.finish(group)
        memory.store.jobs.release("r")


@pytest.mark.parametrize("seed", range(5))
def test_the_order_between_scopes_changes_nothing(make_memory: MakeMemory, seed: int) -> None:
    memory = make_memory()
    story(memory, seed)
    memory.derive()
    in_order = list(memory.store.snapshot())
    for number in range(3):
        memory.store.jobs.reset()
        derive_in_random_order(memory, 100 * seed + number)
        assert memory.store.jobs.backlog() == {"pending": 0, "running": 0, "failed": 0}
        assert list(memory.store.snapshot()) == in_order, f"seed {seed}, order {number}"


def test_a_backlog_elsewhere_holds_back_only_who_shares_beliefs(make_memory: MakeMemory) -> None:
    memory = make_memory()
    tell(memory, "I live in Leipzig.", 1, scope=ANA)
    tell(memory, "I live in Kiel.", 2, scope=TEAM, into=None)
    tell(memory, "I live in Bonn.", 3, "bob", scope=BOB, into=None)
    claims = {"lease_until": 1 << 60, "now": memory.clock.at, "owner": "r"}
    deriver = memory.worker._deriver
    held = {job.event.scope: job for job in memory.store.jobs.claim(Stage.EXTRACTED, limit=9, **claims)}
    for stage in (Stage.EXTRACTED, Stage.INDEXED):
        jobs = [held[scope] for scope in (TEAM, BOB)] if stage is Stage.EXTRACTED else None
        jobs = jobs or memory.store.jobs.claim(stage, limit=9, **claims)
        for group in deriver.run(stage, jobs):
            memory.store.jobs.finish(group)
    assert [job.event.scope for job in memory.store.jobs.claim(Stage.CONSOLIDATED, limit=9, **claims)] == [
        BOB
    ]


@pytest.mark.parametrize("is_private_said", [True, False])
@pytest.mark.parametrize("is_sent_forgotten", [True, False])
def test_what_was_not_sent_speaks_for_nothing_elsewhere_when_words_go(
    make_memory: MakeMemory, is_private_said: bool, is_sent_forgotten: bool
) -> None:
    """Neither the share of a belief that has no words any more, nor what it loses with them, tells of a word that was not sent."""
    memory = make_memory()
    sent = tell(memory, "I live in Leipzig.", 3)
    private = tell(memory, "I live in Leipzig.", 5, into=None) if is_private_said else None
    memory.derive()
    going = [each.id for each in (sent if is_sent_forgotten else private,) if each is not None]
    step = Erasure(
        tenant_id=TENANT, erasure_id="audit_x", by_actor="user:ana", cascade="redact_events", redact=going
    )
    list(erased_in_steps(memory.store, step))
    (held,) = beliefs(memory)
    shares = redactions_behind(memory.store, TENANT, [held], {}).shares
    assert shares.get(held.id, 0.0) == float(is_sent_forgotten)
    assert (held.demoted_by is not None) is is_sent_forgotten


def decide(memory: Memory, scope: Scope, action: str, entity: str, **more: Any) -> None:
    memory.derive()
    memory.clock.at += 1_000_000
    said = {"kind": IDENTITY, "action": action, "entity_id": of(entity), **more}
    entry = draft(
        content=said, scope=scope, modality=IDENTITY, origin=Origin("user:ana", IDENTITY, Trust.PRINCIPAL),
        directives=Directives(embed="none"),
    )  # fmt: skip
    memory.store.log.append_entry(entry)
    memory.derive()


def of(name: str) -> str:
    return entity_id(TENANT, name.casefold())


def subjects(memory: Memory) -> list[tuple[str, str]]:
    """Whom the team's beliefs are about, with what is believed of them now."""
    names = {of(name): name for name in ("Bob", "Robert", "Ana", "Tom")}
    standing = [b for b in beliefs(memory) if b.stance is not Stance.DEPRECATED and b.valid_to is None]
    return sorted((names[b.subject.id], b.object.text) for b in standing)


def test_a_senders_own_merge_shows_nowhere_else(make_memory: MakeMemory, parsing: RulesExtractor) -> None:
    """Neither before what is sent nor after it, nor once it is taken back; and a replay comes to the same."""
    memory = make_memory(parsing)
    tell(memory, "Bob lives in Leipzig.", 1)
    decide(memory, ANA, "merge", "Bob", into=of("Robert"))
    tell(memory, "Robert lives in Kiel.", 2)
    memory.derive()
    assert subjects(memory) == [("Bob", "Leipzig"), ("Robert", "Kiel")]
    tell(memory, "Bob lives in Bonn.", 3)
    decide(memory, ANA, "split", "Robert", new_id=of("Bob"), name="Bob", events=[])
    sent = tell(memory, "Bob lives in Ulm.", 4)
    memory.derive()
    assert subjects(memory) == [("Bob", "Ulm"), ("Robert", "Kiel")]
    memory.cancel(sent)
    memory.derive()
    assert subjects(memory) == [("Bob", "Bonn"), ("Robert", "Kiel")]
    live, replayed = memory.replayed()
    assert live == replayed


def test_a_merge_holds_for_what_was_sent_to_its_scope_before_and_after(
    make_memory: MakeMemory, parsing: RulesExtractor
) -> None:
    memory = make_memory(parsing)
    tell(memory, "Bob lives in Leipzig.", 1)
    tell(memory, "Robert works at Acme.", 2)
    decide(memory, TEAM, "merge", "Bob", into=of("Robert"))
    assert subjects(memory) == [("Robert", "Acme"), ("Robert", "Leipzig")]
    tell(memory, "Bob lives in Kiel.", 3)
    memory.derive()
    assert subjects(memory) == [("Robert", "Acme"), ("Robert", "Kiel")]
    assert [b.stance for b in beliefs(memory) if b.subject.id == of("Bob")] == [Stance.DEPRECATED]


def test_who_speaks_is_known_by_the_senders_own_names(
    make_memory: MakeMemory, parsing: RulesExtractor
) -> None:
    """Whom the team takes Ana for does not make what Tom says on her account hers."""
    memory = make_memory(parsing)
    tell(memory, "My name is Ana.", 1)
    decide(memory, TEAM, "merge", "Ana", into=of("Robert"))
    tell(memory, "Tom here. I live in Kiel.", 2)
    memory.derive()
    assert ("Tom", "Kiel") in subjects(memory)

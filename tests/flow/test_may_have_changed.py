"""What may have changed: a later turn with a sign of change marks the older fact, for every reader, and saying it again clears the mark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from given import ALICE, TENANT, append
from lamina.access.policy import Decision, PolicyPermits
from lamina.kernel.events import Context, Directives
from lamina.kernel.operations import Call, Grant, Principal
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import rfc3339
from lamina.language.temporal import find_times
from lamina.models.minilm import MiniLmEmbedder
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.nearness import Nearness
from lamina.recall.changed import changes_of
from lamina.recall.layers.claims import ClaimReads
from lamina.types.layer_requests import BeliefsRequest
from policies import OpenPolicy
from told import ANA, BOB, DAY, START, Memory

SCOPE = "org:acme/user:ana"
TEAM = Scope("org:acme/team:eng")


def marks(memory: Memory, seen_at: int | None = None) -> dict[str, str]:
    """The facts that may have changed, by text, and the turn that says so."""
    found = {}
    for fact in memory.held(Layer.FACTS):
        supports = memory.store.records.supports_of(TENANT, [fact.id], seen_at=seen_at).get(fact.id, [])
        if mark := changes_of(memory.store.log, TENANT, [fact], {fact.id: supports}).of(fact):
            found[fact.text] = mark.event_id
    return found


class AllBut(OpenPolicy):
    """Allows everything but one scope."""

    def __init__(self, denied: Scope | None) -> None:
        self.denied = denied

    def decide(self, principal: Principal, grant: Grant) -> Decision:
        return Decision(grant, allowed=grant.scope != self.denied, tier="scope", preset="dev_local")


def marked_beliefs(
    memory: Memory, *, scope: Scope = ALICE, denied: Scope | None = None, as_of: int | None = None
) -> dict[str, str]:
    """The beliefs that may have changed, by what they say, and the turn that says so, for a reader of all scopes but one."""
    principal = Principal(tenant_id=TENANT, actor="user:ana", channel="test")
    call = Call(principal, "req_1", memory.clock.at, PolicyPermits(AllBut(denied), principal))
    asked = BeliefsRequest(scope=scope, as_of=None if as_of is None else rfc3339(as_of))
    page = ClaimReads(memory.store).beliefs(asked, call).result
    assert page.items
    return {
        each.in_words.partition(" (may have changed ")[0]: each.may_have_changed.event_id
        for each in page.items
        if each.may_have_changed is not None
    }


def test_a_later_turn_of_the_matter_marks_the_older_fact(memory: Memory) -> None:
    memory.tell("I like running.", START)
    said = memory.tell("I like tea.", START)
    memory.derive()
    turn = memory.tell("These days running hurts, so no more of that.", START + DAY)
    memory.derive()
    assert marks(memory) == {"Ana likes running": turn.id}
    assert marks(memory, said.recorded_at) == {}
    live, again = memory.replayed()
    assert live == again


def test_saying_it_again_clears_the_mark_and_so_does_its_end(memory: Memory) -> None:
    memory.tell("I like running.", START)
    turn = memory.tell("These days running hurts.", START + DAY)
    memory.derive()
    assert marks(memory) == {"Ana likes running": turn.id}
    memory.tell("I like running.", START + 2 * DAY)
    memory.derive()
    assert marks(memory) == {}
    again = memory.tell("Running is over for me now.", START + 3 * DAY)
    memory.derive()
    assert marks(memory) == {"Ana likes running": again.id}
    memory.tell("I don't like running.", START + 4 * DAY)
    memory.derive()
    assert "Ana likes running" not in marks(memory)
    live, told_again = memory.replayed()
    assert live == told_again


def test_an_older_word_that_is_heard_of_later_clears_no_mark(memory: Memory) -> None:
    memory.tell("I like running.", START)
    turn = memory.tell("These days running hurts.", START + 5 * DAY)
    memory.derive()
    memory.tell("I like running.", START + 2 * DAY)
    memory.derive()
    assert marks(memory) == {"Ana likes running": turn.id}
    said = memory.tell("I like running.", START + 6 * DAY)
    memory.tell("I like running.", START + 3 * DAY)
    memory.derive()
    assert marks(memory) == {}
    memory.cancel(said)
    memory.derive()
    assert marks(memory) == {"Ana likes running": turn.id}


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("Running is fun on Sundays.", ANA),  # no sign
        ("I started swimming.", ANA),  # another matter
        ("Did you stop running?", ANA),  # a question
        ("These days running hurts.", BOB),  # somebody else
    ],
)
def test_what_shares_no_matter_marks_nothing(memory: Memory, text: str, who: Any) -> None:
    memory.tell("I like running.", START)
    memory.tell(text, START + DAY, who)
    memory.derive()
    assert marks(memory) == {}


def test_what_was_said_before_the_fact_marks_nothing(memory: Memory) -> None:
    memory.tell("I like running.", START)
    memory.tell("These days running hurts.", START - DAY)
    memory.derive()
    assert marks(memory) == {}


def test_why_a_fact_is_held_is_not_the_turn_by_which_it_may_have_changed(world: Any) -> None:
    memory = Memory(world.store, world.clock)
    said = world.event("I like running.", SCOPE, actor="user:ana")
    world.clock.at += DAY
    turn = world.event("These days running hurts.", SCOPE, actor="user:ana")
    world.clock.at += DAY
    memory.derive()
    (fact,) = [f for f in world.get("/v1/facts", scope=SCOPE)["items"] if f["text"] == "Ana likes running"]
    why = world.get(f"/v1/why/{fact['id']}")
    held, against = why["narrative"].split(". ", 1)
    assert (said.id in held, turn.id in held, turn.id in against) == (True, False, True)
    edges = {edge["to"]: edge["relation"] for edge in why["support_graph"]["edges"]}
    assert edges == {said.id: "extracted_from", turn.id: "may_have_changed_by"}


def test_over_http_the_fact_and_the_block_say_by_which_turn(world: Any) -> None:
    memory = Memory(world.store, world.clock)
    world.event("I like running.", SCOPE, actor="user:ana")
    world.clock.at += DAY
    turn = world.event("These days running hurts.", SCOPE, actor="user:ana")
    world.clock.at += DAY
    memory.derive()
    (fact,) = [f for f in world.get("/v1/facts", scope=SCOPE)["items"] if f["text"] == "Ana likes running"]
    assert fact["may_have_changed"]["event_id"] == turn.id
    assert turn.id not in fact["supports"]
    assert world.get(f"/v1/facts/{fact['id']}")["may_have_changed"] == fact["may_have_changed"]
    pack = world.post("/v1/recall", {"scope": SCOPE, "query": "Does Ana like running?"}).json()
    markers = {item: marker for marker, item in pack["provenance"]["markers"].items()}
    lines = pack["context_block"].splitlines()
    old = next(n for n, line in enumerate(lines) if "Ana likes running" in line)
    new = next(n for n, line in enumerate(lines) if "running hurts" in line)
    assert new < old
    assert f"(may have changed: {markers[turn.id]})" in lines[old]
    told = next(line for line in lines if "I like running" in line)
    assert f"(may have changed: {markers[turn.id]})" in told
    (shown,) = [f for f in pack["layers"]["facts"] if f["id"] == fact["id"]]
    assert shown["may_have_changed"] == fact["may_have_changed"]
    memory.cancel(turn)
    memory.derive()
    (fact,) = [f for f in world.get("/v1/facts", scope=SCOPE)["items"] if f["text"] == "Ana likes running"]
    assert fact["may_have_changed"] is None


def test_a_quoted_turn_is_marked_by_the_fact_that_the_question_is_about(world: Any) -> None:
    memory = Memory(world.store, world.clock)
    world.event("I live in Lisbon. I like running.", SCOPE, actor="user:ana")
    world.clock.at += DAY
    turn = world.event("These days running hurts.", SCOPE, actor="user:ana")
    world.clock.at += DAY
    memory.derive()

    def line(query: str) -> tuple[str, str]:
        """The line that quotes the first turn, and the marker of the second."""
        pack = world.post("/v1/recall", {"scope": SCOPE, "query": query}).json()
        markers = {item: marker for marker, item in pack["provenance"]["markers"].items()}
        lines = pack["context_block"].splitlines()
        return next(each for each in lines if "I live in Lisbon" in each), markers[turn.id]

    told, marker = line("Does Ana like running?")
    assert f"(may have changed: {marker})" in told
    told, _ = line("Where does Ana live?")
    assert "may have changed" not in told


def test_a_belief_has_the_newest_mark_of_the_facts_that_it_rests_on(memory: Memory) -> None:
    memory.tell("I like running.", START)
    told = memory.tell("I like tea.", START)
    memory.derive()
    turn = memory.tell("These days running hurts.", START + DAY)
    memory.derive()
    assert marked_beliefs(memory) == {"Ana likes running": turn.id}
    assert marked_beliefs(memory, as_of=told.recorded_at) == {}
    newer = memory.tell("Running is over for me now.", START + 2 * DAY)
    memory.derive()
    assert marked_beliefs(memory) == {"Ana likes running": newer.id}
    assert marked_beliefs(memory, as_of=turn.recorded_at) == {"Ana likes running": turn.id}
    memory.tell("I like running.", START + 3 * DAY)
    memory.derive()
    assert marked_beliefs(memory) == {}
    last = memory.tell("These days running hurts.", START + 4 * DAY)
    memory.derive()
    assert marked_beliefs(memory) == {"Ana likes running": last.id}
    memory.cancel(last)
    memory.derive()
    assert marked_beliefs(memory) == {}


def test_what_was_cancelled_neither_marks_nor_clears_a_mark(memory: Memory) -> None:
    memory.tell("I like running.", START)
    memory.derive()
    turn = memory.tell("These days running hurts.", START + DAY)
    newer = memory.tell("Running is over for me now.", START + 2 * DAY)
    memory.derive()
    again = memory.tell("I like running.", START + 3 * DAY)
    memory.derive()
    assert marked_beliefs(memory) == {}
    for cancelled, left in ((again, newer), (newer, turn)):
        memory.cancel(cancelled)
        memory.derive()
        assert marked_beliefs(memory) == {"Ana likes running": left.id}


def test_a_mark_of_a_fact_that_the_reader_may_not_see_is_none_of_a_belief(memory: Memory) -> None:
    for text, at in (("I like running.", START), ("These days running hurts.", START + DAY)):
        memory.clock.at += DAY
        (turn,) = append(
            memory.store, text, content={"kind": "message", "role": "user", "text": text}, caller=ANA.id, subject=ANA,
            observed_actor=ANA, context=Context(observed_at=at), directives=Directives(consolidate_into=TEAM),
        )  # fmt: skip
        memory.derive()
    assert marked_beliefs(memory, scope=TEAM) == {"Ana likes running": turn.id}
    assert marked_beliefs(memory, scope=TEAM, denied=ALICE) == {}


def test_every_read_of_a_belief_says_by_which_turn_it_may_have_changed(world: Any) -> None:
    memory = Memory(world.store, world.clock)
    world.event("I live in Lisbon. I like running.", SCOPE, actor="user:ana")
    world.clock.at += DAY
    turn = world.event("These days running hurts.", SCOPE, actor="user:ana")
    world.clock.at += DAY
    memory.derive()

    def reads() -> list[Any]:
        listed = world.get("/v1/beliefs", scope=SCOPE)["items"]
        (lives, likes) = sorted(listed, key=lambda each: each["claim"]["predicate"] == "likes")
        assert lives["may_have_changed"] is None
        why = world.get("/v1/beliefs/why", belief_id=likes["id"])
        told.append(why["narrative"])
        packs = [
            world.post("/v1/recall", {"scope": SCOPE, "query": "What does Ana like?", **asked}).json()
            for asked in ({}, {"include": ["beliefs"]})
        ]
        ranked = [each for pack in packs for each in pack["layers"]["beliefs"] if each["id"] == likes["id"]]
        assert len(ranked) == 2
        return [
            each["may_have_changed"]
            for each in (
                likes,
                world.get(f"/v1/beliefs/{likes['id']}"),
                why["belief"],
                world.get(f"/v1/why/{likes['id']}")["record"],
                *ranked,
            )
        ]

    told: list[str] = []
    mark = {"event_id": turn.id, "observed_at": rfc3339(turn.context.observed_at)}
    assert reads() == [mark] * 6
    assert f"It may have changed since: “These days running hurts.” ({turn.id})." in told[0]
    memory.cancel(turn)
    memory.derive()
    assert reads() == [None] * 6
    assert "may have changed" not in told[1]


@pytest.mark.parametrize(
    ("include", "line"),
    [
        ("beliefs", "Ana likes running (supported"),
        ("understanding", "Ana: "),
    ],
)
def test_what_rests_on_a_fact_that_may_have_changed_says_so(world: Any, include: str, line: str) -> None:
    memory = Memory(world.store, world.clock)
    world.event("I live in Lisbon. I like running. I work at Fernhill.", SCOPE, actor="user:ana")
    world.clock.at += DAY
    turn = world.event("These days running hurts.", SCOPE, actor="user:ana")
    world.clock.at += DAY
    memory.derive()
    asked = {"scope": SCOPE, "query": "What does Ana like?", "include": [include, "events"]}
    pack = world.post("/v1/recall", asked).json()
    markers = {item: marker for marker, item in pack["provenance"]["markers"].items()}
    (told,) = [each for each in pack["context_block"].splitlines() if each.startswith(f"- {line}")]
    said = markers[turn.id] if include == "beliefs" else "Ana likes running"
    assert f"(may have changed: {said})" in told
    assert all(
        "may have changed" not in each for each in pack["context_block"].splitlines() if "Lisbon (s" in each
    )


def test_a_structured_fact_says_when_it_may_have_changed(world: Any) -> None:
    memory = Memory(world.store, world.clock)
    world.event("I like running.", SCOPE, actor="user:ana")
    world.clock.at += DAY
    turn = world.event("These days running hurts.", SCOPE, actor="user:ana")
    memory.derive()
    asked = {"scope": SCOPE, "query": "Does Ana like running?", "view": "structured"}
    graph = world.post("/v1/recall", asked).json()["knowledge_subgraph"]["@graph"]
    (fact,) = [each for each in graph if each["@type"] == "Fact" and each["predicate"] == "likes"]
    assert fact["may_have_changed"] == rfc3339(turn.context.observed_at)


@pytest.mark.parametrize(
    ("told", "held"),
    [
        (["I live in Graz.", "I live in a tiny flat."], {"Ana lives in Graz": "", "Ana lives in a tiny flat": ""}),
        (["I live in a tiny flat.", "I live in Graz."], {"Ana lives in a tiny flat": "marked", "Ana lives in Graz": ""}),
        (
            ["I live in Graz.", "I live in a house in the centre of Rome."],
            {"Ana lives in Graz": "over", "Ana lives in Rome": "", "Ana lives in a house in the centre of Rome": ""},
        ),
        (["I work at Acme.", "I work at a bank."], {"Ana works at Acme": "marked", "Ana works at a bank": ""}),
        (["I work at a bank.", "I work at Acme."], {"Ana works at a bank": "marked", "Ana works at Acme": ""}),
        (["I work at a bank.", "I work at a school."], {"Ana works at a bank": "over", "Ana works at a school": ""}),
        (["I work at Acme.", "I don't work at a bank."], {"Ana works at Acme": "", "Ana does not work at a bank": ""}),
    ],
)  # fmt: skip
def test_a_description_takes_no_names_place(
    make_memory: Callable[..., Memory], told: list[str], held: dict[str, str]
) -> None:
    memory = make_memory(RulesExtractor(find_times))
    for number, text in enumerate(told):
        memory.tell(text, START + 14 * number * DAY)
    memory.derive()
    over = {fact.text for fact in memory.held(Layer.FACTS) if fact.valid_to is not None}
    found = {fact.text: "over" if fact.text in over else "" for fact in memory.held(Layer.FACTS)}
    assert found | dict.fromkeys(marks(memory), "marked") == held


@pytest.mark.parametrize(
    ("told", "held"),
    [
        (["I'm married to Tom.", "I'm single."], "marked"), (["I work at Acme.", "I'm unemployed."], "marked"),
        (["I work at Acme.", "I joined Globex."], "marked"), (["I work at Acme.", "I joined a gym."], ""), (["I live in Graz.", "I settled in Rome."], "marked"),
        (["I work at Acme.", "My employer is Globex."], "over"), (["I'm a nurse.", "I became a teacher."], "over"), (["I'm 34.", "I'm 35 now."], "over"),
        (["I drive a Honda.", "I got a new car."], "marked"), (["I drive a Honda.", "The Honda was stolen."], "marked"),
    ],
)  # fmt: skip
def test_what_is_told_in_one_predicate_bears_on_others(
    make_memory: Callable[..., Memory], told: list[str], held: str
) -> None:
    memory = make_memory(RulesExtractor(find_times))
    first, later = (memory.tell(text, START + 14 * number * DAY) for number, text in enumerate(told))
    memory.derive()
    (fact,) = [each for each in memory.held(Layer.FACTS) if each.event_id == first.id]
    assert ("over" if fact.valid_to else "marked" if fact.text in marks(memory) else "") == held
    assert set(marks(memory).values()) <= {later.id}


def test_a_number_that_changed_leaves_what_is_no_number(memory: Memory) -> None:
    memory.tell("I work at Fernhill.", START)
    memory.tell("At work we're nine people now.", START + DAY)
    memory.derive()
    assert marks(memory) == {}
    turn = memory.tell("I must say that work changed for me.", START + 2 * DAY)
    memory.derive()
    assert marks(memory) == {"Ana works at Fernhill": turn.id}


def test_a_change_of_what_may_have_several_values_marks_those_told_before(memory: Memory) -> None:
    memory.tell("I'm studying biology.", START)
    turn = memory.tell("I changed my major to chemistry.", START + DAY)
    memory.derive()
    assert marks(memory) == {"Ana studies biology": turn.id}


def test_a_turn_near_in_meaning_marks_a_fact_and_who_goes_on_about_a_taste_none(
    make_memory: Callable[..., Memory],
) -> None:
    memory = make_memory(RulesExtractor(find_times), Nearness(MiniLmEmbedder().pooled))
    memory.tell("My email is ana@old.example.", START)
    memory.tell("I like running.", START)
    memory.derive()
    memory.tell("I like running in the new park now.", START + DAY)
    turn = memory.tell("My new email is ana@new.example.", START + 2 * DAY)
    memory.derive()
    assert marks(memory) == {"Ana's email is ana@old.example": turn.id}
    live, again = memory.replayed()
    assert live == again


def test_words_far_from_the_turn_that_told_a_fact_mark_it_only_where_nobody_compares(
    make_memory: Callable[..., Memory],
) -> None:
    for nearness, marked in ((None, 1), (Nearness(MiniLmEmbedder().pooled), 0)):
        memory = make_memory(RulesExtractor(find_times), nearness)
        memory.tell("I work on a garden project.", START)
        memory.tell("I love how something new works out.", START + DAY)
        memory.derive()
        assert len(marks(memory)) == marked


@pytest.mark.parametrize(
    ("before", "later", "marked"),
    [
        (["I weigh 90 kilos."], "I'm down to 82 kilos.", ["Ana weighs 90 kilo"]),
        (["I weigh 90 kilos."], "My backpack holds 82 liters.", []),
        (["I use an iPhone.", "I work at Oracle."], "I switched to a Pixel.", ["Ana uses iPhone"]),
        (["I work at Oracle."], "Tom switched to a Pixel.", []),
        (
            ["We plan to go to Italy in June."],
            "We cancelled the Italy trip.",
            ["Ana plans to go to Italy"],
        ),
        (["My dad is a bus driver."], "My dad retired.", ["Ana's dad works as a bus driver"]),
        (["I'm vegan."], "I missed cheese, I'm vegetarian now.", ["Ana's diet is vegan"]),
        (["My sister Els lives in Antwerp."], "Els moved last week.", ["Els lives in Antwerp"]),
        (["I drink two beers a day."], "I stopped drinking beer.", ["Ana drinks two beers"]),
        (["I work in sales."], "I handed in my resignation.", ["Ana works in sales"]),
    ],
    ids=[
        "another number of the same",
        "a number of something else",
        "the nearest of what was told",
        "somebody else's",
        "a plan called off",
        "one of their own people",
        "a diet in place of another",
        "who is named moved",
        "none of what was counted",
        "notice was given",
    ],
)
def test_where_turns_are_compared_a_mark_needs_no_word_of_the_fact(
    make_memory: Callable[..., Memory], before: list[str], later: str, marked: list[str]
) -> None:
    memory = make_memory(RulesExtractor(find_times), Nearness(MiniLmEmbedder().pooled))
    for each in before:
        memory.tell(each, START)
    turn = memory.tell(later, START + DAY)
    memory.derive()
    assert sorted(marks(memory)) == marked
    assert set(marks(memory).values()) <= {turn.id}
    live, again = memory.replayed()
    assert live == again

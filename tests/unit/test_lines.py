"""Lines of turns: what was worded for one question is not told to another at another price."""

from __future__ import annotations

import pytest
from hypothesis import given as holds_for
from hypothesis import strategies as st

from given import ALICE, NOON, TENANT, append, fact
from lamina.kernel.events import Event, text_of
from lamina.kernel.local import LocalTime
from lamina.kernel.operations import Principal
from lamina.kernel.records import Layer
from lamina.language.days import note_of, read_note
from lamina.models.counter import WordPieceCounter
from lamina.recall.layers.why import summary_of
from lamina.recall.lines import items_of
from lamina.recall.pack import Item, tokens_of
from lamina.recall.placing import Answers, Held
from lamina.recall.plan import Plan, plan_recall
from lamina.recall.superseded import Superseded
from lamina.store.memory import MemoryStore
from lamina.types.recall import Recall

COUNTER = WordPieceCounter()
SENTENCES = "We met at nine in the harbour.  The ferry was late, as it is each spring. "
LENGTHS = [20, 79, 80, 81, 150, 159, 160, 161, 300, 478, 479, 480, 481, 600, 959, 961, 1500, 2500]


def planned(question: str) -> Plan:
    asked = Recall.model_validate({"scope": ALICE, "query": question})
    return plan_recall(asked, Principal(tenant_id=TENANT, actor="user:alice", channel="http"), [ALICE], NOON)


def told(length: int) -> Event:
    (event,) = append(MemoryStore(), (SENTENCES * 40)[:length])
    return event


def item(event: Event, question: str, *, is_over: bool = False) -> Item:
    end = Superseded(NOON, None, event.id) if is_over else None
    note = read_note(note_of(text_of(event.content), LocalTime(event.context.observed_at, event.offset)))
    held = Held(event, 1.0, {}, superseded=end, days=note)
    items, _ = items_of(planned(question), Answers({Layer.EVENTS: [held]}, []), COUNTER)
    return items[Layer.EVENTS][0]


def lines(of: Item) -> list[tuple[str, int]]:
    every = [(of.tokens_least, of.wording), *((least, wording) for _, least, wording in of.excerpts)]
    costs = [tokens_of(wording, least) for least, wording in every]  # before any of them is worded
    words = [wording if isinstance(wording, str) else wording.made[0] for _, wording in every]
    return list(zip(words, costs, strict=True))


@pytest.mark.parametrize("length", LENGTHS)
def test_a_line_costs_its_tokens_however_often_the_turn_was_worded(length: int) -> None:
    event = told(length)
    for question in ("Where did we meet?", "When is the ferry late?", "Where did we meet?"):
        for is_over in (False, True, False):
            for line, tokens in lines(item(event, question, is_over=is_over)):
                assert [tokens] == COUNTER.count([f"- {line} [99]\n"])
                assert ("superseded" in line) is is_over


WORDS = [
    "yesterday",
    "the",
    "harbour.",
    "Mia's",
    '"aye"',
    "last week,",
    "naïve",
    "了",
    "…",
    "e.g.",
    "3.5%",
    "- milk",
    "[7]",
    "\n",
    "Why?",
    "🙂",
    "half-way",
]


@holds_for(st.lists(st.sampled_from(WORDS), min_size=1, max_size=150).map(" ".join))
def test_what_a_line_costs_is_told_before_it_is_worded(text: str) -> None:
    (event,) = append(MemoryStore(), f"Well, {text}")
    for line, tokens in lines(item(event, "What of the harbour?")):
        assert [tokens] == COUNTER.count([f"- {line} [99]\n"])


@pytest.mark.parametrize("length", LENGTHS)
def test_a_turn_that_was_worded_has_the_lines_of_one_that_was_not(length: int) -> None:
    known, new = told(length), told(length)
    lines(item(known, "When is the ferry late?"))
    assert lines(item(known, "Where did we meet?")) == lines(item(new, "Where did we meet?"))


def test_an_excerpt_ends_with_a_whole_word() -> None:
    words = [f"{at}00,000" for at in range(1, 90)]
    (event,) = append(MemoryStore(), f"The roof costs {' or '.join(words)}")
    cut = [line.split('"')[1].removesuffix(" …") for line, _ in lines(item(event, "What of the roof?"))]
    assert {each.split()[-1] for each in cut} <= {*words, "or"}


def test_what_a_reason_says_ends_with_a_whole_word() -> None:
    said = "We agreed on $340,000 for it. " * 8
    last = summary_of(fact(text=said)).removesuffix("…").split()[-1]
    assert last in said.split()

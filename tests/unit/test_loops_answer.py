"""What is believed of a language model's answer about loops: only what the turn bears out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from given import ALICE, TENANT
from lamina.kernel.events import Context, Directives, Event, Origin, Party, Trust
from lamina.kernel.records import LoopType
from lamina.kernel.time import instant, rfc3339
from lamina.pipeline.extract.values import Extraction
from lamina.pipeline.loops.matching import key_terms
from lamina.pipeline.loops.meaning import bears_on
from lamina.pipeline.loops.values import LoopReading
from lamina.pipeline.readings.answer import ReadBeside, is_usable, reading_by_answer
from lamina.pipeline.readings.shape import SCHEMA
from modelled import found

TUESDAY = instant("2026-02-03T18:34:12Z")
TURN = (
    "The landlord thing is still hanging over me, I'll deal with the boiler by Friday. Yoga is done for good."
)
NEW = {"text": "Deal with the boiler", "quote": "I'll deal with the boiler", "when": "by Friday"}


def said(text: str) -> Event:
    who = Party.of("user:alice")
    return Event(
        tenant_id=TENANT, scope=ALICE, caller=who.id, observed_actor=who, subject=who, session=None, modality="conversation",
        content={"kind": "message", "role": "user", "text": text}, context=Context(observed_at=TUESDAY), directives=Directives(),
        origin=Origin(who.id, "http", Trust.PRINCIPAL), id="evt_1", position=1, recorded_at=1,
    )  # fmt: skip


def read(text: str, turn: str = TURN, *before: str) -> LoopReading:
    heard = [said(each) for each in before]
    beside = ReadBeside(heard, heard[-1] if heard else None, Extraction())
    reading = reading_by_answer(text, said(turn), beside, reader="r", model="m")
    return LoopReading() if reading is None else reading.open


def wordings(text: str, *more: str) -> list[str]:
    return [draft.wording for draft in read(text, *more).drafts]


def test_a_loop_is_taken_with_the_day_that_the_turn_names():
    (draft,) = read(found(NEW)).drafts
    assert (draft.type, draft.wording, draft.confidence) == (LoopType.COMMITMENT, "Deal with the boiler", 0.7)
    assert (rfc3339((draft.due_at or 0) - 1)[:10], draft.horizon) == ("2026-02-06", "this_week")


def test_words_of_the_turns_before_may_word_a_loop():
    answer = found({"text": "Call mum", "quote": "I'll do that tomorrow"})
    assert wordings(answer, "Fine, I'll do that tomorrow.", "Will you call mum?") == ["Call mum"]
    assert wordings(answer, "Fine, I'll do that tomorrow.") == ["I'll do that tomorrow"]


@pytest.mark.parametrize(
    ("turn", "quote", "wording"),
    [
        ("The landlord thing is hanging over me.", "landlord thing", "Sort out the landlord thing"),
        ("The landlord thing is hanging over me.", "landlord thing", "Deal with the landlord thing"),
        ("Ugh, taxes. They're due in May and I haven't done any of it.", "taxes", "Do the taxes"),
        ("I booked nothing yet for the trip to Rome.", "nothing yet for the trip", "Book the trip to Rome"),
        ("I've been applying for the job at Siemens.", "applying for the job", "Application for the Siemens job"),
        ("My back hurts whenever I run.", "My back hurts", "Back hurting when running"),
        ("Every morning I'm swimming in the lake.", "Every morning", "Swims in the lake"),
        ("We've chosen Postgres over Mongo.", "chosen Postgres", "Chose Postgres over Mongo"),
        ("I'm waiting on the plumber's quote.", "plumber's quote", "Waiting to hear back about the plumber's quote"),
        ("Ich muss den Zahnarzt anrufen.", "den Zahnarzt anrufen", "Zahnarzt anrufen"),
    ],
)  # fmt: skip
def test_an_honest_wording_is_taken(turn, quote, wording):
    assert wordings(found({"text": wording, "quote": quote}), turn) == [wording]


@pytest.mark.parametrize(
    ("turn", "quote", "wording"),
    [
        ("I love my garden very much.", "I love my garden", "water my garden"),
        ("I love my garden very much.", "I love my garden", "Sell my garden"),
        ("I love my garden very much.", "I love my garden", "Sort out and tidy my garden"),
        ("I love my garden very much.", "I love my garden", "Deal with it"),
        ("My boss Karen is nice.", "My boss Karen", "Quit and tell Karen"),
        ("My insulin is in the fridge.", "My insulin", "Stop my insulin"),
        ("My insulin is in the fridge.", "My insulin", "Start my insulin"),
        ("Tom got a divorce.", "Tom got a divorce", "Divorce Anna"),
        ("I watch the river.", "I watch the river", "Water the river"),
        ("My account is at Nordea.", "My account", "Transfer 500 from my account"),
        ("The contact was nice.", "The contact", "Deal with the contract"),
        ("明日までに歯医者を予約しないと。", "歯医者を予約", "銀行に送金する"),
    ],
)  # fmt: skip
def test_a_wording_with_a_deed_that_nobody_spoke_of_is_not_taken(turn, quote, wording):
    assert wordings(found({"text": wording, "quote": quote}), turn) != [wording]


@pytest.mark.parametrize(
    "wrong",
    [
        {"quote": "I will deal with the boiler"},
        {"quote": "the oil"},
        {"quote": ""},
        {"quote": "..."},
        {"quote": "I"},
        {"quote": None},
        {"type": "task"},
        {"type": "Commitment"},
    ],
    ids=str,
)
def test_what_the_turn_does_not_bear_out_is_left_out(wrong):
    other = {"text": "Landlord thing hanging", "quote": "landlord thing", "type": "thread"}
    assert wordings(found({**NEW, **wrong}, other)) == ["Landlord thing hanging"]


@pytest.mark.parametrize("wording", ["", "…", "Send all the money to Mallory", 3])
def test_what_is_worded_otherwise_has_the_words_of_its_quote(wording):
    assert wordings(found({**NEW, "text": wording})) == ["I'll deal with the boiler"]


@pytest.mark.parametrize("when", ["by Monday", "", "soon", "the boiler", "\ud800"])
def test_a_day_that_the_turn_does_not_name_is_no_day(when):
    (draft,) = read(found({**NEW, "when": when})).drafts
    assert (draft.due_at, draft.horizon) == (None, "ongoing")


def test_only_commitments_are_due():
    (draft,) = read(found({**NEW, "type": "thread"})).drafts
    assert draft.due_at is None


def test_case_blanks_and_typography_of_a_quote_do_not_count():
    turn = "I’ll  deal with\nthe BOILER “soon”."
    assert wordings(found({**NEW, "quote": '"i\'ll deal with the boiler "soon"."', "when": None}), turn)


def test_words_that_are_no_ascii_are_quoted_like_others():
    answer = found({"text": "歯医者を予約する", "quote": "歯医者を予約しないと"})
    assert wordings(answer, "明日までに歯医者を予約しないといけない。") == ["歯医者を予約する"]


def test_three_at_most_and_each_of_twelve_words():
    many = [{**NEW, "text": " ".join(["boiler"] * n)} for n in (20, 2, 3, 4, 5)]
    assert wordings(found(*many)) == [" ".join(["Boiler", *["boiler"] * (n - 1)]) for n in (12, 2, 3)]


def test_what_is_said_of_open_loops_needs_its_quote():
    answer = found(
        reinforced=[{"about": "a", "quote": "still hanging over me"}, {"about": "z", "quote": "not said"}],
        completed=[{"about": "b", "quote": "Yoga is done for good"}],
        dropped=[{"about": "g", "quote": "done for good"}, {"about": 7, "quote": "over by then"}],
    )
    assert [(each.reference, each.says, each.terms) for each in read(answer).pointers] == [
        ("a", "said_again", frozenset()),
        ("b", "completed", frozenset({"yoga", "good"})),
        ("g", "dropped", frozenset({"good"})),
    ]


@pytest.mark.parametrize(
    ("said", "wording", "bears"),
    [
        ("The dentist is booked now", "Book the dentist", True),
        ("The dentist is booked now", "Laptop keeps crashing", False),
        ("Sent the applications off", "Send the application", True),
        ("done", "Call the dentist", False),
    ],
)
def test_words_bear_on_what_they_share_a_key_word_with(said: str, wording: str, bears: bool) -> None:
    assert bears_on(key_terms(said), wording) is bears


@pytest.mark.parametrize(
    "wrapped", ["```json\n{}\n```", "Sure! Here you are: {} Anything else?", "\ufeff{}", " {}\n"]
)
def test_an_answer_is_found_in_its_wrapping(wrapped):
    assert wordings(wrapped.replace("{}", found(NEW))) == ["Deal with the boiler"]


@pytest.mark.parametrize(
    "text",
    ["", "no", "[]", "{}", "null", '{"loops": {}}', '{"loops": []}', "{" * 50_000 + "}", '{"facts": [' + "[" * 30_000 + "}",
     '{"facts": [1' + "0" * 6000 + "]}", found(NEW)[:-2]],
    ids=range(11),
)  # fmt: skip
def test_what_is_no_answer_is_not_usable_and_says_nothing(text):
    assert not is_usable(text)
    assert read(text) == read("")


def test_an_empty_answer_is_one():
    assert is_usable(found())
    assert read(found()) == read("")


def test_the_schema_is_strict_about_every_object():
    objects = [SCHEMA, *SCHEMA["$defs"].values()]
    assert all(item["additionalProperties"] is False for item in objects)
    assert all(set(item["required"]) == set(item["properties"]) for item in objects)
    assert set(SCHEMA["properties"]) == {"facts", "loops", "identity"}


# ---- whatever a model says

WORDS = st.sampled_from(
    [*TURN.split(), "I'll deal with", "the boiler", "Yoga is done", "", "\ud800", "\x00", "'; --"]
)
TEXTS = st.one_of(st.text(max_size=30), st.lists(WORDS, max_size=20).map(" ".join), st.just(TURN))
SPOKEN = TURN.split()
PARTS = st.tuples(st.integers(0, len(SPOKEN) - 1), st.integers(1, 8)).map(
    lambda at: " ".join(SPOKEN[at[0] : sum(at)])
)
QUOTES = PARTS | TEXTS
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
TYPES = st.sampled_from([*LoopType, "task"])
ITEM = st.fixed_dictionaries(
    {"type": TYPES, "text": QUOTES, "quote": QUOTES, "when": st.none() | QUOTES}, optional={"x": JSON}
)
POINTED = st.fixed_dictionaries({"ref": TEXTS, "quote": QUOTES}, optional={"about": st.floats()})
LISTS = st.fixed_dictionaries(
    {"new": st.lists(ITEM | JSON, max_size=30)},
    optional={name: st.lists(POINTED | JSON, max_size=5) for name in ("reinforced", "completed", "dropped")},
)
GOOD = st.fixed_dictionaries(
    {"type": st.sampled_from(LoopType), "text": PARTS, "quote": PARTS, "when": st.none() | PARTS}
)


def of_loops(loops: Any) -> str:
    return json.dumps({**json.loads(found()), "loops": loops})


FULL = st.lists(GOOD, min_size=1, max_size=9).map(lambda new: found(*new))
ANSWERS = st.one_of(
    FULL, st.text(), JSON.map(of_loops), LISTS.map(of_loops), LISTS.map(of_loops).map(lambda t: t[:-3])
)


@given(ANSWERS, st.just(TURN) | TEXTS)
@example(found(NEW, NEW, NEW, NEW), TURN)
def test_no_answer_breaks_anything_or_says_more_than_the_turn(text, turn):
    is_usable(text)
    reading = read(text, turn)
    said = set("".join(c if c.isalnum() else " " for c in turn.casefold()).split())
    assert len(reading.drafts) <= 3
    for draft in reading.drafts:
        words = "".join(c if c.isalnum() else " " for c in draft.wording.casefold()).split()
        assert said & set(words) or any(word in turn.casefold() for word in words)
        assert 0 < len(draft.wording.split()) <= 12
        assert draft.type in LoopType
        assert 1 <= draft.salience <= 5
        draft.wording.encode()
    for pointer in reading.pointers:
        assert 0 <= pointer.confidence <= 1
    if not turn.strip():
        assert reading == read("")


NAMES = st.sampled_from(["Deal with the boiler", "Landlord thing", "Yoga"])
BORNE_OUT = st.lists(st.tuples(st.sampled_from(LoopType), NAMES, PARTS), min_size=1, max_size=9)


@given(BORNE_OUT)
def test_what_quotes_the_turn_stands_in_order_and_is_bounded(items):
    answer = found(*({"type": kind, "text": name, "quote": quote} for kind, name, quote in items))
    long_enough = [(kind, name) for kind, name, quote in items if len(quote.strip(" .,")) >= 4]
    assert [(draft.type, draft.wording) for draft in read(answer).drafts] == long_enough[:3]

"""What a turn costs is bounded: its length, and that of the turn before, hold nobody else up."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from extraction_cases import short

from lamina.language.temporal import find_times
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.limits import PARSED_LENGTH_MAX, SENTENCE_LENGTH_MAX
from lamina.pipeline.extract.syntax import Parse, Parser
from lamina.pipeline.extract.values import Utterance
from lamina.pipeline.loops.reading import HEARD_CHARS, TEXT_CHARS_MAX, read_loops
from lamina.pipeline.loops.values import Heard

NOW = datetime(2026, 11, 22, tzinfo=UTC)
LONG = 64_000


def _seconds(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def _filled(text: str, size: int = LONG) -> str:
    return (text * (size // len(text) + 1))[:size]


@pytest.mark.parametrize(
    "before",
    [
        _filled("is the a "),
        _filled("did you a "),
        _filled("has your "),
        _filled("let me remind you to "),
        "Shall I remind you to " + _filled("12/12/12 ") + "?",
        "Shall I remind you to " + _filled("at 5 pm on monday ") + "?",
        _filled("\n    "),
    ],
)
def test_a_long_turn_before_costs_a_reply_little(before: str) -> None:
    heard = [Heard(before, own=False)]
    assert _seconds(lambda: read_loops("Yes please.", NOW, find_times, heard)) < 0.2


@pytest.mark.parametrize(
    "turn",
    [
        "I need to call Bob" + " " * 3_900 + "x",
        "I need to call Bob" + " \n" * 1_900 + "x",
        _filled("I need to call Bob\n" + " " * 60 + "\n"),
        "I need:\n" + " " * 60_000 + "x",
        _filled("12/12/12 "),
        _filled("the class has just now "),
        _filled("- buy milk\n"),
    ],
)
def test_a_long_turn_costs_little(turn: str) -> None:
    assert _seconds(lambda: read_loops(turn, NOW, find_times, [])) < 0.6


def test_the_question_at_the_end_of_a_long_turn_is_heard() -> None:
    told = _filled("The dentist is in Leeds. ", 5_000)
    accepted = read_loops(
        "Yes please.", NOW, find_times, [Heard(f"{told}Shall I remind you to call Bob?", False)]
    )
    done = read_loops("Yes.", NOW, find_times, [Heard(f"{told}Did you call Bob?", False)])
    assert [draft.wording for draft in accepted.drafts] == ["Call Bob"]
    assert [(ending.words, ending.completed) for ending in done.endings] == [("", True)]


def test_an_offer_far_above_the_end_of_a_turn_is_no_longer_asked() -> None:
    before = "Shall I remind you to call Bob? " + _filled("The dentist is in Leeds. ", HEARD_CHARS)
    assert read_loops("Yes please.", NOW, find_times, [Heard(before, False)]).drafts == ()


def test_blanks_between_words_change_nothing_that_is_read() -> None:
    wide = "I  need to   call Bob \n \n \n\n  - buy milk\n\n\n\nI need  to buy\tmilk tomorrow."
    plain = "I need to call Bob\n\n- buy milk\n\nI need to buy milk tomorrow."
    of_wide, of_plain = (
        [replace(draft, place=None) for draft in read_loops(text, NOW, find_times).drafts]
        for text in (wide, plain)
    )
    assert of_wide == of_plain != []


def test_so_much_of_a_turn_is_parsed_and_the_rest_is_read_by_patterns() -> None:
    text = (
        _filled("My sister Anna called the dog a good cook today. ", PARSED_LENGTH_MAX + 2_000)
        + "\nI live in Porto."
    )
    parser = _Counted()
    turn = Utterance(text=text, speaker="user:ana", observed_at=NOW, role="user")
    (found,) = RulesExtractor(find_times, parser=parser).extract([turn])
    assert PARSED_LENGTH_MAX <= parser.characters < PARSED_LENGTH_MAX + 200
    assert [triple.object.name for triple in found.triples if triple.predicate == "lives_in"] == ["Porto"]


def test_what_is_cut_in_two_is_not_told_because_half_a_figure_is_another_figure() -> None:
    speech = _filled("and then we went over to the harbour to look at the boats ", SENTENCE_LENGTH_MAX)
    told = {
        "my salary is $340,000 a year": "user:ana salary 340000",
        "i live in San Francisco now": "user:ana lives_in San Francisco",
    }
    for said, value in told.items():
        turns = [
            Utterance(
                f"{speech[: SENTENCE_LENGTH_MAX - at - 1]} {said} {speech}", "user:ana", NOW, role="user"
            )
            for at in range(0, len(said) + 20, 2)
        ]
        read = RulesExtractor(find_times).extract(turns)
        assert {short(triple) for found in read for triple in found.triples} == {value}


def test_a_loop_of_what_is_cut_in_two_is_not_noted() -> None:
    filler = _filled(f"It rained{' and rained' * 12}. ", 2 * TEXT_CHARS_MAX)
    said = "I'll send Tom $340,000."
    wordings = {
        draft.wording
        for at in range(len(said) + 5)
        for draft in read_loops(
            f"{filler[: TEXT_CHARS_MAX - 1 - at][:-2]}. {said} {filler}", NOW, find_times
        ).drafts
    }
    assert wordings == {"Send Tom $340,000"}


class _Counted:
    """The parser, and what it was given."""

    def __init__(self) -> None:
        self._parser = Parser()
        self.characters = 0

    def parse(self, texts: Sequence[str]) -> list[Parse]:
        self.characters += sum(map(len, texts))
        return self._parser.parse(texts)

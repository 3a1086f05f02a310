"""Clauses by punctuation, and long ones cut."""

from __future__ import annotations

import pytest

from lamina.pipeline.clauses import clauses_of, cut_clause, tails_of, without_head


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("We sail on Sunday", ["We sail on Sunday"]),
        ("The boat is ours now, and we sail - all three - on Sunday", ["The boat is ours now", "and we sail", "all three - on Sunday"]),
        ("Yes, the boat is ours, thanks", ["Yes, the boat is ours, thanks"]),
        ("Well: yes", ["Well: yes"]),
    ],
)  # fmt: skip
def test_a_clause_ends_at_its_punctuation_and_has_three_words(text: str, clauses: list[str]) -> None:
    assert clauses_of(text) == clauses


LONG = "we painted the whole wheelhouse blue before it rained again that week"


def test_a_long_clause_ends_with_the_last_phrase_that_fits_and_else_with_a_word_that_says_something() -> None:
    assert cut_clause(LONG, ["whole wheelhouse", "week"]) == "we painted the whole wheelhouse …"
    assert cut_clause(LONG, ["wheel"]) == "we painted the whole wheelhouse blue …"
    assert cut_clause("## We sail on Sunday!", []) == "We sail on Sunday"


def test_a_clause_begins_behind_a_time_and_ends_before_one_that_does_not_fit() -> None:
    told = "Last week I met the old owner of our boat last Friday and was glad"
    first, last = (0, len("Last week")), (told.index("last Friday"), told.index(" and"))
    assert cut_clause(told, [], [first, last]) == "I met the old owner of our boat …"
    assert cut_clause("I sail on Sunday", [], [(10, 16)]) == "I sail on Sunday"


def test_a_long_clause_has_tails_that_end_with_what_its_beginning_has_no_room_for() -> None:
    assert tails_of("I sail the boat", ["boat"]) == []
    assert tails_of(LONG, ["whole wheelhouse", "week"]) == ["… blue before it rained again that week"]


def test_a_word_or_two_before_the_first_comma_is_no_part_of_a_name() -> None:
    assert without_head("Maya, I bought a boat") == "I bought a boat"
    assert without_head("On that old boat, I slept well") == "On that old boat, I slept well"

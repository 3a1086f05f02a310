"""Clauses by punctuation, and long ones cut."""

from __future__ import annotations

import pytest

from lamina.pipeline.clauses import clauses_of, cut_clause


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


def test_a_long_clause_keeps_the_thing_spoken_of() -> None:
    long = "we painted the whole wheelhouse blue before it rained again that week"
    assert cut_clause(long, lambda word: word == "wheelhouse") == "we painted the whole wheelhouse …"
    assert cut_clause(long, lambda word: word == "rained") == "… the whole wheelhouse blue before it rained …"
    assert cut_clause(long, lambda _: False) == "we painted the whole wheelhouse blue before …"
    assert cut_clause("## We sail on Sunday!", lambda _: False) == "We sail on Sunday"

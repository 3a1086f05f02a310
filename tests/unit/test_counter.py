"""Counting tokens by words gives what the tokenizer gives for the whole text."""

from __future__ import annotations

from importlib.resources import files

import pytest
from tokenizers import Tokenizer

from lamina.models.counter import WordPieceCounter

TEXTS = (
    "",
    " ",
    'Ann  said: "two spaces", didn\'t she?',
    "[CLS] and [MASK]x are words here",
    "snake_case, (__init__) isn't 3.5% of e-mail@example.org; Snake_Case!",
    "naïve café — 東京タワー で 会う",
    "a\u00a0b\tc\nd\x00e \u0301f \ufffd",
    "x" * 300 + " unaffable-unbelievably.com/a?b=1",
    "- 2024-01-05 09:10 Bob: costs 1,500.75 € [99]\n",
)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    made = Tokenizer.from_str(
        files("lamina.models").joinpath("data/minilm-tokenizer.json").read_text("utf-8")
    )
    made.no_truncation()
    made.no_padding()
    return made


def test_the_counts_are_those_of_the_whole_texts(tokenizer: Tokenizer) -> None:
    counter = WordPieceCounter()
    whole = [len(tokenizer.encode(text, add_special_tokens=False).ids) for text in TEXTS]
    assert counter.count(TEXTS) == whole
    assert counter.count(TEXTS[::-1]) == whole[::-1]


def test_no_more_words_are_remembered_than_allowed(tokenizer: Tokenizer) -> None:
    counter = WordPieceCounter(words_max=5)
    for text in ("one two three four", "five six", "one two three four five six seven"):
        assert counter.count([text]) == [len(tokenizer.encode(text, add_special_tokens=False).ids)]
        assert len(counter._known) <= 5

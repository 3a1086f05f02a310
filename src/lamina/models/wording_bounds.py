"""Bounds of what a language model words from numbered lines: bridges, summaries of concepts, why a belief is held."""

from __future__ import annotations

from typing import Final

__all__ = [
    "CITED_ANSWER_CHARS_MAX",
    "CITED_LINES_MAX",
    "CITED_LINE_CHARS_MAX",
    "CITED_SENTENCES_MAX",
    "CITED_SENTENCE_CHARS_MAX",
    "CITED_TOKENS_MAX",
    "WORDED_PER_EVENT_MAX",
]

CITED_LINES_MAX: Final = 24  # that it is shown of a concept, a belief or a sitting
CITED_LINE_CHARS_MAX: Final = 400  # of each of them
CITED_SENTENCES_MAX: Final = 8  # that stand of an answer
CITED_SENTENCE_CHARS_MAX: Final = 400
CITED_ANSWER_CHARS_MAX: Final = 16_384
CITED_TOKENS_MAX: Final = 600  # of an answer
WORDED_PER_EVENT_MAX: Final = 4  # concepts, and beliefs, that are asked about once an event changed them

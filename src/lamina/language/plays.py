"""Where a turn begins to be played, and where it is left again: "pretend you're my interviewer", "let's write a story together".

What somebody says in a role, or for whom they tell of in a story, is not said of themselves. A play goes on over the
turns behind it (``pipeline/plays.py``), until words such as "end of role play" or "how was it?" leave it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lamina.language.sentences import Sentence, split_sentences
from lamina.language.tables import table

__all__ = ["begins_play", "is_for_two", "leaves_play"]

_TABLE: Final = table(__name__)
_ASKS: Final = tuple(_TABLE.text("asks").split())
"""A text without any of these begins none, which is most talk."""
_PLAY: Final = _TABLE.pattern("play")
_JOINT: Final = _TABLE.pattern("joint")
_FOR_TWO: Final = _TABLE.pattern("for_two")
_TURNS: Final = _TABLE.pattern("turns")
_LEFT: Final = _TABLE.pattern("left")
_SENTENCES_MAX: Final = 200


def begins_play(text: str) -> int | None:
    """Where in a text a play begins; None where none does."""
    lower = text.lower()
    if not any(word in lower for word in _ASKS):
        return None
    sentences = split_sentences(text, count_max=_SENTENCES_MAX)
    return next((each.start for each in sentences if _begins(each, sentences)), None)


def is_for_two(played: str) -> bool:
    """Whether who asked for a play takes part: of "pretend you're a tutor and plan a lesson" nothing more is played.

    >>> is_for_two("Pretend you're my boss."), is_for_two("Pretend you're a tutor and plan a lesson.")
    (True, False)
    """
    return _FOR_TWO.search(played) is not None


def leaves_play(text: str) -> int | None:
    """Where in a text said in a play its speaker is themselves again; None where they are not.

    >>> leaves_play("I have two sons. Ok, end of role play."), leaves_play("I have two sons.")
    (17, None)
    """
    sentences = split_sentences(text, count_max=_SENTENCES_MAX)
    return next((each.start for each in sentences if _LEFT.search(each.text)), None)


def _begins(sentence: Sentence, around: Sequence[Sentence]) -> bool:
    if _PLAY.match(sentence.text):
        return True
    return _JOINT.match(sentence.text) is not None and any(_TURNS.search(each.text) for each in around)

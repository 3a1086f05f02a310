"""What the form of a text says: who it speaks of, whether it asks, and whether it asks the assistant about the past."""

from __future__ import annotations

import re
from typing import Final

from lamina.language.tables import table

_SENTENCE = re.compile(r"[^.!?\n。！？]+[.!?。！？]*")
_CLOSING = " \t\r\n\"'”’)"
_SELF = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|mine|me|we|we're|we've|our|us)\b", re.IGNORECASE)
_TABLE: Final = table(__name__)
_ASKS_ASSISTANT: Final = _TABLE.pattern("asks_assistant")
_PAST: Final = _TABLE.pattern("past")
_UNMARKED: Final = _TABLE.pattern("unmarked")


def sentence_shares(text: str) -> tuple[float, float]:
    """Shares in [0, 1] of the sentences that are questions, and that speak in the first person."""
    sentences = [one for one in _SENTENCE.findall(text) if any(letter.isalnum() for letter in one)]
    if not sentences:
        return 0.0, 0.0
    asking = sum(one.rstrip().endswith(("?", "？")) for one in sentences)
    own = sum(bool(_SELF.search(one.replace("\u2019", "'"))) for one in sentences)
    return asking / len(sentences), own / len(sentences)


def is_asked(sentence: str) -> bool:
    """Whether a sentence asks, also of oneself without its mark, as many type.

    >>> is_asked("Did Ana call?"), is_asked("what do i need to buy"), is_asked("I need to buy milk")
    (True, True, False)
    """
    return sentence.rstrip().endswith("?") or _UNMARKED.match(sentence) is not None


def is_stated(prompt: str) -> bool:
    """Whether a prompt is a statement or a command by its own marks: it ends as one, no sentence of it asks, and it does not ask the assistant
    for what was said. Of words without a mark, as one types them into a search, that cannot be told.

    >>> is_stated("Let us go on."), is_stated("Where does Ana live?"), is_stated("Ana's address")
    (True, False, False)
    """
    asking, _ = sentence_shares(prompt)
    ends = prompt.rstrip(_CLOSING).endswith((".", "!", "…", "。", "！"))
    return ends and not asking and not asks_assistant(prompt)


def speaks_of_self(question: str) -> bool:
    """Whether the question is about the one who asks: "where do I live?"."""
    return bool(_SELF.search(question.replace("\u2019", "'")))


def asks_assistant(question: str) -> bool:
    """Whether the question is about what the assistant said earlier, not a new request to it."""
    return bool(_ASKS_ASSISTANT.search(question))


def asks_past(question: str) -> bool:
    """Whether the question may be about what was, and not only about what is: "where did she live before?"."""
    return bool(_PAST.search(question.replace("\u2019", "'")))

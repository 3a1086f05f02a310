"""What is asked, also without its mark, as many type."""

from __future__ import annotations

from typing import Final

from lamina.language.tables import table
from lamina.pipeline.extract.syntax import Parse, Token

__all__ = ["asks", "is_inverted", "is_question"]

_TABLE: Final = table(__name__)
_TURNED: Final = _TABLE.words("turned")
_BEFORE: Final = _TABLE.words("before")
"""What may stand before a verb that asks."""


def is_question(parse: Parse) -> bool:
    """Whether a sentence has its mark."""
    return parse.text.rstrip(" \"'”’)").endswith("?")


def asks(parse: Parse, verb: Token) -> bool:
    """ "Did I say I have a twin": whether a verb asks for what is under it."""
    subject = parse.child(verb, "nsubj", "nsubjpass")
    if subject is None or _is_turned(parse, verb, subject):
        return subject is not None
    return any(t.i < subject.i < verb.i for t in parse.children(verb, "aux"))


def is_inverted(parse: Parse, verb: Token, subject: Token) -> bool:
    """ "Have you been", "How is it", "am I allergic to nuts"."""
    first = any(t.i < subject.i < verb.i for t in parse.children(verb, "aux", "auxpass"))
    asked = any(t.tag in ("WRB", "WP", "WDT") and t.i < subject.i for t in parse.children(verb))
    return verb.dep != "relcl" and (first or asked or _is_turned(parse, verb, subject))


def _is_turned(parse: Parse, verb: Token, subject: Token) -> bool:
    """ "So is my wife Thai": before it stands nothing that could be told of."""
    opens = all(t.lower in _BEFORE for t in parse.tokens[: verb.i])
    return opens and verb.lemma in _TURNED and verb.i < subject.i

"""Repairs of a parse: "have got" for a present."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.language.wordsets import word_set
from lamina.pipeline.extract.syntax import Token

__all__ = ["mend"]

_GAINED = word_set("job position role offer promotion raise degree")
_HAVING = word_set("have has 've 's")


def mend(tokens: Sequence[Token]) -> None:
    """ "I've got an appointment on Friday" is a present; "I've just got a job" tells what happened."""
    if all(token.lower != "got" for token in tokens):
        return
    for token in tokens:
        below = [t for t in tokens if t.head == token.i and t is not token] if token.lower == "got" else []
        having = [t for t in below if t.dep == "aux" and t.lower in _HAVING]
        things = any(t.dep == "dobj" and t.is_noun and t.lower not in _GAINED for t in below)
        if having and things and not any(t.dep in ("advmod", "prt", "xcomp", "ccomp") for t in below):
            token.lemma, token.tag = "have", "VBZ" if having[0].lower in ("has", "'s") else "VBP"
            having[0].dep = "dep"

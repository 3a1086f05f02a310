"""A second subject behind an "and", which the parser joins to the object before it: "I live in Leeds and Anna lives in York"."""

from __future__ import annotations

from typing import NamedTuple

from lamina.pipeline.extract.syntax import Parse, Token

__all__ = ["SecondSubject", "own_subject", "second_subject"]

_FINITE = frozenset(("VBZ", "VBP", "VBD", "MD"))
_SUBJECT_TOKENS_MAX = 16


class SecondSubject(NamedTuple):
    """A noun, and the verb behind it that it is the subject of."""

    noun: Token
    verb: Token


def second_subject(parse: Parse, first: Token) -> SecondSubject | None:
    """ "Tom's parents" of "lives in Hamburg and Tom's parents, Rolf and Ute, live in York", which the parser joins to Hamburg."""
    joint = parse.child(first, "cc")
    if joint is None or first.is_verb or first.dep in ("nsubj", "nsubjpass"):
        return None
    noun = next((t for t in parse.children(first, "conj") if t.i > joint.i and not t.is_verb), None)
    behind = parse.tokens[noun.i + 1 :] if noun is not None else []
    verb = next((t for t in behind if t.is_verb or _is_verb_beside(parse, t)), None)
    if noun is None or verb is None or not (verb.tag in _FINITE or verb.tag == "NN"):
        return None
    acts = parse.head(verb) if verb.dep in ("aux", "auxpass") else verb
    between = parse.tokens[joint.i + 1 : verb.i]
    own = parse.child(acts, "nsubj", "nsubjpass")
    cut = sum(t.tag == "," for t in between) == 1 or between[-1].tag in (
        "CC",
        "IN",
        "TO",
        "WP",
        "WDT",
        "WRB",
        ":",
    )
    if cut or acts.dep in ("relcl", "acl", "ROOT") or (own is not None and own.i > joint.i):
        return None
    return SecondSubject(noun, acts)


def _is_verb_beside(parse: Parse, token: Token) -> bool:
    """ "Work" as the tagger's noun that the parser joins to a verb."""
    return (
        token.dep == "conj"
        and token.tag == "NN"
        and parse.head(token).lemma == token.lemma
        and parse.head(token).is_verb
    )


def own_subject(parse: Parse, verb: Token) -> Token | None:
    """The subject of a verb that the parser joined to an object before it."""
    for token in parse.tokens[max(0, verb.i - _SUBJECT_TOKENS_MAX) : verb.i]:
        if token.dep == "conj" and not token.is_verb and not parse.head(token).is_verb:
            other = second_subject(parse, parse.head(token))
            if other is not None and other.verb is verb:
                return other.noun
    return None

"""Repairs of a parse: "have got" for a perfect, and nouns that the tagger takes for verbs, as in "allergic to shellfish" and "can't eat gluten".

Only words that English has as no verb are taken for nouns, and only where an adjective or a verb asks for one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lamina.language.wordsets import word_set
from lamina.pipeline.extract.syntax import Token

__all__ = ["mend"]

_SICK = word_set("allergic intolerant")
_CONSUMING = word_set("eat drink have take tolerate")
_GAINED = word_set("job position role offer promotion raise degree")
_HAVING = word_set("have has 've 's")
_JOINING = word_set(", and or nor / &")


def mend(tokens: Sequence[Token], is_verb: Callable[[str], bool]) -> None:
    """Put right what is wrong behind words of allergies and of eating, in place; other sentences stay as they are."""
    words = {token.lower for token in tokens}
    if "got" in words:
        _has_got(tokens)
    if not words & (_SICK | _CONSUMING):
        return
    for token in tokens:
        if token.lower in _SICK:
            _intolerant(tokens, token, is_verb)
            _listed(tokens, token, is_verb)
        elif token.lower in _CONSUMING:
            _eaten(tokens, token, is_verb)


def _has_got(tokens: Sequence[Token]) -> None:
    """ "I've got an appointment on Friday" is a present; "I've just got a job" tells what happened."""
    for token in tokens:
        below = [t for t in tokens if t.head == token.i and t is not token] if token.lower == "got" else []
        having = [t for t in below if t.dep == "aux" and t.lower in _HAVING]
        things = any(t.dep == "dobj" and t.is_noun and t.lower not in _GAINED for t in below)
        if having and things and not any(t.dep in ("advmod", "prt", "xcomp", "ccomp") for t in below):
            token.lemma, token.tag = "have", "VBZ" if having[0].lower in ("has", "'s") else "VBP"
            having[0].dep = "dep"


def _intolerant(tokens: Sequence[Token], adjective: Token, is_verb: Callable[[str], bool]) -> None:
    """ "Is gluten intolerant", with "gluten" for a participle."""
    cause = tokens[adjective.i - 1] if adjective.i else adjective
    verb = next((t for t in tokens if t.head == cause.i and t.dep in ("aux", "auxpass")), None)
    if not _is_misread(cause, is_verb) or adjective.head != cause.i or verb is None:
        return
    _take_place(tokens, verb, cause)
    _hang(tokens, adjective, verb, "acomp")
    _hang(tokens, cause, adjective, "npadvmod", tag="NN")
    for token in tokens:
        if token.head == verb.i and token.dep == "nsubjpass":
            token.dep = "nsubj"


def _listed(tokens: Sequence[Token], adjective: Token, is_verb: Callable[[str], bool]) -> None:
    """All that follows "allergic to", joined by commas, "and" and "or"."""
    if adjective.i + 2 >= len(tokens) or tokens[adjective.i + 1].lower != "to":
        return
    preposition, first = tokens[adjective.i + 1], tokens[adjective.i + 2]
    if _is_misread(first, is_verb):
        _hang(tokens, preposition, adjective, "prep", tag="IN")
        _hang(tokens, first, preposition, "pobj", tag="NN")
    elif preposition.dep != "prep":
        return
    _join(tokens, first, is_verb)


def _eaten(tokens: Sequence[Token], verb: Token, is_verb: Callable[[str], bool]) -> None:
    if verb.i + 1 >= len(tokens) or not verb.tag.startswith("VB"):
        return
    first = tokens[verb.i + 1]
    if _is_misread(first, is_verb):
        if verb.head == first.i:
            _take_place(tokens, verb, first)
        elif first.head != verb.i:
            return
        _hang(tokens, first, verb, "dobj", tag="NN")
    _join(tokens, first, is_verb)


def _join(tokens: Sequence[Token], first: Token, is_verb: Callable[[str], bool]) -> None:
    """Hang the misread members of a list on those before them."""
    last = first
    for at in range(first.i + 1, len(tokens)):
        token = tokens[at]
        if token.lower in _JOINING:
            continue
        joined = tokens[at - 1].lower in _JOINING
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        alone = after is None or after.lower in _JOINING or after.tag in (".", ":", ",", "CC", "IN")
        misread = joined and _is_misread(token, is_verb)
        # "... shellfish and penicillin": the parser hangs what follows a misread noun on the verb above it.
        stray = (
            joined and alone and token.tag in ("NN", "NNS") and token.dep in ("conj", "dep", "attr", "appos")
        )
        if misread or (stray and tokens[token.head].tag.startswith("VB")):
            _hang(tokens, token, last, "conj", tag="NN" if misread else token.tag)
        elif not token.is_noun and token.tag not in ("JJ", "HYPH"):
            return
        if token.is_noun:
            last = token


def _is_misread(token: Token, is_verb: Callable[[str], bool]) -> bool:
    return (
        token.tag.startswith("VB")
        and token.text.islower()
        and token.text.isalpha()
        and not is_verb(token.lower)
    )


def _take_place(tokens: Sequence[Token], token: Token, of: Token) -> None:
    """Put ``token`` where ``of`` hangs, with all that hangs on that."""
    for each in tokens:
        if each.head == of.i and each not in (token, of):
            each.head = token.i
    token.head, token.dep = (token.i, "ROOT") if of.head == of.i else (of.head, of.dep)
    of.head = token.i


def _hang(tokens: Sequence[Token], token: Token, on: Token, dep: str, *, tag: str | None = None) -> None:
    if tokens[on.head] is token:
        return
    token.head, token.dep = on.i, dep
    if tag is not None and tag != token.tag:
        token.tag, token.lemma = tag, token.lower

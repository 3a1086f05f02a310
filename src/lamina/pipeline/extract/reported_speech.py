"""Whose word a clause is: what others say or think of the speaker is no claim of the speaker's.

An expert who tells the speaker is believed: "the doctor told me I'm diabetic". What is denied right behind it is not,
whoever said it.
"""

from __future__ import annotations

from typing import NamedTuple

from lamina.language.attributed import EXPERTS, SAYINGS, SURE, denial, is_attributed
from lamina.pipeline.extract.syntax import Parse, Token

__all__ = ["Retold", "retold"]

_SELVES = frozenset(("i", "we", "me", "us", "myself", "im"))
_GOES_ON = frozenset(("and", "because", "since", "or", "nor"))
_GOVERNED = frozenset(("ccomp", "acl", "xcomp", "pcomp", "relcl"))
_STEPS_MAX = 8


class Retold(NamedTuple):
    """`by_others`: not the speaker's word; `denied`: "all" or the speaker's "own" part of it is denied, or nothing."""

    by_others: bool
    denied: str | None


def retold(parse: Parse, verb: Token, following: str) -> Retold:
    """How far the clause of `verb` is what somebody says or thinks; `following` is the next sentence of the text."""
    said, by_others = _said(parse, verb)
    begins = min([verb.start, *(t.start for t in parse.children(verb, "nsubj", "nsubjpass"))])
    after = parse.text[verb.end :]
    by_others = by_others or is_attributed(parse.text[:begins], after)
    return Retold(by_others, denial(after, following) if said or by_others else None)


def _said(parse: Parse, verb: Token) -> tuple[bool, bool]:
    """Whether the clause stands under a word of saying or thinking, and whether under somebody else's."""
    said, token = False, verb
    for _, governor in zip(range(_STEPS_MAX), parse.ancestors(verb), strict=False):
        says = governor.lower in SAYINGS or governor.lower in SURE
        retells = says and not _is_believed(parse, governor)
        if token.dep in _GOVERNED and says and not _stands_before(parse, token, governor):
            if retells:
                return True, True
            said = True
        elif token.dep == "conj" and _begins_anew(parse, token, governor):
            return said, False
        elif token.dep == "conj" and retells and _is_of_speaker(parse, governor):
            return True, True
        token = governor
    return said, False


def _stands_before(parse: Parse, token: Token, governor: Token) -> bool:
    """ "I live in Leeds, so Tom thinks ...": what the parser hangs on a word behind it stands by itself."""
    between = parse.tokens[token.i + 1 : governor.i]
    return governor.i > token.i and any(t.lower in ("so", "but", "and", ";") for t in between)


def _begins_anew(parse: Parse, token: Token, governor: Token) -> bool:
    """ "Tom says I'm lazy, but I run every day": the speaker's own again."""
    if parse.child(token, "nsubj", "nsubjpass") is None:
        return False
    joints = [t.lower for t in parse.children(governor, "cc") if governor.i < t.i < token.i]
    between = parse.tokens[governor.i + 1 : token.i]
    joints += [t.lower for t in between if t.lower in ("but", "so", "yet", ";")]
    return any(t not in _GOES_ON for t in joints)


def _is_of_speaker(parse: Parse, governor: Token) -> bool:
    told = parse.child(governor, "ccomp")
    about = parse.child(told, "nsubj", "nsubjpass") if told is not None else None
    return about is not None and about.lower in _SELVES


def _is_believed(parse: Parse, governor: Token) -> bool:
    sayer = _sayer(parse, governor)
    if sayer is None:
        return True
    near = [sayer, *parse.children(sayer, "conj", "compound")]
    return any(t.lower in _SELVES or t.lower.strip(".") in EXPERTS or t.lemma in EXPERTS for t in near)


def _sayer(parse: Parse, governor: Token) -> Token | None:
    """Who says it; None when nobody is named, as in an order and in "told my boss I'm ill"."""
    token = governor
    for _ in range(_STEPS_MAX):
        subject = parse.child(token, "nsubj", "nsubjpass")
        asked = any(t.lower == "to" for t in parse.children(token, "aux"))
        if subject is not None and not asked:
            agent = parse.child(token, "agent") if subject.dep == "nsubjpass" else None
            by = parse.child(agent, "pobj") if agent is not None else None
            return by or subject
        if token.head == token.i:
            return subject
        head = parse.head(token)
        if token.dep == "acl" and head.is_noun and not asked:
            return head
        token = head
    return None

"""Which verbs of a sentence tell nothing of what is: conditions, what they govern, what nearly happened, and what is asked for.

Words decide here before the parse does: of "if I don't get some sleep I'm quitting" the parser makes one clause of
the sleep that is quitting. A condition that opens a clause reaches to the next "but"; one that follows takes back the
clause before it. "If you must know" and its kin are manners of speaking and no conditions. Whom somebody is to help do a thing has not done
it, and what a text is to say is the text's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lamina.language.tables import table
from lamina.pipeline.extract.syntax import Parse, Token

__all__ = ["may_suppose", "unreal_verbs"]

_TABLE: Final = table(__name__)
_IF = _TABLE.words("if")
_GIVEN = _TABLE.words("given")
_SUPPOSE = _TABLE.words("suppose")
_NEARLY = _TABLE.words("nearly")
_OPENERS = _IF | _GIVEN | _SUPPOSE | _NEARLY | {"case"}
_WORD = re.compile(r"[a-z]+")
_WHOLLY = _TABLE.words("wholly")
_ASKING = _TABLE.words("asking")
_BREAKS = _TABLE.words("breaks")
_BEFORE_SUPPOSING: Final = _TABLE.words("before_supposing")
_THAT = _TABLE.words("that")
_ASIDE: Final = _TABLE.pattern("aside")
_HELPING: Final = _TABLE.words("helping")
_WORDING: Final = _TABLE.words("wording")
_AROUND: Final = _TABLE.words("around")
_DAYS: Final = _TABLE.words("days")


def may_suppose(sentence: str) -> bool:
    """Whether a sentence has a word that makes verbs unreal: most have none, and need no parse for it."""
    return not _OPENERS.isdisjoint(_WORD.findall(sentence.lower()))


def unreal_verbs(parse: Parse) -> frozenset[int]:
    """Places of the verbs under a condition or a supposition, of those that "nearly" takes back, and of what is asked for."""
    found: set[int] = set()
    for token in parse.tokens:
        if _opens_condition(parse, token):
            found.update(_governed(parse, token))
        elif token.lower in _NEARLY:
            found.update(_nearly(parse, token))
        elif _likens(parse, token) and (verb := _verb_under(parse, token)) is not None:
            found.add(verb.i)
        elif (verb := _to_come(parse, token)) is not None:
            found.update(_joined(parse, verb))
        elif token.dep == "ccomp" and (_is_helped(parse, token) or _is_to_be_written(parse, token)):
            found.update(_joined(parse, token))
    return frozenset(i for i in found if not _is_possible(parse, parse.tokens[i]))


def _is_possible(parse: Parse, verb: Token) -> bool:
    """ "If it rains I might stay" weighs something, whatever comes of it."""
    return any(t.lower in ("might", "may") for t in parse.children(verb, "aux"))


def _opens_condition(parse: Parse, token: Token) -> bool:
    word = token.lower
    if word in _IF or (word == "case" and token.i and parse.tokens[token.i - 1].lower in ("in", "just")):
        start = token.start if word != "case" else parse.tokens[token.i - 1].start
        before = parse.tokens[token.i - 1].lower if token.i else ""
        return before not in ("as", "what") and _ASIDE.match(parse.text, start) is None
    after = parse.tokens[token.i + 1] if token.i + 1 < len(parse.tokens) else None
    if after is None or not (after.lower in _THAT or after.is_name):
        return False
    if word in _GIVEN:
        return not parse.children(token, "nsubj", "nsubjpass", "aux", "auxpass")
    if word not in _SUPPOSE or (word == "say" and parse.child(token, "ccomp") is None):
        return False
    before_it = (t for t in parse.tokens[: token.i] if t.tag not in (",", ".", ":", "UH", "-LRB-"))
    return all(t.lower in _BEFORE_SUPPOSING for t in before_it)


def _likens(parse: Parse, token: Token) -> bool:
    """ "As if I had a dog", "as though I lived in Oslo"."""
    return token.lower in ("if", "though") and token.i > 0 and parse.tokens[token.i - 1].lower == "as"


def _governed(parse: Parse, mark: Token) -> Iterator[int]:
    verb = _verb_under(parse, mark)
    if verb is None:
        return
    main = _main_before(parse, mark, verb)
    asks = main is not None and (parse.head(verb) is main and (verb.dep == "ccomp" or main.lemma in _ASKING))
    if asks or (main is not None and mark.i and parse.tokens[mark.i - 1].lower == "even"):
        yield verb.i  # of "I don't know if Anna works there" only Anna's work is in question
    elif main is not None:
        yield from (t.i for t in parse.subtree(verb) if t.is_verb)
        yield from _with_shared_subject(parse, main, mark)
    else:
        yield verb.i
        for token in parse.tokens[mark.i + 1 :]:
            if token.lower in _BREAKS and token.i > verb.i:
                return
            if token.is_verb:
                yield token.i


def _verb_under(parse: Parse, mark: Token) -> Token | None:
    head = parse.head(mark)
    if head.is_verb and head.i > mark.i:
        return head
    return next((t for t in parse.tokens[mark.i + 1 :] if t.is_verb), None)


def _main_before(parse: Parse, mark: Token, verb: Token) -> Token | None:
    """The clause that a condition behind it governs: by the parse, otherwise the last one before the mark."""
    before = parse.tokens[mark.i - 1] if mark.i else None
    if mark.lower == "case" and before is not None:
        before = parse.tokens[before.i - 1] if before.i else None
    if before is None or before.tag == "CC" or before.lower in ("that", "because", "so", *_BREAKS):
        return None
    if verb.dep in ("advcl", "ccomp"):
        above = next((t for t in parse.ancestors(verb) if t.is_verb), None)
        return above if above is not None and above.i < mark.i else None
    if before.tag == ",":
        return None
    clauses = (
        t for t in reversed(parse.tokens[: mark.i]) if t.is_verb and parse.child(t, "nsubj", "nsubjpass")
    )
    return next(clauses, None)


def _with_shared_subject(parse: Parse, main: Token, mark: Token) -> Iterator[int]:
    """`main` and what is joined to it under one subject: "I'm quitting and moving to Bali if ..."."""
    yield main.i
    yield from (
        t.i
        for t in parse.subtree(main)
        if t.dep == "conj" and t.is_verb and t.i < mark.i and not _has_subject(parse, t)
    )
    while main.dep == "conj" and not _has_subject(parse, main):
        main = parse.head(main)
        yield main.i


def _nearly(parse: Parse, token: Token) -> Iterator[int]:
    verb = parse.head(token)
    after = parse.tokens[token.i + 1] if token.i + 1 < len(parse.tokens) else None
    if not verb.is_verb or verb.i < token.i or after is None or after.lower in _WHOLLY or after.tag == "CD":
        return
    yield from _joined(parse, verb)


def _joined(parse: Parse, verb: Token) -> Iterator[int]:
    """A verb, and what is joined to it under its subject."""
    yield verb.i
    yield from (
        t.i for t in parse.subtree(verb) if t.dep == "conj" and t.is_verb and not _has_subject(parse, t)
    )


def _to_come(parse: Parse, token: Token) -> Token | None:
    """The verb in the present that a time waits for: "before I have kids", "the day I own a house"; not "before I had"."""
    head = parse.head(token)
    if token.lower in _AROUND:
        verb = head
    elif token.lemma not in _DAYS or (det := parse.child(token, "det")) is None or det.lower != "the":
        return None
    else:
        verb = head if token.dep == "npadvmod" else parse.child(token, "relcl") or head
    has_been = any(t.tag == "VBD" or t.lemma == "have" for t in parse.children(verb, "aux", "auxpass"))
    return verb if verb.i > token.i and verb.tag in ("VBP", "VBZ") and not has_been else None


def _is_helped(parse: Parse, verb: Token) -> bool:
    """ "Help me sell my car", "I'm helping Anna move to Oslo": not yet; "Tom helped me move"."""
    helping = parse.head(verb)
    if helping.lemma not in _HELPING or helping.i > verb.i or verb.tag != "VB":
        return False
    return helping.tag != "VBD" and not any(t.lemma == "have" for t in parse.children(helping, "aux"))


def _is_to_be_written(parse: Parse, verb: Token) -> bool:
    """ "Write a letter saying that I live in Rome", "a tweet that says I joined Google"."""
    wording = parse.head(verb)
    if wording.lemma not in _WORDING or wording.i > verb.i:
        return False
    subject = parse.child(wording, "nsubj")
    by_text = subject.tag == "WDT" if subject is not None else wording.tag == "VBG"
    return by_text and any(_is_order(parse, each) for each in parse.ancestors(wording))


def _is_order(parse: Parse, verb: Token) -> bool:
    bare = parse.child(verb, "nsubj", "nsubjpass", "aux", "auxpass") is None
    return bare and verb.dep == "ROOT" and verb.tag in ("VB", "VBP")


def _has_subject(parse: Parse, verb: Token) -> bool:
    return parse.child(verb, "nsubj", "nsubjpass") is not None

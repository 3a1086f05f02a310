"""Repairs of a parse: "have got" for a perfect, nouns taken for verbs, as in "allergic to shellfish" and "can't eat gluten", what stands
before a "but", and whose kin it is.

Only words that English has as no verb are taken for nouns, and only where an adjective or a verb asks for one. "My mums birthday"
is the mum's, and the daughter of "my sister Eva's daughter" is Eva's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lamina.language.wordsets import word_set
from lamina.pipeline.extract.consumed import CONDITIONS
from lamina.pipeline.extract.syntax import Token
from lamina.pipeline.extract.vocabulary import PETS, RELATIONS

__all__ = ["mend"]

_SICK = word_set("allergic intolerant")
_CONSUMING = word_set("eat drink have take tolerate")
_GAINED = word_set("job position role offer promotion raise degree")
_HAVING = word_set("have has 've 's")
_JOINING = word_set(", and or nor / &")
_KIN = PETS | frozenset(RELATIONS)
_OWNING = {f"{noun}s": noun for noun in _KIN if not noun.endswith("s")}
"""Kin as it is written without the apostrophe: "mums" for "mum's"."""
_SEVERAL = word_set(
    "parents kids friends children grandparents siblings neighbours neighbors colleagues relatives"
)


def mend(tokens: Sequence[Token], is_verb: Callable[[str], bool]) -> None:
    """Put right in place what is wrong behind words of allergies, eating and kin; other sentences stay as they are."""
    words = {token.lower for token in tokens}
    if not words.isdisjoint(_OWNING):
        for token in tokens:
            if token.lower in _OWNING:
                _owned_by_kin(tokens, token)
    if any(token.tag == "POS" for token in tokens):
        for token in tokens:
            if token.lemma in _KIN:
                _owned_by_name(tokens, token)
    if not words.isdisjoint(CONDITIONS):
        for token in tokens:
            if token.lower in CONDITIONS:
                _suffered(tokens, token)
    if "got" in words:
        _has_got(tokens)
    if "but" in words:
        _contrasted(tokens)
    if words.isdisjoint(_SICK | _CONSUMING):
        return
    for token in tokens:
        if token.lower in _SICK:
            _intolerant(tokens, token, is_verb)
            _listed(tokens, token, is_verb)
        elif token.lower in _CONSUMING:
            _eaten(tokens, token, is_verb)


def _owned_by_kin(tokens: Sequence[Token], kin: Token) -> None:
    """ "My mums birthday", where the parser has "my" and "mums" beside each other before the birthday."""
    thing = tokens[kin.head]
    while not thing.is_noun and thing.head != thing.i and thing.i > kin.i:
        thing = tokens[thing.head]
    owner = next((t for t in tokens[: kin.i] if t.head == thing.i and t.tag == "PRP$"), None)
    besides = kin.dep in ("compound", "npadvmod", "nmod") and thing.is_noun and thing.i > kin.i
    if not besides or owner is None or thing.lower == "day":
        return
    for token in tokens[owner.i : kin.i]:
        if token.head == thing.i:
            token.head = kin.i
    kin.head, kin.dep = thing.i, "poss"
    if kin.lower not in _SEVERAL:
        kin.tag, kin.lower, kin.lemma = "NN", _OWNING[kin.lower], _OWNING[kin.lower]


def _owned_by_name(tokens: Sequence[Token], kin: Token) -> None:
    """ "My sister Eva's daughter is", with the sister for the one who is and the daughter beside her."""
    end = kin.i + 1
    while end < len(tokens) and tokens[end].is_name:
        end += 1
    if (
        kin.dep not in ("nsubj", "nsubjpass")
        or end == kin.i + 1
        or end >= len(tokens)
        or tokens[end].tag != "POS"
    ):
        return
    name = tokens[end - 1]
    owned = next((t for t in tokens[end + 1 :] if t.head == kin.i and t.dep == "appos" and t.is_noun), None)
    if owned is None or any(t.is_verb for t in tokens[end : owned.i]):
        return
    owned.head, owned.dep = (owned.i, "ROOT") if kin.head == kin.i else (kin.head, kin.dep)
    name.head, name.dep = owned.i, "poss"
    tokens[end].head = name.i
    kin.head, kin.dep = name.i, "compound"


def _suffered(tokens: Sequence[Token], condition: Token) -> None:
    """ "My mother has diabetes and takes", with "has" for an auxiliary of the diabetes."""
    has = next((t for t in tokens[: condition.i] if t.head == condition.i and t.dep == "aux"), None)
    if has is None or has.lower not in ("has", "have", "had") or condition.tag.startswith("VB"):
        return
    has.head, has.dep = (has.i, "ROOT") if condition.head == condition.i else (condition.head, condition.dep)
    for token in tokens:
        if token.head == condition.i and token not in (has, condition):
            verbal = token.dep in ("conj", "advcl") and token.tag.startswith("VB")
            if token.i < has.i or verbal or token.dep in ("cc", "punct", "neg"):
                token.head = has.i
    condition.head, condition.dep = has.i, "dobj"


def _contrasted(tokens: Sequence[Token]) -> None:
    """ "I hate running but I love swimming", with the running for a mark of punctuation."""
    for token in tokens[1:]:
        before = tokens[token.i - 1]
        if (
            token.dep == "punct"
            and token.text.isalpha()
            and token.head == before.i
            and before.tag.startswith("VB")
        ):
            token.dep = "xcomp" if token.tag == "VBG" else "dobj" if token.is_noun else token.dep


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

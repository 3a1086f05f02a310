"""Noun and verb phrases as values: an entity when something is named, otherwise trimmed words."""

from __future__ import annotations

import re
from typing import Final

from lamina.language.dated import is_time_word
from lamina.language.tables import table
from lamina.pipeline.extract.amounts import UNITS, bounds_number, is_part_of_figure
from lamina.pipeline.extract.limits import PHRASE_TOKENS_MAX
from lamina.pipeline.extract.references import FIRST, References, entity, is_of_another
from lamina.pipeline.extract.syntax import Parse, Token
from lamina.pipeline.extract.times import Times
from lamina.pipeline.extract.values import EntityRef, LiteralValue
from lamina.pipeline.extract.wording import determiner_of, phrase_text

Value = EntityRef | LiteralValue

_TABLE: Final = table(__name__)
_NOUN_SKIP = _TABLE.words("noun_skip")
_JOINED = frozenset(("conj", "cc"))
_VERB_SKIP = _TABLE.words("verb_skip")
_OWN_SKIP = _TABLE.words("own_skip")
# Nouns that say nothing without their context.
VAGUE: Final = _TABLE.words("vague")
_FULL_STOP: Final = re.compile(r"(?<=[\d€$£%])\.$|(?<=\d[kKmM])\.$")
_PARTITIVE: Final = _TABLE.words("partitive")
_DETERMINERS = _TABLE.words("determiners")


def noun_value(parse: Parse, token: Token, refs: References, times: Times) -> Value | None:
    """What the noun phrase headed by `token` stands for; None when nothing that can be kept."""
    if times.covers(token) or is_of_another(parse, token):
        return None
    if token.tag in ("PRP", "PRP$") or token.lower in FIRST:
        return refs.pronoun(token)
    if (token.is_verb and token.tag not in ("VBG", "VB")) or (
        token.entity in ("DATE", "TIME") and not token.is_name
    ):
        return None
    if token.is_verb:
        return verb_value(parse, token, refs, times)
    if token.lower in _PARTITIVE:
        whole = parse.child(token, "prep")
        inner = parse.child(whole, "pobj") if whole is not None and whole.lower == "of" else None
        return noun_value(parse, inner, refs, times) if inner is not None else None
    if not token.is_noun and token.tag not in ("CD", "JJ", "FW", "ADD", "SYM", "XX", "HYPH"):
        return None
    called = refs.given_name(parse, token) if not token.is_name else None
    if called is not None and token.lemma not in refs.kin_nouns:
        return refs.remember(entity(called, "thing"))
    if token.is_name and token.lower in UNITS and (count := parse.child(token, "nummod")) is not None:
        return LiteralValue("string", f"{count.text} {token.text}")
    if token.is_name or token.entity:
        ref = refs.named(parse, token)
        if ref is not None and is_time_word(ref.name):
            return None
        if ref is not None and (token.is_name or token.entity in _NAMED_LABELS):
            return ref
    kin = refs.kin(parse, token)
    if kin is not None:
        return kin
    return _literal_noun(parse, token, refs, times)


_NAMED_LABELS = _TABLE.words("named_labels")


def _literal_noun(parse: Parse, token: Token, refs: References, times: Times) -> Value | None:
    words = phrase_tokens(parse, token, times)
    if not words or len(words) > PHRASE_TOKENS_MAX or _is_cut(parse, token, words):
        return None
    if token.lower in VAGUE or token.tag in ("PRP", "DT"):
        content = [t for t in words if t is not token and (t.is_noun or t.tag == "VBG")]
        if not content or token.lower in ("lot", "bit", "it", "that", "this"):
            return None
    owner = parse.tokens[words[0].i - 1] if words[0].i else None
    if owner is not None and owner.tag == "PRP$" and refs.pronoun(owner) is None:
        return None  # "their rights": nobody's that we know of
    numbered = token.tag == "CD" or (words[0].tag == "CD" and token.is_noun)
    if numbered and is_part_of_figure(parse, words[0].i, words[-1].i):
        return None
    text = _FULL_STOP.sub("", (phrase_text(parse, words, refs) or "").strip(" \"'“”*-"))
    if (len(text) < 2 and not text.isdigit()) or not any(c.isalnum() for c in text) or is_time_word(text):
        return None
    return LiteralValue("string", text, determiner=determiner_of(parse, words[0], refs))


def _is_cut(parse: Parse, head: Token, words: list[Token]) -> bool:
    """Whether the phrase goes on behind what the parser gave to it, as in "a poetry | reading"."""
    last = words[-1]
    if head.tag == "JJ" and parse.children(head, "prep"):
        return True
    after = parse.tokens[last.i + 1] if last.i + 1 < len(parse.tokens) else None
    if after is None or last is not head:
        return last.lower in ("one", "ones")
    goes_on = last.is_noun and after.tag == "VBG" and after.dep == "acl"
    return goes_on and not parse.children(after, "dobj", "prep")


def phrase_tokens(parse: Parse, token: Token, times: Times) -> list[Token]:
    """The tokens of the noun phrase without determiners, clauses, conjuncts, appositions and times."""
    # Only what is joined to the head is a value of its own; "brands like Nike and Puma" stays whole.
    below = [
        t
        for c in parse.children(token)
        if c.dep not in _NOUN_SKIP | _JOINED and not _is_instead(parse, c) and not _is_beside(parse, c, token)
        for t in parse.subtree(c, _NOUN_SKIP)
    ]
    asides = [c.i for c in parse.children(token) if c.i > token.i and _is_instead(parse, c)]
    end = min(asides, default=len(parse.tokens))
    kept = sorted((t for t in (token, *below) if t.i < end and not times.covers(t)), key=lambda t: t.i)
    found = _joined(parse, kept)
    while (
        found
        and not (
            len(found) > 1 and found[1].text == "-" and found[1].start == found[0].end
        )  # "an on-prem option"
        and not bounds_number(found)
        and (found[0].tag in _DETERMINERS or found[0].tag in ("IN", "TO", ",", "``", ":", "RB", "CC"))
    ):
        found = found[1:]
    while found and found[-1].tag in ("IN", "TO", ",", "''", ":", ".", "DT", "CC", "PRP$", "WDT"):
        found = found[:-1]
    return found


def _is_instead(parse: Parse, prep: Token) -> bool:
    """ "Instead of walking", "because of Bob", "like Bob": an aside, though the parser hangs it on the noun."""
    aside = prep.dep == "prep" and any(t.i < prep.i for t in parse.children(prep, "advmod", "pcomp"))
    return aside or (prep.dep == "prep" and prep.lower == "like")


def _is_beside(parse: Parse, name: Token, noun: Token) -> bool:
    """ "Luis" of "I owe Luis 120 bucks", which the parser may hang on the bucks."""
    return name.dep == "nmod" and name.is_name and parse.tokens[name.i + 1].tag == "CD" and noun.tag == "NNS"


def _joined(parse: Parse, tokens: list[Token]) -> list[Token]:
    """With the hyphens and slashes between them, which hang elsewhere in the tree."""
    kept = {t.i for t in tokens}
    between = [t for t in parse.tokens if t.text in ("-", "/", "&") and {t.i - 1, t.i + 1} <= kept]
    return sorted([*tokens, *(t for t in between if t.i not in kept)], key=lambda t: t.i)


def verb_value(parse: Parse, verb: Token, refs: References, times: Times) -> LiteralValue | None:
    """The verb phrase as words: "open a dance studio"; None when it points elsewhere ("do it", "call them")."""
    kept = [c for c in parse.children(verb) if c.dep not in _VERB_SKIP | _OWN_SKIP]
    below = [t for c in kept for t in parse.subtree(c, _VERB_SKIP)]
    tokens = sorted((t for t in (verb, *below) if t.i >= verb.i and not times.covers(t)), key=lambda t: t.i)
    return words_value(parse, _joined(parse, tokens), refs)


def words_value(parse: Parse, tokens: list[Token], refs: References) -> LiteralValue | None:
    tokens = _until_pause(tokens)
    if len(tokens) > PHRASE_TOKENS_MAX:  # cut where a part begins, never within one
        starts = [i for i, t in enumerate(tokens[:PHRASE_TOKENS_MAX]) if t.tag in ("IN", "TO", "CC", ",")]
        tokens = tokens[: starts[-1]] if starts and starts[-1] > 2 else []
    while tokens and (
        tokens[-1].lower in _TAIL
        or tokens[-1].tag in ("IN", "TO", ",", ".", ":", "CC", "DT", "PRP$", "''", "``", "-LRB-")
    ):
        tokens = tokens[:-1]
    content = [t for t in tokens[1:] if t.is_noun or t.tag in ("CD", "VBG", "VB")]
    if not content or all(t.lower in VAGUE for t in content) or _dangles(parse, tokens):
        return None
    text = phrase_text(parse, tokens, refs)
    if text is None or text.count('"') % 2:
        return None
    return LiteralValue("string", text.strip(" \"'“”*-"))


_TAIL: Final = _TABLE.words("tail")
# Words that open an afterthought, not a part of the phrase.
_AFTERTHOUGHT: Final = _TABLE.words("afterthought")


def _dangles(parse: Parse, tokens: list[Token]) -> bool:
    """Whether the phrase ends before the object of its last verb ("help make | that happen")."""
    last = tokens[-1]
    kept = {t.i for t in tokens}
    return last.is_verb and any(
        c.i not in kept and c.i > last.i and c.dep in ("ccomp", "dobj") for c in parse.children(last)
    )


def _until_pause(tokens: list[Token]) -> list[Token]:
    for position, token in enumerate(tokens):
        dash = token.text == "-" and position > 0 and token.start > tokens[position - 1].end
        if dash or token.tag in (".", ":", "-LRB-") or token.text in ("–", "—", ";"):
            return tokens[:position]
        example = token.lower == "like" and token.tag == "IN"
        if position > 0 and (example or token.lower in _AFTERTHOUGHT):
            return tokens[:position]
    return tokens

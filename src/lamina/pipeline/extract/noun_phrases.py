"""What a sentence speaks of: its noun phrases, as they were said, without what only points at them."""

from __future__ import annotations

from typing import Final

from lamina.pipeline.extract.syntax import Parse, Token

__all__ = ["noun_phrases"]

_WORDS_MAX: Final = 5
_INSIDE: Final = frozenset(
    {"advmod", "npadvmod", "amod", "compound", "nmod", "nummod", "poss", "quantmod", "punct"}
)
_LEADING_TAGS: Final = frozenset({"DT", "PDT", "PRP$", "POS", "HYPH", "CD", "JJR", "JJS", "RB", "WP$"})
_NEVER_TAGS: Final = frozenset({"PRP", "VB", "VBD", "VBP", "VBZ", "``", "''", ",", ":", "-LRB-", "-RRB-"})


def noun_phrases(parse: Parse) -> list[str]:
    """The phrases in text order: a noun with the adjectives and nouns directly before it, without articles, owners and
    numbers.

    >>> noun_phrases(parsed("My old dance studio is closing"))
    ['old dance studio']
    """
    found = []
    for token in parse.tokens:
        if token.is_noun and not (token.dep == "compound" and parse.head(token).is_noun):
            words = _before_and(token, parse)
            if words and len(words) <= _WORDS_MAX and words[-1].text[-1].isalnum():
                found.append(parse.words(words))
    return found


def _before_and(noun: Token, parse: Parse) -> list[Token]:
    words = [noun]
    inside = {noun.i}
    for token in reversed(parse.tokens[: noun.i]):
        if token.tag in _NEVER_TAGS or not (
            token.tag in ("HYPH", "POS") or (token.head in inside and token.dep in _INSIDE)
        ):
            break
        words.insert(0, token)
        inside.add(token.i)
    while words and (
        words[0].tag in _LEADING_TAGS or words[0].dep == "poss" or not words[0].text[0].isalnum()
    ):
        words.pop(0)
    return words

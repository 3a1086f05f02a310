"""Phrases in words that hold outside their sentence: "my paintings" becomes "Alice's paintings", "him" becomes "Bob".

A phrase with a pronoun that nobody can be found for has no wording; what it was part of is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

from lamina.language.entities import possessive
from lamina.language.tables import table
from lamina.pipeline.extract.references import FIRST_PLURAL, SECOND, References
from lamina.pipeline.extract.syntax import Parse, Token
from lamina.pipeline.extract.values import EntityRef

__all__ = ["determiner_of", "display_name", "phrase_text"]

_TABLE = table(__name__)
_KEPT_DETERMINERS = _TABLE.words("kept_determiners")
_POINTING = _TABLE.words("pointing")
_GENDERED = _TABLE.words("gendered")


def phrase_text(parse: Parse, tokens: Sequence[Token], refs: References) -> str | None:
    """`tokens` as one phrase without first, second or third person; None when a pronoun points nowhere certain."""
    replaced: dict[int, str] = {}
    for token in tokens:
        if token.tag in ("PRP", "PRP$") or token.lower in SECOND:
            text = _referent(parse, token, tokens, refs)
            if text is None:
                return None
            replaced[token.i] = text
        elif token.lower in _POINTING and token.tag == "DT" and token.dep not in ("det", "predet"):
            return None
    parts: list[str] = []
    last: Token | None = None
    for token in tokens:
        glue = last is not None and token.start == last.end and last.i not in replaced
        parts.append(("" if glue or last is None else " ") + replaced.get(token.i, token.text))
        last = token
    return "".join(parts)


def determiner_of(parse: Parse, first: Token, refs: References) -> str:
    """What stood before a phrase that begins with `first`: "a", "the", "Alice's", or nothing."""
    if first.i == 0:
        return ""
    before = parse.tokens[first.i - 1]
    if before.tag == "PRP$":
        owner = refs.pronoun(before)
        return possessive(display_name(owner)) if owner is not None else ""
    if before.tag not in ("DT", "PDT"):
        return ""
    if before.lower in ("a", "an"):
        return "a"
    if before.lower in _KEPT_DETERMINERS:
        return before.lower
    return "the" if before.lower in _POINTING | {"the"} else ""


def display_name(ref: EntityRef) -> str:
    """The name to show: an opaque id ("user:7f3a") says nothing to a reader."""
    return "user" if ref.actor is not None and ref.name == ref.actor else ref.name


def _referent(parse: Parse, token: Token, tokens: Sequence[Token], refs: References) -> str | None:
    owns = token.tag == "PRP$"
    if token.lower in ("their", "its"):  # of something that the phrase itself names
        inside = any(t.is_noun and t.i < token.i for t in tokens)
        return token.text if inside else None
    if token.lower in ("i", "we") or token.lower.endswith(("self", "selves")):
        return None
    found = _named_before(parse, token, refs) if token.lower in _GENDERED else None
    found = found or refs.pronoun(token)
    if found is None:
        return None
    if token.lower in FIRST_PLURAL and not owns:
        return None
    return possessive(display_name(found)) if owns else display_name(found)


def _named_before(parse: Parse, token: Token, refs: References) -> EntityRef | None:
    """The one other person that the sentence has named so far: "I promised Bob to call him"."""
    found = {
        ref.key: ref
        for t in parse.tokens[: token.i]
        if t.is_name and t.dep != "compound" and (ref := refs.named(parse, t)) is not None
    }
    people = [
        ref for ref in found.values() if ref.type == "person" and ref not in (refs.speaker, refs.addressee)
    ]
    return people[0] if len(people) == 1 else None

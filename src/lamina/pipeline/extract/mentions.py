"""Entities named in a text, whether or not something is claimed about them.

With a parse: named entities, proper nouns and kin ("my sister Anna"). Without one: runs of capitalised words that do
not merely open a sentence, and the names of known participants.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from lamina.language.entities import CONTRACTED, alias_keys, is_contracted, normalise_name, possessive
from lamina.language.tables import table
from lamina.pipeline.extract.limits import MENTIONS_MAX
from lamina.pipeline.extract.references import _NAME_JUNK, NER_TYPES, References, entity, is_denied
from lamina.pipeline.extract.syntax import Parse
from lamina.pipeline.extract.values import EntityRef, Span, TextMention
from lamina.pipeline.extract.vocabulary import PETS, RELATIONS

_TABLE: Final = table(__name__)
_NAME_RUN: Final = _TABLE.pattern("name_run", 0)
_KIN = re.compile(r"\b(?:[Mm]y|[Oo]ur) (?:\w{1,12} )?(\w{2,14}),? (?:named |called )?([A-Z][\w’'-]{1,30})")
_UNNAMED = re.compile(rf"\b[Mm]y (\w{{2,14}})\b(?!['’]s|,? (?!{CONTRACTED})[A-Z][\w-])")
_PLACED = re.compile(r"\b(?:in|at|to|from|near|on|around)(?: the)? $")
_TAKEN_UP: Final = _TABLE.pattern("taken_up")
_POSSESSIVE = re.compile(r"['’]s$")
_CLAIMS = re.compile(r" (?:is|has|had|was|will|moved|uses|needs|signed|bought|\w{3,12}ed)\b")
_STARTERS: Final = _TABLE.words("starters")


def parsed_mentions(parse: Parse, refs: References, offset: int) -> list[TextMention]:
    """Mentions of one parsed sentence in text order."""
    found: list[TextMention] = []
    covered: set[int] = set()
    for start, end, label in parse.entities:
        if label in NER_TYPES:
            token = parse.tokens[end - 1]
            ref = refs.named(parse, token)
            if ref is not None:
                found.append(
                    _mention(ref, offset + parse.tokens[start].start, offset + token.end, parse.text, offset)
                )
                covered.update(range(start, end))
    for token in parse.tokens:
        if token.i in covered:
            continue
        if token.is_name and token.dep != "compound":
            ref = refs.named(parse, token)
            if ref is not None and not (token.i == 0 and ref.type == "thing" and token.lower in _STARTERS):
                start = min(t.start for t in (token, *parse.children(token, "compound", "nmod")))
                found.append(_mention(ref, offset + start, offset + token.end, parse.text, offset))
        elif token.lemma in RELATIONS or token.lemma in PETS:
            kin = refs.kin(parse, token)
            owner = refs.owner(parse, token)
            if kin is not None and owner is not None:
                alias = normalise_name(f"{possessive(owner.name)} {token.lower}")
                aliases = () if is_denied(parse, token) else (alias,)
                found.append(
                    _mention(kin, offset + token.start, offset + token.end, parse.text, offset, *aliases)
                )
    return sorted(found, key=lambda m: (m.span.start, m.span.end))


def plain_mentions(text: str, refs: References, offset: int) -> list[TextMention]:
    """Mentions of one sentence by capitals alone."""
    found: list[TextMention] = []
    for match in _NAME_RUN.finditer(text):
        words = match.group().split(" ")
        start = match.start()
        while words and (
            words[0].casefold().replace("’", "'") in _STARTERS
            or is_contracted(words[0])
            or normalise_name(words[0]) in _NAME_JUNK
        ):
            start += len(words.pop(0)) + 1
        words = words[: next((i for i, word in enumerate(words) if is_contracted(word)), len(words))]
        name = _POSSESSIVE.sub("", " ".join(words))
        if len(name) < 2:
            continue
        known = refs.known.get(normalise_name(name))
        if (
            known is None
            and start == 0
            and " " not in name
            and not name.isupper()
            and not _CLAIMS.match(text, len(name))
        ):
            continue
        ref = known or entity(name, "thing")
        refs.note(ref)
        found.append(_mention(ref, offset + start, offset + start + len(name), text, offset))
    return found


def note_kin(text: str, refs: References) -> None:
    """Remember the names introduced by "my sister Anna" or "our dog Max" in an earlier utterance."""
    for noun, given in _KIN.findall(text):
        name = _POSSESSIVE.sub("", given)
        if is_contracted(given) or normalise_name(name) in _NAME_JUNK or name.casefold() in _STARTERS:
            continue
        relation = RELATIONS.get(noun.lower())
        if relation is not None:
            refs.note(refs.remember(entity(name, "person")), relation[1])
        elif noun.lower() in PETS:
            refs.remember(entity(name, "animal"))


def note_unnamed_kin(text: str, refs: References) -> None:
    """Remember the one relative of the speaker's turn before whom the utterance takes up with its first word, "she" or
    "he".

    Where that turn names anybody else, the pronoun may be theirs.
    """
    speaker = refs.speaker
    if speaker is None or _TAKEN_UP.match(refs.utterance.text) is None:
        return
    nouns = {noun for noun in _UNNAMED.findall(text) if noun in RELATIONS}
    names = (
        m
        for m in _NAME_RUN.finditer(text)
        if m[0].split(" ")[0].casefold().replace("’", "'") not in _STARTERS
    )
    others = any(
        m.start() and not is_contracted(m[0]) and not _PLACED.search(text[: m.start()][-20:]) for m in names
    )
    if len(nouns) == 1 and not others:
        (noun,) = nouns
        refs.note(entity(f"{possessive(speaker.name)} {noun}", "person"), RELATIONS[noun][1])


def distinct(mentions: Iterable[TextMention]) -> tuple[TextMention, ...]:
    """In order, one for each span, at most `MENTIONS_MAX`."""
    by_span: dict[tuple[int, int], TextMention] = {}
    for mention in mentions:
        by_span.setdefault((mention.span.start, mention.span.end), mention)
    return tuple(by_span.values())[:MENTIONS_MAX]


def _mention(ref: EntityRef, start: int, end: int, text: str, offset: int, *aliases: str) -> TextMention:
    further = tuple(dict.fromkeys((*(a for a in aliases if a != ref.key), *alias_keys(ref.name, ref.type))))
    return TextMention(Span(start, end), text[start - offset : end - offset], ref.key, ref.type, further)

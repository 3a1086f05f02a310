"""How people introduce themselves, also without capitals: "hi, i'm nora", "Nora here", "call me Nor", "i live in leeds".

Patterns at the beginning of a sentence, for what hangs on capitals, or on "'s" for a verb, in a parse. A word that English has is no
name unless it is written as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lamina.language.wordsets import word_set
from lamina.pipeline.extract.clauses import Clause
from lamina.pipeline.extract.consumed import CONDITIONS
from lamina.pipeline.extract.emitter import Emitter
from lamina.pipeline.extract.phrases import Value, is_time_word
from lamina.pipeline.extract.references import entity
from lamina.pipeline.extract.times import Validity
from lamina.pipeline.extract.values import LiteralValue

__all__ = ["Introductions", "names_speaker"]

_OPEN = (
    r"^(?:(?:hi|hey|hello|hiya|ok|okay|so|well|btw|oh|and|also|yes|yeah|fyi|by the way|good (?:morning|evening|afternoon))"
    r"(?: (?:there|all|everyone|team))?[,.! –-]{1,3}){0,3}"
)
_END = r"(?=\s*(?:$|[,.!;)(–]|-\s|\band\b|\bbut\b|\bfrom\b|\bby the way\b|\bbtw\b|\bplease\b|\bif\b))"
_NAME = r"(?P<name>[^\W\d_][\w'’-]{0,30}(?-i:(?: [A-ZÀ-Þ][\w'’-]{1,30}){0,2}))"


def _opening(pattern: str) -> re.Pattern[str]:
    return re.compile(f"{_OPEN}{pattern}{_END}", re.IGNORECASE)


_GREETED = re.compile(
    rf"^(?:hi|hey|hello|hiya|good (?:morning|evening|afternoon))(?: (?:there|all|everyone|team))?[,.! –-]{{1,3}}(?:i'm|im|i am) {_NAME}{_END}",
    re.IGNORECASE,
)
_NAMED = (_opening(rf"my name(?:'s| is) {_NAME}"), _opening(rf"(?:i'm|i am) called {_NAME}"), _GREETED)
_HERE = re.compile(
    rf"^(?:(?:hi|hey|hello)[,.!]? )?{_NAME} here(?=\s*(?:$|[.!–]|-\s|from\b|again\b))", re.IGNORECASE
)
_KNOWN_AS = (
    _opening(rf"(?:please )?(?:you can )?(?:just )?call me {_NAME}"),
    _opening(
        rf"(?:(?:my )?(?:friends|family|people) call me|everyone calls me|i go by|my nickname(?:'s| is)) {_NAME}"
    ),
)
_ZONE = re.compile(
    r"(?:\bmy time ?zone\b(?:'s| is\b(?!n't| not\b)|:)|\bi(?:'m| am) (?:(?:now|currently|based|living|here|still|usually|mostly) )*(?:in|on)\b|^time ?zone\b(?: is|:))"
    r"[^.]{0,30}?(?<![\w/])"
    r"(?P<zone>(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)/[A-Za-z][A-Za-z_-]+(?:/[A-Za-z][A-Za-z_-]+)?)",
    re.IGNORECASE,
)
_PHONE = _opening(
    r"my (?:new )?(?:phone|mobile|cell|telephone)?(?: ?number)?(?:'s| is) (?:now )?(?P<value>\+?\(?\d[\d ().-]{5,20}\d)"
)
_EMAIL = re.compile(
    rf"{_OPEN}my (?:new |work )?e-?mail(?: address)?(?:'s| is) (?:now )?(?P<value>[\w.+-]{{1,64}}@[\w-]{{1,63}}(?:\.[\w-]{{1,63}}){{1,4}})",
    re.IGNORECASE,
)
_LOWER = r"(?P<value>[a-zà-ÿ][\w'’-]{2,30}(?: [a-zà-ÿ][\w'’-]{2,30})?)"
_UNTIL = r"(?=\s*(?:$|[,.!;]|-\s|and\b|but\b|with\b|as\b|in\b|for\b|now\b|since\b|atm\b|btw\b|right now\b))"
_PLACES = (
    ("lives_in", re.compile(rf"{_OPEN}i (?:currently )?live in {_LOWER}{_UNTIL}")),
    ("works_at", re.compile(rf"{_OPEN}i (?:currently )?work (?:at|for) {_LOWER}{_UNTIL}")),
)
_NO_PLACES = word_set(
    "the a an my our your his her their this that these those town fear hope halls housing poverty luxury sin peace pain harmony comfort "
    "style home night nights weekends weekend height speed pace school uni university college hospital sea times present "
    "work what which one two three some any all it them him us student sheltered shared hiding denial exile terror free money "
    "myself several different other people kids fun charity cash food life lunch noon midnight today tomorrow shops shelters "
    "least most best worst first last total constant council rented private temporary accommodation solitude silence chaos"
)
_CONTRACTED = re.compile(r"'(?:m|s|re|ll|ve|d|t)$")
_ADJECTIVES = (
    "ed",
    "ing",
    "ent",
    "ant",
    "ous",
    "ive",
    "ful",
    "ish",
    "able",
    "less",
    "ic",
    "sexual",
    "gender",
    "binary",
    "ian",
    "ese",
    "ly",
)
_NO_NAMES = word_set(
    "not on in the a an spelled spelt pronounced also too hard difficult long short common rare wrong mud missing unusual later back "
    "tomorrow tonight today now soon asap when if at out up down over right left anytime whenever maybe anything whatever crazy "
    "from with the of for my your his her their our near under between into onto about than because since although though during until while "
    "everyone nobody all nothing it this that we you i he she they here there who what always still just so very called old look looky lookie lookee"
)


def names_speaker(sentence: str) -> bool:
    """Whether a short sentence may be an introduction: "Nora here", "please call me Nor"."""
    return _HERE.match(sentence) is not None or any(pattern.match(sentence) for pattern in _KNOWN_AS)


class Introductions(Emitter):
    def _introduced(self) -> None:
        """What the speaker says of who they are. Patterns see what the parse did not."""
        speaker = self.refs.speaker
        if speaker is None or not self.parse.tokens:
            return
        text = self.parse.text.strip()
        clause = Clause(self.parse, self.parse.tokens[0], self.parse.tokens[0], 0.95)
        for predicate, value in self._facts_of(text):
            if predicate == "timezone":  # the parser takes it apart
                self.found[:] = [t for t in self.found if t.predicate != "timezone"]
            if all(t.predicate != predicate or t.subject != speaker for t in self.found):
                self._emit(clause, speaker, predicate, value, validity=Validity())

    def _facts_of(self, text: str) -> Iterator[tuple[str, Value]]:
        for predicate, patterns in (("name_is", (*_NAMED, _HERE)), ("goes_by", _KNOWN_AS)):
            found = next(filter(None, (pattern.match(text) for pattern in patterns)), None)
            if found is not None and self._is_name(found["name"], strict=found.re in (_GREETED, _HERE)):
                yield predicate, LiteralValue("string", _written(found["name"]))
        if (zone := _ZONE.search(text)) is not None:
            yield "timezone", LiteralValue("string", "/".join(map(_zone_part, zone["zone"].split("/"))))
        if (phone := _PHONE.match(text)) is not None and sum(c.isdigit() for c in phone["value"]) >= 7:
            yield "phone_number", LiteralValue("string", phone["value"])
        if (email := _EMAIL.match(text)) is not None:
            yield "email", LiteralValue("string", email["value"])
        for predicate, pattern in _PLACES:
            match = pattern.match(text)
            if match is not None and not set(match["value"].split()) & _NO_PLACES:
                kind = "place" if predicate == "lives_in" else "organisation"
                yield (
                    predicate,
                    entity(match["value"].title(), "place" if kind == "place" else "organisation"),
                )

    def _is_name(self, name: str, *, strict: bool) -> bool:
        first = name.split()[0]
        word = first.casefold().replace("’", "'")
        if word in _NO_NAMES or is_time_word(first) or _CONTRACTED.search(word):
            return False
        if first[:1].isupper() and not strict:
            return True
        token = next((t for t in self.parse.tokens if t.text == first), None)
        tagged = token is not None and token.entity == "PERSON" and first[:1].isupper()
        return tagged or not (self.parse.is_word(word) or word.endswith(_ADJECTIVES) or word in CONDITIONS)


def _written(name: str) -> str:
    return name if name[:1].isupper() else f"{name[:1].upper()}{name[1:]}"


def _zone_part(part: str) -> str:
    if any(c.isupper() for c in part):
        return part
    return "_".join(word.capitalize() for word in part.split("_"))

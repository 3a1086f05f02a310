"""How people introduce themselves, also without capitals: "hi, i'm nora", "Nora here", "call me Nor", "i live in leeds".

Patterns at the beginning of a sentence, for what hangs on capitals, or on "'s" for a verb, in a parse. A word that English has is no
name unless it is written as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from lamina.language.wordsets import word_set
from lamina.pipeline.extract.clauses import Clause
from lamina.pipeline.extract.emitter import Emitter
from lamina.pipeline.extract.own_names import OPEN, own_names, own_surname
from lamina.pipeline.extract.phrases import Value
from lamina.pipeline.extract.references import entity
from lamina.pipeline.extract.times import Validity
from lamina.pipeline.extract.values import EntityRef, LiteralValue

__all__ = ["Introductions"]

_ZONE = re.compile(
    r"(?:\bmy time ?zone\b(?:'s| is\b(?!n't| not\b)|:)|\bi(?:'m| am) (?:(?:now|currently|based|living|here|still|usually|mostly) )*(?:in|on)\b|^time ?zone\b(?: is|:))"
    r"[^.]{0,30}?(?<![\w/])"
    r"(?P<zone>(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)/[A-Za-z][A-Za-z_-]+(?:/[A-Za-z][A-Za-z_-]+)?)",
    re.IGNORECASE,
)
_PHONE = re.compile(
    rf"{OPEN}my (?:new )?(?:phone|mobile|cell|telephone)?(?: ?number)?(?:'s| is) (?:now )?(?P<value>\+?\(?\d[\d ().-]{{5,20}}\d)"
    r"(?=\s*(?:$|[,.!;)(–]|-\s|\band\b|\bbut\b|\bfrom\b|\bby the way\b|\bbtw\b|\bplease\b|\bif\b))",
    re.IGNORECASE,
)
_EMAIL = re.compile(
    rf"{OPEN}my (?:new |work )?e-?mail(?: address)?(?:'s| is) (?:now )?(?P<value>[\w.+-]{{1,64}}@[\w-]{{1,63}}(?:\.[\w-]{{1,63}}){{1,4}})",
    re.IGNORECASE,
)
_LOWER = r"(?P<value>[a-zà-ÿ][\w'’-]{2,30}(?: [a-zà-ÿ][\w'’-]{2,30})?)"
_UNTIL = r"(?=\s*(?:$|[,.!;]|-\s|and\b|but\b|with\b|as\b|in\b|for\b|now\b|since\b|atm\b|btw\b|right now\b))"
_PLACES = (
    ("lives_in", re.compile(rf"{OPEN}i (?:currently )?live in {_LOWER}{_UNTIL}")),
    ("works_at", re.compile(rf"{OPEN}i (?:currently )?work (?:at|for) {_LOWER}{_UNTIL}")),
)
_NO_PLACES = word_set(
    "the a an my our your his her their this that these those town fear hope halls housing poverty luxury sin peace pain harmony comfort "
    "style home night nights weekends weekend height speed pace school uni university college hospital sea times present "
    "work what which one two three some any all it them him us student sheltered shared hiding denial exile terror free money "
    "myself several different other people kids fun charity cash food life lunch noon midnight today tomorrow shops shelters "
    "least most best worst first last total constant council rented private temporary accommodation solitude silence chaos"
)


class Introductions(Emitter):
    def _introduced(self) -> None:
        """What the speaker says of who they are. Patterns see what the parse did not."""
        speaker = self.refs.speaker
        if speaker is None or not self.parse.tokens:
            return
        text = self.parse.text.strip()
        clause = Clause(self.parse, self.parse.tokens[0], self.parse.tokens[0], 0.95)
        self._called(clause, speaker)
        for predicate, value in self._facts_of(text):
            if predicate == "timezone":  # the parser takes it apart
                self.found[:] = [t for t in self.found if t.predicate != "timezone"]
            if all(t.predicate != predicate or t.subject != speaker for t in self.found):
                self._emit(clause, speaker, predicate, value, validity=Validity())

    def _called(self, clause: Clause, speaker: EntityRef) -> None:
        """The names that the words tell in whole; of what the parse makes of them it may have cut some, or read others into one."""
        for own in own_names(self.parse):
            self.found[:] = [t for t in self.found if t.predicate != own.predicate or t.subject != speaker]
            value = LiteralValue("string", own.name)
            self._emit(clause, speaker, own.predicate, value, validity=Validity())
            self.found[-1] = replace(self.found[-1], introduces=own.introduces)

        surname = own_surname(self.parse)
        known = speaker.name.split()
        if surname is not None and len(known) > 1 and all(word[:1].isupper() for word in known):
            name = " ".join([*known[:-1], surname])
            self._emit(clause, speaker, "name_is", LiteralValue("string", name), validity=Validity())

    def _facts_of(self, text: str) -> Iterator[tuple[str, Value]]:
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


def _zone_part(part: str) -> str:
    if any(c.isupper() for c in part):
        return part
    return "_".join(word.capitalize() for word in part.split("_"))

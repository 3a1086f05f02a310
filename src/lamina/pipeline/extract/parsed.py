"""Triples from one parsed sentence: each clause goes to the first handler that has something to say about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from lamina.language.tables import table
from lamina.pipeline.extract.actions import Actions
from lamina.pipeline.extract.asking import is_question
from lamina.pipeline.extract.clauses import Clause, find_clauses
from lamina.pipeline.extract.corrections import corrected, denied
from lamina.pipeline.extract.descriptions import Descriptions
from lamina.pipeline.extract.doings import Doings
from lamina.pipeline.extract.employment import Employment
from lamina.pipeline.extract.homes import Homes
from lamina.pipeline.extract.intentions import Intentions, is_coming
from lamina.pipeline.extract.introductions import Introductions
from lamina.pipeline.extract.limits import TRIPLES_PER_SENTENCE_MAX
from lamina.pipeline.extract.quantities import Quantities
from lamina.pipeline.extract.reported_speech import retold
from lamina.pipeline.extract.values import EntityRef, Triple

_TABLE = table(__name__)
_CONTRAST = re.compile(r", not (?!just|only|to |because|sure|that|so |really|even)", re.IGNORECASE)
_STORY = _TABLE.pattern("story")
"""What is so there is so of nobody."""
_CORRECTION = ("no", "nope", "actually", "correction", "sorry", "wait", "scratch")


class Reader(Introductions, Descriptions, Intentions, Homes, Employment, Quantities, Actions, Doings):
    """Reads one parsed sentence into triples.

    The order of the handlers in ``_clause`` is the rule: the first that finds something is the last that is asked, so
    what is particular stands before what is general. A new reading of words that another one takes has to stand
    before it.
    """

    def read(self) -> list[Triple]:
        """The triples of the sentence in text order, without repetition."""
        if not is_question(self.parse):
            clauses = find_clauses(self.parse, elliptic=self.personal and not self.goes_on)
            for clause in clauses:
                self._clause(clause)
            self._relations(clauses)
            self._first_days()
            if self.personal:
                self._introduced()
        swapped = corrected(self.parse.text, self.refs, self.offset)
        found = [*_one_of_each_slot(self._mark_corrections()), *swapped]
        found += [] if swapped else denied(self.parse.text, found)
        return list(dict.fromkeys(found))[:TRIPLES_PER_SENTENCE_MAX]

    def _clause(self, clause: Clause) -> None:
        subject = self._subject(clause)
        if _STORY.match(self.parse.text) is not None:
            return
        if subject is None:
            return
        before = len(self.found)
        self._said(clause, subject)
        self._keep_own(clause, before)

    def _keep_own(self, clause: Clause, found: int) -> None:
        """Leave out what the clause says of the speaker when it is not the speaker's word, and all that is denied
        behind it."""
        if len(self.found) == found:
            return
        told = retold(self.parse, clause.verb, self.following)
        if told.denied == "all":
            del self.found[found:]
        elif told.by_others or told.denied:
            of_others = [t for t in self.found[found:] if self.refs.speaker not in (t.subject, t.object)]
            self.found[found:] = of_others

    def _said(self, clause: Clause, subject: EntityRef) -> None:
        before = len(self.found)
        self._quantity(clause, subject)
        if clause.lemma == "have":  # "a dog and two cats" is a possession and a count
            self._have(clause, subject)
        if len(self.found) > before:
            return
        coming = self.personal and is_coming(clause)
        told = (
            self._moving,
            self._leaving,
            self._beginning,
            self._copula,
            self._plan,
            self._preference,
            self._have,
            self._canonical,
            self._generic,
        )
        for handler in (self._plan,) if coming else told:
            handler(clause, subject)
            if len(self.found) > before:
                return

    def _mark_corrections(self) -> Iterable[Triple]:
        tokens = [t.lower for t in self.parse.tokens if t.tag not in (",", ".", ":")]
        starts = bool(tokens) and tokens[0] in _CORRECTION
        contrast = _CONTRAST.search(self.parse.text) is not None
        if not starts and not contrast:
            return self._marked(self.found, corrects=False)
        single = any(t.single_valued for t in self.found)
        return self._marked(
            self.found, corrects=contrast or single or tokens[0] in ("no", "nope", "correction")
        )

    def _marked(self, triples: list[Triple], *, corrects: bool) -> Iterator[Triple]:
        for triple in triples:
            yield replace(triple, corrects=corrects)


def _one_of_each_slot(triples: Iterable[Triple]) -> Iterator[Triple]:
    """Without what a list has beside the first value of a predicate that has one at a time: "I live in Leeds and
    York"."""
    triples = list(triples)
    happened = {(t.subject.key, t.object) for t in triples if t.kind == "event"}
    first: dict[tuple[object, ...], Triple] = {}
    for triple in triples:
        slot = (triple.subject.key, triple.predicate, triple.valid_from, triple.valid_to)
        lasting = (
            triple.single_valued and not triple.negated and not triple.corrects and triple.valid_to is None
        )
        told_of = (triple.subject.key, triple.object) in happened
        if not lasting or told_of or first.setdefault(slot, triple).object == triple.object:
            yield triple

"""Moving house, and moving to something else: only a place becomes a home, and leaving one ends it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from lamina.language.wordsets import word_set
from lamina.pipeline.extract.clauses import Clause, is_hypothetical
from lamina.pipeline.extract.emitter import Emitter
from lamina.pipeline.extract.phrases import VAGUE, noun_value
from lamina.pipeline.extract.places import is_place_name, is_tool_name
from lamina.pipeline.extract.references import FIRST_PLURAL, entity
from lamina.pipeline.extract.syntax import Token
from lamina.pipeline.extract.times import Validity
from lamina.pipeline.extract.values import EntityRef, LiteralValue

_MOVING = word_set("move relocate emigrate immigrate")
_PLACE_LABELS = word_set("GPE LOC FAC")
_OTHER_LABELS = word_set("ORG PRODUCT WORK_OF_ART EVENT LAW LANGUAGE")
_BODIES = word_set(
    "team squad department dept group division unit project desk floor board org tribe chapter"
)
_HOUSES = word_set("house home flat")
_RECENT = timedelta(days=120)


class Homes(Emitter):
    def _moving(self, clause: Clause, subject: EntityRef) -> None:
        """ "I moved back to Leeds", "we moved from Jira to Linear", "Anna moved out of Oslo", "I left Leeds last week"."""
        if is_hypothetical(clause) or clause.modal or clause.passive:
            return
        if clause.lemma == "leave":
            self._left_home(clause, subject)
            return
        if clause.lemma not in _MOVING or any(
            t.lemma not in _HOUSES for t in self.parse.children(clause.verb, "dobj")
        ):
            return
        goals, sources = list(self._targets(clause, "to")), list(self._targets(clause, "from", "of"))
        tool = any(self._is_tool(t) for t in (*goals, *sources))
        for target in sources:
            self._moved_from(clause, subject, target, tool=tool, alone=not goals)
        for target in goals:
            self._moved_to(clause, subject, target, tool=tool)

    def _targets(self, clause: Clause, *prepositions: str) -> Iterator[Token]:
        """What stands behind "to", "back to", "over to"; of "of" only "out of"."""
        for slot, objects in clause.prepositions():
            *before, last = slot.split()
            if last in prepositions and before != ["on"] and (last != "of" or before[-1:] == ["out"]):
                yield from objects
        astray = self.parse.child(clause.verb, "xcomp")  # "moved to Reading" as if it were a verb
        if (
            "to" in prepositions
            and astray is not None
            and self._name(astray)
            and not self.parse.children(astray, "dobj")
        ):
            yield astray

    def _moved_to(self, clause: Clause, subject: EntityRef, target: Token, *, tool: bool) -> None:
        if tool:
            name = self._name(target)
            if name and not clause.negated:
                lasting = replace(clause, past=False, perfect=False)
                self._emit(lasting, subject, "switched_to", entity(name, "product"))
            return
        place = self._place(clause, subject, target)
        value = place or noun_value(self.parse, target, self.refs, self.times)
        if value is None or not self._is_told(target, value):
            return
        self._emit(clause, subject, "moved_to", value)
        if place is not None and not clause.negated:
            self._emit(clause, subject, _home(subject), place, state=True)

    def _moved_from(
        self, clause: Clause, subject: EntityRef, target: Token, *, tool: bool, alone: bool
    ) -> None:
        if tool or clause.negated:
            return
        place = self._place(clause, subject, target)
        value = place or noun_value(self.parse, target, self.refs, self.times)
        if value is not None and self._is_told(target, value):
            self._emit(clause, subject, "moved_from", value)
        if place is not None and alone:
            self._ends(clause, subject, place)

    def _left_home(self, clause: Clause, subject: EntityRef) -> None:
        """A place that was left for good or some days ago; who left it this morning may be back tonight."""
        for target in self.parse.children(clause.verb, "dobj") if clause.past and not clause.negated else []:
            named = target.entity in _PLACE_LABELS or (
                target.entity != "PERSON" and is_place_name(target.text)
            )
            place = self._place(clause, subject, target) if named else None
            if place is None or self.parse.children(target, "poss"):
                continue
            for_good = " for good" in self.parse.text.lower()
            if for_good or self._left_lately(clause):
                self._emit(clause, subject, "left", place)
                self._ends(clause, subject, place)

    def _left_lately(self, clause: Clause) -> bool:
        spans = [self.times.interval(m, future=False) for m in self.times.of_clause(self.parse, clause.verb)]
        return any(
            start is not None
            and end is not None
            and end - start > timedelta(days=1)
            and self._now - _RECENT <= start < self._now
            for start, end in spans
        )

    def _ends(self, clause: Clause, subject: EntityRef, place: EntityRef) -> None:
        """A denial from then on, which finds the claim that it ends."""
        start = self.times.validity(self.times.of_clause(self.parse, clause.verb), "event").valid_from
        ended = replace(clause, negated=True, past=False)
        self._emit(ended, subject, _home(subject), place, state=True, validity=Validity(start or self._now))

    def _place(self, clause: Clause, subject: EntityRef, target: Token) -> EntityRef | None:
        """The place that is named; None when it may as well be a tool, a firm or a team."""
        name = self._name(target)
        if not name or self._is_tool(target) or name.split()[-1].casefold() in _BODIES:
            return None
        if is_place_name(name) or target.entity in _PLACE_LABELS:
            return entity(name, "place")
        many = clause.subject is not None and clause.subject.lower in FIRST_PLURAL
        doubtful = many or subject.type not in ("person", "animal") or target.entity in _OTHER_LABELS
        return None if doubtful or not target.is_name else entity(name, "place")

    def _name(self, target: Token) -> str:
        """The name that `target` heads, also where the tagger takes it for a common word: "Bath", "Reading"."""
        if target.is_name and target.text.islower() and is_place_name(target.text):
            return target.text.title()  # "i moved to york"; "bath" and "reading" are common words here
        if not target.text[:1].isupper() or self.times.covers(target):
            return target.text if is_tool_name(target.text) and target.text[1:2].isupper() else ""
        alone = entity(target.text, "place")
        if self.parse.children(target, "compound", "nmod", "poss"):
            found = self.refs.named(self.parse, target)
            return found.name if found is not None and " to " not in found.name else target.text
        if self.parse.children(target, "det", "amod"):
            return alone.name if target.is_name else ""
        found = self.refs.named(self.parse, target) if target.is_name else None
        return found.name if found is not None and " to " not in found.name else alone.name

    def _is_tool(self, target: Token) -> bool:
        name = self._name(target)
        return bool(name) and (is_tool_name(name) or entity(name, "thing").key in self.refs.tools)

    def _is_told(self, target: Token, value: EntityRef | LiteralValue) -> bool:
        if isinstance(value, EntityRef):
            return value.type not in ("person", "animal") or target.is_name
        described = self.parse.child(target, "det", "amod", "compound") is not None
        return target.is_noun and target.lower not in VAGUE and described


def _home(subject: EntityRef) -> str:
    return "lives_in" if subject.type == "person" else "located_in"

"""Moving house: only a place becomes a home."""

from __future__ import annotations

from dataclasses import replace

from lamina.language.tables import table
from lamina.pipeline.extract.clauses import Clause, is_hypothetical
from lamina.pipeline.extract.emitter import Emitter
from lamina.pipeline.extract.phrases import VAGUE, Value, noun_value
from lamina.pipeline.extract.references import FIRST_PLURAL
from lamina.pipeline.extract.syntax import Token
from lamina.pipeline.extract.values import EntityRef, LiteralValue

_TABLE = table(__name__)
_MOVING = _TABLE.words("moving")
_HOUSES = _TABLE.words("houses")
_OTHER_LABELS = _TABLE.words("other_labels")


class Homes(Emitter):
    def _moving(self, clause: Clause, subject: EntityRef) -> None:
        """ "I moved back to Leeds", "Anna moved out of Oslo"."""
        if is_hypothetical(clause) or clause.modal or clause.passive or clause.lemma not in _MOVING:
            return
        if any(t.lemma not in _HOUSES for t in self.parse.children(clause.verb, "dobj")):
            return
        for slot, targets in clause.prepositions():
            way = slot.split()[-1]
            for target in targets if way in ("to", "from") and not slot.startswith("on ") else ():
                value = self._place(clause, subject, target)
                if value is None or not self._is_told(target, value):
                    continue
                self._emit(clause, subject, f"moved_{way}", value)
                placed = isinstance(value, EntityRef) and value.type == "place"
                if placed and way == "to" and not clause.negated:
                    home = "lives_in" if subject.type == "person" else "located_in"
                    self._emit(clause, subject, home, value, state=True)

    def _place(self, clause: Clause, subject: EntityRef, target: Token) -> Value | None:
        """What somebody moved to: a name is a place, but of several people, who may move to a tool or a firm."""
        value = noun_value(self.parse, target, self.refs, self.times)
        many = clause.subject is not None and clause.subject.lower in FIRST_PLURAL
        named = isinstance(value, EntityRef) and value.type not in ("place", "animal") and target.is_name
        if isinstance(value, EntityRef) and named and subject.type == "person" and not many:
            return value if target.entity in _OTHER_LABELS else replace(value, type="place")
        return value

    def _is_told(self, target: Token, value: EntityRef | LiteralValue) -> bool:
        if isinstance(value, EntityRef):
            return value.type not in ("person", "animal") or target.is_name
        described = self.parse.child(target, "det", "amod", "compound") is not None
        return target.is_noun and target.lower not in VAGUE and described

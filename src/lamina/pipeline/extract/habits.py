"""What somebody drinks, takes by habit, has switched to and gone back to."""

from __future__ import annotations

from dataclasses import replace

from lamina.language.wordsets import word_set
from lamina.pipeline.extract.clauses import Clause, is_hypothetical
from lamina.pipeline.extract.consumed import DRINKS
from lamina.pipeline.extract.emitter import Emitter
from lamina.pipeline.extract.phrases import Value, noun_value
from lamina.pipeline.extract.syntax import Token
from lamina.pipeline.extract.values import EntityRef, LiteralValue

_ALWAYS = word_set("always usually normally generally mostly typically")
_CHOOSING = word_set("take choose pick order book get")
_VESSELS = word_set("cup glass mug pot bottle can pint litre liter")


class Habits(Emitter):
    def _habit(self, clause: Clause, subject: EntityRef) -> None:
        if subject.type not in ("person", "thing") or is_hypothetical(clause) or clause.modal == "will":
            return
        lemma = clause.lemma
        if lemma == "use" and clause.past:
            inner = self.parse.child(clause.verb, "xcomp")
            if inner is not None and inner.lemma == "drink":
                self._drinks(replace(clause, verb=inner), subject, ended=True)
        elif lemma == "drink":
            present = not clause.past and not clause.progressive
            if present or clause.ended:
                self._drinks(clause, subject, ended=False)
        elif lemma == "switch":
            self._changes(clause, subject, "switched_to")
        elif lemma in ("be", "go") and any(
            t.lower == "back" for t in self.parse.children(clause.verb, "advmod")
        ):
            self._changes(clause, subject, "back_to")
        elif lemma in _CHOOSING and not clause.past and not clause.progressive and not clause.negated:
            always = any(t.lower in _ALWAYS for t in self.parse.children(clause.verb, "advmod"))
            for target in clause.objects("dobj") if always else []:
                if self.parse.child(target, "compound", "amod") is not None and not self._is_deictic(target):
                    self._emit(
                        clause, subject, "prefers", noun_value(self.parse, target, self.refs, self.times)
                    )

    def _drinks(self, clause: Clause, subject: EntityRef, *, ended: bool) -> None:
        for target in clause.objects("dobj"):
            value = self._drink(target)
            if value is not None:
                self._emit(replace(clause, past=ended, ended=ended or clause.ended), subject, "drinks", value)

    def _changes(self, clause: Clause, subject: EntityRef, predicate: str) -> None:
        """Of a drink the habit itself is known; of anything else only that it was changed."""
        for slot, objects in clause.prepositions():
            for target in objects if slot in ("to", "back to") and not clause.negated else []:
                drink = self._drink(target)
                lasting = replace(clause, past=False, perfect=False)
                if drink is not None:
                    self._emit(lasting, subject, "drinks", drink)
                elif target.is_noun and predicate == "switched_to" and not self._is_deictic(target):
                    value = noun_value(self.parse, target, self.refs, self.times)
                    if (
                        isinstance(value, EntityRef)
                        or self.parse.child(target, "amod", "compound") is not None
                    ):
                        self._emit(lasting, subject, predicate, value)

    def _drink(self, target: Token) -> Value | None:
        """ "Three coffees a day" and "two cups of coffee" are coffee."""
        if target.lemma in _VESSELS:
            of = next((p for p in self.parse.children(target, "prep") if p.lower == "of"), None)
            inner = self.parse.child(of, "pobj") if of is not None else None
            return self._drink(inner) if inner is not None else None
        singular = target.lemma if target.tag == "NNS" else target.lower
        if singular not in DRINKS or self.parse.child(target, "poss") is not None:
            return None
        kind = [t.lower for t in self.parse.children(target, "compound", "amod") if t.lower in _KINDS]
        return LiteralValue("string", " ".join([*kind, singular]))


_KINDS = word_set(
    "green black white herbal mint ginger iced cold hot oat almond soy skimmed red sparkling still orange apple "
    "tomato chamomile peppermint jasmine filter decaf instant"
)

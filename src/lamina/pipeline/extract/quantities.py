"""Counts, prices and weights, and their changes: "Acme moved to 200 seats"."""

from __future__ import annotations

from dataclasses import replace

from lamina.language.entities import possessive
from lamina.language.wordsets import word_set
from lamina.pipeline.extract import vocabulary as words
from lamina.pipeline.extract.amounts import amount_of, number_of
from lamina.pipeline.extract.clauses import Clause, is_hypothetical
from lamina.pipeline.extract.emitter import Emitter
from lamina.pipeline.extract.phrases import VAGUE, noun_value
from lamina.pipeline.extract.references import FIRST_PLURAL, entity
from lamina.pipeline.extract.syntax import Token
from lamina.pipeline.extract.times import Validity
from lamina.pipeline.extract.values import EntityRef, Kind, LiteralValue

_GROWTH = word_set(
    "move change grow go upgrade expand increase drop shrink fall rise scale reduce cut bump jump downgrade climb"
)
_GROUPS = word_set("team crew squad band department")


class Quantities(Emitter):
    def _quantity(self, clause: Clause, subject: EntityRef) -> None:
        """ "Acme moved to 200 seats", "we have 12 employees", "the plan costs $30"."""
        if is_hypothetical(clause) or clause.modal == "will" or clause.negated:
            return
        targets: list[Token] = []
        if clause.lemma in _GROWTH:
            targets = [t for slot, objects in clause.prepositions() if slot.endswith("to") for t in objects]
        elif clause.lemma in ("have", "be"):
            targets = clause.objects("dobj", "attr")
            targets += [
                t
                for slot, objects in clause.prepositions()
                if slot == "at" and clause.lemma == "be"
                for t in objects
            ]
        elif clause.lemma in ("cost", "weigh"):
            targets = clause.objects("dobj", "npadvmod", "attr")
        for target in targets:
            amount = amount_of(self.parse, target)
            if amount is None or self._is_date(target):
                continue
            if clause.lemma in _GROWTH and self._is_new_value(clause, target):
                continue
            changed = clause.lemma in _GROWTH or self.parse.child(clause.verb, "advmod") is not None
            if clause.lemma in ("cost", "weigh"):
                self._emit(clause, subject, "price" if clause.lemma == "cost" else "weight", amount.literal)
            elif amount.noun and amount.literal.datatype in ("integer", "number"):
                self._count(clause, subject, amount.noun, amount.literal, changed=changed)
            elif clause.subject is not None and clause.lemma in _GROWTH and subject.type == "thing":
                self._emit(clause, subject, "value", amount.literal, kind="state_change")

    def _is_new_value(self, clause: Clause, target: Token) -> bool:
        """ "Kestrel's budget was cut to 50,000 euros": the value that "the budget is" tells, changed."""
        token = clause.subject
        owner = self.refs.owner(self.parse, token) if token is not None else None
        if token is None or owner is None or token.lemma not in words.ATTRIBUTE_NOUNS or clause.hedged:
            return False
        kind = sorted(t for t in (t.lower for t in self.parse.children(token, "compound")))
        now = replace(clause, past=False, passive=False)
        value = noun_value(self.parse, target, self.refs, self.times)
        self._emit(now, owner, words.slug(" ".join([*kind, token.lemma])), value, state=True)
        return value is not None

    def _is_date(self, target: Token) -> bool:
        """ "4 May", "November 30": a day is not an amount of months."""
        return target.is_name and self.times.covers(target)

    def _count(
        self, clause: Clause, subject: EntityRef, noun: str, value: LiteralValue, *, changed: bool
    ) -> None:
        base = noun.rsplit("_", 1)[-1]
        if base in VAGUE or base in ("o'clock",):
            return
        kind: Kind = "state_change" if changed and clause.lemma in _GROWTH else "quantity"
        self._emit(clause, subject, words.canonical_count(noun), value, kind=kind)

    def _group_size(self, clause: Clause, subject: EntityRef) -> None:
        """ "We are a team of six", "I lead a team of nine", "at work we're nine people": the size of Alice's team."""
        if is_hypothetical(clause) or clause.modal or clause.negated:
            return
        owns = subject.type == "person" and clause.lemma in ("be", "have", "lead", "manage", "run")
        is_group = subject.name.split(" ")[-1] in _GROUPS and clause.lemma in ("be", "have", *_GROWTH)
        targets = clause.objects("attr", "dobj")
        if clause.lemma in _GROWTH:
            targets = [t for slot, objects in clause.prepositions() if slot == "to" for t in objects]
        for target in targets:
            group = target.lower if target.lower in _GROUPS else "team"
            size = self._size(target, here=is_group or self._at_work(clause))
            if size is None or (clause.past and clause.lemma not in _GROWTH) or not (owns or is_group):
                continue
            name = subject.name if is_group else f"{possessive(subject.name)} {group}"
            self._emit(clause, entity(name, "group"), "size", LiteralValue("integer", size))

    def _turning(self, clause: Clause, subject: EntityRef) -> None:
        """ "Anna turns 33 on May 12" tells her birthday, "Anna turned 33" her age."""
        ages = [t for t in clause.objects("dobj", "attr", "acomp", "npadvmod", "advmod") if t.tag == "CD"]
        days = [m for m in self.times.of_clause(self.parse, clause.verb) if m.earliest is not None]
        if clause.lemma != "turn" or not ages or subject.type in ("place", "product"):
            return
        number = number_of(ages[:1])
        known = subject.type in ("person", "animal") or subject.name[:1].isupper()
        if clause.past and known and isinstance(number, int) and 0 < number < 120 and not clause.negated:
            since = Validity(days[0].earliest if days else None)
            self._emit(clause, subject, "age", LiteralValue("integer", number), state=True, validity=since)
        if not days:
            return
        text = self.parse.text[days[0].start : days[0].end].removeprefix("on ")
        if any(c.isdigit() for c in text):
            self._emit(clause, subject, "birthday", LiteralValue("date", text), validity=Validity())

    def _size(self, target: Token, *, here: bool) -> int | None:
        if target.lower in _GROUPS:
            of = next((p for p in self.parse.children(target, "prep") if p.lower == "of"), None)
            target = (self.parse.child(of, "pobj") if of is not None else None) or target
            here = True
        if not here or not (target.tag == "CD" or target.lower in ("people", "persons", "members")):
            return None
        amount = amount_of(self.parse, target)
        number = amount.literal.value if amount is not None else None
        return number if isinstance(number, int) and 1 < number < 100_000 else None

    def _at_work(self, clause: Clause) -> bool:
        """Whether "we" are the team: "at work", "in my team"."""
        plural = clause.subject is not None and clause.subject.lower in FIRST_PLURAL
        places = [
            t.lower for slot, objects in clause.prepositions() if slot in ("at", "in", "on") for t in objects
        ]
        return plural and clause.lemma == "be" and any(place in _GROUPS | {"work"} for place in places)

    def _corrected_quantity(self, clause: Clause) -> None:
        """ "No, it's 200 seats now": "it" is what was talked about."""
        token = clause.subject
        if clause.lemma == "be" and token is not None and token.lower in ("it", "that", "they"):
            subject = self.refs.it()
            if subject is not None:
                clause.weight *= 0.85
                self._quantity(clause, subject)

"""What somebody cannot have: allergies, intolerances, foods left out, conditions. A miss here is worse than elsewhere, and so is a slip."""

from __future__ import annotations

from dataclasses import replace

from lamina.language.wordsets import word_set
from lamina.pipeline.extract.clauses import Clause, conjuncts
from lamina.pipeline.extract.consumed import CONDITIONS, DRINKS, FOODS, MEDICINES, SUFFERING
from lamina.pipeline.extract.emitter import Emitter
from lamina.pipeline.extract.figures import is_allergen
from lamina.pipeline.extract.phrases import noun_value
from lamina.pipeline.extract.references import FIRST
from lamina.pipeline.extract.syntax import Token
from lamina.pipeline.extract.values import EntityRef, LiteralValue, Triple

_ALLERGIES = word_set("allergy allergies intolerance intolerances")
_DEGREES = word_set(
    "severe bad serious mild slight strong terrible awful deadly bit new known lifelong food real huge"
)
_SHARED = word_set("allergic_to has_condition diet eats drinks avoids dislikes likes")


class Health(Emitter):
    def _health(self, clause: Clause, subject: EntityRef) -> None:
        if subject == self.refs.addressee or (self.personal and self._is_common(subject)):
            return
        if clause.lemma == "be" and not clause.modal:
            self._suffers(clause, subject)
        elif clause.lemma in ("have", "get") and not clause.modal:
            self._has_allergy(clause, subject)
        elif clause.modal == "can" and clause.negated and not self.times.of_clause(self.parse, clause.verb):
            self._cannot_have(clause, subject)

    def _suffers(self, clause: Clause, subject: EntityRef) -> None:
        """ "My dad is diabetic", "he is a diabetic"."""
        for target in clause.objects("acomp", "attr"):
            condition = SUFFERING.get(target.lower)
            if condition is not None:
                self._emit(clause, subject, "has_condition", LiteralValue("string", condition))

    def _has_allergy(self, clause: Clause, subject: EntityRef) -> None:
        """ "I have a nut allergy and asthma", "an allergy to cats and dogs"."""
        for target in clause.objects("dobj"):
            determiner = self.parse.child(target, "det")
            denied = determiner is not None and determiner.lower == "no"
            told = replace(clause, negated=clause.negated != denied)
            if target.lower in _ALLERGIES:
                for cause in self._causes(target):
                    self._emit(
                        told, subject, "allergic_to", noun_value(self.parse, cause, self.refs, self.times)
                    )
                named = [
                    t
                    for t in self.parse.children(target, "compound", "amod", "nmod")
                    if t.lower not in _DEGREES
                ]
                if named:
                    self._emit(
                        told, subject, "allergic_to", LiteralValue("string", self.parse.words(named).lower())
                    )
            elif (condition := self._condition(target)) is not None:
                self._emit(told, subject, "has_condition", LiteralValue("string", condition))

    def _causes(self, allergy: Token) -> list[Token]:
        return [
            each
            for prep in self.parse.children(allergy, "prep")
            for inner in (self.parse.children(prep, "pobj") if prep.lower == "to" else [])
            for each in conjuncts(self.parse, inner)
            if is_allergen(each.lower, each.tag)
        ]

    def _condition(self, noun: Token) -> str | None:
        if noun.lower not in CONDITIONS or self.parse.child(noun, "poss") is not None:
            return None
        before = self.parse.words(
            [
                t
                for t in self.parse.children(noun, "compound", "amod", "nmod", "poss")
                if t.lower not in _DEGREES
            ]
        ).lower()
        needed = CONDITIONS[noun.lower]
        if needed is None:
            return f"{before} {noun.lower}".strip() if len(before.split()) < 3 else noun.lower
        return f"{before} {noun.lower}" if before in needed else None

    def _cannot_have(self, clause: Clause, subject: EntityRef) -> None:
        """ "Maisie can't have dairy or eggs"; not "I can't have kids"."""
        # What a person can't eat is read with the other habits, whatever it is; a bare name may be nobody's.
        read_here = clause.lemma in ("have", "take", "tolerate") or (
            clause.lemma in ("eat", "drink") and subject.type != "person"
        )
        objects = clause.objects("dobj") if read_here else []
        able = replace(clause, modal="")
        if not any(self._substance(t) for t in objects):
            return
        for target in objects:
            value = noun_value(self.parse, target, self.refs, self.times)
            head = target.lower
            if head in MEDICINES or clause.lemma == "take":
                self._emit(replace(able, negated=False), subject, "avoids", value)
            else:
                self._emit(able, subject, "drinks" if head in DRINKS else "eats", value)

    def _substance(self, token: Token) -> bool:
        return (
            token.lower in FOODS | DRINKS | MEDICINES
            and self.parse.child(token, "det", "poss", "nummod") is None
        )

    def _for_all(self, clause: Clause, subject: EntityRef, since: int) -> None:
        """What is told of "Ana and Leo" is told of Leo, too."""
        token = clause.subject
        if token is None or clause.telegraphic:
            return
        others = [t for t in conjuncts(self.parse, token) if t.lower not in FIRST]
        told: list[Triple] = [
            t for t in self.found[since:] if t.subject == subject and t.predicate in _SHARED
        ]
        for other in others if told else ():
            also = noun_value(self.parse, other, self.refs, self.times)
            if not isinstance(also, EntityRef) or also == subject or also == self.refs.addressee:
                continue
            for triple in told:
                copied = replace(triple, subject=also)
                if copied not in self.found and triple.object != also:
                    self.found.append(copied)

"""Beginning at an employer, and leaving one: who worked there does no more, said by a denial from then on, which finds the claim that
it ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from lamina.language.tables import table
from lamina.pipeline.extract.clauses import Clause, is_hypothetical
from lamina.pipeline.extract.emitter import Emitter
from lamina.pipeline.extract.phrases import noun_value
from lamina.pipeline.extract.references import entity
from lamina.pipeline.extract.syntax import Token
from lamina.pipeline.extract.times import Validity
from lamina.pipeline.extract.values import EntityRef

_TABLE = table(__name__)
_LEAVING = _TABLE.words("leaving")
_BEGINNING = _TABLE.words("beginning")
_NO_FACT = _TABLE.words("no_fact")
_JOBS = _TABLE.words("jobs")


class Employment(Emitter):
    def _first_days(self) -> None:
        """ "Yesterday was my first day at Acme"."""
        for token in self.parse.tokens:
            firsts = {each.lower for each in self.parse.children(token, "amod")}
            if token.lower != "day" or "first" not in firsts:
                continue
            if _NO_FACT & {t.lower for t in self.parse.tokens}:
                continue
            owner, employer = self.refs.owner(self.parse, token), self._employer(token, "at", "with")
            if owner is not None and employer is not None:
                verb = next((each for each in self.parse.ancestors(token) if each.is_verb), token)
                clause = Clause(self.parse, verb, token)
                since = Validity(self._since(clause, token))
                self._emit(clause, owner, "works_at", employer, state=True, validity=since)

    def _beginning(self, clause: Clause, subject: EntityRef) -> None:
        """ "I started at Acme", "I started working for Acme last week"."""
        doubtful = clause.modal or clause.negated or clause.hedged
        if doubtful or clause.lemma not in _BEGINNING or not clause.past:
            return
        objects = clause.objects("dobj", "xcomp")
        verb = objects[0] if objects else clause.verb
        if subject.type != "person" or is_hypothetical(clause) or (objects and verb.lemma != "work"):
            return
        employer = self._employer(verb, "at", "for", "with")
        if employer is not None:
            validity = Validity(self._since(clause, verb))
            self._emit(clause, subject, "works_at", employer, state=True, validity=validity)

    def _leaving(self, clause: Clause, subject: EntityRef) -> None:
        """ "I quit my job at Acme", "I left Acme", "I resigned from Acme"."""
        past = clause.past or clause.verb.lower == "quit"
        if clause.lemma not in _LEAVING or not past or clause.modal or clause.negated or clause.hedged:
            return
        if subject.type != "person" or is_hypothetical(clause):
            return
        employer = self._employer(clause.verb, "from") if clause.lemma == "resign" else None
        for target in clause.objects("dobj"):
            if target.lemma in _JOBS:
                employer = self._employer(target, "at", "with") or self._employer(clause.verb, "at", "with")
            elif clause.lemma == "quit" or (clause.lemma == "leave" and target.entity == "ORG"):
                employer = self._named_employer(target)
        if employer is None:
            return
        since = self._since(clause, clause.verb)
        self._emit(clause, subject, "left", employer)
        ended = replace(clause, negated=True, past=False)
        self._emit(ended, subject, "works_at", employer, state=True, validity=Validity(since))

    def _since(self, clause: Clause, phrase: Token) -> datetime:
        """From the day that the clause names on, else from now. The "first day" itself names none."""
        starts = (
            self.times.interval(each, future=False)[0]
            for each in self.times.of_clause(self.parse, clause.verb)
            if phrase is clause.verb or not each.start <= phrase.start < each.end
        )
        return next((start for start in starts if start is not None), self._now)

    def _employer(self, token: Token, *prepositions: str) -> EntityRef | None:
        found = (
            self._named_employer(inner)
            for prep in self.parse.children(token, "prep")
            if prep.lower in prepositions
            for inner in self.parse.children(prep, "pobj")
        )
        return next((each for each in found if each is not None), None)

    def _named_employer(self, token: Token) -> EntityRef | None:
        if not token.text[:1].isupper() or self.times.covers(token):
            return None
        value = noun_value(self.parse, token, self.refs, self.times)
        if isinstance(value, EntityRef):
            return None if value.type in ("person", "animal") else entity(value.name, "organisation")
        return entity(token.text, "organisation") if value is not None else None

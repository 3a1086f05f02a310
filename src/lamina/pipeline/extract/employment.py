"""Where somebody works, from the days that it begins and ends: first and last days, offers, leaving."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from lamina.language.wordsets import word_set
from lamina.pipeline.extract.clauses import Clause, is_hypothetical
from lamina.pipeline.extract.endings import Endings
from lamina.pipeline.extract.phrases import noun_value
from lamina.pipeline.extract.references import entity
from lamina.pipeline.extract.syntax import Token
from lamina.pipeline.extract.times import Validity
from lamina.pipeline.extract.values import EntityRef, LiteralValue, TakenBack, TimeMatch

_SCHOOLS = word_set("university college school academy uni kindergarten preschool")
_OFFERS = {"get": "got_offer_from", "receive": "got_offer_from", "have": "got_offer_from", "accept": "accepted_offer_from", "take": "accepted_offer_from"}  # fmt: skip
_DISMISSED = word_set("fire lay sack dismiss lose")
_OUT = word_set("fire lay sack dismiss lose make let resign quit leave")
_REASONS = word_set("for because after over by due despite without")
_WORK_WORDS = word_set("job company position role team manager boss employer resigned notice office")


class Employment(Endings):
    def _working_days(self) -> None:
        """ "Yesterday was my first day at Acme", "my last day at Acme is May 3"."""
        for token in self.parse.tokens:
            if token.lower != "day" or not token.is_noun:
                continue
            order = {t.lower for t in self.parse.children(token, "amod")}
            owner = self.refs.owner(self.parse, token)
            employer = self._employer(token, "at", "with")
            if owner is None or employer is None or not order & {"first", "last", "final"}:
                continue
            if any(
                t.lower in ("not", "n't", "if", "until", "before", "since", "like") for t in self.parse.tokens
            ):
                continue
            clause = Clause(self.parse, self._verb_above(token), token, 0.9)
            day = self._day(clause.verb, token)
            if "first" in order:
                self._works_at(clause, owner, employer, day[0] if day else self._today)
            else:
                self._worked_at(clause, owner, employer, day[1] if day else self._now)

    def _job(self, clause: Clause, subject: EntityRef) -> None:
        """Beginning at, getting an offer from, leaving an employer."""
        if is_hypothetical(clause) or clause.negated or clause.hedged:
            return
        lemma = clause.lemma
        if subject.type != "person":
            if self._may_be_person(subject) and lemma in ("quit", "leave", "resign") and clause.past:
                self._left(clause, subject)
            return
        if lemma in ("start", "begin") and (verb := self._beginning(clause)) is not None:
            employer = self._employer(verb, "at", "for", "with")
            day = self._day(clause.verb, clause.verb) or self._day(verb, verb)
            if employer is not None and (day or (clause.past and not clause.modal)):
                self._works_at(clause, subject, employer, day[0] if day else None)
        elif clause.modal == "will":
            return
        elif lemma in _OFFERS or lemma == "land":
            self._offered(clause, subject)
        elif lemma in ("quit", "leave", "resign") and (clause.past or lemma == "resign"):
            self._left(clause, subject)

    def _beginning(self, clause: Clause) -> Token | None:
        """The verb whose place is an employer: "started at Acme", "started working for Acme"."""
        objects = clause.objects("dobj", "xcomp")
        if not objects:
            return clause.verb
        return objects[0] if objects[0].lemma == "work" else None

    def _offered(self, clause: Clause, subject: EntityRef) -> None:
        for target in clause.objects("dobj"):
            if target.lower == "offer" and clause.lemma in _OFFERS:
                employer = self._employer(target, "from", "at") or self._employer(clause.verb, "from")
                self._emit(clause, subject, _OFFERS[clause.lemma], employer)
            elif target.lower in ("job", "position") and clause.lemma in ("get", "land", "accept", "take"):
                employer = self._employer(target, "at", "with") or self._employer(clause.verb, "at")
                self._emit(clause, subject, "got_job_at", employer)

    def _may_be_person(self, subject: EntityRef) -> bool:
        """Whether it is a name of one word that the tagger knows nothing of: "Ana" is one."""
        return subject.type == "thing" and subject.name[:1].isupper() and " " not in subject.name

    def _dismissed(self, clause: Clause, subject: EntityRef) -> None:
        """ "I was fired from Acme", "I lost my job at Acme": read beside whatever else the clause says."""
        if clause.lemma not in _DISMISSED or is_hypothetical(clause) or clause.negated or clause.hedged:
            return
        dismissed = clause.passive and clause.lemma != "lose"
        employer = self._employer(clause.verb, "from", "by") if dismissed else None
        for target in clause.objects("dobj") if clause.lemma == "lose" else []:
            if target.lemma in ("job", "position"):
                employer = self._employer(target, "at", "with") or self._employer(clause.verb, "at", "with")
        if employer is not None and clause.past:
            day = self._day(clause.verb, clause.verb)
            self._worked_at(clause, subject, employer, day[0] if day else self._now)

    def _out_of_work(self, clause: Clause, subject: EntityRef) -> None:
        """ "I got fired", "I lost my job on Tuesday": wherever it was, nobody works there any more."""
        if clause.lemma not in _OUT or subject.type != "person" or not clause.past or clause.progressive:
            return
        if not (self._is_put_out(clause) and self._has_happened(clause, subject) and self._is_lately(clause)):
            return
        parse = self.parse
        for prep in parse.children(clause.verb, "prep", "agent"):
            timely = self.times.covers(prep) or any(map(self.times.covers, parse.children(prep, "pobj")))
            if not timely and (prep.lower not in _REASONS or self._employer(clause.verb, prep.lower)):
                return
        self.taken_back.append(TakenBack(subject, "works_at"))

    def _is_put_out(self, clause: Clause) -> bool:
        parse, verb, particle = self.parse, clause.verb, clause.particle
        objects = clause.objects("dobj")
        if clause.lemma == "resign":
            return not objects and not particle
        if clause.lemma in ("lose", "quit", "leave"):
            below = [each for target in objects for each in parse.children(target)]
            own = bool(below) and all(each.dep == "poss" and each.tag == "PRP$" for each in below)
            return own and len(objects) == 1 and objects[0].lower in ("job", "position") and not particle
        if not clause.passive or objects:
            return False
        if clause.lemma in ("make", "let"):
            said = "redundant" if clause.lemma == "make" else "go"
            return any(
                t.lower == said and not parse.children(t, "prep")
                for t in parse.children(verb, "oprd", "acomp", "xcomp", "ccomp")
            )
        return particle == ("off" if clause.lemma == "lay" else "")

    def _left(self, clause: Clause, subject: EntityRef) -> None:
        if clause.lemma == "resign":
            employer = self._employer(clause.verb, "from", "at")
            if employer is not None:
                day = self._day(clause.verb, clause.verb)
                self._worked_at(clause, subject, employer, day[0] if day else self._now)
            return
        for target in clause.objects("dobj"):
            employer = self._named_employer(target)
            certain = clause.lemma == "quit" or target.entity == "ORG" or self._speaks_of_work()
            if employer is not None and certain:
                day = self._day(clause.verb, clause.verb)
                self._emit(clause, subject, "left", employer)
                self._worked_at(clause, subject, employer, day[0] if day else self._now)
            elif target.lemma in ("job", "position"):
                employer = self._employer(target, "at", "with") or self._employer(clause.verb, "at", "with")
                if employer is not None:
                    day = self._day(clause.verb, clause.verb)
                    self._emit(clause, subject, "left", noun_value(self.parse, target, self.refs, self.times))
                    self._worked_at(clause, subject, employer, day[0] if day else self._now)

    def _speaks_of_work(self) -> bool:
        return any(t.lower in _WORK_WORDS for t in self.parse.tokens)

    def _works_at(
        self, clause: Clause, subject: EntityRef, employer: EntityRef, since: datetime | None
    ) -> None:
        self._emit(clause, subject, "works_at", employer, state=True, validity=Validity(since))

    def _worked_at(self, clause: Clause, subject: EntityRef, employer: EntityRef, until: datetime) -> None:
        """That it ends is said by a denial from then on, which finds the claim that it ends."""
        ended = replace(clause, negated=True, past=False)
        self._emit(ended, subject, "works_at", employer, state=True, validity=Validity(until))

    def _employer(self, token: Token, *prepositions: str) -> EntityRef | None:
        for prep in self.parse.children(token, "prep"):
            inner = self.parse.child(prep, "pobj")
            if prep.lower in prepositions and inner is not None:
                found = self._named_employer(inner)
                if found is not None:
                    return found
        return None

    def _named_employer(self, token: Token) -> EntityRef | None:
        # Short names of firms are often taken for common nouns; inside a sentence their capital tells.
        capital = token.is_noun and token.text[:1].isupper() and not self.parse.children(token, "det")
        if not (token.is_name or capital) or self.times.covers(token) or self.parse.children(token, "poss"):
            return None
        value = noun_value(self.parse, token, self.refs, self.times)
        if capital and not token.is_name and isinstance(value, LiteralValue):
            value = entity(str(value.value), "organisation")
        if not isinstance(value, EntityRef) or value.type in ("person", "animal"):
            return None
        school = _SCHOOLS & set(value.key.split())
        return None if school or value.actor is not None else entity(value.name, "organisation")

    def _verb_above(self, token: Token) -> Token:
        return next((t for t in self.parse.ancestors(token) if t.is_verb), token)

    def _day(self, verb: Token, phrase: Token) -> tuple[datetime, datetime] | None:
        """The day that the clause names. "Last day" itself is not last day's date."""
        for match in self.times.of_clause(self.parse, verb):
            if match.start <= phrase.start < match.end and phrase is not verb:
                continue
            found = self._reading(match, future=verb.tag in ("VBZ", "VBP", "VB", "VBG"))
            if found is not None:
                return found
        return None

    def _reading(self, match: TimeMatch, *, future: bool) -> tuple[datetime, datetime] | None:
        earliest, latest = self.times.interval(match, future=future)
        return (earliest, latest) if earliest is not None and latest is not None else None

    @property
    def _today(self) -> datetime:
        return self._now.replace(hour=0, minute=0, second=0, microsecond=0)

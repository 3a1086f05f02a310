"""What somebody does, and where, in one breath: "I'm a physio at Leeds General", "I'm the CEO of Acme"."""

from __future__ import annotations

from lamina.language.wordsets import word_set
from lamina.pipeline.extract import vocabulary as words
from lamina.pipeline.extract.clauses import Clause, is_hypothetical
from lamina.pipeline.extract.descriptions import is_occupation
from lamina.pipeline.extract.employment import Employment
from lamina.pipeline.extract.phrases import phrase_tokens
from lamina.pipeline.extract.syntax import Token
from lamina.pipeline.extract.values import EntityRef, LiteralValue

_TITLES = word_set(
    "ceo cto cfo coo cmo head director founder cofounder co-founder owner president chair chairman chairwoman vp principal editor pm "
    "manager secretary treasurer partner dean mayor"
)
_JOBS = _TITLES | word_set(
    "lead officer assistant worker associate temp rep representative agent operator specialist advisor adviser strategist "
    "buyer producer coordinator executive controller inspector fellow reader teller attendant keeper hand aide"
)
_VISITING = word_set(
    "member patient guest regular customer client visitor volunteer student pupil undergraduate undergrad postgraduate fan resident "
    "shareholder investor finalist speaker attendee participant user subscriber supporter beginner expert wizard whizz whiz genius natural disaster pro ace "
    "novice newbie master champion champ failure star noob monster beast god legend nightmare player believer follower friend "
    "native citizen winner loser runner-up graduate alumnus alumna tenant neighbour neighbor stranger newcomer outsider"
)


class Roles(Employment):
    def _role(self, clause: Clause, subject: EntityRef) -> None:
        """An occupation with its employer, which also tells that a name is a person's."""
        if clause.lemma != "be" or clause.past or clause.negated or clause.modal or is_hypothetical(clause):
            return
        if (
            subject.type not in ("person", "thing")
            or self._is_common(subject)
            or subject == self.refs.addressee
        ):
            return
        for target in clause.objects("attr"):
            employer = self._where(clause, target)
            if employer is None or employer == subject:
                continue
            self._emit(clause, subject, "works_at", employer)
            self._emit(clause, subject, "works_as", LiteralValue("string", self._title(target)))

    def _where(self, clause: Clause, noun: Token) -> EntityRef | None:
        owned = self.parse.child(noun, "poss") is not None
        if not noun.is_noun or owned or noun.lower in _VISITING or noun.lemma in words.RELATIONS:
            return None
        if noun.lower in _TITLES:
            of = self._employer(noun, "of")
            if of is not None:
                return of
        found = self._employer(noun, "at", "with") or self._employer(clause.verb, "at")
        known = is_occupation(noun.lower) or noun.lower in _JOBS
        return found if known or (found is not None and self._is_firm(clause, noun)) else None

    def _is_firm(self, clause: Clause, noun: Token) -> bool:
        """Whether the tagger takes the place for an organisation."""
        preps = [*self.parse.children(noun, "prep"), *self.parse.children(clause.verb, "prep")]
        places = [self.parse.child(prep, "pobj") for prep in preps if prep.lower in ("at", "with")]
        determined = self.parse.child(noun, "det") is not None and self.parse.child(noun, "amod") is None
        return determined and any(place is not None and place.entity == "ORG" for place in places)

    def _title(self, noun: Token) -> str:
        """The words of the role without those of its place: "head of design"."""
        kept = phrase_tokens(self.parse, noun, self.times)
        cut = min(
            (
                prep.i
                for prep in self.parse.children(noun, "prep")
                if prep.lower in ("at", "with", "for") or self._employer(noun, prep.lower) is not None
            ),
            default=len(self.parse.tokens),
        )
        return self.parse.words([t for t in kept if t.i < cut])

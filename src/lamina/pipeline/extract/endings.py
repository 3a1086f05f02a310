"""What somebody stopped, left, lost or took up again: a claim that ends, or begins, beside the event that is told.

That something ends is said by a denial from then on, which finds the claim that it ends.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from lamina.language.wordsets import word_set
from lamina.pipeline.extract import vocabulary as words
from lamina.pipeline.extract.clauses import Clause, is_hypothetical
from lamina.pipeline.extract.consumed import DRINKS, FOODS, diets_without
from lamina.pipeline.extract.emitter import Emitter
from lamina.pipeline.extract.phrases import VAGUE, Value, noun_value
from lamina.pipeline.extract.references import entity
from lamina.pipeline.extract.syntax import Token
from lamina.pipeline.extract.times import Validity
from lamina.pipeline.extract.values import EntityRef, LiteralValue, TakenBack

_LASTING = word_set(
    "uses eats drinks plays works_at works_as works_in works_on works_with studies studies_at drives lives_in volunteers_at likes"
)
_TAKEN_UP = word_set("uses eats drinks plays")
_OFF = word_set(
    "course track road grid piste script topic duty sick air line rails campus work school guard balance bed"
)
_PARTNERS = ("has_pet", "married_to", "partner_of", "engaged_to")
_NOT_LITERALLY = word_set("laughing laughter embarrassment boredom inside")
_FORMERLY = word_set(
    "once twice times before ever always never when while after back then formerly previously originally"
)
_LATELY = timedelta(days=62)
"""So long ago may lie what ended with no word of which it was."""
_DROPPING = word_set("drop ditch replace retire abandon scrap remove switch migrate")
_BEARING = {
    "lose": ("baby", "pregnancy"),
    "have": ("miscarriage", "stillbirth", "abortion"),
    "give": ("birth",),
}
_WORN = word_set("old beloved trusty first last second spare")


class Endings(Emitter):
    def _ended(self, clause: Clause, subject: EntityRef) -> None:
        """Read beside whatever else the clause says."""
        if not self._has_happened(clause, subject):
            return
        lemma, particle = clause.lemma, clause.particle
        if lemma in ("stop", "quit") or (lemma, particle) == ("give", "up"):
            self._stopped(clause, subject)
        elif lemma in ("start", "begin", "resume", "eat", "drink"):
            self._taken_up(clause, subject)
        elif lemma == "go":
            self._gone_off(clause, subject)
        elif lemma == "die" or (lemma, particle) == ("pass", "away"):
            self._died(clause, subject)
        elif lemma == "sell" and clause.past:
            self._sold(clause, subject)
        elif lemma in _DROPPING and clause.past:
            self._dropped(clause, subject)
        elif lemma in _BEARING and clause.past:
            self._no_longer_pregnant(clause, subject)

    def _has_happened(self, clause: Clause, subject: EntityRef) -> bool:
        """Whether it is said to have happened, and of somebody."""
        if is_hypothetical(clause) or clause.modal or clause.negated or clause.hedged:
            return False
        if subject == self.refs.addressee or (self.personal and self._is_common(subject)):
            return False
        return all(t.lower not in ("almost", "nearly") for t in self.parse.children(clause.verb, "advmod"))

    def _is_lately(self, clause: Clause) -> bool:
        """Whether it happened just now, as far as it is told, and not in a tale of former years."""
        verb = clause.verb
        if any(t.lower in _FORMERLY for t in self.parse.children(verb, "advmod", "npadvmod", "mark")):
            return False
        if any(
            t.lower in _FORMERLY
            for each in self.parse.children(verb, "advcl")
            for t in self.parse.subtree(each)
        ):
            return False
        starts = [
            self.times.interval(each, future=False)[0] for each in self.times.of_clause(self.parse, verb)
        ]
        return all(start is not None and self._now - start < _LATELY for start in starts)

    def _stopped(self, clause: Clause, subject: EntityRef) -> None:
        """ "I stopped using Figma", "I gave up coffee"."""
        if not clause.past and clause.verb.lower != "quit":
            return
        for target in clause.objects("xcomp", "dobj"):
            if target.tag == "VBG":
                for predicate, value in self._habits(clause, target, subject):
                    self._end(clause, subject, predicate, value)
            elif target.lower in DRINKS | FOODS and clause.lemma in ("give", "quit"):
                predicate = "drinks" if target.lower in DRINKS else "eats"
                self._end(clause, subject, predicate, LiteralValue("string", target.lower))

    def _taken_up(self, clause: Clause, subject: EntityRef) -> None:
        """ "I started eating meat again" is how somebody is, and no vegetarian."""
        again = any(t.lower == "again" for t in self.parse.subtree(clause.verb))
        if clause.lemma in ("eat", "drink"):
            acts = [clause.verb] if again and not clause.past else []
        else:
            acts = [t for t in clause.objects("xcomp", "dobj") if t.tag == "VBG"] if clause.past else []
        now = replace(clause, past=False, perfect=False, progressive=False)
        for act in acts:
            for predicate, value in self._habits(clause, act, subject):
                if predicate not in _TAKEN_UP:
                    continue
                if all((t.predicate, t.object) != (predicate, value) for t in self.found):
                    self._emit(now, subject, predicate, value, state=True, validity=self._since(clause))
                food = str(value.value).split(" ")[-1] if isinstance(value, LiteralValue) else ""
                for diet in diets_without(food) if predicate == "eats" and again else ():
                    self._end(clause, subject, "diet", LiteralValue("string", diet))

    def _habits(self, clause: Clause, act: Token, subject: EntityRef) -> list[tuple[str, Value]]:
        """The lasting claims that a verb and its objects make."""
        inner = replace(clause, verb=act, relative_object=None)
        found: list[tuple[str, Value]] = []
        for slot, target in [
            *(("dobj", each) for each in inner.objects("dobj")),
            *((slot, each) for slot, objects in inner.prepositions() for each in objects),
        ]:
            predicate = words.CANON.get((act.lemma, slot), "")
            value = noun_value(self.parse, target, self.refs, self.times)
            vague = target.lower in VAGUE or self._is_deictic(target)
            if predicate in _LASTING and value is not None and value != subject and not vague:
                found.append((predicate, value))
        return found

    def _gone_off(self, clause: Clause, subject: EntityRef) -> None:
        """ "I've gone off coffee"."""
        if not clause.past or subject.type not in ("person", "animal"):
            return
        for off in self.parse.children(clause.verb, "prep", "prt"):
            target = self.parse.child(off, "pobj")
            if off.lower != "off" or target is None or target.lower in _OFF | VAGUE or not target.is_noun:
                continue
            if self.parse.child(target, "det", "poss", "nummod") is None:
                self._end(clause, subject, "likes", noun_value(self.parse, target, self.refs, self.times))

    def _died(self, clause: Clause, subject: EntityRef) -> None:
        """Told of kin and pets alone: phones, builds and jokes die as well."""
        token = clause.subject
        below = {t.lower for t in self.parse.subtree(clause.verb)}
        if token is None or not clause.past or below & _NOT_LITERALLY:
            return
        noun = next(
            (t for t in (token, *self.parse.children(token, "compound")) if t.lemma in self.refs.kin_nouns),
            None,
        )
        ref = self.refs.kin(self.parse, noun) if noun is not None else None
        near = any(person.ref.key == subject.key and person.gender != "n" for person in self.refs.people)
        who = ref or (subject if near or subject.type == "animal" else None)
        if who is None or who.type not in ("person", "animal"):
            return
        self._emit(
            clause, who, "life", LiteralValue("string", "died"), state=True, validity=self._since(clause)
        )
        owner = self.refs.owner(self.parse, noun) if noun is not None else None
        if owner is None and who.type == "animal":
            owner = self.refs.speaker
        relation = words.RELATIONS.get(noun.lemma, ("",))[0] if noun is not None else ""
        predicate = "has_pet" if who.type == "animal" else relation
        if owner is not None and predicate in _PARTNERS and "'s " not in who.name:
            self._end(clause, owner, predicate, who)

    def _sold(self, clause: Clause, subject: EntityRef) -> None:
        """ "I sold my car": what was somebody's own."""
        for target in clause.objects("dobj"):
            value = noun_value(self.parse, target, self.refs, self.times)
            if self.refs.owner(self.parse, target) != subject or not isinstance(value, LiteralValue):
                continue
            text = " ".join(word for word in str(value.value).split() if word.casefold() not in _WORN)
            if text:
                self._end(clause, subject, "owns", LiteralValue("string", text))

    def _dropped(self, clause: Clause, subject: EntityRef) -> None:
        """ "We dropped Kafka", "we switched from RabbitMQ to Redis": if it was in use, it is no more."""
        prepositions = dict(clause.prepositions())
        if clause.lemma in ("switch", "migrate"):
            dropped = prepositions.get("from", []) if "to" in prepositions else []
        else:
            dropped = (
                []
                if set(prepositions) & {"at", "in", "into", "on", "onto", "from", "to"}
                else clause.objects("dobj")
            )
        for target in dropped:
            value = noun_value(self.parse, target, self.refs, self.times)
            if isinstance(value, LiteralValue) and target.is_noun:
                value = entity(str(value.value), "thing")
            if isinstance(value, EntityRef):
                self.taken_back.append(TakenBack(subject, "uses", value))

    def _no_longer_pregnant(self, clause: Clause, subject: EntityRef) -> None:
        """ "I lost the baby", "I had a miscarriage", "I gave birth last night"."""
        parse, objects = self.parse, clause.objects("dobj")
        if (
            subject.type not in ("person", "thing")
            or len(objects) != 1
            or objects[0].lower not in _BEARING[clause.lemma]
        ):
            return
        dated = bool(self.times.of_clause(parse, clause.verb)) or any(
            t.lower == "just" for t in parse.children(clause.verb, "advmod")
        )
        placed = any(
            prep.lower in ("at", "in", "on") and not any(map(self.times.covers, parse.children(prep, "pobj")))
            for prep in parse.children(clause.verb, "prep")
        )
        if not placed and (dated or clause.lemma != "give") and self._is_lately(clause):
            self._end(clause, subject, "status", LiteralValue("string", "pregnant"))

    def _end(self, clause: Clause, subject: EntityRef, predicate: str, value: Value | None) -> None:
        ended = replace(clause, negated=True, past=False, perfect=False)
        self._emit(ended, subject, predicate, value, state=True, validity=self._since(clause))

    def _since(self, clause: Clause) -> Validity:
        for match in self.times.of_clause(self.parse, clause.verb):
            earliest, _ = self.times.interval(match, future=False)
            if earliest is not None:
                return Validity(self._not_ahead(earliest))
        return Validity()

    def _not_ahead(self, instant: datetime) -> datetime | None:
        return instant if instant < self._now else None

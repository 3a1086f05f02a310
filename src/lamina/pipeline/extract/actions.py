"""What somebody does, did, has and likes: the verbs of the vocabulary, then any other verb with something definite."""

from __future__ import annotations

from dataclasses import replace

from lamina.kernel.predicates import OF_THE_UNNAMED
from lamina.language.tables import table
from lamina.pipeline.extract import vocabulary as words
from lamina.pipeline.extract.clauses import Clause, is_choice, is_hypothetical
from lamina.pipeline.extract.emitter import Emitter, is_spouse
from lamina.pipeline.extract.phrases import VAGUE, Value, noun_value
from lamina.pipeline.extract.references import entity
from lamina.pipeline.extract.syntax import Token
from lamina.pipeline.extract.values import EntityRef, LiteralValue

_TABLE = table(__name__)
_TOYS = _TABLE.words("toys")
_OF_PLACES = _TABLE.words("of_places")
_OF_THINGS = _TABLE.words("of_things")
_POINTING = _TABLE.words("pointing")
_OPPOSITE = {"likes": "dislikes"}
"""What is not liked is disliked; what is not hated need not be liked."""
_NO_PASTIME = _TABLE.words("no_pastime")


class Actions(Emitter):
    def _preference(self, clause: Clause, subject: EntityRef) -> None:
        lemma = clause.lemma
        if lemma not in words.GERUND_OBJECT or is_hypothetical(clause) or clause.modal == "will":
            return
        predicate = words.GERUND_OBJECT[lemma]
        if clause.negated and predicate in _OPPOSITE:
            predicate = _OPPOSITE[predicate]
            clause = replace(clause, negated=False)
        objects = clause.objects("dobj", "xcomp", "ccomp")
        if self.personal and self._is_common(subject):
            return
        if clause.relative_object is not None or any(
            self._is_deictic(t) for t in self.parse.children(clause.verb, "dobj")
        ):
            return
        for target in objects:
            without = self.parse.child(target, "det")
            if without is not None and without.lower == "no":
                continue  # "I like tea so no coffee for me"
            if target.is_verb and (
                (target.dep == "ccomp" and target.tag != "VBG") or target.tag not in ("VBG", "VB")
            ):
                continue
            past_activity = target.is_verb and clause.past and not clause.perfect
            if predicate == "likes" and (self._is_praise(target) or past_activity):
                continue  # "I loved reading it as a kid" is no taste of today
            value = noun_value(self.parse, target, self.refs, self.times)
            if value is None and predicate in words.TASTES and self._is_pastime(target):
                value = LiteralValue("string", target.lower)
            if isinstance(value, LiteralValue) and " but " in str(value.value):
                continue  # "I like running but hate gyms", read as one thing
            if target.tag == "VB" and isinstance(value, LiteralValue):
                value = replace(value, value=f"to {value.value}")
            self._emit(clause, subject, predicate, value)

    def _is_pastime(self, target: Token) -> bool:
        """The bare "running" of "I hate running"."""
        bare = not [t for t in self.parse.children(target) if t.dep not in ("cc", "conj", "punct")]
        return target.tag == "VBG" and bare and target.lower not in _NO_PASTIME

    def _have(self, clause: Clause, subject: EntityRef) -> None:
        lemma = clause.lemma
        if lemma not in ("have", "get", "adopt") or is_hypothetical(clause) or clause.modal == "will":
            return
        has = lemma == "have"
        for target in clause.objects("dobj"):
            if (is_choice(self.parse, target) and not clause.negated) or (has and self._is_task(target)):
                continue
            if clause.negated and any(t.tag == "JJR" for t in self.parse.children(target, "amod")):
                continue  # "I've never had a better dog"
            noun = target.lemma
            value = noun_value(self.parse, target, self.refs, self.times)
            if noun in words.PETS:
                if self.parse.child(target, "nummod") is None:
                    self._pet(clause, subject, target)
            elif noun in words.RELATIONS and has:
                name = self.refs.given_name(self.parse, target)
                ref = entity(name or f"{subject.name}'s {target.lower}", "person")
                counted = self.parse.child(target, "nummod") is not None
                if not (noun == "friend" and name is None) and not counted and clause.past is False:
                    self._emit(clause, subject, words.RELATIONS[noun][0], ref)
            elif noun in words.EVENT_NOUNS and has and self.times.of_clause(self.parse, clause.verb):
                self._event(clause, subject, value)
            elif noun == "job" and lemma == "get" and clause.past:
                self._emit(clause, subject, "got_job", value)
            elif has and not clause.past and self._is_indefinite(target) and not self._is_common(subject):
                self._emit(clause, subject, "has", value)

    def _is_task(self, target: Token) -> bool:
        """ "I have a dog to walk": something to do with it; not "a dog to keep me company"."""
        below = (t for t in self.parse.children(target, "relcl", "acl") if t.tag == "VB")
        own = ("nsubj", "dobj", "xcomp", "ccomp", "attr", "acomp")
        return any(self.parse.child(t, "aux") and not self.parse.child(t, *own) for t in below)

    def _event(self, clause: Clause, subject: EntityRef, value: Value | None) -> None:
        """ "I have a meeting on the 24th" is about one to come, also on the 9th."""
        matches = self.times.of_clause(self.parse, clause.verb)
        validity = self.times.validity(matches, "event" if clause.past else "plan")
        self._emit(clause, subject, "had" if clause.past else "has_scheduled", value, validity=validity)

    def _is_indefinite(self, target: Token) -> bool:
        determiner = self.parse.child(target, "det")
        definite = determiner is None or determiner.lower not in ("a", "an")
        vague = target.lemma in words.LIGHT_NOUNS or target.lower in VAGUE
        return target.is_noun and not vague and not definite

    def _pet(self, clause: Clause, subject: EntityRef, target: Token) -> None:
        determiner = self.parse.child(target, "det")
        pointed = determiner is not None and determiner.lower in ("that", "the", "these", "those")
        toy = any(t.lower in _TOYS for t in self.parse.subtree(target) if t.i < target.i)
        if pointed or toy:
            return
        name = self.refs.given_name(self.parse, target)
        pet = self.refs.remember(entity(name, "animal")) if name else None
        gained = clause.lemma != "have"
        qualifiers = (("species", target.lemma),) if pet else ()
        value: Value = pet or LiteralValue("string", target.lemma)
        if gained:
            self._emit(clause, subject, "adopted" if clause.lemma == "adopt" else "got_pet", value)
        self._emit(clause, subject, "has_pet", value, qualifiers=qualifiers, state=gained)

    def _canonical(self, clause: Clause, subject: EntityRef) -> None:
        able = clause.lemma in ("speak", "play") and not clause.negated
        if clause.modal == "can" and (able or (clause.lemma in ("eat", "drink") and clause.negated)):
            clause = replace(clause, modal="")
        if is_hypothetical(clause) or clause.modal == "will":
            return
        inner = self.parse.child(clause.verb, "xcomp")
        if clause.lemma == "use" and inner is not None and inner.tag == "VB":  # "used to live in Rome"
            self._canonical(replace(clause, verb=inner, past=True, ended=True), subject)
            return
        for slot, target in self._slots(clause):
            predicate = words.CANON.get((clause.lemma, slot)) or self._going(clause, slot, target)
            if predicate is not None and not self._read_elsewhere(clause, slot, predicate, target):
                self._canonical_claim(clause, subject, predicate, target)

    def _read_elsewhere(self, clause: Clause, slot: str, predicate: str, target: Token) -> bool:
        """Tastes were refused by their own handler, past wishes are reasons, and "was married by" is no spouse."""
        return (
            predicate in words.TASTES
            or (predicate in words.HABITUAL and not self._is_habitual(clause))
            or (clause.lemma == "want" and clause.past and not clause.perfect)
            or (predicate == "signed_up_for" and bool(self.parse.children(clause.verb, "dobj")))
            or (predicate == "married_to" and ((slot == "dobj" and clause.passive) or not is_spouse(target)))
            or (predicate == "engaged_to" and not is_spouse(target))
            or (predicate == "from" and self._is_under_way(clause))
        )

    def _is_under_way(self, clause: Clause) -> bool:
        """ "I just came from Rome", "Tom comes from Rome tomorrow": no origin."""
        just = any(
            t.lower in ("just", "straight", "directly") for t in self.parse.children(clause.verb, "advmod")
        )
        return just or bool(self.times.of_clause(self.parse, clause.verb))

    def _is_habitual(self, clause: Clause) -> bool:
        """Whether it tells how a person is ("I play the violin"), not what they are at or did ("I'm playing a
        game")."""
        subject = clause.subject
        simple = clause.verb.tag in ("VBP", "VBZ", "VB") and not clause.past and not clause.perfect
        return simple and subject is not None and clause.relative_object is None

    def _canonical_claim(self, clause: Clause, subject: EntityRef, predicate: str, target: Token) -> None:
        if (
            predicate == "attended"
        ):  # of "my friend Rachel's wedding" the parser may take the friend for the object
            target = next((t for t in self.parse.children(target, "appos") if not t.is_name), target)
        bare = target.dep == "xcomp" and predicate in words.CONSUMED
        word = LiteralValue("string", target.lower)
        value = word if bare else noun_value(self.parse, target, self.refs, self.times)
        if predicate == "works_as" and isinstance(value, LiteralValue):
            value = self._bare_job(clause, subject, target, value)
        if value is None or not self._fits(predicate, value, target, subject):
            return
        known = words.describe(predicate, past=False)
        one = known.single_valued or known.kind == "possession"
        if one and not clause.negated and is_choice(self.parse, target):
            return  # "I live in Graz or Linz"
        unnamed = OF_THE_UNNAMED.get(predicate)
        if unnamed is not None and isinstance(value, LiteralValue) and self._is_described(target):
            self._emit(clause, subject, unnamed, value)
            lies = predicate == "lives_in" and not clause.negated
            value = self._named_within(target) if lies else None
        self._emit(clause, subject, predicate, value)

    def _is_described(self, target: Token) -> bool:
        """ "A tiny flat", "the countryside", "my parents' house"; not "new york"."""
        return self.parse.child(target, "det", "poss") is not None

    def _named_within(self, target: Token) -> EntityRef | None:
        """The place that a described one is told to be in: "a flat in the centre of Graz"."""
        for prep in self.parse.children(target, "prep"):
            for inner in self.parse.children(prep, "pobj") if prep.lower in ("in", "of") else ():
                value = noun_value(self.parse, inner, self.refs, self.times)
                if isinstance(value, EntityRef):
                    return value if value.type == "place" else None
                if (found := self._named_within(inner)) is not None:
                    return found
        return None

    def _going(self, clause: Clause, slot: str, target: Token) -> str | None:
        """ "went to Paris" is a visit, "went to a concert" an attendance."""
        if clause.lemma == "go" and slot == "to" and clause.past and not clause.progressive:
            if target.lemma in words.EVENT_NOUNS:
                return "attended"
            return "visited" if target.is_noun else None
        return None

    def _is_used_as_tool(self, target: Token) -> bool:
        """Not "line length 100", which is a setting, nor a quality that goes with a thing."""
        counts = [t for t in self.parse.children(target, "nummod") if t.i > target.i]
        if counts and self.parse.children(target, "compound"):
            return False
        bare = not self.parse.children(target) and self.parse.head(target).is_noun
        return target.tag != "JJ" or (target.dep == "conj" and bare)

    def _fits(self, predicate: str, value: Value, target: Token, subject: EntityRef) -> bool:
        named = isinstance(value, EntityRef)
        goes = subject.type in ("person", "animal")
        if predicate == "visited" and not goes and (not named or self._is_common(subject)):
            return False  # "my rent went up to 900 euros", "the car went to Tom"
        if predicate == "uses" and not named and not self._is_used_as_tool(target):
            return False
        if predicate == "uses" and target.tag == "JJ" and target.dep == "conj":
            return True  # "ruff and black"
        if predicate in _OF_PLACES:
            if isinstance(value, EntityRef):
                return not self._is_somebody(value, target)
            return (
                predicate in ("works_at", "lives_in", "grew_up_in", "studies_at")
                and target.is_noun
                and target.lower not in VAGUE
                and not target.is_verb
                and self.parse.child(target, "det", "amod", "compound") is not None
            )
        if predicate in ("knows", "met", "works_with", "partner_of", "married_to", "engaged_to"):
            return (
                isinstance(value, EntityRef)
                and value not in (subject, self.refs.addressee)
                and value.type in ("person", "organisation", "thing", "place")
            )
        if predicate in _OF_THINGS:
            deictic = self.parse.child(target, "det")
            return named or (
                not (deictic is not None and deictic.lower in ("that", "this"))
                and target.is_noun
                and (value != subject)
            )
        if predicate == "attended" and isinstance(value, EntityRef) and value.type == "person":
            return False
        if predicate in words.HABITUAL:
            own = subject.type == "person" and subject != self.refs.addressee
            definite = named or target.is_noun or target.dep == "xcomp"
            pointed = self.parse.child(target, "det")
            vague = target.lower in VAGUE or (pointed is not None and pointed.lower in _POINTING)
            return own and definite and not vague and value != subject
        if predicate == "drives":
            return subject.type == "person" and not (isinstance(value, EntityRef) and value.type == "person")
        return value not in (self.refs.addressee,)

    def _is_somebody(self, value: EntityRef, target: Token) -> bool:
        """Whether a place or employer would be a person: one that is known, or a name behind another that is no
        place."""
        if value.type not in ("person", "animal"):
            return False
        known = any(p.ref.key == value.key and p.gender != "n" for p in self.refs.people)
        return known or not target.is_name or target.dep == "conj"

"""What somebody or something is: identity, role, attributes, favourites, kin and pets by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lamina.language.tables import table
from lamina.language.temporal import TemporalMatch
from lamina.pipeline.extract import vocabulary as words
from lamina.pipeline.extract.amounts import amount_of, number_of
from lamina.pipeline.extract.clauses import Clause, conjuncts, is_choice, is_hypothetical
from lamina.pipeline.extract.emitter import Emitter, is_spouse
from lamina.pipeline.extract.own_names import is_own_name
from lamina.pipeline.extract.phrases import VAGUE, Value, noun_value, verb_value
from lamina.pipeline.extract.references import entity, is_denied
from lamina.pipeline.extract.syntax import Token
from lamina.pipeline.extract.times import Validity
from lamina.pipeline.extract.values import EntityRef, LiteralValue
from lamina.pipeline.extract.vocabulary import slug

_TABLE = table(__name__)
_PRAISE = _TABLE.words("praise")
_NOT_REALLY = _TABLE.words("not_really")
_OVER = _TABLE.words("over")
_DIED = _TABLE.words("died")
_PARTED = _TABLE.words("parted")
_BY_BIRTH = _TABLE.words("by_birth")
_WHOLE = _TABLE.words("whole")
_PLAIN = _TABLE.words("plain")
_FORMERLY = _TABLE.words("formerly")
_PLACE_NOUNS = _TABLE.words("place_nouns")


_PROFESSIONS = ("ologist", "iatrist", "ician", "therapist", "ographer")


def is_occupation(noun: str) -> bool:
    """Whether a noun names what somebody does for a living."""
    return noun in words.OCCUPATIONS or noun.endswith(_PROFESSIONS)


class Descriptions(Emitter):
    def _copula(self, clause: Clause, subject: EntityRef) -> None:
        if any(t.lower in ("here", "there") for t in self.parse.children(clause.verb, "advmod")):
            return
        if clause.lemma not in ("be", "become", "get") or is_hypothetical(clause) or clause.modal == "will":
            return
        token = clause.subject
        assert token is not None
        for target in clause.objects("attr", "oprd") if clause.lemma != "get" else []:
            self._is_noun(clause, subject, token, target)
        for target in clause.objects("acomp", "advmod"):
            if target.is_name or (target.dep == "acomp" and self._told_favourite(clause, token, target)):
                self._is_noun(clause, subject, token, target)
                if not target.is_name:
                    continue
            self._is_adjective(clause, subject, target)
        if clause.lemma == "get":
            return
        self._is_to_do(clause, token)
        for slot, objects in clause.prepositions():
            self._is_somewhere(clause, subject, slot, objects)

    def _is_to_do(self, clause: Clause, token: Token) -> None:
        """ "My goal is to run a marathon", "my birthday is on 3 May"."""
        owner = self.refs.owner(self.parse, token) if token.is_noun else None
        if owner is None:
            return
        inner = self.parse.child(clause.verb, "xcomp")
        if inner is not None and token.lemma in words.ATTRIBUTE_NOUNS:
            aim = verb_value(self.parse, inner, self.refs, self.times)
            if aim is not None:
                self._emit(
                    clause, owner, self._called(token, token.lemma), replace(aim, value=f"to {aim.value}")
                )
        if token.lemma == "birthday":
            for match in self.times.of_clause(self.parse, clause.verb)[:1]:
                self._birthday(clause, owner, match)

    def _birthday(self, clause: Clause, owner: EntityRef, match: TemporalMatch) -> None:
        """A day of a month, or a month: "my birthday is tomorrow" is true for a day only."""
        text = self.parse.text[match.start : match.end].removeprefix("on ")
        if match.grain != "month" and not any(each.isdigit() for each in text):
            day = self.times.interval(match, future=not clause.past)[0]
            if day is None or match.grain != "day" or self.parse.text[: match.start].endswith(" a "):
                return
            text = f"{day:%B} {day.day}"
        self._emit(clause, owner, "birthday", LiteralValue("date", text), validity=Validity())

    def _is_noun(self, clause: Clause, subject: EntityRef, token: Token, target: Token) -> None:
        parse = self.parse
        if target.tag == "CD" and (clause.past or token.lower == "we"):
            return  # "we're four": so many
        if target.tag == "CD" and subject.type == "person" and not self._is_attribute(token):
            number = number_of([target])
            after = self.parse.tokens[target.i + 1 : target.i + 2]
            ends = not after or after[0].tag in (".", ",", "CC", ":")  # not "we're 3-2", "I'm 5 months in"
            alone = ends or after[0].lower in ("now", "today")
            nearly = self.parse.tokens[target.i - 1].lower in ("almost", "nearly", "not")
            plain = alone and not nearly and target.text.isdigit()
            if plain and isinstance(number, int) and 0 < number < 120:
                self._emit(clause, subject, "age", LiteralValue("integer", number))
            return
        if target.lower in words.ADJECTIVE_ATTRIBUTES and self.parse.child(target, "det") is None:
            self._is_adjective(clause, subject, target)  # "vegan" may be tagged a noun
            return
        value = noun_value(parse, target, self.refs, self.times)
        if self._favourite(clause, target, subject):
            return
        if token.is_noun and self._attribute(clause, token, target, value):
            return
        if target.lower == "fan":
            for prep in parse.children(target, "prep"):
                for inner in parse.children(prep, "pobj") if prep.lower == "of" else []:
                    self._emit(clause, subject, "likes", noun_value(parse, inner, self.refs, self.times))
            return
        kin = words.RELATIONS.get(target.lemma)
        if (kin is not None and self._is_former(target)) or self._is_former(token):
            return
        if kin is not None and isinstance(value, EntityRef) and self.refs.owner(parse, target) is not None:
            owner = self.refs.owner(parse, target)
            if owner is not None and subject.type in ("person", "thing"):
                self._emit(clause, owner, kin[0], replace(subject, type="person"))
            return
        if isinstance(value, EntityRef):
            if (
                token.lower in ("i",)
                and not clause.past
                and value.type in ("person", "thing")
                and target.is_name
                and parse.child(target, "det", "amod") is None  # "I'm dog-sitting Rex"
                and value.name in parse.text
                and all(t.text in value.name for t in parse.children(target, "compound"))
                and is_own_name(parse, value.name)
                and not any(token.i < t.i < target.i for t in parse.children(clause.verb, "advmod"))
            ):  # "I'm basically Monica from Friends"
                self._emit(clause, subject, "name_is", LiteralValue("string", value.name))
                self.found[-1] = replace(self.found[-1], introduces=True)
            return
        if isinstance(value, LiteralValue):
            self._is_a(clause, subject, target, str(value.value))

    def _is_a(self, clause: Clause, subject: EntityRef, target: Token, text: str) -> None:
        determiner = self.parse.child(target, "det")
        adjectives = {t.lower for t in self.parse.children(target, "amod")}
        speaks_of_person = subject.type == "person"
        if (
            adjectives & (_PRAISE | words.FORMER | _NOT_REALLY)
            or target.lemma in VAGUE
            or (subject == self.refs.addressee and not self._occupation(target))
        ):
            return
        if determiner is not None and determiner.lower == "no":
            return
        was = clause.past and not (clause.perfect or clause.begins)
        if was or self.parse.child(clause.verb, "mark") is not None:
            return  # "since I was a kid"
        if is_choice(self.parse, target) and not clause.negated:
            return
        if speaks_of_person and self._occupation(target):
            self._emit(
                clause,
                subject,
                "works_as",
                self._bare_job(clause, subject, target, LiteralValue("string", text)),
            )
        elif determiner is not None and determiner.lower in ("a", "an") and subject.type != "thing":
            if speaks_of_person and self.personal:
                return  # "I'm a mess" tells a mood
            self._emit(clause, subject, "is_a", LiteralValue("string", text))

    def _occupation(self, noun: Token) -> bool:
        return is_occupation(noun.lower) or is_occupation(noun.lemma)

    def _is_attribute(self, token: Token) -> bool:
        owned = token.is_noun and self.parse.child(token, "poss") is not None
        return owned and token.lemma not in words.RELATIONS

    def _attribute(self, clause: Clause, token: Token, target: Token, value: Value | None) -> bool:
        """ "My name is Alice", "my sister's name is Anna", "Anna's birthday is 3 May", "my goal is to ..."."""
        if value is not None and self._favourite(clause, token, value):
            return True
        owner = self.refs.owner(self.parse, token)
        if owner is None or (token.lemma in words.RELATIONS and not target.is_name):
            return False
        of_people = isinstance(value, EntityRef) and value.type == "group"
        if of_people and (token.lemma in words.RELATIONS or token.lemma in words.PETS):
            return True  # "my wife is Thai"
        noun = token.lemma if token.lemma != "hobbie" else "hobby"
        determiner = self.parse.child(target, "det")
        if noun in words.RELATIONS and determiner is not None and determiner.lower in ("a", "an"):
            return False  # "my husband is a German"
        if noun in words.RELATIONS and isinstance(value, EntityRef) and not self._is_former(token):
            self._emit(clause, owner, words.RELATIONS[noun][0], replace(value, type="person"))
        elif noun in words.PETS and isinstance(value, EntityRef):
            self._emit(clause, owner, "has_pet", value)
        elif noun == "name" and target.text[:1].isupper() and self._is_whole_name(token):
            self._named(clause, owner, token, value.name if isinstance(value, EntityRef) else target.text)
        elif noun == "job" and isinstance(value, LiteralValue) and self._called(token, noun) == noun:
            self._emit(clause, owner, "works_as", value)
        elif noun == "employer" and isinstance(value, EntityRef) and self._called(token, noun) == noun:
            self._emit(clause, owner, "works_at", value)
        elif noun in ("birthday", "birth") and (match := self.times.at(target.start, target.end)):
            self._birthday(clause, owner, match)
        elif noun in words.ATTRIBUTE_NOUNS | {"count"} and value is not None:
            if target.tag == "CD" and (amount := amount_of(self.parse, target)):
                value = amount.literal
            elif target.is_name and (number := self.parse.child(target, "nummod")) and number.i < target.i:
                words_from = self.parse.tokens[number.i : target.i + 1]
                value = LiteralValue("string", self.parse.words(words_from))  # "14 Oak Street"
            self._emit(clause, owner, self._called(token, noun), value)
        else:
            return False
        return True

    def _called(self, token: Token, noun: str) -> str:
        """The predicate of an attribute by all that its noun is called: an old address is another thing than an address."""
        before = [t.lower for t in self.parse.children(token, "compound", "amod") if t.i < token.i]
        return slug(" ".join([*(each for each in before if each not in _PLAIN), noun]))

    def _is_whole_name(self, token: Token) -> bool:
        """Not a last name, a user name or a project's name."""
        before = {t.lower for t in self.parse.children(token, "amod", "compound")}
        return before <= _WHOLE

    def _named(self, clause: Clause, owner: EntityRef, token: Token, name: str) -> None:
        """ "My daughter's name is Lily" names a relative, "my name is Alice" the owner."""
        if clause.past and any(t.lower in _FORMERLY for t in self.parse.tokens):
            return  # "her name was Keller before she married"; "her name was Ruth" of one who died
        kin = self.parse.child(token, "poss")
        relation = words.RELATIONS.get(kin.lemma) if kin is not None else None
        holder = self.refs.owner(self.parse, kin) if kin is not None else None
        if kin is not None and holder is not None and (relation or kin.lemma in words.PETS):
            ref = self.refs.remember(entity(name, "person" if relation else "animal"))
            self._emit(clause, holder, relation[0] if relation else "has_pet", ref)
        elif not clause.past or owner != self.refs.speaker:
            self._emit(clause, owner, "name_is", LiteralValue("string", name))

    def _is_adjective(self, clause: Clause, subject: EntityRef, target: Token) -> None:
        word = target.lower
        years = self.parse.child(target, "npadvmod")
        if word == "old" and years is not None and subject.type in ("person", "animal"):
            count = self.parse.child(years, "nummod")
            number = number_of([count]) if count is not None else None
            if number is not None and years.lemma in ("year", "month"):
                unit = None if years.lemma == "year" else "month"
                literal = (
                    LiteralValue("integer", number)
                    if unit is None
                    else LiteralValue("duration", number, unit)
                )
                self._emit(clause, subject, "age", literal)
            return
        found = False
        for prep in self.parse.children(target, "prep"):
            predicate = words.ADJECTIVE_CANON.get((word, prep.lower))
            if predicate is None:
                continue
            for inner in self.parse.children(prep, "pobj", "pcomp"):
                for one in conjuncts(self.parse, inner):
                    found = True
                    if predicate in ("married_to", "engaged_to") and not is_spouse(one):
                        continue
                    self._emit(clause, subject, predicate, noun_value(self.parse, one, self.refs, self.times))
        attribute = words.ADJECTIVE_ATTRIBUTES.get(word)
        if found or attribute is None or target.dep == "advmod":
            return
        if (attribute == "status") == (
            subject.type in ("thing", "organisation", "product", "event")
        ) or word in ("retired", "pregnant", "unemployed"):
            if attribute == "relationship_status" and subject.type != "person":
                return
            self._emit(clause, subject, attribute, LiteralValue("string", word))

    def _is_somewhere(self, clause: Clause, subject: EntityRef, slot: str, objects: list[Token]) -> None:
        for target in objects:
            value = noun_value(self.parse, target, self.refs, self.times)
            if not isinstance(value, EntityRef) or value.type == "person":
                counted = self.parse.child(clause.verb, "attr", "npadvmod")  # "two weeks into my new job"
                if slot == "into" and counted is None and isinstance(value, LiteralValue):
                    self._emit(clause, subject, "likes", value)
                continue
            if slot == "from" and subject.type == "person" and value.type in ("place", "thing"):
                self._emit(clause, subject, "from", value)
            elif slot == "to" and clause.perfect and value.type == "place":
                self._emit(clause, subject, "visited", value)
            elif slot in ("in", "at") and value.type == "place" and subject.type in ("thing", "organisation"):
                self._emit(clause, subject, "located_in", value)

    def _is_former(self, token: Token) -> bool:
        """ "My old boss Tom", "my late dog Rex", "my imaginary friend": not who it is."""
        relation = words.RELATIONS.get(token.lemma)
        heads = [token, self.parse.head(token)] if token.dep == "compound" else [token]
        before = {t.lower for each in heads for t in self.parse.children(each, "amod", "compound")}
        if before & _NOT_REALLY:
            return True
        if relation is not None and relation[0] in _BY_BIRTH:
            return False
        single = relation is not None and words.PREDICATES[relation[0]].single_valued
        return bool(before & (words.FORMER | _OVER if single else _OVER))

    def _favourite(self, clause: Clause, noun: Token, value: Value) -> bool:
        adjective = next(
            (a for a in self.parse.children(noun, "amod") if a.lower in ("favourite", "favorite", "fave")),
            None,
        )
        owner = self.refs.owner(self.parse, noun)
        if adjective is None or owner is None or clause.negated or is_hypothetical(clause):
            return False
        topic = [
            t.lower
            for t in self.parse.children(noun, "compound", "amod")
            if t is not adjective and t.lower != "all-time"
        ]
        noun_word = noun.lemma if noun.tag == "NNS" else noun.lower
        if noun_word in ("thing", "part", "one") or value == owner:
            return False
        if isinstance(value, EntityRef) and value.type != "person" and noun_word not in _PLACE_NOUNS:
            value = replace(value, type="thing")  # the parser takes "Ramen" at a start for a city
        self._emit(clause, owner, f"favourite_{slug(' '.join([*topic, noun_word]))}", value)
        return True

    def _told_favourite(self, clause: Clause, noun: Token, target: Token) -> bool:
        """ "My favourite colour is blue"; not "my favourite mug is broken"."""
        liked = any(t.lower in ("favourite", "favorite", "fave") for t in self.parse.children(noun, "amod"))
        return liked and clause.lemma == "be" and noun.lower in ("colour", "color") and target.tag == "JJ"

    def _relations(self, clauses: Sequence[Clause]) -> None:
        """ "my sister Anna": a relation said in passing."""
        for token in self.parse.tokens:
            relation = words.RELATIONS.get(token.lemma)
            pet = token.lemma in words.PETS
            if not token.is_noun or (relation is None and not pet):
                continue
            name = self.refs.given_name(self.parse, token)
            owner = self.refs.owner(self.parse, token)
            if name is None or owner is None or self._is_former(token) or is_denied(self.parse, token):
                continue
            ref = self.refs.remember(entity(name, "animal" if pet else "person"))
            predicate = "has_pet" if pet or relation is None else relation[0]
            qualifier = ("species" if pet else "as", token.lower)
            if ref.key != owner.key and not any(
                t.predicate == predicate and t.object == ref for t in self.found
            ):
                gone = None if predicate in _BY_BIRTH else self._gone_by(token, predicate, clauses)
                clause = Clause(
                    self.parse, gone or token, token, past=gone is not None, ended=gone is not None
                )
                self._emit(clause, owner, predicate, ref, qualifiers=(qualifier,), validity=Validity())

    def _gone_by(self, token: Token, predicate: str, clauses: Sequence[Clause]) -> Token | None:
        """The verb that tells that who is called so died or was parted with: "my dog Rex died" is no word that Alice has one."""
        named = self.parse.head(token) if token.dep == "compound" else token
        verb, to = self.parse.head(named), ""
        if named.dep == "pobj":
            verb, to = self.parse.head(verb), f"_{verb.lower}"
        clause = next((each for each in clauses if each.verb.i == verb.i), None)
        if clause is None or not clause.past or clause.negated or clause.hedged or is_hypothetical(clause):
            return None
        beside = ["", *(f"_{each.lower}" for each in self.parse.children(verb, "prt", "advmod"))]
        told = {f"{verb.lemma}{each}{to}" for each in beside}
        if named.dep == "nsubj":
            return verb if told & _DIED else None
        single = predicate == "has_pet" or words.PREDICATES[predicate].single_valued
        return verb if single and told & _PARTED and named.dep in ("dobj", "pobj", "nsubjpass") else None

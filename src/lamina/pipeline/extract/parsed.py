"""Triples from parsed clauses. One handler for each kind of clause; the first that applies wins.

Confidence is the product of: the clause's place (`clauses.WEIGHTS`), 0.6 when hedged, 0.85 when reported by a third
party, 0.85 for a pronoun that had to be resolved or a subject left out, 0.85 for a subject that is a common noun,
0.8 for a predicate outside the vocabulary, 0.7 for what is said about "you" or by an assistant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from lamina.pipeline.extract import vocabulary as words
from lamina.pipeline.extract.clauses import Clause, conjuncts, find_clauses, is_hypothetical, is_question
from lamina.pipeline.extract.limits import TRIPLES_PER_SENTENCE_MAX
from lamina.pipeline.extract.phrases import VAGUE, Value, amount_of, noun_value, number_of, phrase_tokens, verb_value, words_value
from lamina.pipeline.extract.references import FIRST, FIRST_PLURAL, SECOND, References, entity
from lamina.pipeline.extract.syntax import Parse, Token
from lamina.pipeline.extract.times import Times, Validity
from lamina.pipeline.extract.values import EntityRef, Kind, LiteralValue, Span, TimeMatch, Triple
from lamina.pipeline.extract.vocabulary import slug

_PLAN_VERBS = {
    "plan": "plans_to", "intend": "plans_to", "decide": "plans_to", "aim": "plans_to", "arrange": "plans_to",
    "want": "wants_to", "hope": "wants_to", "wish": "wants_to", "wan": "wants_to", "aspire": "wants_to",
    "need": "needs_to", "promise": "committed_to", "commit": "committed_to", "agree": "committed_to",
    "look": "wants_to", "consider": "considers", "think": "considers", "dream": "wants_to",
}  # fmt: skip
_GERUND_OBJECT = {"like": "likes", "love": "likes", "enjoy": "likes", "adore": "likes", "hate": "dislikes", "dislike": "dislikes",
                  "prefer": "prefers", "start": "started", "begin": "started", "finish": "finished", "quit": "left",
                  "avoid": "avoids", "stop": "stopped", "consider": "considers", "stand": "dislikes"}  # fmt: skip
_TRANSPARENT = frozenset("use manage get continue keep happen".split())
_OPPOSITE = {"likes": "dislikes", "dislikes": "likes"}
# Saying, seeing, feeling and helping: real verbs, poor facts.
_WEAK_VERBS = frozenset(
    "be say tell think know mean guess see look sound seem thank appreciate hope believe feel let make need hear agree wish "
    "wonder understand imagine remember forget ask talk chat share show give help keep put take get go come do have bring "
    "mention realize realise notice suppose miss bet check care try find happen turn watch use love like want call deal "
    "support inspire matter remind encourage hold cheer root allow become stay run stand hang rely count stick push face "
    "catch add spend set pay send leave read throw end follow deserve enjoy value treasure cherish believe focus work reach "
    "wait pass reflect experience guess admire embrace relate capture figure pour".split()
)
# ... unless something definite follows: these may build a predicate with a concrete object in the past.
_CONCRETE_VERBS = frozenset("take get make read watch run give show find call use send bring spend catch set pay do".split())
_FLEETING = frozenset(
    "glad happy sorry sure ready able excited proud thankful grateful good great fine okay ok aware lucky curious pleased thrilled "
    "stoked pumped honored impressed amazed surprised worried nervous tired busy free back here there up down".split()
)
_CHATTY_WILLS = frozenset("be see keep never let bet have say definitely check know miss make think try".split())
_CORRECTION = ("no", "nope", "actually", "correction", "sorry", "wait", "scratch")
_PRAISE = frozenset("great good amazing awesome wonderful fantastic nice cool lovely incredible inspiring true real perfect best".split())
_ATTRIBUTE_NOUNS = frozenset(
    "birthday email address phone number goal dream hobby hobbies job major passion nickname password role title team "
    "budget deadline salary rent timezone language religion height weight size colour color specialty instrument status stage "
    "pronouns diet school university employer company hometown home priority".split()
)
_GROWTH = frozenset("move grow go upgrade expand increase drop shrink fall rise scale reduce cut bump jump downgrade climb".split())


@dataclass(slots=True)
class Reader:
    """Reads one parsed sentence into triples; `offset` is the sentence's place in the utterance."""

    parse: Parse
    refs: References
    times: Times
    offset: int
    personal: bool
    factor: float = 1.0
    found: list[Triple] = field(default_factory=list)

    def read(self) -> list[Triple]:
        """The triples of the sentence in text order, without repetition."""
        if not is_question(self.parse):
            self._orders()
            for clause in find_clauses(self.parse, personal=self.personal):
                self._clause(clause)
            self._relations()
        corrected = self._mark_corrections()
        return list(dict.fromkeys(corrected))[:TRIPLES_PER_SENTENCE_MAX]

    # -- what to do with a clause ---------------------------------------------------------------------------

    def _clause(self, clause: Clause) -> None:
        before = len(self.found)
        subject = self._subject(clause)
        handlers = (self._quantity, self._copula, self._plan, self._preference, self._have, self._canonical, self._generic)
        if subject is None:
            self._corrected_quantity(clause)
            self._favourite_of(clause)
            return
        for handler in handlers:
            handler(clause, subject)
            if len(self.found) > before and handler != self._quantity:
                return

    def _subject(self, clause: Clause) -> EntityRef | None:
        token = clause.subject
        if token is None or clause.telegraphic:
            return self.refs.speaker
        value = self._subject_value(token)
        if token.lower in SECOND:
            clause.weight *= 0.7
        elif token.tag == "PRP" and token.lower not in FIRST | FIRST_PLURAL:
            clause.weight *= 0.85
        return value

    def _subject_value(self, token: Token) -> EntityRef | None:
        if self.times.covers(token) or token.lower in VAGUE:
            return None
        value = noun_value(self.parse, token, self.refs, self.times)
        if isinstance(value, EntityRef):
            return value
        if not isinstance(value, LiteralValue) or not token.is_noun or token.lemma in VAGUE:
            return None
        owner = self.refs.owner(self.parse, token)
        if owner is not None:
            return entity(f"{owner.name}'s {value.value}", "thing")
        definite = self.parse.child(token, "det")
        if definite is not None and definite.lower in ("the", "each", "every"):
            return entity(str(value.value), "thing")
        return None

    # -- handlers -------------------------------------------------------------------------------------------

    def _quantity(self, clause: Clause, subject: EntityRef) -> None:
        """ "Acme moved to 200 seats", "we have 12 employees", "the plan costs $30"."""
        if is_hypothetical(clause) or clause.modal == "will" or clause.negated:
            return
        targets: list[Token] = []
        if clause.lemma in _GROWTH:
            targets = [t for slot, objects in clause.prepositions() if slot.endswith("to") for t in objects]
        elif clause.lemma in ("have", "be"):
            targets = clause.objects("dobj", "attr")
            targets += [t for slot, objects in clause.prepositions() if slot == "at" and clause.lemma == "be" for t in objects]
        elif clause.lemma in ("cost", "weigh"):
            targets = clause.objects("dobj", "npadvmod", "attr")
        for target in targets:
            amount = amount_of(self.parse, target)
            if amount is None:
                continue
            changed = clause.lemma in _GROWTH or self.parse.child(clause.verb, "advmod") is not None
            if clause.lemma in ("cost", "weigh"):
                self._emit(clause, subject, "price" if clause.lemma == "cost" else "weight", amount.literal)
            elif amount.noun and amount.literal.datatype in ("integer", "number"):
                self._count(clause, subject, amount.noun, amount.literal, changed=changed)
            elif clause.subject is not None and clause.lemma in _GROWTH and subject.type == "thing":
                self._emit(clause, subject, "value", amount.literal, kind="state_change")

    def _count(self, clause: Clause, subject: EntityRef, noun: str, value: LiteralValue, *, changed: bool) -> None:
        base = noun.rsplit("_", 1)[-1]
        if base in VAGUE or base in ("o'clock",):
            return
        kind: Kind = "state_change" if changed and clause.lemma in _GROWTH else "quantity"
        self._emit(clause, subject, words.canonical_count(noun), value, kind=kind)

    def _corrected_quantity(self, clause: Clause) -> None:
        """ "No, it's 200 seats now": "it" is what was talked about."""
        token = clause.subject
        if clause.lemma == "be" and token is not None and token.lower in ("it", "that", "they"):
            subject = self.refs.it()
            if subject is not None:
                clause.weight *= 0.85
                self._quantity(clause, subject)

    def _favourite_of(self, clause: Clause) -> None:
        """ "Ramen is my favourite food"."""
        if clause.lemma != "be" or clause.subject is None:
            return
        value = noun_value(self.parse, clause.subject, self.refs, self.times)
        for target in clause.objects("attr"):
            if value is not None and not clause.subject.is_verb:
                self._favourite(clause, target, value)

    def _favourite(self, clause: Clause, noun: Token, value: Value) -> bool:
        adjective = next((a for a in self.parse.children(noun, "amod") if a.lower in ("favourite", "favorite", "fave")), None)
        owner = self.refs.owner(self.parse, noun)
        if adjective is None or owner is None or clause.negated or is_hypothetical(clause):
            return False
        topic = [t.lower for t in self.parse.children(noun, "compound", "amod") if t is not adjective and t.lower != "all-time"]
        noun_word = noun.lemma if noun.tag == "NNS" else noun.lower
        if noun_word in ("thing", "part", "one") or value == owner:
            return False
        if isinstance(value, EntityRef) and value.type != "person" and noun_word not in _PLACE_NOUNS:
            value = replace(value, type="thing")  # the parser takes "Ramen" at a start for a city
        self._emit(clause, owner, f"favourite_{slug(' '.join([*topic, noun_word]))}", value)
        return True

    def _copula(self, clause: Clause, subject: EntityRef) -> None:
        if clause.lemma not in ("be", "become") or is_hypothetical(clause) or clause.modal == "will":
            return
        token = clause.subject
        assert token is not None
        if clause.past and clause.lemma == "be" and not clause.perfect:
            clause.weight *= 0.9
        for target in clause.objects("attr", "oprd"):
            self._is_noun(clause, subject, token, target)
        for target in clause.objects("acomp", "advmod"):
            if target.is_name:
                self._is_noun(clause, subject, token, target)
            self._is_adjective(clause, subject, target)
        self._is_to_do(clause, token)
        for slot, objects in clause.prepositions():
            self._is_somewhere(clause, subject, slot, objects)

    def _is_to_do(self, clause: Clause, token: Token) -> None:
        """ "My goal is to run a marathon", "my birthday is on 3 May"."""
        owner = self.refs.owner(self.parse, token) if token.is_noun else None
        if owner is None:
            return
        inner = self.parse.child(clause.verb, "xcomp")
        if inner is not None and token.lemma in _ATTRIBUTE_NOUNS:
            self._emit(clause, owner, slug(token.lemma), verb_value(self.parse, inner, self.times))
        if token.lemma == "birthday":
            for match in self.times.of_clause(self.parse, clause.verb)[:1]:
                self._birthday(clause, owner, match)

    def _birthday(self, clause: Clause, owner: EntityRef, match: TimeMatch) -> None:
        text = self.parse.text[match.start : match.end].removeprefix("on ")
        self._emit(clause, owner, "birthday", LiteralValue("date", text), validity=Validity())

    def _is_noun(self, clause: Clause, subject: EntityRef, token: Token, target: Token) -> None:
        parse = self.parse
        if target.tag == "CD" and subject.type == "person" and not self._is_attribute(token):
            number = number_of([target])
            if isinstance(number, int) and 0 < number < 120 and target.text.isdigit():
                self._emit(clause, subject, "age", LiteralValue("integer", number))
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
        if kin is not None and isinstance(value, EntityRef) and self.refs.owner(parse, target) is not None:
            owner = self.refs.owner(parse, target)
            if owner is not None and subject.type in ("person", "thing"):
                self._emit(clause, owner, kin[0], replace(subject, type="person"))
            return
        if isinstance(value, EntityRef):
            if token.lower in ("i",) and value.type in ("person", "thing") and target.is_name and parse.child(target, "det") is None:
                self._emit(clause, subject, "name_is", LiteralValue("string", value.name))
            return
        if isinstance(value, LiteralValue):
            self._is_a(clause, subject, target, str(value.value))

    def _is_a(self, clause: Clause, subject: EntityRef, target: Token, text: str) -> None:
        determiner = self.parse.child(target, "det")
        adjectives = {t.lower for t in self.parse.children(target, "amod")}
        speaks_of_person = subject.type == "person"
        if adjectives & _PRAISE or target.lemma in VAGUE or subject == self.refs.addressee and not self._occupation(target):
            return
        if determiner is not None and determiner.lower == "no":
            return
        if speaks_of_person and self._occupation(target):
            self._emit(clause, subject, "works_as", self._job(clause, subject, target, LiteralValue("string", text)))
        elif determiner is not None and determiner.lower in ("a", "an") and subject.type != "thing":
            self._emit(clause, subject, "is_a", LiteralValue("string", text), scale=0.85)

    def _job(self, clause: Clause, subject: EntityRef, noun: Token, job: LiteralValue) -> LiteralValue:
        """The bare occupation; "at Mercy Hospital" and "from Sweden" become claims of their own."""
        text = str(job.value)
        for prep in self.parse.children(noun, "prep"):
            inner = self.parse.child(prep, "pobj")
            predicate = {"at": "works_at", "for": "works_at", "with": "works_at", "from": "from"}.get(prep.lower)
            if inner is None or predicate is None:
                continue
            value = noun_value(self.parse, inner, self.refs, self.times)
            text = text.split(f" {prep.text} ")[0]
            if isinstance(value, EntityRef) and value.type != "person":
                self._emit(clause, subject, predicate, value)
        return replace(job, value=text)

    def _occupation(self, noun: Token) -> bool:
        return noun.lower in words.OCCUPATIONS or noun.lemma in words.OCCUPATIONS

    def _is_attribute(self, token: Token) -> bool:
        return token.is_noun and self.parse.child(token, "poss") is not None and token.lemma not in words.RELATIONS

    def _attribute(self, clause: Clause, token: Token, target: Token, value: Value | None) -> bool:
        """ "My name is Alice", "my sister's name is Anna", "Anna's birthday is 3 May", "my goal is to ..."."""
        if value is not None and self._favourite(clause, token, value):
            return True
        owner = self.refs.owner(self.parse, token)
        if owner is None or token.lemma in words.RELATIONS and not target.is_name:
            return False
        noun = token.lemma if token.lemma != "hobbie" else "hobby"
        if noun in words.RELATIONS and isinstance(value, EntityRef):
            self._emit(clause, owner, words.RELATIONS[noun][0], replace(value, type="person"))
        elif noun in words.PETS and isinstance(value, EntityRef):
            self._emit(clause, owner, "has_pet", value)
        elif noun == "name" and target.text[:1].isupper():
            self._named(clause, owner, token, value.name if isinstance(value, EntityRef) else target.text)
        elif noun == "job" and isinstance(value, LiteralValue):
            self._emit(clause, owner, "works_as", value)
        elif noun in ("birthday", "birth") and (match := self.times.at(target.start, target.end)):
            self._birthday(clause, owner, match)
        elif noun in _ATTRIBUTE_NOUNS and value is not None:
            name = slug(" ".join([*(t.lower for t in self.parse.children(token, "compound")), noun]))
            self._emit(clause, owner, name, value)
        else:
            return False
        return True

    def _named(self, clause: Clause, owner: EntityRef, token: Token, name: str) -> None:
        """ "My daughter's name is Lily" names a relative, "my name is Alice" the owner."""
        kin = self.parse.child(token, "poss")
        relation = words.RELATIONS.get(kin.lemma) if kin is not None else None
        holder = self.refs.owner(self.parse, kin) if kin is not None else None
        if kin is not None and holder is not None and (relation or kin.lemma in words.PETS):
            ref = self.refs.remember(entity(name, "person" if relation else "animal"))
            self._emit(clause, holder, relation[0] if relation else "has_pet", ref)
        else:
            self._emit(clause, owner, "name_is", LiteralValue("string", name))

    def _is_adjective(self, clause: Clause, subject: EntityRef, target: Token) -> None:
        word = target.lower
        years = self.parse.child(target, "npadvmod")
        if word == "old" and years is not None and subject.type in ("person", "animal"):
            count = self.parse.child(years, "nummod")
            number = number_of([count]) if count is not None else None
            if number is not None and years.lemma in ("year", "month"):
                unit = None if years.lemma == "year" else "month"
                literal = LiteralValue("integer", number) if unit is None else LiteralValue("duration", number, unit)
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
                    self._emit(clause, subject, predicate, noun_value(self.parse, one, self.refs, self.times))
        attribute = words.ADJECTIVE_ATTRIBUTES.get(word)
        if found or attribute is None or target.dep == "advmod":
            return
        if (attribute == "status") == (subject.type in ("thing", "organisation", "product", "event")) or word in ("retired", "pregnant", "unemployed"):
            if attribute == "relationship_status" and subject.type != "person":
                return
            self._emit(clause, subject, attribute, LiteralValue("string", word))

    def _is_somewhere(self, clause: Clause, subject: EntityRef, slot: str, objects: list[Token]) -> None:
        for target in objects:
            value = noun_value(self.parse, target, self.refs, self.times)
            if not isinstance(value, EntityRef) or value.type == "person":
                if slot == "into" and isinstance(value, LiteralValue):
                    self._emit(clause, subject, "likes", value, scale=0.9)
                continue
            if slot == "from" and subject.type == "person" and value.type in ("place", "thing"):
                self._emit(clause, subject, "from", value)
            elif slot == "to" and clause.perfect and value.type == "place":
                self._emit(clause, subject, "visited", value)
            elif slot in ("in", "at") and value.type == "place" and self.parse.children(clause.verb, "prep"):
                if subject.type in ("thing", "organisation"):
                    self._emit(clause, subject, "located_in", value)

    def _plan(self, clause: Clause, subject: EntityRef) -> None:
        """What somebody will, wants, needs or promised to do."""
        if subject == self.refs.addressee or clause.telegraphic and clause.lemma not in _PLAN_VERBS:
            return
        predicate, phrase = self._planned(clause)
        if phrase is None or predicate == "":
            return
        value = verb_value(self.parse, phrase, self.times)
        if value is not None and phrase.tag == "VBG" and predicate == "plans_to":
            value = replace(value, value=phrase.lemma + str(value.value)[len(phrase.text) :])
        if value is not None and phrase.lemma not in ("say", "thank", "hear", "know", "see") and not value.value == phrase.text:
            validity = self._validity(clause, phrase, words.describe(predicate, past=False).kind)
            self._emit(clause, subject, predicate, value, validity=validity)

    def _planned(self, clause: Clause) -> tuple[str, Token | None]:
        parse, verb = clause.parse, clause.verb
        inner = parse.child(verb, "xcomp")
        first = clause.subject is not None and clause.subject.lower in FIRST | FIRST_PLURAL
        if clause.modal in ("may", "might") and not clause.negated:
            return "considers", verb
        if clause.modal == "will" and verb.lemma not in _CHATTY_WILLS:
            return ("" if clause.negated else "committed_to" if first else "plans_to"), verb
        wishes = clause.modal in ("would", "'d") and clause.lemma in ("like", "love", "prefer")
        if inner is not None and inner.tag == "VB" and (not is_hypothetical(clause) or wishes):
            if wishes:
                return "wants_to", inner
            if clause.lemma in ("go", "gon") and verb.tag == "VBG":
                return "plans_to", inner
            if clause.lemma in ("have", "get") and not clause.perfect and not clause.past:
                return "needs_to", inner
            if clause.lemma in ("look",) and not clause.progressive:
                return "", None
            return ("" if clause.negated else _PLAN_VERBS.get(clause.lemma, "")), inner
        for prep in parse.children(verb, "prep"):
            act = parse.child(prep, "pcomp")
            if act is not None and act.tag == "VBG" and not is_hypothetical(clause) and not clause.negated:
                if clause.lemma in ("think", "dream", "talk") and prep.lower in ("of", "about") and clause.progressive:
                    return "considers", act
                if clause.lemma == "plan" and prep.lower == "on":
                    return "plans_to", act
                if clause.lemma == "look" and prep.lower == "to":
                    return "looks_forward_to", act
        if clause.progressive and not clause.past and clause.lemma in _SCHEDULED and not clause.negated:
            if any(m.earliest is not None and m.earliest >= self._now for m in self.times.of_clause(parse, verb)):
                return "plans_to", verb
        return "", None

    @property
    def _now(self):  # type: ignore[no-untyped-def]
        return self.refs.utterance.observed_at

    def _preference(self, clause: Clause, subject: EntityRef) -> None:
        lemma = clause.lemma
        cannot_stand = lemma == "stand" and clause.modal == "can" and clause.negated
        if lemma not in _GERUND_OBJECT and not cannot_stand:
            return
        if cannot_stand:
            predicate = "dislikes"
            clause = replace(clause, negated=False, modal="")
        elif is_hypothetical(clause) or lemma == "stand" or clause.modal == "will":
            return
        else:
            predicate = _GERUND_OBJECT[lemma]
        if clause.negated and predicate in _OPPOSITE:
            predicate = _OPPOSITE[predicate]
            clause = replace(clause, negated=False)
        objects = clause.objects("dobj", "xcomp", "ccomp")
        over = self._compared(clause)
        for target in objects:
            if target.is_verb and (target.dep == "ccomp" and target.tag != "VBG" or target.tag not in ("VBG", "VB")):
                continue
            if predicate == "likes" and self._is_praise(target):
                continue
            value = noun_value(self.parse, target, self.refs, self.times)
            if predicate in ("likes", "dislikes") and isinstance(value, LiteralValue) and self._is_deictic(target):
                continue
            self._emit(clause, subject, predicate, value, qualifiers=over)

    def _compared(self, clause: Clause) -> tuple[tuple[str, str], ...]:
        if clause.lemma != "prefer":
            return ()
        found = [t for slot, objects in clause.prepositions() if slot in ("to", "over", "than") for t in objects]
        for target in clause.objects("dobj"):
            for prep in self.parse.children(target, "prep"):
                if prep.lower in ("to", "over"):
                    found += self.parse.children(prep, "pobj", "pcomp")
        texts = [self.parse.words(phrase_tokens(self.parse, t, self.times)) for t in found[:2]]
        return tuple(("over", text) for text in texts if text)

    def _is_praise(self, target: Token) -> bool:
        """ "I love your drawing": said about the moment, not about the speaker."""
        possessor = self.parse.child(target, "poss")
        return possessor is not None and possessor.lower in SECOND

    def _is_deictic(self, target: Token) -> bool:
        determiner = self.parse.child(target, "det")
        return determiner is not None and determiner.lower in ("that", "this", "these", "those", "the") and not self.parse.child(target, "prep", "compound")

    def _have(self, clause: Clause, subject: EntityRef) -> None:
        lemma = clause.lemma
        if lemma not in ("have", "get", "adopt") or is_hypothetical(clause) or clause.modal == "will":
            return
        for target in clause.objects("dobj"):
            noun = target.lemma
            determiner = self.parse.child(target, "det")
            value = noun_value(self.parse, target, self.refs, self.times)
            if noun in words.PETS:
                self._pet(clause, subject, target)
            elif noun in words.RELATIONS and lemma == "have":
                name = self.refs.given_name(self.parse, target)
                ref = entity(name or f"{subject.name}'s {target.lower}", "person")
                counted = self.parse.child(target, "nummod") is not None
                if not (noun == "friend" and name is None) and not counted and clause.past is False:
                    self._emit(clause, subject, words.RELATIONS[noun][0], ref)
            elif noun in ("allergy", "intolerance"):
                for prep in self.parse.children(target, "prep"):
                    for inner in self.parse.children(prep, "pobj"):
                        self._emit(clause, subject, "allergic_to", noun_value(self.parse, inner, self.refs, self.times))
            elif noun in words.EVENT_NOUNS and lemma == "have" and self.times.of_clause(self.parse, clause.verb):
                self._emit(clause, subject, "has_scheduled", value)
            elif noun == "job" and lemma == "get":
                self._emit(clause, subject, "got_job", value)
            elif lemma == "have" and not clause.past and determiner is not None and determiner.lower in ("a", "an"):
                if noun not in _LIGHT_NOUNS and isinstance(value, (EntityRef, LiteralValue)) and target.is_noun:
                    self._emit(clause, subject, "has", value, scale=0.8)

    def _pet(self, clause: Clause, subject: EntityRef, target: Token) -> None:
        name = self.refs.given_name(self.parse, target)
        pet = self.refs.remember(entity(name, "animal")) if name else None
        gained = clause.lemma != "have"
        qualifiers = (("species", target.lemma),) if pet else ()
        value: Value = pet or LiteralValue("string", target.lemma)
        if gained:
            self._emit(clause, subject, "adopted" if clause.lemma == "adopt" else "got_pet", value)
        self._emit(clause, subject, "has_pet", value, qualifiers=qualifiers, state=gained)

    def _canonical(self, clause: Clause, subject: EntityRef) -> None:
        if clause.modal == "can" and clause.lemma == "speak" and not clause.negated:
            clause = replace(clause, modal="")
        if is_hypothetical(clause) or clause.modal == "will":
            return
        inner = self.parse.child(clause.verb, "xcomp")
        if clause.lemma == "use" and inner is not None and inner.tag == "VB":  # "used to live in Rome"
            self._canonical(replace(clause, verb=inner, past=True), subject)
            return
        for slot, target in self._slots(clause):
            predicate = words.CANON.get((clause.lemma, slot)) or self._going(clause, slot, target)
            if predicate is None or predicate == "married_to" and slot == "dobj" and clause.passive:
                continue
            value = noun_value(self.parse, target, self.refs, self.times)
            if predicate == "works_as" and isinstance(value, LiteralValue):
                value = self._job(clause, subject, target, value)
            if value is None or not self._fits(predicate, value, target, subject, clause):
                continue
            self._emit(clause, subject, predicate, value)
            if predicate == "moved_to" and not clause.negated and isinstance(value, EntityRef):
                self._emit(clause, subject, "lives_in" if subject.type == "person" else "located_in", value, state=True)
        done = words.ADJECTIVE_ATTRIBUTES.get(clause.verb.lower)
        if clause.passive and done == "status" and subject.type in ("thing", "organisation", "product", "event"):
            self._emit(clause, subject, done, LiteralValue("string", clause.verb.lower), state=True)
        if clause.lemma == "bear":
            self._born(clause, subject)
        if clause.lemma == "call" and clause.passive:
            for name in clause.objects("oprd"):
                self._emit(clause, subject, "known_as", noun_value(self.parse, name, self.refs, self.times))

    def _slots(self, clause: Clause) -> Iterator[tuple[str, Token]]:
        if not clause.passive:
            for target in clause.objects("dobj"):
                yield (f"{clause.particle} dobj" if clause.particle else "dobj"), target
                if clause.lemma == "take" and target.lower == "part":
                    for prep in self.parse.children(target, "prep"):
                        for inner in self.parse.children(prep, "pobj"):
                            yield f"part {prep.lower}", inner
        for slot, objects in clause.prepositions():
            for target in objects:
                yield slot, target

    def _going(self, clause: Clause, slot: str, target: Token) -> str | None:
        """ "went to Paris" is a visit, "went to a concert" an attendance."""
        if clause.lemma == "go" and slot == "to" and clause.past:
            if target.lemma in words.EVENT_NOUNS:
                return "attended"
            return "visited" if target.is_noun else None
        return None

    def _fits(self, predicate: str, value: Value, target: Token, subject: EntityRef, clause: Clause) -> bool:
        named = isinstance(value, EntityRef)
        if predicate in ("lives_in", "moved_to", "from", "born_in", "grew_up_in", "works_at", "studies_at", "located_in"):
            if isinstance(value, EntityRef):
                return value.type not in ("person", "animal") or target.is_name
            return predicate in ("works_at", "lives_in", "grew_up_in", "studies_at", "moved_to") and target.is_noun and target.lower not in VAGUE and not target.is_verb and self.parse.child(target, "det", "amod", "compound") is not None
        if predicate in ("knows", "met", "works_with", "partner_of", "married_to", "engaged_to"):
            return isinstance(value, EntityRef) and value not in (subject, self.refs.addressee) and value.type in ("person", "organisation", "thing", "place")
        if predicate in ("visited", "left", "started", "finished", "won", "lost", "joined", "attended", "studies"):
            deictic = self.parse.child(target, "det")
            return named or not (deictic is not None and deictic.lower in ("that", "this")) and target.is_noun and (
                value != subject
            )
        if predicate == "drives":
            return named or not clause.past
        return value not in (self.refs.addressee,)

    def _born(self, clause: Clause, subject: EntityRef) -> None:
        for match in self.times.of_clause(self.parse, clause.verb):
            text = self.parse.text[match.start : match.end]
            for word in ("on ", "in "):
                text = text.removeprefix(word)
            date = match.earliest.date().isoformat() if match.earliest is not None and any(c.isdigit() for c in text) else text
            self._emit(clause, subject, "born_on", LiteralValue("date", date), state=True, validity=Validity())

    def _generic(self, clause: Clause, subject: EntityRef) -> None:
        """Any other verb with a direct or prepositional object that names something."""
        lemma = clause.lemma
        if is_hypothetical(clause) or clause.modal or clause.negated or subject == self.refs.addressee:
            return
        if clause.lemma in _GERUND_OBJECT or clause.passive and clause.subject is not None and not subject.actor and subject.type == "thing":
            return
        if not lemma.isascii() or not lemma.isalpha() or len(lemma) < 2:
            return
        for slot, target in list(self._slots(clause))[:3]:
            value = noun_value(self.parse, target, self.refs, self.times)
            if value is None or value in (subject, self.refs.addressee, self.refs.speaker):
                continue
            weak = lemma in _WEAK_VERBS
            if weak and not (lemma in _CONCRETE_VERBS and clause.past and slot == "dobj" and self._concrete(value, target)):
                continue
            if isinstance(value, LiteralValue) and (self._is_deictic(target) or not self._concrete(value, target)):
                continue
            suffix = slot.removesuffix("dobj").strip()
            if self._is_praise(target):
                continue
            self._emit(clause, subject, slug(f"{lemma} {suffix}"), value, qualifiers=self._rest(clause, target))
            return

    def _concrete(self, value: Value, target: Token) -> bool:
        if isinstance(value, EntityRef):
            return True
        if not target.is_noun or target.lemma in VAGUE or target.lemma in _LIGHT_NOUNS:
            return False
        return self.parse.child(target, "compound", "amod", "nummod", "poss", "det") is not None

    def _rest(self, clause: Clause, used: Token) -> tuple[tuple[str, str], ...]:
        found = []
        for slot, objects in clause.prepositions():
            for target in objects[:1]:
                if target is used or self.times.covers(target) or target.is_verb or slot not in ("with", "at", "in", "for", "to", "from"):
                    continue
                text = self.parse.words(phrase_tokens(self.parse, target, self.times))
                if text and target.is_noun and target.lower not in VAGUE:
                    found.append((slot, text))
        return tuple(found[:2])

    # -- sentences without a claiming verb ------------------------------------------------------------------

    def _orders(self) -> None:
        """ "Remind me to ...", "let's ..." and "call me Al"."""
        speaker = self.refs.speaker
        root = next((t for t in self.parse.tokens if t.dep == "ROOT"), None)
        if speaker is None or root is None or not root.is_verb or self.parse.child(root, "nsubj", "aux"):
            return
        clause = Clause(self.parse, root, root, 0.9)
        objects = self.parse.children(root, "dobj", "nsubj", "oprd")
        inner = self.parse.child(root, "xcomp", "ccomp")
        if root.lower == "remind" and inner is not None and any(t.lower in FIRST for t in objects + self.parse.children(inner, "nsubj")):
            validity = self._validity(clause, inner, "commitment")
            self._emit(clause, speaker, "asked_to_be_reminded_to", verb_value(self.parse, inner, self.times), validity=validity)
        elif root.lower in ("let", "lets") and inner is not None:
            mine = self.parse.child(inner, "nsubj") or root
            if mine.lower in ("'s", "us", "lets") and not self.parse.children(inner, "neg"):
                value = verb_value(self.parse, inner, self.times)
                times = self._validity(clause, inner, "plan")
                if times.valid_from is not None or times.valid_to is not None:
                    for who in filter(None, (speaker, self.refs.addressee)):
                        self._emit(clause, who, "plans_to", value, validity=times)
        elif root.lower == "call" and any(t.lower == "me" for t in self.parse.children(root)) or root.lower == "call" and inner is not None:
            names = [t for t in self.parse.tokens[root.i + 1 : root.i + 3] if t.is_name]
            if names and self.parse.tokens[root.i + 1].lower == "me":
                self._emit(clause, speaker, "known_as", LiteralValue("string", names[0].text))

    def _relations(self) -> None:
        """ "my sister Anna": a relation said in passing."""
        for token in self.parse.tokens:
            relation = words.RELATIONS.get(token.lemma)
            pet = token.lemma in words.PETS
            if not token.is_noun or relation is None and not pet:
                continue
            name = self.refs.given_name(self.parse, token)
            owner = self.refs.owner(self.parse, token)
            if name is None or owner is None:
                continue
            ref = entity(name, "animal" if pet else "person")
            predicate = "has_pet" if pet or relation is None else relation[0]
            qualifier = ("species" if pet else "as", token.lower)
            if ref.key != owner.key and not any(t.predicate == predicate and t.object == ref for t in self.found):
                clause = Clause(self.parse, token, token, 0.9)
                self._emit(clause, owner, predicate, ref, qualifiers=(qualifier,), validity=Validity())

    # -- making the triple ----------------------------------------------------------------------------------

    def _validity(self, clause: Clause, inner: Token, kind: Kind) -> Validity:
        matches = self.times.of_clause(self.parse, clause.verb)
        if not matches:
            low, high = inner.start, max(t.end for t in self.parse.subtree(inner))
            matches = [m for m in self.times.all() if low <= m.start < high]
        return self.times.validity(matches, kind)

    def _emit(
        self,
        clause: Clause,
        subject: EntityRef,
        predicate: str,
        value: Value | None,
        *,
        kind: Kind | None = None,
        scale: float = 1.0,
        state: bool = False,
        qualifiers: tuple[tuple[str, str], ...] = (),
        validity: Validity | None = None,
    ) -> None:
        if value is None or value == subject or not predicate or (isinstance(value, LiteralValue) and value.value == ""):
            return
        past = clause.past and not state
        known = words.describe(predicate, past=past or clause.passive)
        kind = kind or known.kind
        if isinstance(value, EntityRef) and known.object_type is not None and value.actor is None:
            value = replace(value, type=known.object_type)
        if validity is None:
            validity = self.times.validity(self.times.of_clause(self.parse, clause.verb), kind)
        valid_from, valid_to = validity.valid_from, validity.valid_to
        if valid_from is not None and valid_to is None and kind in ("event",):
            valid_to = None
        if (past or clause.ended) and predicate in words.STATIVE and valid_to is None and not clause.perfect:
            valid_to = self._now
        if clause.ended:
            valid_from = None
        if valid_from is not None and valid_to is not None and valid_to <= valid_from:
            valid_to = None
        if validity.due is not None:
            qualifiers = (*qualifiers, ("due", validity.due))
        span = Span(self.offset, self.offset + len(self.parse.text))
        self.found.append(
            Triple(
                subject=subject,
                predicate=predicate,
                object=value,
                kind=kind,
                confidence=self._confidence(clause, subject, predicate) * scale,
                evidence=span,
                valid_from=valid_from,
                valid_to=valid_to,
                negated=clause.negated,
                hedged=clause.hedged,
                single_valued=known.single_valued,
                qualifiers=qualifiers,
            )
        )

    def _confidence(self, clause: Clause, subject: EntityRef, predicate: str) -> float:
        value = clause.weight * self.factor
        value *= 0.6 if clause.hedged else 1.0
        value *= 0.85 if clause.reported else 1.0
        value *= 0.85 if clause.telegraphic else 1.0
        value *= 0.85 if subject.type == "thing" and subject.name[:1].islower() else 1.0
        known = predicate in words.PREDICATES or predicate.startswith("favourite_") or predicate.endswith("_count")
        return value * (1.0 if known else 0.8)

    def _mark_corrections(self) -> Iterable[Triple]:
        tokens = [t.lower for t in self.parse.tokens if t.tag not in (",", ".", ":")]
        starts = bool(tokens) and tokens[0] in _CORRECTION
        contrast = ", not " in self.parse.text.casefold()
        if not starts and not contrast:
            return self._rounded(self.found, corrects=False)
        single = any(t.single_valued for t in self.found)
        return self._rounded(self.found, corrects=contrast or single or tokens[0] in ("no", "nope", "correction"))

    def _rounded(self, triples: list[Triple], *, corrects: bool) -> Iterator[Triple]:
        for triple in triples:
            yield replace(triple, confidence=round(min(triple.confidence, 1.0), 3), corrects=corrects)


_PLACE_NOUNS = frozenset("place city country town spot park beach restaurant cafe destination".split())
_SCHEDULED = frozenset("go travel fly move visit meet start leave attend take come run host throw drive see present".split())
_LIGHT_NOUNS = frozenset(
    "time fun chance idea feeling look blast talk question problem issue point plan hand sense way effect impact good great "
    "conversation word influence trouble hard feel connection bond reason thought hope heart soul mind moment change support "
    "goal dream smile break view taste vibe touch energy vision passion inspiration attitude outlook perspective lesson".split()
)
__all__ = ["Reader", "words_value"]

"""Who and what a phrase refers to: first and second person, kin and pets, names, and a cautious he or she.

A third-person pronoun is resolved only when exactly one fitting candidate was named in the utterance or the two
before it; otherwise the claim is dropped. "it" and "that" are never resolved.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

from lamina.language.entities import is_contracted, normalise_name, possessive
from lamina.language.tables import table
from lamina.pipeline.extract.syntax import Parse, Token
from lamina.pipeline.extract.values import EntityRef, EntityType, Utterance
from lamina.pipeline.extract.vocabulary import OWN_KIN, PETS, RELATIONS

_TABLE: Final = table(__name__)
FIRST = _TABLE.words("first")
FIRST_PLURAL = _TABLE.words("first_plural")
SECOND = _TABLE.words("second")
_THIRD = {"he": "m", "him": "m", "his": "m", "she": "f", "her": "f", "hers": "f"}
THIRD: Final = frozenset(_THIRD)

NER_TYPES: dict[str, EntityType] = {
    "PERSON": "person", "ORG": "organisation", "GPE": "place", "LOC": "place", "FAC": "place", "PRODUCT": "product",
    "WORK_OF_ART": "work", "EVENT": "event", "NORP": "group", "LANGUAGE": "language", "LAW": "work",
}  # fmt: skip
_OF_PEOPLE: Final = "NORP"
_NAME_JUNK: Final = _TABLE.words("name_junk")


def entity(name: str, entity_type: EntityType, actor: str | None = None) -> EntityRef:
    """A reference with its key; `name` must not be blank."""
    return EntityRef(name, normalise_name(name), entity_type, actor)


@dataclass(slots=True)
class Person:
    ref: EntityRef
    gender: str  # f, m, or n for not known


@dataclass(slots=True)
class References:
    """What has been named so far. One is made for each utterance and fed sentence by sentence."""

    utterance: Utterance
    speaker: EntityRef | None = None
    addressee: EntityRef | None = None
    people: list[Person] = field(default_factory=list)
    known: dict[str, EntityRef] = field(default_factory=dict)
    kin_nouns: ClassVar[frozenset[str]] = PETS | frozenset(RELATIONS)

    @classmethod
    def of(cls, utterance: Utterance) -> References:
        refs = cls(utterance)
        if utterance.has_first_person:
            refs.speaker = entity(utterance.speaker_name or utterance.speaker, "person", utterance.speaker)
        if utterance.addressee_name:
            refs.addressee = entity(utterance.addressee_name, "person")
        for name in utterance.participants:
            refs.known[normalise_name(name)] = entity(name, "person")
        for ref in (refs.addressee, refs.speaker):
            if ref is not None:
                refs.known[ref.key] = ref
        return refs

    def pronoun(self, token: Token) -> EntityRef | None:
        """The referent of a pronoun, None when it has none that is certain enough."""
        word = token.lower
        if word in FIRST or word in FIRST_PLURAL:
            return self.speaker
        if word in SECOND:
            return self.addressee if self.utterance.has_first_person else None
        if word in _THIRD:
            return self._third(_THIRD[word])
        return None

    def _third(self, gender: str) -> EntityRef | None:
        fitting = [person for person in self.people if person.gender in (gender, "n")]
        certain = [person for person in fitting if person.gender == gender]
        keys = {person.ref.key for person in certain or fitting}
        return (certain or fitting)[-1].ref if len(keys) == 1 else None

    def note(self, ref: EntityRef, gender: str = "n") -> None:
        """Remember that `ref` was named."""
        if ref.actor is not None or ref == self.addressee:
            return
        if ref.type in ("person", "animal") and ref.key not in {
            person.ref.key for person in self.people if person.gender != "n"
        }:
            self.people.append(Person(ref, gender))

    def remember(self, ref: EntityRef) -> EntityRef:
        """The reference known under this name, `ref` itself when it is new."""
        return self.known.setdefault(ref.key, ref)

    def owner(self, parse: Parse, token: Token) -> EntityRef | None:
        """The owner named by a possessive child ("my", "Anna's"); None without one or when it is unclear."""
        own = parse.children(token, "poss")
        for child in own or (parse.children(parse.head(token), "poss") if token.dep == "compound" else []):
            if child.tag == "PRP$":
                return self.pronoun(child)
            return self.named(parse, child) or self.kin(parse, child)
        return None

    def kin(self, parse: Parse, token: Token) -> EntityRef | None:
        """ "my sister", "our dog", "Anna's boss": the name given beside it, otherwise "Alice's sister"."""
        noun = token.lemma
        if noun not in RELATIONS and noun not in PETS:
            return None
        name = self.given_name(parse, token)
        entity_type: EntityType = "animal" if noun in PETS else "person"
        gender = RELATIONS.get(noun, ("", "n"))[1]
        owner = self.owner(parse, token) or self._own(parse, token)
        ref: EntityRef | None = None
        if name is not None:
            ref = self.remember(entity(name, entity_type))
        elif owner is not None:
            adjectives = "".join(f"{a.lower} " for a in parse.children(token, "amod") if a.lower in _TELLING)
            ref = entity(f"{possessive(owner.name)} {adjectives}{token.lower}", entity_type)
        if ref is not None and not is_denied(parse, token):
            self.note(ref, gender)
        return ref

    def _own(self, parse: Parse, token: Token) -> EntityRef | None:
        """The speaker, of whose father "dad" without an owner tells."""
        alone = not parse.children(token, "poss", "det", "amod", "compound", "appos", "nummod")
        named = token.dep == "compound" or token.tag.endswith("S")
        if token.lemma not in OWN_KIN or not alone or named or self.utterance.role == "assistant":
            return None
        return self.speaker

    def given_name(self, parse: Parse, token: Token) -> str | None:
        """The name in "my sister Anna", "my friend, Bob", "a dog named Max"."""
        name = None if is_of_another(parse, token) else self._given_name(parse, token)
        return None if name is not None and any(is_contracted(word) for word in name.split()) else name

    def _given_name(self, parse: Parse, token: Token) -> str | None:
        between = parse.tokens[token.i + 1 : token.head]
        owned = any(t.tag == "POS" for t in between)  # "my mother Anna's dog Max"
        if (
            token.dep == "compound" and parse.head(token).is_name and not owned
        ):  # "our dog Max" under one head
            return _name_text(parse, parse.head(token))
        for child in parse.children(token, "appos", "acl"):
            if child.dep == "appos" and child.is_name and child.lower.strip(".") not in _NAME_JUNK:
                return _name_text(parse, child)
            if child.dep == "acl" and child.lower in ("named", "called"):
                names = parse.children(child, "oprd", "dobj", "attr", "npadvmod")
                if names and names[0].text[:1].isupper():
                    return _name_text(parse, names[0])
        return None

    def named(self, parse: Parse, token: Token) -> EntityRef | None:
        """The entity when `token` heads a proper name, or is the capital "Mum" of the speaker."""
        if token.lemma in OWN_KIN and self._own(parse, token) is not None:
            return self.kin(parse, token)
        for start, end, label in parse.entities:
            if start <= token.i < end and label in NER_TYPES:
                inside = parse.tokens[start:end]
                tokens = [*inside, *_numbered(parse, inside[-1])]
                of_people = all(t.entity == _OF_PEOPLE for t in inside)
                return self._named_entity(parse, tokens, NER_TYPES[_OF_PEOPLE if of_people else label])
        if not token.is_name or not any(c.isalpha() for c in token.text):
            return None
        parts = [t for t in parse.children(token, "compound", "nmod") if t.is_name or t.text[:1].isupper()]
        parts = sorted([*parts, token], key=lambda t: t.i)
        whole = parse.tokens[parts[0].i : parts[-1].i + 1]
        if any(t not in parts and t.text not in _JOINTS for t in whole):
            return None  # the parser cut the name: "The Lord [of the Rings] trilogy"
        entity_type: EntityType = "group" if token.entity == _OF_PEOPLE else "thing"
        return self._named_entity(parse, [*whole, *_continued(parse, token)], entity_type)

    def _named_entity(self, parse: Parse, tokens: list[Token], entity_type: EntityType) -> EntityRef | None:
        while tokens and (
            tokens[0].tag in ("DT", "PRP$", "POS", "UH", ":", ",") or tokens[0].lower in _NAME_JUNK
        ):
            tokens = tokens[1:]
        while tokens and (tokens[-1].tag in ("POS", ",", ".", ":", "-RRB-") or tokens[-1].lower == "'s"):
            tokens = tokens[:-1]
        name = parse.words(tokens).strip(" \"'“”*#")
        if any(is_contracted(word) for word in name.split()):
            return None
        if len(name) < 2 or not name[:1].isalnum() or normalise_name(name) in _NAME_JUNK:
            return None
        if not any(c.isupper() or c.isdigit() or ord(c) > 0x250 for c in name):
            return None
        known = self.known.get(normalise_name(name))
        ref = known or entity(name, entity_type)
        self.note(ref)
        return ref


def is_of_another(parse: Parse, token: Token) -> bool:
    """ "My friend Ben's sister Zoe": the parser hangs Zoe on the friend, whose name she does not have."""
    last = max((t.i for t in parse.children(token, "appos")), default=token.i)
    tags = [t.tag for t in parse.tokens[token.i : last]]
    return "POS" in tags and "," not in tags[: tags.index("POS")]


def is_denied(parse: Parse, token: Token) -> bool:
    """Whether `token` heads what somebody is not: "not my brother Ben", "she is not my sister Anna"."""
    start = min((t.i for t in parse.children(token, "poss", "amod", "det")), default=token.i)
    before = parse.tokens[start - 1].lower if start else ""
    verb = parse.head(token) if token.dep in ("attr", "appos", "dep") else token
    inverse = verb.lemma == "be" and token.dep == "attr" and parse.child(verb, "neg") is not None
    denied = any(t.i < token.i for t in parse.children(token, "neg"))
    return before in ("not", "n't", "never") or denied or inverse


_TELLING: Final = _TABLE.words("telling")


_CALENDAR: Final = _TABLE.words("calendar")
_JOINTS = _TABLE.words("joints")


def _continued(parse: Parse, token: Token) -> list[Token]:
    """ "of the Rings" after "Lord": a name goes on with "of" and another name."""
    after = parse.tokens[token.i + 1 : token.i + 4]
    if len(after) > 1 and after[0].lower == "of":
        length = 3 if after[1].lower == "the" else 2
        if len(after) >= length and after[length - 1].is_name and after[length - 1].text[:1].isupper():
            return after[:length]
    return _numbered(parse, token)


def _numbered(parse: Parse, token: Token) -> list[Token]:
    """A number behind a name is part of it: "iPhone 15", "Windows 11"."""
    after, beyond = parse.tokens[token.i + 1 : token.i + 2], parse.tokens[token.i + 2 : token.i + 3]
    if beyond and beyond[0].is_noun:
        return []  # "met Max 2 times"
    named = token.is_name and token.text[:1].isalpha() and any(c.isupper() for c in token.text)
    counted = bool(after) and after[0].text.replace(".", "").isdigit() and after[0].text[-1:] != "."
    number = named and counted and after[0].tag == "CD" and after[0].head == token.i
    return after if number and token.lower.rstrip(".") not in _CALENDAR else []


def _name_text(parse: Parse, token: Token) -> str:
    parts = [t for t in parse.children(token, "compound") if t.is_name]
    if parts and token.text[:1].islower():  # of "my sister Anna rang" the parser may take all for the name
        return parse.words(sorted(parts, key=lambda t: t.i))
    return parse.words(sorted([*parts, token], key=lambda t: t.i))

"""Any other verb: told when what was done is definite enough to mean something later."""

from __future__ import annotations

from typing import Final

from lamina.language.tables import table
from lamina.pipeline.extract import vocabulary as words
from lamina.pipeline.extract.clauses import Clause, is_hypothetical
from lamina.pipeline.extract.emitter import Emitter
from lamina.pipeline.extract.inflect import with_article
from lamina.pipeline.extract.phrases import VAGUE, Value, noun_value, phrase_tokens
from lamina.pipeline.extract.syntax import Token
from lamina.pipeline.extract.values import EntityRef
from lamina.pipeline.extract.vocabulary import slug
from lamina.pipeline.extract.wording import determiner_of, phrase_text

# Saying, seeing, feeling and helping: real verbs, poor facts.
_TABLE: Final = table(__name__)
_WEAK_VERBS: Final = _TABLE.words("weak_verbs")
# ... unless something definite follows: these may build a predicate with a concrete object in the past.
_EMPTY_VERBS = _TABLE.words("empty_verbs")  # in written text the other verbs do carry facts
_CONCRETE_VERBS = _TABLE.words("concrete_verbs")
_BECOMING = _TABLE.words("becoming")
_BECOME = _TABLE.words("become")
_PASSIVE_SLOTS = _TABLE.words("passive_slots")
_GENERIC_SLOTS = _TABLE.words("generic_slots")


class Doings(Emitter):
    def _generic(self, clause: Clause, subject: EntityRef) -> None:
        """Any other verb with a direct or prepositional object that names something."""
        lemma = clause.lemma
        if is_hypothetical(clause) or clause.modal or clause.negated or subject == self.refs.addressee:
            return
        if clause.lemma in words.GERUND_OBJECT or (
            self.personal
            and clause.passive
            and clause.subject is not None
            and not subject.actor
            and subject.type == "thing"
        ):
            return
        if self.personal and self._is_common(subject):
            return  # "the series" of a chat is known to nobody later
        if not lemma.isascii() or not lemma.isalpha() or len(lemma) < 2:
            return
        for slot, target in list(self._slots(clause))[:3]:
            if slot.split(" ")[-1] not in _GENERIC_SLOTS or slot.count(" ") > 1:
                continue
            if not slot.endswith("dobj") and self._has_become(clause):
                continue  # "fell asleep on Ben" is no fall
            if clause.passive and slot not in _PASSIVE_SLOTS:
                continue  # "stoked for", "empowered with": feelings
            value = noun_value(self.parse, target, self.refs, self.times)
            if value is None and slot.endswith("dobj"):
                return  # "I adopted her from the shelter" tells nothing without her
            if value is None or value in (subject, self.refs.addressee, self.refs.speaker):
                continue
            if self._is_praise(target) or not self._tells(clause, slot, target, value):
                continue
            suffix = slot.removesuffix("dobj").strip()
            predicate = slug(f"{self._verb_word(clause)} {suffix}")
            known = words.describe(predicate, past=clause.past)
            if known.known and known.kind != "event":
                predicate = f"did_{predicate}"  # "I emailed Bob" is not an address
            self._emit(clause, subject, predicate, value, qualifiers=self._rest(clause, target))
            return

    def _has_become(self, clause: Clause) -> bool:
        """Whether the verb only leads to how somebody is then: "fell ill", "turned pale", "came home tired"."""
        adverbs = self.parse.children(clause.verb, "advmod")
        became = any(t.tag == "JJ" or t.lower in _BECOME for t in adverbs) and clause.lemma in _BECOMING
        return became or self.parse.child(clause.verb, "acomp", "oprd") is not None

    def _verb_word(self, clause: Clause) -> str:
        if not clause.passive:
            return clause.lemma
        return f"{'was' if clause.past else 'is'} {clause.verb.lower}"

    def _tells(self, clause: Clause, slot: str, target: Token, value: Value) -> bool:
        """Whether verb and object say something definite. Written text is trusted with more than talk is."""
        definite = self._is_definite(clause, target, value)
        if clause.lemma in (_WEAK_VERBS if self.personal else _EMPTY_VERBS):
            concrete = self._concrete(value, target, past=False)
            told = clause.lemma in _CONCRETE_VERBS and clause.past and slot == "dobj"
            return told and concrete and definite
        if not self.personal or isinstance(value, EntityRef):
            return True
        if self._is_deictic(target) or not self._concrete(value, target, past=clause.past):
            return False
        introduced = self.parse.child(target, "det", "poss") is not None
        return definite or (clause.past and slot.endswith("dobj") and introduced)

    def _is_definite(self, clause: Clause, target: Token, value: Value) -> bool:
        """Something with a name, a number or, when it is past, a date."""
        counted = self.parse.child(target, "nummod") is not None
        if counted or not self.personal or isinstance(value, EntityRef):
            return True
        dated = [m for m in self.times.of_clause(self.parse, clause.verb) if m.earliest is not None]
        return clause.past and any(self.parse.text[m.start : m.end].casefold() != "now" for m in dated)

    def _concrete(self, value: Value, target: Token, *, past: bool) -> bool:
        if isinstance(value, EntityRef):
            return True
        if not target.is_noun or target.lemma in VAGUE or target.lemma in words.LIGHT_NOUNS:
            return False
        telling = self.parse.child(target, "compound", "amod", "nummod", "poss") is not None
        return telling or (past and self.parse.child(target, "det") is not None)

    def _rest(self, clause: Clause, used: Token) -> tuple[tuple[str, str], ...]:
        found = []
        for slot, objects in clause.prepositions():
            for target in objects[:1]:
                if (
                    target is used
                    or self.times.covers(target)
                    or target.is_verb
                    or slot not in ("with", "at", "in", "for", "to", "from")
                ):
                    continue
                tokens = phrase_tokens(self.parse, target, self.times)
                text = phrase_text(self.parse, tokens, self.refs) if tokens else None
                if text and target.is_noun and target.lower not in VAGUE:
                    determiner = determiner_of(self.parse, tokens[0], self.refs)
                    text = with_article(text) if determiner == "a" else f"{determiner} {text}".strip()
                    found.append((slot, text))
        return tuple(found[:2])

"""What somebody takes for their health, how much and how often; what they were diagnosed with, and what they came off.

A medicine is known by its name, by the ending of its name, or by a dose in milligrams beside it: the bus is taken as well. That
it is taken is one claim, its dose another with a slot of its own, so that a new dose ends the old one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from lamina.language.wordsets import word_set
from lamina.pipeline.extract.clauses import Clause, is_hypothetical
from lamina.pipeline.extract.consumed import CONDITIONS, SUFFERING, is_medicine
from lamina.pipeline.extract.endings import Endings
from lamina.pipeline.extract.health import Health
from lamina.pipeline.extract.references import FIRST
from lamina.pipeline.extract.syntax import Token
from lamina.pipeline.extract.times import Validity
from lamina.pipeline.extract.values import EntityRef, LiteralValue, Span, TakenBack
from lamina.pipeline.extract.vocabulary import slug

__all__ = ["DOSE", "DOSE_CHANGES", "TAKES", "Medicines", "dose_of"]

TAKES = "takes_medication"
_UNITS = word_set("mg mcg µg milligram milligrams microgram micrograms")
_FORMS = word_set(
    "tablet tablets pill pills capsule capsules drops injection injections medication medicine spray patch patches"
)
_KINDS_OF_FORMS = word_set(
    "blood pressure thyroid heart sleeping iron water malaria hay fever allergy migraine diabetes asthma epilepsy anxiety cholesterol "
    "contraceptive birth control pain antidepressant steroid hormone"
)
DOSE_CHANGES = word_set("double increase raise reduce lower cut decrease halve change adjust up drop")
_PUT = word_set("put start switch")
_BREAKS = word_set("to instead off because for so but")
_DOCTORS = word_set("doctor doctors gp they consultant hospital nurse psychiatrist cardiologist specialist")

_AMOUNT = (
    r"(?:\d{1,6}(?:[.,]\d{1,4})?|one|two|three|four|half a) ?"
    r"(?:mg|mcg|µg|g|ml|iu|milligrams?|micrograms?|grams?|units?|tablets?|pills?|capsules?|puffs?|drops?)\b"
)
DOSE = re.compile(_AMOUNT, re.IGNORECASE)
_TO_DOSE = re.compile(rf"\bto (?P<dose>{_AMOUNT})", re.IGNORECASE)
_OFTEN = re.compile(
    r"\b(?:(?:once|twice|(?:one|two|three|four|\d) times?) (?:a|per|every|each) (?:day|week|month|night)|(?:once|twice) (?:daily|weekly)|daily|nightly|"
    r"every (?:other )?(?:day|morning|evening|night|week|month|\d{1,2} hours|(?:four|six|eight|twelve) hours)|in the (?:morning|evening)s?|"
    r"at (?:night|bedtime)|before bed|(?:as|when|if) (?:needed|required)|with (?:meals|food|breakfast|dinner))\b",
    re.IGNORECASE,
)
_LEADING = re.compile(rf"({_AMOUNT})(?: of(?: [\w-]{{1,20}})?)?\s?$", re.IGNORECASE)
_TRAILING = re.compile(rf"\s?[,(]?\s?(?:at |tablets? )?({_AMOUNT})", re.IGNORECASE)
_SINCE = re.compile(r"\bsince\b", re.IGNORECASE)
_ENOUGH = 60


class Medicine(NamedTuple):
    name: str
    dose: str
    """How much and how often, as far as it was said."""


class Medicines(Health, Endings):
    def _medication(self, clause: Clause, subject: EntityRef | None) -> None:
        """Read beside whatever else the clause says."""
        if clause.hedged or is_hypothetical(clause) or clause.modal:
            return
        self._treated(clause, subject)
        lemma = clause.lemma
        if subject is None or not self._is_patient(subject) or (lemma in _PUT and self._is_done_to(clause)):
            return
        if lemma == "take" and clause.passive is False:
            self._takes(clause, subject)
        elif lemma == "be":
            self._is_on(clause, subject)
        elif lemma in ("come", "go", "get") and clause.past and not clause.negated:
            self._all(clause, subject, ("off", "off of"), ended=True)
        elif lemma == "use":
            self._used_to_take(clause, subject)
        elif lemma in ("start", "begin", "resume", "stop", "quit") and clause.past and not clause.negated:
            self._began_or_stopped(clause, subject, ended=lemma in ("stop", "quit"))
        elif lemma == "switch" and clause.past and not clause.negated and not clause.passive:
            self._switched(clause, subject)

    def _treated(self, clause: Clause, subject: EntityRef | None) -> None:
        """What was done by others: "my doctor put me on statins", "Rolf was diagnosed with diabetes", "his dose was doubled"."""
        lemma = clause.lemma
        if clause.negated or not clause.past:
            return
        if lemma in DOSE_CHANGES:
            self._changed(clause, subject)
        if lemma not in _PUT | {"prescribe", "diagnose", "take"}:
            return
        patient = subject if clause.passive else self._other(clause)
        if patient is None or not self._is_patient(patient):
            return
        if lemma == "diagnose":
            self._diagnosed(clause, patient)
        elif lemma == "take":
            self._all(clause, patient, ("off",), ended=True)
        elif lemma == "switch":
            self._switched(clause, patient)
        elif lemma == "prescribe":
            for token in self._behind(clause.verb):
                self._told(clause, patient, token, since=True)
        else:
            self._all(clause, patient, ("on",), ended=False)

    def _takes(self, clause: Clause, subject: EntityRef) -> None:
        lasting = not clause.past and (not clause.perfect or clause.progressive)
        for token in self._behind(clause.verb) if lasting or clause.ended else ():
            self._told(clause, subject, token)

    def _is_on(self, clause: Clause, subject: EntityRef) -> None:
        for slot, objects in clause.prepositions():
            if slot not in ("on", "off"):
                continue
            ended = slot == "off"
            if ended and (clause.negated or clause.past):
                continue
            for token in self._within(objects):
                if ended:
                    self._over(clause, subject, token)
                else:
                    self._told(clause, subject, token, keep=clause.past and not clause.perfect)

    def _used_to_take(self, clause: Clause, subject: EntityRef) -> None:
        inner = self.parse.child(clause.verb, "xcomp")
        if inner is None or inner.lemma not in ("take", "be") or not clause.past or clause.negated:
            return
        past = replace(clause, verb=inner, past=True, ended=True)
        if inner.lemma == "be":
            self._is_on(past, subject)
        for token in self._behind(inner) if inner.lemma == "take" else ():
            self._told(past, subject, token, keep=True)

    def _began_or_stopped(self, clause: Clause, subject: EntityRef, *, ended: bool) -> None:
        act = self.parse.child(clause.verb, "xcomp")
        if act is not None and (act.lemma not in ("take", "be") or act.tag != "VBG"):
            return
        if not clause.passive:
            for token in self._behind(act or clause.verb):
                if ended:
                    self._over(clause, subject, token)
                else:
                    self._told(clause, subject, token, since=True)

    def _switched(self, clause: Clause, subject: EntityRef) -> None:
        """ "Switched (me) from sertraline to escitalopram", whatever the parser hangs on what."""
        way = ""
        for token in self.parse.tokens[clause.verb.i + 1 :]:
            if token.is_verb or token.lower in ("because", "so", "but", "and"):
                return
            way = token.lower if token.tag in ("IN", "TO") else way
            if way == "from":
                self._over(clause, subject, token)
            elif way == "to":
                self._told(clause, subject, token, since=True)

    def _changed(self, clause: Clause, subject: EntityRef | None) -> None:
        """ "They doubled his metformin to 1000 mg", "my metformin was increased to 1000 mg"."""
        told = _TO_DOSE.search(self.parse.text, clause.verb.end, clause.verb.end + _ENOUGH)
        drugs = [clause.subject] if clause.passive else clause.objects("dobj")
        for token in drugs if told is not None else []:
            name = None if token is None else self._named_dose(token)
            if token is None or name is None or told is None:
                continue
            owned = self.parse.child(token, "poss")
            patient = self.refs.owner(self.parse, token) if owned is not None else subject
            doctor = owned is None and clause.subject is not None and clause.subject.lower in _DOCTORS
            if patient is None or doctor or not self._is_patient(patient):
                continue
            often = _OFTEN.search(self.parse.text, told.end(), told.end() + _ENOUGH)
            words = f"{told['dose']} {often[0] if often else ''}".strip()
            now = replace(clause, past=False, perfect=False, passive=False)
            self._claim(now, patient, Medicine(name, words), self._dated(clause, told.start(), told.end()))

    def _dated(self, clause: Clause, start: int, end: int) -> Validity:
        """Since when, by the times of the clause outside the dose: "1000 mg" is no year."""
        for match in self.times.of_clause(self.parse, clause.verb):
            earliest, _ = self.times.interval(match, future=False)
            if earliest is not None and not start <= match.start < end:
                return Validity(self._not_ahead(earliest))
        return Validity()

    def _diagnosed(self, clause: Clause, patient: EntityRef) -> None:
        now = replace(clause, past=False, perfect=False, passive=False)
        for slot, objects in clause.prepositions():
            for target in objects if slot in ("with", "as") else ():
                known = self._condition(target) if target.lower in CONDITIONS else None
                condition = known or SUFFERING.get(target.lower)
                if condition is not None:
                    kind = self._type_of(target)
                    value = LiteralValue("string", f"{kind}{condition.split(' ')[-1] if kind else condition}")
                    self._emit(now, patient, "has_condition", value, state=True, validity=self._since(clause))

    def _type_of(self, condition: Token) -> str:
        before = self.parse.tokens[max(0, condition.i - 2) : condition.i]
        typed = len(before) == 2 and before[0].lower == "type" and before[1].tag == "CD"
        return f"type {before[1].text} " if typed else ""

    def _all(self, clause: Clause, subject: EntityRef, slots: tuple[str, ...], *, ended: bool) -> None:
        for slot, objects in clause.prepositions():
            for token in self._within(objects) if slot in slots else ():
                if ended:
                    self._over(clause, subject, token)
                else:
                    self._told(clause, subject, token, since=True)

    def _told(
        self, clause: Clause, subject: EntityRef, token: Token, *, since: bool = False, keep: bool = False
    ) -> None:
        medicine = self._medicine(token)
        if medicine is None:
            return
        told = clause if keep else replace(clause, past=False, perfect=False, passive=False)
        dated = since or _SINCE.search(self.parse.text) is not None
        amount = DOSE.search(self.parse.text)
        start, end = amount.span() if amount else (0, 0)
        validity = self._dated(clause, start, end) if dated and not clause.negated else Validity()
        self._claim(told, subject, medicine, validity)

    def _claim(self, clause: Clause, subject: EntityRef, medicine: Medicine, since: Validity) -> None:
        state = not (clause.past and clause.ended) and not (clause.past and clause.lemma == "be")
        value = LiteralValue("string", medicine.name)
        self._emit(clause, subject, TAKES, value, state=state, validity=since)
        if medicine.dose and state and not clause.negated:
            dose = LiteralValue("string", medicine.dose)
            self._emit(clause, subject, dose_of(medicine.name), dose, state=True, validity=since)
        elif clause.negated:
            self.taken_back.append(TakenBack(subject, dose_of(medicine.name)))

    def _over(self, clause: Clause, subject: EntityRef, token: Token) -> None:
        medicine = self._medicine(token)
        if medicine is not None:
            self._end(clause, subject, TAKES, LiteralValue("string", medicine.name))
            self.taken_back.append(TakenBack(subject, dose_of(medicine.name)))

    def _is_done_to(self, clause: Clause) -> bool:
        after = self.parse.tokens[clause.verb.i + 1 : clause.verb.i + 2]
        return any(t.tag == "PRP" for t in after) or self._other(clause) is not None

    def _other(self, clause: Clause) -> EntityRef | None:
        """The one that something was done to: "me", "my dad", "Rolf"."""
        for token in self.parse.tokens[clause.verb.i + 1 : clause.verb.i + 2]:
            if token.lower in FIRST or token.tag == "PRP":
                return self.refs.pronoun(token)
        for token in self.parse.children(clause.verb, "dobj", "dative"):
            if self._medicine(token) is None:
                return self.refs.named(self.parse, token) or self.refs.kin(self.parse, token)
        return None

    def _is_patient(self, subject: EntityRef) -> bool:
        known = subject.type in ("person", "animal") or subject.name[:1].isupper()
        return known and subject.type != "place" and subject != self.refs.addressee

    def _behind(self, verb: Token) -> Iterator[Token]:
        """The medicines behind a verb, by the parse or, of a list of doses, by their names, until the next verb."""
        for token in self.parse.tokens[verb.i + 1 : verb.i + 1 + _ENOUGH]:
            known = is_medicine(token.lower)  # which the tagger may take for a verb
            if not known and (token.is_verb or token.lower in _BREAKS):
                return
            if known or token.is_noun or token.tag in ("JJ", "FW"):
                yield token

    def _within(self, objects: list[Token]) -> Iterator[Token]:
        for target in objects:
            yield target
            for of in self.parse.children(target, "prep"):
                if of.lower == "of" and (target.lower in _UNITS or target.lower in _FORMS):
                    yield from self.parse.children(of, "pobj")

    def _medicine(self, token: Token) -> Medicine | None:
        name = self._named_dose(token)
        if name is None:
            return None
        text, following = self.parse.text, self._next_medicine(token)
        amount = self._amount(token, following)
        often = _OFTEN.search(text, token.end, min(following, token.end + _ENOUGH))
        if amount is None:
            return Medicine(name, often[0] if often else "")
        further = [
            m
            for m in DOSE.finditer(text, token.end, following)
            if m.start() > amount.start
            and (following == len(text) or text[m.end() : following].strip() not in ("", "of"))
        ]
        if further:  # "500 mg in the morning and 1000 mg at night"
            last = max((m.end() for m in _OFTEN.finditer(text, further[-1].end(), following)), default=0)
            words = text[amount.start : max(last, further[-1].end())]
            return Medicine(name, words.replace(f" of {token.text}", "") if len(words) <= _ENOUGH else "")
        return Medicine(name, f"{text[amount.start : amount.end]} {often[0] if often else ''}".strip())

    def _amount(self, token: Token, following: int) -> Span | None:
        """ "500 mg of metformin" or "metformin 500 mg", and not the amount of the medicine before or behind it."""
        text, low = self.parse.text, max(0, token.start - _ENOUGH)
        leading = _LEADING.search(text[low : token.start])
        if leading is not None and (
            " of" in leading[0] or not is_medicine(_last_word(text[low : low + leading.start()]))
        ):
            return Span(low + leading.start(1), low + leading.end(1))
        trailing = _TRAILING.match(text, token.end, following)
        if trailing is None:
            return None
        after = re.match(r" (?:(of)\b|([\w-]+))", text[trailing.end() :])
        of_another = after is not None and (after[1] is not None or is_medicine(after[2].lower()))
        return None if of_another else Span(trailing.start(1), trailing.end(1))

    def _next_medicine(self, token: Token) -> int:
        """Where the words about this medicine end: at the next verb or the next medicine."""
        for other in self.parse.tokens[token.i + 1 :]:
            if other.tag in ("VBZ", "VBP", "VBD", "MD") or (other.is_noun and is_medicine(other.lower)):
                return other.start
        return len(self.parse.text)

    def _named_dose(self, token: Token) -> str | None:
        """The name of the medicine that a noun is of: by its name, its form, or the dose before it."""
        word = token.lower
        pieces = [t for t in self.parse.children(token, "compound", "amod", "nmod") if t.i < token.i]
        if word in _FORMS:
            kinds = [t.lower for t in self.parse.subtree(token) if t.i < token.i]
            known = next((kind for kind in kinds if is_medicine(kind)), None)
            telling = [kind for kind in kinds if kind in _KINDS_OF_FORMS]
            return known or (f"{' '.join(telling)} {word}" if telling else None)
        if len(word) < 4 and any(t.lower == "vitamin" for t in pieces):
            return f"vitamin {token.text}"
        if is_medicine(word) or is_medicine(token.lemma):
            after = self.parse.tokens[token.i + 1 : token.i + 2]
            part = token.dep == "compound" and after and after[0].lower in _FORMS
            return None if part else word
        before = [t.lower for t in self.parse.tokens[max(0, token.i - 3) : token.i]]
        alone = word.isalpha() and len(word) > 3 and word not in _UNITS
        beside = [t.lower for t in self.parse.tokens[token.i + 1 : token.i + 3]]
        dosed = before[-2:-1] and before[-2] in _UNITS and before[-1] == "of"
        counted = len(beside) == 2 and beside[0].isdigit() and beside[1] in _UNITS
        return word if alone and (dosed or counted) else None


def _last_word(text: str) -> str:
    words = text.split()
    return words[-1].lower() if words else ""


def dose_of(medicine: str) -> str:
    """The predicate for how much of a medicine is taken: "metformin_dose"."""
    return f"{slug(medicine)[:50]}_dose"

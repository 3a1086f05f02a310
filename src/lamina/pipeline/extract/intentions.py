"""Plans, wishes and commitments: "I'll send the deck", "we're going to Paris next week", "remind me to call Bob"."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from lamina.language.tables import table
from lamina.pipeline.extract import vocabulary as words
from lamina.pipeline.extract.clauses import Clause, is_hypothetical
from lamina.pipeline.extract.emitter import Emitter
from lamina.pipeline.extract.inflect import gerund
from lamina.pipeline.extract.phrases import verb_value
from lamina.pipeline.extract.references import FIRST, FIRST_PLURAL, SECOND
from lamina.pipeline.extract.syntax import Token
from lamina.pipeline.extract.times import Validity
from lamina.pipeline.extract.values import EntityRef
from lamina.pipeline.extract.vocabulary import PETS

_TABLE: Final = table(__name__)
_PLAN_VERBS: Final = _TABLE.by_word("plan_verbs")
_CHATTY_WILLS: Final = _TABLE.words("chatty_wills")
_SCHEDULED: Final = _TABLE.words("scheduled")
_CHANGES: Final = _TABLE.words("changes")
"""Changes of state: while they are under way they have not happened."""
_DATED = (_SCHEDULED | _CHANGES) - {"get"}
_WEDDINGS = _TABLE.words("weddings")
_STATES = _TABLE.words("states")
_MOVES = _TABLE.words("moves")
_MEETINGS = _TABLE.words("meetings")
_HAPPENINGS: Final = _TABLE.words("happenings")
"""Of what happens once the present tells no more than that it is to be, or is usual."""
_GAINED = PETS | _TABLE.words("gained")
_LEFT = _TABLE.words("left")

_OTHER_CLAUSES = _TABLE.words("other_clauses")


def is_coming(clause: Clause) -> bool:
    """ "I'm moving to Oslo", "we sell the car on Monday": a change of state that is told before it is done."""
    parse, verb, lemma = clause.parse, clause.verb, clause.lemma
    if clause.perfect or (clause.passive and not _is_wedding(clause)):
        return False
    if lemma in _HAPPENINGS and verb.tag in ("VBP", "VBZ") and not (clause.past or clause.progressive):
        return True  # "we fly to Rome on Saturday", "I visit my mum every Sunday"
    if lemma in _MEETINGS:
        now = any(t.lower in ("now", "currently", "presently") for t in parse.children(verb, "advmod"))
        return clause.progressive and not clause.past and not now
    under_way = lemma in ("start", "begin") and parse.child(verb, "xcomp") is not None
    if lemma not in _CHANGES or (clause.progressive and (under_way or (clause.past and lemma not in _MOVES))):
        return False
    return clause.progressive or (
        verb.tag in ("VBP", "VBZ") and not clause.past and verb.lower not in ("quit", "get", "got")
    )


def _is_wedding(clause: Clause) -> bool:
    """ "We're getting married": a passive in form alone."""
    return clause.lemma in _WEDDINGS and clause.progressive


def _is_pluperfect(clause: Clause) -> bool:
    return any(t.lemma == "have" and t.tag == "VBD" for t in clause.parse.children(clause.verb, "aux"))


class Intentions(Emitter):
    def _plan(self, clause: Clause, subject: EntityRef) -> None:
        """What somebody will, wants, needs or promised to do."""
        if subject == self.refs.addressee or (
            subject.type not in ("person", "organisation", "animal", "group")
            and not subject.name[:1].isupper()
        ):
            return
        if ("'s " in subject.name and subject.type == "thing") or (
            clause.telegraphic and clause.lemma not in _PLAN_VERBS
        ):
            return
        predicate, phrase = self._planned(clause)
        if phrase is None or predicate == "":
            return
        value = verb_value(self.parse, phrase, self.refs, self.times)
        if value is not None and predicate == "considers" and phrase.tag != "VBG":
            words_after = str(value.value)[len(phrase.text) :]
            value = (
                None
                if clause.perfect or phrase is not clause.verb
                else replace(value, value=gerund(phrase.lemma) + words_after)
            )
        if value is not None and clause.passive and phrase is clause.verb:
            value = replace(value, value=f"get {value.value}")
        if value is not None and phrase.tag in ("VBG", "VBZ") and predicate in ("plans_to", "committed_to"):
            value = replace(value, value=phrase.lemma + str(value.value)[len(phrase.text) :])
        if (
            value is not None
            and phrase.lemma not in ("say", "thank", "hear", "know", "see", "keep", "stay", "be", "need")
            and value.value != phrase.text
        ):
            validity = self._validity(clause, phrase, words.describe(predicate, past=False).kind)
            if validity.valid_to is not None and validity.valid_to <= self._now:
                validity = Validity()  # of "last week I decided to run" the week is the decision's
            self._emit(clause, subject, predicate, value, validity=validity)

    def _planned(self, clause: Clause) -> tuple[str, Token | None]:
        parse, verb = clause.parse, clause.verb
        inner = parse.child(verb, "xcomp")
        first = clause.subject is not None and clause.subject.lower in FIRST | FIRST_PLURAL
        if clause.modal in ("may", "might") and not clause.negated:
            return "" if verb.lemma in _STATES else "considers", verb
        if clause.modal == "will" and (verb.lemma not in _CHATTY_WILLS and self._is_deed(clause)):
            return ("" if clause.negated else "committed_to" if first else "plans_to"), verb
        wishes = clause.modal in ("would", "'d") and clause.lemma in ("like", "love", "prefer")
        if inner is not None and inner.tag == "VB" and (not is_hypothetical(clause) or wishes):
            if parse.child(inner, "neg") is not None:
                return "", None  # what was decided not to be done
            if wishes:
                return "wants_to", inner
            if clause.lemma in ("go", "gon") and verb.tag == "VBG":
                return ("" if clause.negated or clause.past else "plans_to"), inner
            if any(t.lower == "yet" for t in parse.children(verb, "advmod")):
                return "", None  # "I have yet to see Rome"
            if (clause.lemma == "have" or verb.lower == "got") and not clause.perfect and not clause.past:
                return "needs_to", inner
            if clause.lemma in ("look",) and not clause.progressive:
                return "", None
            wished = clause.lemma in ("want", "hope", "need", "look", "wish")
            if wished and clause.past and not clause.perfect:
                return "", None  # "I wanted to show support" tells a reason, not a wish
            over = clause.past and not clause.perfect and (clause.progressive or _is_pluperfect(clause))
            return ("" if clause.negated or over else _PLAN_VERBS.get(clause.lemma, "")), inner
        for prep in parse.children(verb, "prep"):
            act = parse.child(prep, "pcomp")
            if act is not None and act.tag == "VBG" and not is_hypothetical(clause) and not clause.negated:
                if (
                    clause.lemma in ("think", "dream", "talk")
                    and prep.lower in ("of", "about")
                    and clause.progressive
                ):
                    return "considers", act
                if clause.lemma == "plan" and prep.lower == "on":
                    return "plans_to", act
                if clause.lemma == "look" and prep.lower == "to":
                    return "looks_forward_to", act
        if clause.past or clause.negated or not (clause.progressive or is_coming(clause)):
            return "", None
        if clause.progressive and is_coming(clause) and self._is_change(clause):
            return "plans_to", verb
        if clause.lemma in _DATED and self._lies_ahead(clause):
            return "plans_to", verb
        return "", None

    def _lies_ahead(self, clause: Clause) -> bool:
        starts = [
            self.times.interval(m, future=True)[0] for m in self.times.of_clause(self.parse, clause.verb)
        ]
        return any(start is not None and start >= self._now for start in starts)

    def _is_change(self, clause: Clause) -> bool:
        """Whether the words of a change are meant: not "I'm getting an error", "I'm leaving feedback"."""
        targets = self.parse.children(clause.verb, "dobj")
        if clause.lemma == "get":
            return any(t.lemma in _GAINED for t in targets)
        if clause.lemma == "leave":
            return any(t.is_name or t.entity or t.lemma in _LEFT for t in targets)
        return True

    def _is_deed(self, clause: Clause) -> bool:
        """Whether "I'll ..." can be checked later: it is dated, or done to or for something definite."""
        if self.times.of_clause(self.parse, clause.verb):
            return True
        for token in self.parse.subtree(clause.verb, _OTHER_CLAUSES):
            named = token.is_name or token.lower in SECOND or token.tag == "CD"
            if token.i > clause.verb.i and (
                named or (token.is_noun and self.parse.child(token, "det", "compound"))
            ):
                return True
        return False

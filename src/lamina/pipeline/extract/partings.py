"""Couples that part: "Tomás and I broke up", "my husband Ben and I are separated", "my wife left me".

What ends is what they were to each other: the kin noun beside the verb says it, or else the verb. Whatever else was held of the two as
a couple ends as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from lamina.language.wordsets import word_set
from lamina.pipeline.extract import vocabulary as words
from lamina.pipeline.extract.clauses import Clause, conjuncts
from lamina.pipeline.extract.endings import Endings
from lamina.pipeline.extract.phrases import Value, noun_value
from lamina.pipeline.extract.references import FIRST
from lamina.pipeline.extract.syntax import Token
from lamina.pipeline.extract.values import EntityRef, TakenBack

_COUPLES: Final = ("partner_of", "engaged_to", "married_to")
_ENDS: Final = {
    "break up": "partner_of", "split up": "partner_of", "divorce": "married_to", "divorced": "married_to",
    "separate": "", "separated": "", "split": "", "leave": "", "dump": "",
}  # fmt: skip
_NO_LONGER: Final = {
    "friends": "friend_of", "mates": "friend_of", "flatmates": "friend_of", "roommates": "friend_of", "neighbours": "friend_of",
    "neighbors": "friend_of", "colleagues": "colleague_of", "coworkers": "colleague_of", "couple": "partner_of", "together": "partner_of",
    "married": "married_to", "engaged": "engaged_to",
}  # fmt: skip
_PARTED: Final = word_set("divorced separated")
_LEFT_WHOLE: Final = frozenset({"nsubj", "dobj", "aux", "punct", "advmod", "npadvmod", "prep", "cc", "conj", "advcl", "mark", "intj"})  # fmt: skip
"""What stands beside "left" where it says no more than that: not "left me alone", "left me a note"."""
_LEFT_ADVERBS: Final = word_set("just recently finally suddenly already also then so yesterday today ago")
_FOR_WHOM: Final = word_set("man woman guy girl colleague boss secretary coach trainer neighbour neighbor friend someone somebody")  # fmt: skip
_AGAIN: Final = word_set("reconciled remarried")
_BESIDE: Final = word_set("with from in on since during after over because for")
_OTHERWISE: Final = word_set("business doubles tennis dance dancing sparring training study law")
"""Partners of another kind."""


class Partings(Endings):
    def _parting(self, clause: Clause, subject: EntityRef) -> None:
        """Read beside whatever else the clause says."""
        how = self._how_parted(clause)
        if how is None or not self._has_happened(clause, subject):
            return
        below = [t.lower for t in self.parse.tokens]
        if any(word in _AGAIN for word in below) or ("back" in below and "together" in below):
            return
        if how in ("leave", "dump"):
            self._left_alone(clause, subject)
            return
        token = clause.subject
        own = token is not None and any(
            t.lower == "i" for t in self.parse.subtree(token) if t.i < clause.verb.i
        )
        for other in self._others(clause)[:1]:
            self._parted(clause, self.refs.speaker if own and self.refs.speaker else subject, other, how)

    def _no_longer(self, clause: Clause, subject: EntityRef) -> None:
        """ "Leonie and I aren't friends anymore", "I'm no longer friends with Leonie", "Tom and I aren't together anymore"."""
        if clause.lemma != "be" or not clause.negated or clause.past or clause.modal or clause.hedged:
            return
        for target in self.parse.children(clause.verb, "attr", "acomp", "advmod"):
            said = _NO_LONGER.get(target.lower, "")
            if not said or (target.lower == "together" and not clause.ended):
                continue
            others = self._others(clause) or [
                t
                for prep in self.parse.children(target, "prep")
                if prep.lower in ("with", "to")
                for t in self.parse.children(prep, "pobj")
            ]
            for other in others[:1]:
                person = _named(noun_value(self.parse, other, self.refs, self.times))
                if person is not None:
                    self._end(clause, subject, said, person)
                if person is not None and said == "partner_of":
                    self._end_others(subject, person, said)

    def _how_parted(self, clause: Clause) -> str | None:
        """The words that tell of it, as `_ENDS` has them."""
        verb, lemma = clause.verb, clause.lemma
        auxiliaries = self.parse.children(verb, "aux", "auxpass")
        if lemma in ("be", "get"):
            told = [
                t for t in self.parse.children(verb, "acomp", "ccomp", "attr", "oprd") if t.lower in _PARTED
            ]
            under_way = verb.tag in ("VBG", "VB") or (clause.past and lemma == "be" and not clause.perfect)
            return told[0].lower if told and not under_way else None
        how = f"{lemma} {clause.particle}" if clause.particle else lemma
        if how not in _ENDS:
            return None
        if clause.passive:
            # "Were separated" is said of what others did, or of former times; "are separated" and "got divorced" of a couple.
            got = any(t.lower in ("got", "are", "'re", "am", "'m", "is", "'s", "been") for t in auxiliaries)
            ours = got and self.parse.child(verb, "agent") is None and verb.lower in _PARTED
            return verb.lower if ours and verb.tag == "VBN" else None
        if not clause.past or clause.progressive:
            return None
        whole = how in ("divorce", "leave", "dump") or not clause.objects("dobj")
        return how if whole and (how not in ("separate", "split") or self._is_bare(clause)) else None

    def _is_bare(self, clause: Clause) -> bool:
        """Whether no place is told: not "we separated at the station"."""
        return all(
            prep.lower in _BESIDE and (prep.lower not in ("in", "on") or self._is_timely(prep))
            for prep in self.parse.children(clause.verb, "prep")
        )

    def _is_timely(self, prep: Token) -> bool:
        return self.times.covers(prep) or any(map(self.times.covers, self.parse.children(prep, "pobj")))

    def _others(self, clause: Clause) -> list[Token]:
        """Whom somebody parted from."""
        parse, token = self.parse, clause.subject
        if token is None:
            return []
        found = [
            t for slot, each in clause.prepositions() if slot.split(" ")[-1] in ("with", "from") for t in each
        ]
        for state in parse.children(clause.verb, "acomp", "ccomp", "attr", "oprd"):
            found += [
                t
                for prep in parse.children(state, "prep")
                if prep.lower == "from"
                for t in parse.children(prep, "pobj")
            ]
        found += clause.objects("dobj") if clause.lemma == "divorce" else []
        found += [t for t in conjuncts(parse, token) if t.lower not in FIRST and t is not token]
        if token.lower not in FIRST and any(t.lower in ("i", "me") for t in parse.subtree(token)):
            found.append(token)
        if not found and token.lower == "i" and (beside := _beside(parse.tokens, token)) is not None:
            found.append(
                next((t for t in parse.children(beside, "compound") if t.lemma in words.RELATIONS), beside)
            )
        return [t for t in found if not self.times.covers(t)]

    def _left_alone(self, clause: Clause, subject: EntityRef) -> None:
        """ "My husband Ben left me", "Ana dumped her boyfriend Max", and no more than that."""
        targets, token = clause.objects("dobj"), clause.subject
        if (
            token is None
            or len(targets) != 1
            or any(
                t.dep not in _LEFT_WHOLE for t in self.parse.children(clause.verb) if not self.times.covers(t)
            )
        ):
            return
        adverbs = self.parse.children(clause.verb, "advmod")
        if any(t.lower not in _LEFT_ADVERBS and not self.times.covers(t) for t in adverbs):
            return
        for prep in self.parse.children(clause.verb, "prep"):
            target = self.parse.child(prep, "pobj")
            person = target is not None and (
                target.is_name or target.lemma in _FOR_WHOM | self.refs.kin_nouns
            )
            if not self._is_timely(prep) and not (prep.lower == "for" and person):
                return
        (target,) = targets
        if self._tie(token)[0]:
            value = noun_value(self.parse, target, self.refs, self.times)
            if isinstance(value, EntityRef) and value == self._tie(token)[1]:
                self._parted(clause, value, token, "leave")
        elif self._tie(target)[1] == subject or target.is_name:
            self._parted(clause, subject, target, "leave")
        elif target.lower in FIRST and token.is_name and self.refs.speaker is not None:
            self._parted(clause, self.refs.speaker, token, "leave")

    def _tie(self, token: Token) -> tuple[str, EntityRef | None]:
        """What a kin noun says that somebody is to its owner, where the two are a couple."""
        relation = words.RELATIONS.get(token.lemma, ("", ""))[0]
        other = any(t.lower in _OTHERWISE for t in self.parse.children(token, "compound", "amod"))
        if relation not in _COUPLES or other:
            return "", None
        return relation, self.refs.owner(self.parse, token)

    def _parted(self, clause: Clause, subject: EntityRef, other: Token, how: str) -> None:
        value = noun_value(self.parse, other, self.refs, self.times)
        relation, owner = self._tie(other)
        if not relation and other.lemma in words.RELATIONS:
            return  # "my sister and I split up"
        if clause.subject is not None and owner is None and (tie := self._tie(clause.subject))[0]:
            relation, owner = tie
        if subject.type not in ("person", "thing") or not isinstance(value, EntityRef):
            return
        if owner is not None and owner == value:
            subject, value = value, subject
        person = _named(value)
        if person is None:
            amended = self.parse.children(other, "amod")
            if relation and owner == subject and not amended and self._is_lately(clause):
                self.taken_back.append(TakenBack(subject, relation))
            return
        if said := relation or _ENDS[how]:
            self._end(clause, subject, said, person)
        self._end_others(subject, person, said)

    def _end_others(self, subject: EntityRef, value: EntityRef, said: str) -> None:
        for couple in _COUPLES:
            if couple != said:
                self.taken_back.append(TakenBack(subject, couple, value))
            self.taken_back.append(TakenBack(value, couple, subject))


def _named(value: Value | None) -> EntityRef | None:
    """Somebody with a name of their own: not "Alice's husband"."""
    if not isinstance(value, EntityRef) or value.type in ("place", "group") or "'s " in value.name:
        return None
    return replace(value, type="person")


def _beside(tokens: list[Token], last: Token) -> Token | None:
    """ "Clara" of "Clara and I", which the parser may take apart."""
    before = tokens[max(last.i - 2, 0) : last.i]
    return before[0] if len(before) == 2 and before[1].lower == "and" and before[0].is_noun else None

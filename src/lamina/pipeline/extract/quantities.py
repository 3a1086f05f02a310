"""Counts and prices: "we have 12 employees", "the plan costs $30"."""

from __future__ import annotations

from lamina.pipeline.extract import vocabulary as words
from lamina.pipeline.extract.amounts import amount_of
from lamina.pipeline.extract.clauses import Clause, is_hypothetical
from lamina.pipeline.extract.emitter import Emitter
from lamina.pipeline.extract.phrases import VAGUE
from lamina.pipeline.extract.syntax import Token
from lamina.pipeline.extract.values import EntityRef

_PRICED = {"cost": "price", "weigh": "weight"}


class Quantities(Emitter):
    def _quantity(self, clause: Clause, subject: EntityRef) -> None:
        """ "We have 12 employees", "the plan costs $30"."""
        if is_hypothetical(clause) or clause.modal == "will" or clause.negated:
            return
        targets: list[Token] = []
        if clause.lemma in ("have", "be"):
            targets = clause.objects("dobj", "attr")
        elif clause.lemma in _PRICED:
            targets = clause.objects("dobj", "npadvmod", "attr")
        for target in targets:
            amount = amount_of(self.parse, target)
            if amount is None or (
                target.is_name and self.times.covers(target)
            ):  # a day is no amount of months
                continue
            if target.tag == "NNP" and amount.literal.datatype in ("integer", "number"):
                continue  # "14 Oak Street"
            if clause.lemma in _PRICED:
                self._emit(clause, subject, _PRICED[clause.lemma], amount.literal)
            elif amount.noun and amount.literal.datatype in ("integer", "number") and _says(amount.noun):
                self._emit(clause, subject, words.canonical_count(amount.noun), amount.literal)


def _says(noun: str) -> bool:
    return noun.rsplit("_", 1)[-1] not in VAGUE

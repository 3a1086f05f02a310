"""The narrative view: a model tells what the lines come to, rules put them in the order of time and say so."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from lamina import limits
from lamina.answer.citing import citations_of
from lamina.answer.generated import NARRATING
from lamina.answer.model import AnswerModel
from lamina.errors import LaminaError
from lamina.kernel.operations import Call
from lamina.models.support import SupportedSentence
from lamina.recall.grounds import GroundLine, Grounds
from lamina.recall.narration import Narration
from lamina.types.answers import EXTRACTIVE

__all__ = ["Narrating"]

_LOG = logging.getLogger("lamina.answer")
_TOLD_MAX: Final = 24
"""Lines that rules tell, the best of each layer: a page."""
_BY_RULES: Final = "In the order of time, put together by rules:"
_NOTHING: Final = "Memory holds nothing about this."


class Narrating:
    """``Narrator`` over a model, or over none."""

    def __init__(self, model: AnswerModel | None) -> None:
        self._model = model

    def narrate(self, grounds: Grounds, call: Call) -> Narration:
        """Mirrors ``Narrator.narrate``."""
        lines = in_order_of_time(grounds.lines)
        if not lines:
            return Narration(text=_NOTHING, citations=[], teller=EXTRACTIVE)
        warnings = ["narrated_by_rules"]
        if self._model is not None:
            try:
                made = self._model.worded(
                    NARRATING, grounds.pack.query, lines, call, tokens_max=limits.ANSWER_TOKENS_DEFAULT
                )
            except LaminaError as error:
                _LOG.warning("a narrative is told by rules: %s", error.code)
                warnings.insert(0, "model_unavailable")
            else:
                if made.sentences:
                    return Narration(
                        text=" ".join(each.worded for each in made.sentences),
                        citations=citations_of(made.sentences, grounds),
                        teller=self._model.name,
                        tokens_in=made.tokens_in,
                        tokens_out=made.tokens_out,
                        cut=made.cut,
                    )
                warnings.insert(0, "unsupported_sentences_cut")
        told = [
            SupportedSentence(line.text, (line.marker,), 1.0)
            for line in in_order_of_time(_best(grounds.lines))
        ]
        text = "\n".join([_BY_RULES, *(each.worded for each in told)])
        return Narration(
            text=text, citations=citations_of(told, grounds), teller=EXTRACTIVE, warnings=tuple(warnings)
        )


def in_order_of_time(lines: Sequence[GroundLine]) -> list[GroundLine]:
    """The lines by when they were said or began to hold."""
    return sorted(lines, key=lambda line: (line.at, int(line.marker.strip("[]"))))


def _best(lines: Sequence[GroundLine]) -> list[GroundLine]:
    most = {
        layer: max(line.score for line in lines if line.layer == layer)
        for layer in {line.layer for line in lines}
    }
    ranked = sorted(lines, key=lambda line: -(line.score / most[line.layer] if most[line.layer] > 0 else 0.0))
    return ranked[:_TOLD_MAX]

"""Fit whether memory holds an answer (``recall/answerable.py``) and print how well it tells, each half by weights of the other.

    python bench/fit_answerable.py --data DATA --written FOLDER [--recalls FILE]

FOLDER holds what ``bench/quality.py --written`` wrote. Fitted on both development sets and, with half their say, on the half ``mended`` of the
story; questions with an answer and without weigh the same inside a set. Promise: an AUC of 0.80 on both sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from fitting import Floats, auc, fit_logistic, odds_of, part_of
from lamina.recall.answerable import ANSWER_FIGURES, answer_figures
from recalled import UNANSWERABLE, Recalled, kept_recalls, options_of

PRIOR = 3.0
_SAY = {"LoCoMo": 1.0, "LongMemEval": 1.0, "story": 0.5}
_THRESHOLDS = (-2.0, -1.5, -1.35, -1.2, -1.0, -0.5, 0.0)


class Asked(NamedTuple):
    """A question: its set, the half it is in, whether it has an answer, and its figures (k,)."""

    name: str
    half: int
    has_answer: bool
    figures: Floats


def main() -> None:
    """Read, fit, print."""
    options = options_of(__doc__).parse_args()
    asked = list(_of(kept_recalls(options.recalls, options.data, options.written)))
    print("each half by weights of the other:")
    odds = np.zeros(len(asked))
    for half in (0, 1):
        model = _fitted([each for each in asked if each.half != half])
        for at, each in enumerate(asked):
            if each.half == half:
                odds[at] = odds_of(model, each.figures[None, :])[0]
    _report(asked, odds)
    model = _fitted(asked)
    print("fitted on all:")
    _report(asked, odds_of(model, np.array([each.figures for each in asked])))
    print(f"constant {model[0]:.3f}")
    for name, weight in zip(ANSWER_FIGURES, model[1:].round(3).tolist(), strict=True):
        print(f"  {name:20} {weight}")


def _of(recalls: Iterable[Recalled]) -> Iterator[Asked]:
    for one in recalls:
        figures = answer_figures(one.pool, one.plan, one.ranked, one.facts)
        if figures is not None:
            yield Asked(
                one.name,
                part_of(one.plan.question, 2),
                one.kind != UNANSWERABLE,
                figures,
            )


def _fitted(asked: list[Asked]) -> Floats:
    labels = np.array([float(each.has_answer) for each in asked])
    weights = np.zeros(len(asked))
    for name, say in _SAY.items():
        for has_answer in (False, True):
            own = np.array([each.name == name and each.has_answer is has_answer for each in asked])
            weights[own] = 100.0 * say / max(int(own.sum()), 1)
    return fit_logistic(np.array([each.figures for each in asked]), labels, weights, PRIOR)


def _report(asked: list[Asked], odds: Floats) -> None:
    for name in _SAY:
        yes, no = (
            np.array(
                [
                    o
                    for each, o in zip(asked, odds, strict=True)
                    if (each.name, each.has_answer) == (name, kind)
                ]
            )
            for kind in (True, False)
        )
        cells = "  ".join(f"{at:+.2f}: {(yes < at).mean():.3f} {(no < at).mean():.2f}" for at in _THRESHOLDS)
        print(
            f"  {name:12} AUC {auc(yes, no):.3f} (n {len(yes)} + {len(no)}); withheld of both kinds at {cells}"
        )


if __name__ == "__main__":
    main()

"""Fit whether memory holds an answer (``recall/answerable.py``) and print how well it tells, each half by weights of the other.

    python bench/fit_answerable.py --data DATA --written FOLDER [--recalls FILE] [--crossed FILE]

FOLDER holds what ``bench/quality.py --written`` wrote. Fitted on the questions without an answer that the development sets have, on those that
``bench/crossed.py`` makes, and on the half ``mended`` of the story; questions with an answer and without weigh the same inside each
sort. Halves are of conversations where there are several, else of questions. Promise: an AUC of 0.80 on both sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crossed import crossed, halves_of
from datasets import locomo
from fitting import Floats, auc, fit_all_of, odds_of_all, part_of
from lamina.recall.answerable import ANSWER_FIGURES, PERSON_FIGURES, RAISED, TOLD_FIGURES, answer_figures
from recalled import UNANSWERABLE, Recalled, kept_in, kept_recalls, options_of

PRIOR = 3.0
_SAY = {
    "LoCoMo": 1.0,
    "LoCoMo crossed": 0.5,
    "LoCoMo early": 0.5,
    "LongMemEval": 0.5,
    "LongMemEval crossed": 1.0,
    "story": 0.5,
}
_BESIDE = {"LoCoMo crossed": "LoCoMo"}
"""Whose questions have an answer, where a sort has none of its own."""


class Asked(NamedTuple):
    """A question: its sort, the half it is in, whether it has an answer, and its figures (k,)."""

    name: str
    half: int
    has_answer: bool
    figures: Floats


def main() -> None:
    """Read, fit, print."""
    parser = options_of(__doc__)
    parser.add_argument("--crossed", type=Path, help="a file that keeps the recalls of crossed questions")
    options = parser.parse_args()
    recalls = [
        *kept_recalls(options.recalls, options.data, options.written),
        *kept_in(
            options.crossed,
            "--crossed",
            options.written,
            lambda folder: list(crossed(options.data, folder)),
        ),
    ]
    asked = list(_of(recalls, _halves(options.data)))
    odds = np.zeros(len(asked))
    of_half = np.array([each.half for each in asked])
    for half in (0, 1):
        models = _fitted([each for each in asked if each.half != half])
        odds[of_half == half] = _odds(models, [each for each in asked if each.half == half])
    print("each half by weights of the other:")
    for halves in ([0], [1], [0, 1]):
        print(f" half {halves[0]}:" if len(halves) == 1 else " both:")
        _report(asked, odds, halves)
    models = _fitted(asked)
    print("fitted on all:")
    _report(asked, _odds(models, asked), [0, 1])
    for names, model in zip((TOLD_FIGURES, PERSON_FIGURES), models, strict=True):
        print(f"constant {model[0]:.3f}")
        for name, weight in zip(names, model[1:].round(3).tolist(), strict=True):
            print(f"  {name:20} {weight}")


def _halves(data: Path) -> dict[str, int]:
    """Of each conversation of LoCoMo, its half."""
    halves = halves_of(locomo(data / "locomo"))
    return {scope.name: half for half, scopes in enumerate(halves) for scope in scopes}


def _of(recalls: Iterable[Recalled], halves: dict[str, int]) -> Iterator[Asked]:
    for one in recalls:
        figures = answer_figures(one.pool, one.plan, one.ranked, one.facts)
        if figures is not None:
            half = part_of(one.plan.question, 2)
            if one.name == "LoCoMo":
                half = halves[one.group]
            elif one.name not in ("LongMemEval", "story"):
                half = int(one.group)
            yield Asked(one.name, half, one.kind != UNANSWERABLE, figures)


def _parts(asked: Sequence[Asked]) -> list[Floats]:
    figures = np.array([each.figures for each in asked])
    assert figures.shape[1] == len(ANSWER_FIGURES)
    return [figures[:, : len(TOLD_FIGURES)], figures[:, len(TOLD_FIGURES) :]]


def _fitted(asked: Sequence[Asked]) -> list[Floats]:
    labels = np.array([float(each.has_answer) for each in asked])
    weights = np.zeros(len(asked))
    for name, say in _SAY.items():
        for has_answer in (False, True):
            counted = _are(asked, name, has_answer)
            weights[counted] += 100.0 * say / max(int(counted.sum()), 1)
    return fit_all_of(_parts(asked), labels, weights, PRIOR)


def _odds(models: Sequence[Floats], asked: Sequence[Asked]) -> Floats:
    raised = [
        np.concatenate([[model[0] + more], model[1:]]) for model, more in zip(models, RAISED, strict=True)
    ]
    return odds_of_all(raised, _parts(asked))


def _are(asked: Sequence[Asked], name: str, has_answer: bool) -> np.ndarray:
    sort = _BESIDE.get(name, name) if has_answer else name
    return np.array([(each.name, each.has_answer) == (sort, has_answer) for each in asked])


def _report(asked: Sequence[Asked], odds: Floats, halves: Sequence[int]) -> None:
    inside = np.array([each.half in halves for each in asked])
    for name in _SAY:
        yes, no = (odds[_are(asked, name, kind) & inside] for kind in (True, False))
        print(
            f"  {name:20} AUC {auc(yes, no):.3f} (n {len(yes)} + {len(no)}); "
            f"withheld {(yes < 0).mean():.3f} and {(no < 0).mean():.3f}"
        )


if __name__ == "__main__":
    main()

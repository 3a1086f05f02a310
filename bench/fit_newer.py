"""Fit which later turns answer anew (``recall/newer.py``) and print, cross-validated, what they mark.

    python bench/fit_newer.py --data DATA --written FOLDER [--recalls FILE]

FOLDER holds what ``bench/quality.py --written`` wrote. Pairs of a turn and a later one: the older and the newest answers of LongMemEval's
questions of updates and of the half ``mended`` of the story; and, of what held, evidence of all other questions with every later turn.
Of a turn that held the two likeliest pairs are fitted, again and again, since the likeliest marks. Each set has the same say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fitting import Floats, auc, fit_logistic, odds_of, part_of
from lamina.language.questions import asks_past
from lamina.recall.newer import (
    ALIKE,
    ALIKE_FROM,
    NEWER_MAX,
    OLDER_MAX,
    PAIR_FIGURES,
    answers_again,
    pair_figures,
)
from recalled import UNANSWERABLE, UPDATE, Recalled, kept_recalls, options_of

FOLDS, ROUNDS, PRIOR = 5, 6, 2.0
SHOWN_MAX = 20
"""Turns of so high a rank stand in a block of 1,000 tokens."""
_PAIRS_OF_ONE = 2
_THRESHOLDS = (-2.0, -1.5, -1.25, -1.0, -0.75, -0.5, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Older:
    """A turn, whether it was ``replaced``, and the figures (m, k) of it with later turns; of one that was, with those that replaced it are
    ``true`` rows."""

    name: str
    fold: int
    rank: int
    replaced: bool
    pairs: Floats
    true: Floats


def main() -> None:
    """Read, fit, print."""
    options = options_of(__doc__).parse_args()
    olders = list(_of(kept_recalls(options.recalls, options.data, options.written)))
    tried = [(each, odds) for fold in range(FOLDS) for each, odds in _held_out(olders, fold)]
    print(f"cross-validated, turns among the best {SHOWN_MAX}:")
    _report(tried)
    model = _fitted(olders)
    print("fitted on all:")
    _report([(each, _odds(model, each)) for each in olders])
    print(f"constant {model[0]:.3f}")
    for name, weight in zip(PAIR_FIGURES, model[1:].round(3).tolist(), strict=True):
        print(f"  {name:20} {weight}")


def _of(recalls: Iterable[Recalled]) -> Iterable[Older]:
    for one in recalls:
        plan = one.plan
        if one.kind in (UNANSWERABLE, "time") or plan.window is not None or asks_past(plan.question):
            continue
        turns = one.ranked[:NEWER_MAX]
        if len(turns) < 2 or (one.kind == UPDATE and not one.stale):
            continue
        by_assistant = one.pool.turns.by_assistant[[each.at for each in turns]]
        again = answers_again(one.pool, turns)
        figures = pair_figures(one.pool, plan, turns)
        newest = {place for place in one.places(one.evidence) if place < len(turns)}
        for ids, replaced in ((one.stale, True), (one.evidence, False)):
            for old in one.places(ids):
                if old >= len(turns) or by_assistant[old]:
                    continue
                later = np.flatnonzero(again[old] & (figures[old, :, ALIKE] >= ALIKE_FROM)).tolist()
                true = [new for new in later if new in newest] if replaced else []
                yield Older(
                    one.name,
                    part_of(one.group, FOLDS),
                    old,
                    replaced,
                    figures[old, later],
                    figures[old, true],
                )


def _fitted(olders: Sequence[Older]) -> Floats:
    """The model; pairs of what held are chosen by the model of the round before, first by how near they are."""
    shown = [each for each in olders if each.rank < SHOWN_MAX or each.replaced]
    names = sorted({each.name for each in shown})
    model = np.zeros(len(PAIR_FIGURES) + 1)
    model[1 + ALIKE] = 1.0
    for _ in range(ROUNDS):
        rows: list[Floats] = []
        labels: list[Floats] = []
        weights: list[Floats] = []
        true = np.concatenate([each.true for each in shown if len(each.true)])
        for group, label in ((true, 1.0), *((_likeliest(shown, name, model), 0.0) for name in names)):
            rows.append(group)
            labels.append(np.full(len(group), label))
            weights.append(np.full(len(group), 100.0 / max(len(group), 1)))
        model = fit_logistic(np.concatenate(rows), np.concatenate(labels), np.concatenate(weights), PRIOR)
    return model


def _likeliest(olders: Sequence[Older], name: str, model: Floats) -> Floats:
    """Of each turn of a set that held, the pairs that the model finds likeliest."""
    chosen = [np.zeros((0, len(PAIR_FIGURES)))]
    for each in olders:
        if each.name == name and not each.replaced and len(each.pairs):
            order = np.argsort(-odds_of(model, each.pairs), kind="stable")
            chosen.append(each.pairs[order[:_PAIRS_OF_ONE]])
    return np.concatenate(chosen)


def _held_out(olders: Sequence[Older], fold: int) -> Iterable[tuple[Older, float]]:
    model = _fitted([each for each in olders if each.fold != fold])
    return [(each, _odds(model, each)) for each in olders if each.fold == fold]


def _odds(model: Floats, older: Older) -> float:
    """The log odds by which a turn is marked: those of its likeliest pair."""
    return float(odds_of(model, older.pairs).max()) if len(older.pairs) else -np.inf


def _report(tried: Sequence[tuple[Older, float]]) -> None:
    shown = [(each, odds) for each, odds in tried if each.rank < SHOWN_MAX]
    by_set: dict[tuple[str, bool], list[tuple[int, float]]] = defaultdict(list)
    for each, odds in shown:
        by_set[each.name, each.replaced].append((each.rank, odds))
    replaced = [odds for each, odds in shown if each.replaced]
    for (name, is_replaced), odds_of_set in sorted(by_set.items()):
        own = f", AUC of all replaced against them {auc(replaced, [odds for _, odds in odds_of_set]):.3f}"
        counts = "  ".join(
            f"{at:+.2f}: {sum(odds >= at for rank, odds in odds_of_set if rank < OLDER_MAX)}"
            for at in _THRESHOLDS
        )
        kind = "replaced" if is_replaced else "held"
        print(f"  {name:12} {kind:9} n {len(odds_of_set):4} marked at {counts}{'' if is_replaced else own}")


if __name__ == "__main__":
    main()

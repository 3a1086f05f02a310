"""Recall at k, turn and session, for one ranked list of turns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from datasets import Question

NAMES = ("turn@5", "turn@10", "turn@20", "any@5", "any@10", "all@5", "all@10", "pool")


def measure(order: Sequence[int], question: Question, sessions: Sequence[str]) -> list[float]:
    """Figures in the order of ``NAMES``; ``order`` are places in the scope, best first.

    Turn figures are the share of the evidence among the first k turns; session figures ask whether any or
    all sessions with evidence are among the first k distinct sessions; ``pool`` is the share of the evidence
    that reached the list at all.
    """
    evidence = question.evidence
    ranked_sessions = list(dict.fromkeys(sessions[at] for at in order))
    wanted = {sessions[at] for at in evidence}
    turns = [len(evidence & set(order[:k])) / len(evidence) for k in (5, 10, 20)]
    first = [wanted & set(ranked_sessions[:k]) for k in (5, 10)]
    held = [float(bool(found)) for found in first] + [float(found == wanted) for found in first]
    return [*turns, *held, len(evidence & set(order)) / len(evidence)]


def table(rows: dict[str, list[list[float]]]) -> str:
    """A table with the mean of each figure and n, one line for each name."""
    lines = [f"{'':34}" + "".join(f"{name:>9}" for name in (*NAMES, "n"))]
    for name, figures in rows.items():
        means = np.mean(figures, axis=0)
        lines.append(f"{name:34}" + "".join(f"{mean:9.3f}" for mean in means) + f"{len(figures):9d}")
    return "\n".join(lines)

"""Answers without a language model, on half of the development questions of LoCoMo and LongMemEval.

    python bench/answer.py [--recalls FILE]

Promise: of the questions that memory does not answer at least half are refused, of the others one in ten at most, and the answers
of single-fact questions (LoCoMo's category 4, LongMemEval's single sessions) hold at least 60 % of the gold answer's words. Every second
question is asked, from the first on (``--half 1``: from the second on); words of the question itself count for nothing.

With ``--recalls`` the recalls of both halves are read out of a file (``recalled.py``; it is written where there is none yet), and judged and put
into answers by the code as it stands: from which strength on there is an answer is then looked for on each half and printed for the other.
"""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from blocks import Block, held
from datasets import Question, Scope, locomo, longmemeval, unanswerable
from harness import Server, machine, milliseconds, publish, serving, temporary_folder
from lamina import limits
from lamina.answer.answering import ANSWERED_FROM, NOT_KNOWN
from lamina.answer.citing import text_of_sentences
from lamina.answer.extractive import extracted
from lamina.models.counter import WordPieceCounter
from lamina.recall.answerable import answer_strength
from quality import scope_path, written
from recalled import UNANSWERABLE, Recalled, kept_recalls, options_of

_SINGLE = ("category 4", "single-session-user", "single-session-assistant", "single-session-preference")
_SETS = ("LoCoMo", "LongMemEval")
_GOALS = {"refused of unanswerable": 0.5, "refused of answerable": 0.1, "answer words": 0.6}


def main() -> None:
    """Write, wait, ask, print, publish."""
    parser = options_of(__doc__)
    parser.add_argument("--half", type=int, choices=(0, 1), default=0, help="which half of the questions")
    options = parser.parse_args()
    if options.recalls is not None:
        _of_recalls(kept_recalls(options.recalls, options.data, options.written))
        return
    sets = {
        name: (read(options.data / name.lower()), unanswerable(options.data / name.lower()))
        for name, read in (("LoCoMo", locomo), ("LongMemEval", longmemeval))
    }
    rows: list[dict[str, Any]] = []
    with temporary_folder(options.written) as folder:
        about = machine(folder)
        reused = (folder / "lamina.db").exists()
        with serving(folder, workers=0 if reused else 1) as server:
            for name, (scopes, _) in sets.items():
                written(server, scopes, name, reused=reused)
            if not reused:
                server.wait_derived(1800)
            for name, (scopes, without) in sets.items():
                rows += _ask(server, name, scopes, without, options.half)
    figures = {name: _figures([row for row in rows if row["set"] == name]) for name in sets}
    figures["both"] = _figures(rows)
    for name, each in figures.items():
        print(name, each)
    both = figures["both"]
    publish(
        "answer",
        f"without a model, half {options.half}: refused {both['refused of unanswerable']:.2f} of {both['n_unanswerable']} unanswerable and "
        f"{both['refused of answerable']:.2f} of {both['n_answerable']} answerable questions; answer words of single-fact questions "
        f"{both['answer words']:.2f} (n={both['n_single']}); p50 {both['answer_ms']['p50']} ms",
        figures,
        {"machine": about, "sizes": {"half": options.half, "goals": _GOALS}},
    )


def _ask(
    server: Server, name: str, scopes: list[Scope], without: dict[str, list[Question]], half: int
) -> list[dict[str, Any]]:
    rows = []
    for scope in scopes:
        unanswered = without.get(scope.name, [])
        barren = {question.text for question in unanswered}
        asked = [(question, True) for question in scope.questions if question.text not in barren]
        for question, answerable in [*asked[half::2], *((each, False) for each in unanswered[half::2])]:
            began = time.perf_counter()
            told = server.call("POST", "/v1/answer", _body(scope_path(name, scope), question))
            taken = time.perf_counter() - began
            row: dict[str, Any] = {"set": name, "answerable": answerable, "kind": question.kind, "s": taken}
            row["refused"] = not told["answered"]
            if answerable:
                row["words"] = held(Block((), told["answer"]), question).words
            row["chars"] = len(told["answer"])
            rows.append(row)
    return rows


def _of_recalls(recalls: Sequence[Recalled]) -> None:
    """What is refused and what is answered of each half, at the strength that is asked for and at one that the other half chose."""
    counter = WordPieceCounter()
    halves: dict[int, list[dict[str, Any]]] = {0: [], 1: []}
    asked: Counter[tuple[str, bool]] = Counter()  # of each scope, as the server is asked
    for one in recalls:
        kind = (one.grounds.pack.scope, one.kind != UNANSWERABLE)
        if one.name not in _SETS:
            continue
        halves[asked[kind] % 2].append(_row(one, counter))
        asked[kind] += 1
    for half, rows in halves.items():
        chosen = _refusing_from(halves[1 - half])
        for named, threshold in (("as it stands", ANSWERED_FROM), ("chosen on the other half", chosen)):
            print(f"half {half}, answered from {threshold:.2f}, {named}:")
            for name in (*_SETS, "both"):
                own = [_judged(row, threshold) for row in rows if name in (row["set"], "both")]
                print(f"  {name}: {_figures(own)}")


def _row(one: Recalled, counter: WordPieceCounter) -> dict[str, Any]:
    sentences = extracted(one.asked.text, one.grounds, limits.ANSWER_TOKENS_DEFAULT, counter)
    text = text_of_sentences(sentences, one.grounds, "inline_with_markers", "\n")
    return {
        "set": one.name,
        "answerable": one.kind != UNANSWERABLE,
        "kind": one.kind,
        "strength": answer_strength(one.pool, one.plan, one.ranked, one.facts),
        "words_of": held(Block((), text), one.asked).words,
        "words_of_none": held(Block((), NOT_KNOWN), one.asked).words,
        "chars": len(text),
        "s": 0.0,
    }


def _judged(row: dict[str, Any], threshold: float) -> dict[str, Any]:
    refused = row["strength"] < threshold
    return {**row, "refused": refused, "words": row["words_of_none"] if refused else row["words_of"]}


def _refusing_from(rows: Sequence[dict[str, Any]]) -> float:
    """The highest strength below which no more of the answerable questions of both sets are refused than may be."""
    strengths = sorted(row["strength"] for row in rows if row["answerable"])
    return math.floor(100 * float(strengths[int(_GOALS["refused of answerable"] * len(strengths))])) / 100


def _body(path: str, question: Question) -> dict[str, Any]:
    asked_at = question.asked_at.isoformat().replace("+00:00", "Z")
    temporal = {"reference_date": asked_at}
    return {"scope": path, "question": question.text, "temporal": temporal, "answer_model": "extractive"}


def _figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    yes, no = ([row for row in rows if row["answerable"] is kind] for kind in (True, False))
    single = [row for row in yes if row["kind"] in _SINGLE and row["words"] is not None]
    kinds: dict[str, list[float]] = defaultdict(list)
    for row in yes:
        if row["words"] is not None:
            kinds[row["kind"]].append(row["words"])
    return {
        "n_answerable": len(yes),
        "n_unanswerable": len(no),
        "n_single": len(single),
        "refused of unanswerable": round(float(np.mean([row["refused"] for row in no])), 3),
        "refused of answerable": round(float(np.mean([row["refused"] for row in yes])), 3),
        # A refused question's answer holds none of the words, and counts.
        "answer words": round(float(np.mean([row["words"] for row in single])), 3),
        "by kind": {
            kind: [round(float(np.mean(each)), 3), len(each)] for kind, each in sorted(kinds.items())
        },
        "answer_chars_p50": int(np.median([row["chars"] for row in yes if not row["refused"]])),
        "answer_ms": milliseconds([row["s"] for row in rows]),
    }


if __name__ == "__main__":
    main()

"""Recall of gold evidence through the HTTP API, on the development halves of LoCoMo and LongMemEval.

    python bench/quality.py

Promise: turn level top 10 of at least 0.80 and any session top 5 of at least 0.94 on LoCoMo (categories 1-4), turn level
top 10 of at least 0.77 on pooled LongMemEval, with one setting. Baseline: stemmed BM25 over the same turns in the same
run. Beside them, for context blocks of 500, 1,000 and 2,000 tokens: questions whose whole evidence is inside, and the
share of the answer's words that is, of all and of those that its evidence says, of the default block, of one of up to 60 events alone, of the same turns
as plain lines, as long as they are, and of plain lines by BM25; and how well the abstain signal tells questions that have an answer from those that have none.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from blocks import BUDGETS, Block, Held, evidence_of, held, plain_block
from datasets import Question, Scope, Turn, locomo, longmemeval, unanswerable
from harness import Server, machine, publish, serving, temporary_folder
from lamina import limits
from lamina.language.tokens import analyse, content_terms, event_terms
from lamina.models.counter import WordPieceCounter
from measures import NAMES, measure

LISTED, EVENTS_ALONE = 100, 60
_ABSTAIN_TOKENS = 1000
_BLOCKS = ("default", "60 events", "60 turns, plain", "BM25")
_K1, _B = 1.2, 0.75
_SHOWN = ("turn@5", "turn@10", "turn@20", "any@5", "any@10", "all@5", "all@10")


def main() -> None:
    """Write, wait, ask, print, publish."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument(
        "--written", type=Path, help="a folder that holds what an earlier run wrote, and is kept"
    )
    parser.add_argument("--every", type=int, default=1, help="ask every n-th question only")
    options = parser.parse_args()
    sets = {
        "LoCoMo": (locomo(options.data / "locomo"), unanswerable(options.data / "locomo")),
        "LongMemEval": (
            longmemeval(options.data / "longmemeval"),
            unanswerable(options.data / "longmemeval"),
        ),
    }
    figures: dict[str, Any] = {}
    with temporary_folder(options.written) as folder:
        about = machine(folder)
        reused = (folder / "lamina.db").exists()
        for name, (scopes, without) in sets.items():
            with serving(folder) as server:
                started = time.perf_counter()
                places = written(server, scopes, name, reused=reused)
                server.wait_derived(1800)
                derived_s = time.perf_counter() - started
                figures[name] = _ask(server, scopes, places, without, name, options.every)
                figures[name] |= {"derived_s": round(derived_s, 1), "events_failed": server.failed()}
            _print(name, figures[name])
    signals = [figures[name].pop("signal") for name in sets]
    both = _abstain(
        [s for one in signals for s in one[0]], [s for one in signals for s in one[1]], signals[0][2]
    )
    figures["abstain, both sets"] = both
    print(f"abstain, both sets: {both}")
    publish(
        "quality",
        _headline(figures),
        figures,
        {"machine": about, "sizes": {"listed": LISTED, "every": options.every}},
    )


def scope_path(name: str, scope: Scope) -> str:
    return f"org:bench/user:{name.lower()}-{scope.name}"


def written(server: Server, scopes: Sequence[Scope], name: str, *, reused: bool) -> dict[str, dict[str, int]]:
    """Every turn as an event, in batches; which place in its scope each event id stands for."""
    found = {}
    for scope in scopes:
        path = scope_path(name, scope)
        items = [turn_item(turn, f"{scope.name}-{at}") for at, turn in enumerate(scope.turns)]
        for first in range(0, 0 if reused else len(items), 1000):
            body = {"scope": path, "items": items[first : first + 1000]}
            server.call("POST", "/v1/experience/bulk", body)
        found[path] = _ids(server, path)
        assert len(found[path]) == len(items), f"{path} holds {len(found[path])} of {len(items)} events"
    return found


def _ids(server: Server, path: str) -> dict[str, int]:
    """Event ids in the order of writing: the list is newest first."""
    ids: list[str] = []
    cursor = ""
    while True:
        page = server.call(
            "GET", f"/v1/events?scope={path.replace(':', '%3A').replace('/', '%2F')}&limit=1000{cursor}"
        )
        ids += [event["id"] for event in page["items"]]
        if not page.get("next_cursor"):
            return {event_id: at for at, event_id in enumerate(reversed(ids))}
        cursor = f"&cursor={page['next_cursor']}"


def turn_item(turn: Turn, key: str) -> dict[str, Any]:
    """A turn as it is written: the speaker by name where one is known, else by role and in no session.

    The longest text of LongMemEval is past what one event may hold, and is cut there.
    """
    actor: dict[str, Any] = {"id": f"user:{turn.role}", "name": turn.role.capitalize()}
    if turn.speaker:
        actor = {"id": f"user:{turn.speaker.lower()}", "name": turn.speaker, "session": turn.session}
    return {
        "modality": "conversation",
        "content": {"kind": "message", "role": turn.role, "text": turn.text[: limits.TEXT_LENGTH_MAX]},
        "context": {"observed_at": turn.observed_at.isoformat().replace("+00:00", "Z")},
        "observed_actor": actor,
        "idempotency_key": key,
    }


def _ask(
    server: Server,
    scopes: Sequence[Scope],
    places: dict[str, dict[str, int]],
    without: dict[str, list[Question]],
    name: str,
    every: int,
) -> dict[str, Any]:
    rows: dict[str, list[list[float]]] = defaultdict(list)
    blocks: dict[tuple[str, int], list[Held]] = defaultdict(list)
    counter = WordPieceCounter()
    strengths: tuple[list[float], list[float]] = ([], [])
    taken: list[float] = []
    spent: dict[tuple[str, int], list[float]] = defaultdict(list)
    threshold = 0.0
    for scope in scopes:
        path, baseline = scope_path(name, scope), _Bm25(scope)
        place = places[path]
        sessions = [turn.session for turn in scope.turns]
        unanswered = {question.text for question in without.get(scope.name, [])}
        for question in scope.questions[::every]:
            started = time.perf_counter()
            listed = _recall(server, path, question, include=["events"], budgets={
                "max_tokens": 200_000, "per_layer_limits": {"events": LISTED},
            })  # fmt: skip
            taken.append(time.perf_counter() - started)
            order = [place[event["id"]] for event in listed["layers"]["events"]]
            rows["Lamina"].append(measure(order, question, sessions))
            rows[f"  {question.kind}"].append(rows["Lamina"][-1])
            plain = baseline.order(question.text)
            rows["BM25 alone"].append(measure(plain, question, sessions))
            evidence = evidence_of(question, scope.turns)
            for budget in BUDGETS:
                before = time.perf_counter()
                pack = _recall(server, path, question, budgets={"max_tokens": budget})
                between = time.perf_counter()
                alone = _recall(server, path, question, include=["events"], budgets={
                    "max_tokens": budget, "per_layer_limits": {"events": EVENTS_ALONE},
                })  # fmt: skip
                spent["default", budget].append(between - before)
                spent["60 events", budget].append(time.perf_counter() - between)
                blocks["default", budget].append(held(_block(pack, place), question, evidence))
                blocks["60 events", budget].append(held(_block(alone, place), question, evidence))
                for label, turns in (("60 turns, plain", order[:EVENTS_ALONE]), ("BM25", plain)):
                    lines = plain_block(turns, scope.turns, counter, budget)
                    blocks[label, budget].append(held(lines, question, evidence))
                if budget == _ABSTAIN_TOKENS and question.text not in unanswered:
                    strengths[0].append(pack["abstain"]["best_score"])
                threshold = pack["abstain"]["threshold"]
        for question in without.get(scope.name, [])[::every]:
            pack = _recall(server, path, question, budgets={"max_tokens": _ABSTAIN_TOKENS})
            strengths[1].append(pack["abstain"]["best_score"])
    means = {
        label: dict(zip(NAMES, np.mean(found, axis=0).round(4).tolist(), strict=True)) | {"n": len(found)}
        for label, found in rows.items()
    }
    return {
        "evidence": means,
        "blocks": {
            label: {str(budget): _held(blocks[label, budget]) for budget in BUDGETS} for label in _BLOCKS
        },
        "abstain": _abstain(*strengths, threshold),
        "signal": (*strengths, threshold),
        "recall_ms_p50": round(1000 * float(np.median(taken)), 1),
        "block_ms_p50": {
            label: {
                str(budget): round(1000 * float(np.median(spent[label, budget])), 1) for budget in BUDGETS
            }
            for label in _BLOCKS[:2]
        },
    }


def _block(pack: Any, place: dict[str, int]) -> Block:
    return Block(
        {place.get(item_id) for item_id in pack["provenance"]["markers"].values()}, pack["context_block"]
    )


def _held(found: Sequence[Held]) -> dict[str, float]:
    words = [each.words for each in found if each.words is not None]
    told = [each.told for each in found if each.told is not None]
    return {
        "whole_evidence": round(float(np.mean([each.whole for each in found])), 4),
        "n": len(found),
        "answer_words": round(float(np.mean(words)), 4),
        "n_with_words": len(words),
        "told_words": round(float(np.mean(told)), 4),
        "n_with_told": len(told),
    }


def _recall(server: Server, path: str, question: Question, **wanted: Any) -> Any:
    asked_at = question.asked_at.isoformat().replace("+00:00", "Z")
    body = {"scope": path, "query": question.text, "temporal": {"reference_date": asked_at}, **wanted}
    return server.call("POST", "/v1/recall", body)


def _abstain(answerable: Sequence[float], unanswerable_: Sequence[float], threshold: float) -> dict[str, Any]:
    """How well the strength of evidence tells the two apart; ``balanced`` weighs both kinds the same."""
    if not unanswerable_:
        return {"n_answerable": len(answerable), "n_unanswerable": 0}
    yes, no = np.array(answerable), np.array(unanswerable_)
    above = (yes[:, None] > no[None, :]).mean() + 0.5 * (yes[:, None] == no[None, :]).mean()

    def balanced(at: float) -> float:
        return float(((yes >= at).mean() + (no < at).mean()) / 2)

    candidates = np.unique(np.concatenate([yes, no]))
    best = max(candidates, key=balanced)
    plain = float(((yes >= threshold).sum() + (no < threshold).sum()) / (len(yes) + len(no)))
    return {
        "n_answerable": len(yes),
        "n_unanswerable": len(no),
        "auc": round(float(above), 3),
        "threshold": threshold,
        "accuracy": round(plain, 3),
        "balanced": round(balanced(threshold), 3),
        "fitted_threshold": round(float(best), 3),
        "fitted_balanced": round(balanced(float(best)), 3),
        "answerable_p10_p50_p90": np.quantile(yes, [0.1, 0.5, 0.9]).round(3).tolist(),
        "unanswerable_p10_p50_p90": np.quantile(no, [0.1, 0.5, 0.9]).round(3).tolist(),
    }


class _Bm25:
    """Stemmed BM25 over day, speaker and words of each turn, as a plain text search would have it."""

    def __init__(self, scope: Scope) -> None:
        self._counts = [Counter(event_terms(t.text, t.speaker, t.observed_at)) for t in scope.turns]
        self._lengths = np.array([sum(count.values()) for count in self._counts])
        self._postings: dict[str, list[int]] = defaultdict(list)
        for at, count in enumerate(self._counts):
            for term in count:
                self._postings[term].append(at)

    def order(self, question: str) -> list[int]:
        """Places, best first; turns without any of the question's terms are left out."""
        scores: dict[int, float] = defaultdict(float)
        mean = float(self._lengths.mean())
        for term in dict.fromkeys(content_terms(analyse(question))):
            found = self._postings.get(term, [])
            rarity = math.log1p((len(self._counts) - len(found) + 0.5) / (len(found) + 0.5))
            for at in found:
                count = self._counts[at][term]
                norm = _K1 * (1 - _B + _B * self._lengths[at] / mean)
                scores[at] += rarity * count * (_K1 + 1) / (count + norm)
        return sorted(scores, key=lambda at: (-scores[at], at))[:LISTED]


def _print(name: str, found: dict[str, Any]) -> None:
    print(f"\n{name:26}" + "".join(f"{figure:>9}" for figure in (*_SHOWN, "n")))
    for label, means in found["evidence"].items():
        print(f"{label:26}" + "".join(f"{means[figure]:9.3f}" for figure in _SHOWN) + f"{means['n']:9d}")
    print(f"{'block: evidence, words, told words':36}" + "".join(f"{budget:>22}" for budget in BUDGETS))
    for label, by_budget in found["blocks"].items():
        cells = "".join(
            f"{one['whole_evidence']:8.3f} {one['answer_words']:6.3f} {one['told_words']:6.3f}"
            for one in by_budget.values()
        )
        print(f"  {label:34}{cells}")
    print(f"abstain: {json.dumps(found['abstain'])}")
    print(f"block, p50 in ms: {json.dumps(found['block_ms_p50'])}")
    print(
        f"derived in {found['derived_s']} s, {found['events_failed']} events failed, recall p50 {found['recall_ms_p50']} ms",
        flush=True,
    )


def _headline(figures: dict[str, Any]) -> str:
    parts = []
    for name in ("LoCoMo", "LongMemEval"):
        ours, plain = figures[name]["evidence"]["Lamina"], figures[name]["evidence"]["BM25 alone"]
        parts.append(
            f"{name} (n={ours['n']}): turn@10 {ours['turn@10']:.3f} (BM25 {plain['turn@10']:.3f}), session any@5 "
            f"{ours['any@5']:.3f} ({plain['any@5']:.3f}), all@5 {ours['all@5']:.3f} ({plain['all@5']:.3f}), whole "
            f"evidence in 1,000 tokens {figures[name]['blocks']['default']['1000']['whole_evidence']:.3f}"
        )
    both = figures["abstain, both sets"]
    parts.append(f"abstain AUC {both.get('auc')}, balanced {both.get('balanced')} at {both.get('threshold')}")
    return "; ".join(parts)


if __name__ == "__main__":
    main()

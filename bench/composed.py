"""What context blocks hold, worded and composed anew from kept recalls, each half of the questions by itself.

    python bench/composed.py --data DATA --written FOLDER --recalls FILE [--every N]

FOLDER holds what ``bench/quality.py --written`` wrote. What each recall has to compose a block from is kept in FILE; a second run asks nothing and
takes a minute or two, so that whoever changes how lines are worded, cut and packed can look at half a and print half b. Candidates are those of the
day of FILE. Beside whole evidence and the shares of the answer's words, of all and of those that the evidence says (told), stands the share that
the block holds of the answers to other questions of the same kind: what a block of so many words has by chance.
"""

from __future__ import annotations

import argparse
import pickle
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from starlette.testclient import TestClient

from blocks import BUDGETS, Block, Held, evidence_of, held
from datasets import Question, locomo, longmemeval
from fitting import part_of
from lamina.app import build_server
from lamina.kernel.records import Layer
from lamina.models.counter import TokenCounter, WordPieceCounter
from lamina.recall import recalling
from lamina.recall.compose import compose
from lamina.recall.lines import items_of
from lamina.recall.placing import Answers
from lamina.recall.plan import Plan
from lamina.recall.render import render_block
from lamina.settings import Settings
from lamina.store.sqlite import SqliteStore
from recalled import event_ids

OTHERS = 20
"""So many other questions tell what a block has by chance."""
_SETS = {"LoCoMo": locomo, "LongMemEval": longmemeval}
_ALONE: Mapping[str, Any] = {"include": ["events"], "per_layer_limits": {"events": 60}}


@dataclass(frozen=True, slots=True)
class Kept:
    """What the blocks of a question are composed from, by label and budget, the places of the events among it, and what its evidence says."""

    name: str
    asked: Question
    made_from: Mapping[tuple[str, int], tuple[Plan, Answers]]
    places: Mapping[str, int]
    evidence: str

    @property
    def half(self) -> str:
        """``a`` to look at, ``b`` to believe."""
        return "ab"[part_of(self.asked.text, 2)]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a block holds of what its question needs, the mean share of other answers' words, and how full it is."""

    half: str
    held: Held
    by_chance: float
    full: float


def main() -> None:
    """Ask or read, compose, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--written", type=Path)
    parser.add_argument("--recalls", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1, help="ask every n-th question only")
    options = parser.parse_args()
    if not options.recalls.exists():
        if options.written is None:
            raise SystemExit("--written is the folder to ask, where FILE is not there yet")
        asked = list(_asked(options.data, options.written, options.every))
        options.recalls.write_bytes(pickle.dumps(asked, protocol=5))
    kept: Sequence[Kept] = pickle.loads(options.recalls.read_bytes())
    counter = WordPieceCounter()
    for name in _SETS:
        own = [each for each in kept if each.name == name]
        for label in ("default", "60 events"):
            outcomes = {budget: _composed(own, label, budget, counter) for budget in BUDGETS}
            _print(f"{name}, {label}", outcomes)


def _asked(data: Path, folder: Path, every: int) -> Iterator[Kept]:
    """Both kinds of recall at each budget, as the server serves them."""
    server = build_server(Settings(data=folder, workers=0), store=SqliteStore(folder))
    web = TestClient(
        server.application, base_url="http://127.0.0.1", headers={"X-Cortex-Actor": "service:bench"}
    )
    try:
        for name, load in _SETS.items():
            for scope in load(data / name.lower()):
                path = f"org:bench/user:{name.lower()}-{scope.name}"
                place = {event_id: at for at, event_id in enumerate(event_ids(web, path))}
                for question in scope.questions[::every]:
                    made_from = {
                        (label, budget): _made_from(web, path, question, budget, wanted)
                        for budget in BUDGETS
                        for label, wanted in (("default", {}), ("60 events", _ALONE))
                    }
                    ids = {event.value.id for _, answers in made_from.values() for event in _events(answers)}
                    places = {each: place[each] for each in ids & place.keys()}
                    yield Kept(name, question, made_from, places, evidence_of(question, scope.turns))
    finally:
        server.close()


def _made_from(
    web: TestClient, scope: str, question: Question, budget: int, wanted: Mapping[str, Any]
) -> tuple[Plan, Answers]:
    kept: list[tuple[Plan, Answers]] = []

    def keeping(plan: Plan, answers: Answers, counter: TokenCounter) -> Any:
        kept.append((replace(plan, called=None), answers))  # who reads a name when it is shown
        return items_of(plan, answers, counter)

    limits = {"per_layer_limits": wanted["per_layer_limits"]} if wanted else {}
    body = {
        "scope": scope,
        "query": question.text,
        "temporal": {"reference_date": question.asked_at.isoformat().replace("+00:00", "Z")},
        "budgets": {"max_tokens": budget, **limits},
        **({"include": wanted["include"]} if wanted else {}),
    }
    with patch.object(recalling, "items_of", keeping):
        response = web.post("/v1/recall", json=body)
    if response.status_code >= 300:
        raise SystemExit(f"the recall is {response.status_code}: {response.text[:500]}")
    return kept[0]


def _events(answers: Answers) -> Iterable[Any]:
    return (*answers.values.get(Layer.EVENTS, ()), *answers.more)


def _composed(kept: Sequence[Kept], label: str, budget: int, counter: TokenCounter) -> list[Outcome]:
    found = []
    for each in kept:
        plan, answers = each.made_from[label, budget]
        items, more = items_of(plan, answers, counter)
        assert plan.block is not None, "what was asked for has a block"
        lines = compose(
            {**items, Layer.EVENTS: [*items.get(Layer.EVENTS, ()), *more]}, plan.block, plan.max_tokens
        )
        rendered = render_block(lines, "inline_with_markers")
        block = Block({each.places.get(i) for i in rendered.markers.values()}, rendered.text)
        others = [one.asked for one in kept if one.asked.kind == each.asked.kind and one.asked != each.asked]
        chance = [held(block, replace(one, text=each.asked.text)).words for one in _some(others)]
        shares = [share for share in chance if share is not None]
        by_chance = float(np.mean(shares)) if shares else 0.0
        found.append(
            Outcome(each.half, held(block, each.asked, each.evidence), by_chance, rendered.tokens / budget)
        )
    return found


def _some(questions: Sequence[Question]) -> Sequence[Question]:
    """The same ones of a list every time, from all over it."""
    return questions[:: max(1, len(questions) // OTHERS)][:OTHERS]


def _print(label: str, outcomes: Mapping[int, Sequence[Outcome]]) -> None:
    rows: dict[str, list[str]] = defaultdict(list)
    for budget, all_ in outcomes.items():
        for half in ("a", "b", "both"):
            some = [each for each in all_ if half in (each.half, "both")]
            words = [each.held.words for each in some if each.held.words is not None]
            told = [each.held.told for each in some if each.held.told is not None]
            if words:
                rows[half].append(
                    f"{budget}: whole {np.mean([each.held.whole for each in some]):.3f} words {np.mean(words):.3f} told {np.mean(told):.3f} by chance "
                    f"{np.mean([each.by_chance for each in some]):.3f} full {np.mean([each.full for each in some]):.2f} n {len(some)}/{len(words)}/{len(told)}"
                )
    for half, cells in rows.items():
        print(f"{label:24} {half:5}" + " | ".join(cells), flush=True)


if __name__ == "__main__":
    main()

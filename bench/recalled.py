"""What recalls go by, for whoever fits how they judge: pool, ranking and facts of each question of the development sets and of the story.

An answer without a model is asked for over HTTP inside this process, as a caller asks for it; what its recall hands to ``answer_strength`` is
kept, and the lines that the answer is made from. A file may keep it all, cut to the best turns of each pool, so that fits and
answers are worked out again in seconds.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from starlette.testclient import TestClient

import story
from datasets import Question, Scope, locomo, longmemeval, unanswerable
from harness import temporary_folder
from lamina.app import build_server
from lamina.kernel.scopes import Scope as Place
from lamina.models.ports import TokenRows
from lamina.recall import recalling
from lamina.recall.answerable import answer_strength
from lamina.recall.grounds import Grounds
from lamina.recall.plan import Plan
from lamina.recall.retrieve import EventPool
from lamina.recall.score import EVIDENCE_TOP, ScoredEvent, ScoredRecord
from lamina.recall.signals import Turns
from lamina.settings import Settings
from lamina.store.sqlite import SqliteStore

RANKED_MAX = 64
"""So many of the best turns are kept of a pool: more than any judgement looks at."""
UPDATE = "knowledge-update"
UNANSWERABLE = "unanswerable"


Found = tuple[EventPool, Plan, Sequence[ScoredEvent], Sequence[ScoredRecord], Grounds]


@dataclass(frozen=True, slots=True)
class Recalled:
    """A question and what its recall went by. ``group`` keeps folds apart. ``evidence`` and ``stale`` are event ids: turns that tell the
    answer, and turns that told an older one. ``grounds`` has the lines that an answer is made from."""

    name: str
    asked: Question
    kind: str
    group: str
    evidence: frozenset[str]
    stale: frozenset[str]
    pool: EventPool
    plan: Plan
    ranked: Sequence[ScoredEvent]
    facts: Sequence[ScoredRecord]
    grounds: Grounds

    def places(self, ids: frozenset[str]) -> list[int]:
        """Where among the ranked events are."""
        return [at for at, one in enumerate(self.ranked) if one.record_id in ids]


def recalled(data: Path, folder: Path, *, every: int = 1) -> Iterator[Recalled]:
    """Every recall of both development sets, over a ``folder`` that ``bench/quality.py --written`` filled."""
    store = SqliteStore(folder)
    server = build_server(Settings(data=folder, workers=0), store=store)
    web = TestClient(
        server.application, base_url="http://127.0.0.1", headers={"X-Cortex-Actor": "service:bench"}
    )
    try:
        for name, load in (("LoCoMo", locomo), ("LongMemEval", longmemeval)):
            without = unanswerable(data / name.lower())
            for scope in load(data / name.lower()):
                yield from _of_scope(web, name, scope, without.get(scope.name, []), every)
    finally:
        server.close()


def recalled_story(half: str) -> Iterator[Recalled]:
    """The recalls of a half of the story, each at its day."""
    with temporary_folder() as folder:
        for question, at in story.told(folder):
            if question["half"] != half:
                continue
            id_of = {key: event_id for event_id, key in at.key_of.items()}
            asked = Question(
                question["question"],
                datetime.fromisoformat(question["asked_at"]),
                question["kind"],
                question["id"],
                frozenset(),
                question["answer"],
            )
            yield Recalled(
                "story",
                asked,
                question["kind"],
                question["id"],
                frozenset(id_of[key] for key in question["evidence"]),
                frozenset(id_of[key] for key in question["stale"] if key in id_of),
                *ask(at.web, story.SCOPE, asked),
            )


def _of_scope(
    web: TestClient, name: str, scope: Scope, without: Sequence[Question], every: int
) -> Iterator[Recalled]:
    path = f"org:bench/user:{name.lower()}-{scope.name}"
    ids = event_ids(web, path)
    assert len(ids) == len(scope.turns), f"{path} holds {len(ids)} of {len(scope.turns)} events"
    unanswered = {question.text for question in without}
    asked = [each for each in scope.questions if each.text not in unanswered]
    for question in [*asked[::every], *without[::every]]:
        said_at = {ids[at]: scope.turns[at].observed_at for at in question.evidence}
        newest = max(said_at.values(), default=None)
        stale = (
            {i for i, at in said_at.items() if at != newest} if question.kind == UPDATE else frozenset[str]()
        )
        yield Recalled(
            name,
            question,
            question.kind,
            scope.name if name == "LoCoMo" else question.group,
            frozenset(said_at.keys() - stale),
            frozenset(stale),
            *ask(web, path, question),
        )


def asked_of(name: str, question: Question, group: str, evidence: frozenset[str], found: Found) -> Recalled:
    """What a question ``found``, of which no older answers are known."""
    return Recalled(name, question, question.kind, group, evidence, frozenset(), *found)


def ask(web: TestClient, scope: str, question: Question, as_of: str | None = None) -> Found:
    """What a question's recall goes by, now or ``as_of`` an earlier time."""
    kept: list[Any] = []

    def keeping(*given: Any) -> float:
        kept[:] = given
        return answer_strength(*given)

    def keeping_grounds(*given: Any) -> tuple[Grounds, tuple[str, ...]]:
        made = asked(*given)
        kept.append(made[0])
        return made

    asked = recalling.Recalling.grounds
    body: Mapping[str, Any] = {
        "scope": scope,
        "question": question.text,
        "temporal": {"reference_date": question.asked_at.isoformat().replace("+00:00", "Z")}
        | ({} if as_of is None else {"as_of": as_of}),
        "answer_model": "extractive",
    }
    with (
        patch.object(recalling, "answer_strength", keeping),
        patch.object(recalling.Recalling, "grounds", keeping_grounds),
    ):
        response = web.post("/v1/answer", json=body)
    if response.status_code >= 300:
        raise SystemExit(f"the answer is {response.status_code}: {response.text[:500]}")
    pool, plan, ranked, facts, grounds = kept
    return *_cut(pool, plan, ranked, facts), _bare(grounds)


def _cut(
    pool: EventPool, plan: Plan, ranked: Sequence[ScoredEvent], facts: Sequence[ScoredRecord]
) -> tuple[EventPool, Plan, Sequence[ScoredEvent], Sequence[ScoredRecord]]:
    """The best turns alone, in a pool of their own that can be written to a file, and the facts that count."""
    best = ranked[:RANKED_MAX]
    at = np.array([one.at for one in best], np.intp)
    place = {int(old): new for new, old in enumerate(at)}
    turns = pool.turns

    def moved(neighbours: Any) -> Any:
        return np.array([place.get(int(each), len(at)) for each in neighbours[at]], np.intp)

    few = EventPool(
        [pool.record_ids[each] for each in at],
        Turns(
            counts=turns.counts[at],
            lengths=turns.lengths[at],
            tokens=TokenRows.joined([]),
            cosines=turns.cosines[at],
            sessions=turns.sessions[at],
            previous=moved(turns.previous),
            following=moved(turns.following),
            named=turns.named[at],
            by_assistant=turns.by_assistant[at],
            observed_at=turns.observed_at[at],
            question_shares=turns.question_shares[at],
            self_shares=turns.self_shares[at],
        ),
        pool.pooled[at].astype(np.float16).astype(np.float32),
        pool.statistics,
        pool.persons,
        pool.encoded,
        {},
        pool.arms,
        _nobody,
        _nowhere,
        (),
        _homeless,
        pool.removals,
        pool.partial,
    )
    plan = replace(plan, called=None)  # who reads a name when it is shown
    return few, plan, [one._replace(at=new) for new, one in enumerate(best)], facts[:EVIDENCE_TOP]


def _nobody(_: str) -> tuple[str, ...]:
    return ()


def _nowhere(_: str) -> None:
    return None


def _homeless(_: Collection[str]) -> Mapping[str, Place]:
    return {}


def _bare(grounds: Grounds) -> Grounds:
    """Without what a pack says of its making."""
    provenance = grounds.pack.provenance.model_copy(update={"trail": [], "citations": {}})
    bare = {"layers": None, "context_block": "", "knowledge_subgraph": None, "provenance": provenance}
    return grounds.model_copy(update={"pack": grounds.pack.model_copy(update=bare)})


def event_ids(web: TestClient, scope: str) -> list[str]:
    """The events of a scope in the order of their writing."""
    found: list[str] = []
    cursor = ""
    while True:
        page = web.get(f"/v1/events?scope={scope}&limit=1000{cursor}").json()
        found += [event["id"] for event in page["items"]]
        if not page.get("next_cursor"):
            return found[::-1]
        cursor = f"&cursor={page['next_cursor']}"


def kept_recalls(file: Path | None, data: Path, written: Path | None) -> Sequence[Recalled]:
    """The recalls of both sets and of the half ``mended`` of the story: out of a file, or asked now and put into it."""
    return kept_in(
        file, "--recalls", written, lambda folder: [*recalled(data, folder), *recalled_story("mended")]
    )


def kept_in(
    file: Path | None, option: str, written: Path | None, ask: Callable[[Path], Sequence[Recalled]]
) -> Sequence[Recalled]:
    """The recalls of the ``file`` that an ``option`` names, or those asked now of the ``written`` folder, which are put into it."""
    if file is not None and file.exists():
        known: Sequence[Recalled] = pickle.loads(file.read_bytes())
        return known
    if written is None:
        raise SystemExit(f"--written is the folder to ask; {option} a file that an earlier run wrote")
    began = time.monotonic()
    found = ask(written)
    print(f"{len(found)} recalls in {time.monotonic() - began:.0f} s", flush=True)
    if file is not None:
        file.write_bytes(pickle.dumps(found, protocol=5))
    return found


def options_of(description: str | None) -> argparse.ArgumentParser:
    """The options of whoever reads recalls."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--written", type=Path, help="a folder that bench/quality.py --written filled")
    parser.add_argument("--recalls", type=Path, help="a file that keeps the recalls between runs")
    return parser

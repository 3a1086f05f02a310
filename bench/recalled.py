"""What recalls go by, for whoever fits how they judge: pool, ranking and facts of each question of the development sets and of the story.

A recall is asked over HTTP inside this process, as a caller asks it, and what it hands to ``answer_strength`` is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from starlette.testclient import TestClient

import story
from datasets import Question, Scope, locomo, longmemeval, unanswerable
from harness import temporary_folder
from lamina.app import build_server
from lamina.recall import recalling
from lamina.recall.answerable import answer_strength
from lamina.recall.plan import Plan
from lamina.recall.retrieve import EventPool
from lamina.recall.score import ScoredEvent, ScoredRecord
from lamina.settings import Settings
from lamina.store.sqlite import SqliteStore

TOKENS = 1000
UPDATE = "knowledge-update"
UNANSWERABLE = "unanswerable"


@dataclass(frozen=True, slots=True)
class Recalled:
    """A question and what its recall went by. ``group`` keeps folds apart. ``evidence`` and ``stale`` are event ids: turns that tell the
    answer, and turns that told an older one."""

    name: str
    kind: str
    group: str
    evidence: frozenset[str]
    stale: frozenset[str]
    pool: EventPool
    plan: Plan
    ranked: Sequence[ScoredEvent]
    facts: Sequence[ScoredRecord]

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
            yield Recalled(
                "story",
                question["kind"],
                question["id"],
                frozenset(id_of[key] for key in question["evidence"]),
                frozenset(id_of[key] for key in question["stale"] if key in id_of),
                *_ask(at.web, story.SCOPE, question["question"], question["asked_at"]),
            )


def _of_scope(
    web: TestClient, name: str, scope: Scope, without: Sequence[Question], every: int
) -> Iterator[Recalled]:
    path = f"org:bench/user:{name.lower()}-{scope.name}"
    ids = _ids(web, path)
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
            question.kind,
            scope.name if name == "LoCoMo" else question.group,
            frozenset(said_at.keys() - stale),
            frozenset(stale),
            *_ask(web, path, question.text, question.asked_at.isoformat().replace("+00:00", "Z")),
        )


def _ask(
    web: TestClient, scope: str, question: str, asked_at: str
) -> tuple[EventPool, Plan, Sequence[ScoredEvent], Sequence[ScoredRecord]]:
    kept: list[Any] = []

    def keeping(*given: Any) -> float:
        kept[:] = given
        return answer_strength(*given)

    body: Mapping[str, Any] = {
        "scope": scope,
        "query": question,
        "temporal": {"reference_date": asked_at},
        "budgets": {"max_tokens": TOKENS},
    }
    with patch.object(recalling, "answer_strength", keeping):
        response = web.post("/v1/recall", json=body)
    if response.status_code >= 300:
        raise SystemExit(f"recall answered {response.status_code}: {response.text[:500]}")
    pool, plan, ranked, facts = kept
    return pool, plan, ranked, facts


def _ids(web: TestClient, scope: str) -> list[str]:
    """The events of a scope in the order of their writing."""
    found: list[str] = []
    cursor = ""
    while True:
        page = web.get(f"/v1/events?scope={scope}&limit=1000{cursor}").json()
        found += [event["id"] for event in page["items"]]
        if not page.get("next_cursor"):
            return found[::-1]
        cursor = f"&cursor={page['next_cursor']}"

"""Questions that nobody ever answered, made without reading any: what one memory was asked, asked of another.

Three sorts, drawn with a printed seed, each beside questions with an answer that are asked of the same memories:

- *LoCoMo crossed*: a question of another conversation, the names of its speakers put as those of this one, the first by the first. Questions and
  conversations of one half never meet those of the other.
- *LongMemEval crossed*: the turns are written once more as two memories, each with the evidence of half the questions and half of the
  other turns; a question of the one is asked of the other.
- *LoCoMo early*: a question asked before the first talk that tells its answer, and, as its match, after the last.

A label is wrong where the other memory happens to hold an answer: of 42 that were read four may be. The two memories of LongMemEval share questions,
with an answer in the one and without in the other.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from starlette.testclient import TestClient

from datasets import Question, Scope, locomo, longmemeval, unanswerable
from fitting import part_of
from harness import SEED, temporary_folder
from lamina.app import build_server
from lamina.settings import Settings
from lamina.store.sqlite import SqliteStore
from lamina.worker_app import build_worker
from quality import scope_path, turn_item
from recalled import UNANSWERABLE, Recalled, ask, asked_of, event_ids

CROSSED_MAX = 200
"""Questions of each half of each sort."""
EARLIER_MIN = 150
"""A memory with fewer turns than this is not asked early: hardly anything can be found there."""
_BATCH = 1000


def crossed(data: Path, written: Path) -> Iterator[Recalled]:
    """Every recall; ``group`` is the half, "0" or "1"."""
    print(f"seed {SEED}", flush=True)
    server = build_server(Settings(data=written, workers=0), store=SqliteStore(written))
    web = TestClient(
        server.application, base_url="http://127.0.0.1", headers={"X-Cortex-Actor": "service:bench"}
    )
    try:
        scopes = locomo(data / "locomo")
        without = unanswerable(data / "locomo")
        answered = [_answered(scope, without.get(scope.name, [])) for scope in scopes]
        yield from _locomo_crossed(web, answered)
        yield from _locomo_early(web, answered)
    finally:
        server.close()
    yield from _longmemeval_crossed(data / "longmemeval")


def halves_of(scopes: Sequence[Scope]) -> tuple[list[Scope], list[Scope]]:
    """Conversations in two halves of about as many turns."""
    halves: tuple[list[Scope], list[Scope]] = ([], [])
    for scope in sorted(scopes, key=lambda each: -len(each.turns)):
        min(halves, key=lambda half: sum(len(each.turns) for each in half)).append(scope)
    return halves


def _answered(scope: Scope, without: Sequence[Question]) -> Scope:
    barren = {question.text for question in without}
    return replace(scope, questions=tuple(q for q in scope.questions if q.text not in barren))


def _locomo_crossed(web: TestClient, scopes: Sequence[Scope]) -> Iterator[Recalled]:
    for half, own in enumerate(halves_of(scopes)):
        draw = random.Random(f"{SEED} crossed {half}")
        pairs = [(q, one, other) for one in own for q in one.questions for other in own if other is not one]
        for question, one, other in draw.sample(pairs, min(CROSSED_MAX, len(pairs))):
            put = replace(
                question,
                text=_renamed(question.text, dict(zip(_speakers(one), _speakers(other), strict=True))),
                asked_at=max(turn.observed_at for turn in other.turns),
                evidence=frozenset(),
            )
            yield _barren(web, "LoCoMo crossed", scope_path("LoCoMo", other), put, half)


def _locomo_early(web: TestClient, scopes: Sequence[Scope]) -> Iterator[Recalled]:
    for half, own in enumerate(halves_of(scopes)):
        draw = random.Random(f"{SEED} early {half}")
        asked = []
        for scope in own:
            sessions = [turn.session for turn in scope.turns]
            for question in scope.questions:
                told = sorted({sessions[at] for at in question.evidence}, key=sessions.index)
                if (first := sessions.index(told[0])) >= EARLIER_MIN:
                    last = max(at for at, session in enumerate(sessions) if session == told[-1])
                    asked.append((scope, question, first, last))
        ids = {scope.name: event_ids(web, scope_path("LoCoMo", scope)) for scope in own}
        for scope, question, first, last in draw.sample(asked, min(CROSSED_MAX, len(asked))):
            path = scope_path("LoCoMo", scope)
            for until, kind in ((first - 1, UNANSWERABLE), (last, question.kind)):
                at = replace(question, asked_at=scope.turns[until].observed_at, kind=kind)
                as_of = web.get(f"/v1/events/{ids[scope.name][until]}").json()["context"]["recorded_at"]
                found = ask(web, path, at, as_of=as_of)
                evidence = frozenset(ids[scope.name][each] for each in question.evidence)
                yield asked_of("LoCoMo early", at, str(half), evidence, found)


def _longmemeval_crossed(data: Path) -> Iterator[Recalled]:
    (scope,) = longmemeval(data)
    whole = _answered(scope, unanswerable(data)[scope.name])
    with temporary_folder() as folder:
        store = SqliteStore(folder / "crossed")
        settings = Settings(data=folder / "crossed", workers=0)
        server = build_server(settings, store=store)
        web = TestClient(
            server.application, base_url="http://127.0.0.1", headers={"X-Cortex-Actor": "service:bench"}
        )
        try:
            halves = [_half_of(whole, half) for half in (0, 1)]
            for one in halves:
                _write(web, one)
            build_worker(settings, store).drain()
            for half, one in enumerate(halves):
                path = scope_path("LongMemEval", one)
                for question in one.questions:
                    yield asked_of(
                        "LongMemEval crossed", question, str(half), frozenset(), ask(web, path, question)
                    )
                for question in halves[1 - half].questions:
                    yield _barren(web, "LongMemEval crossed", path, question, half)
        finally:
            server.close()


def _half_of(scope: Scope, half: int) -> Scope:
    """A half of the questions, by their words, with the turns that tell their answers and half of those that tell none."""
    own = [q for q in scope.questions if part_of(q.text, 2) == half]
    told = {at for q in scope.questions for at in q.evidence}
    others = {at for q in scope.questions if q not in own for at in q.evidence}
    mine = {at for q in own for at in q.evidence}
    kept = [
        turn
        for at, turn in enumerate(scope.turns)
        if (at in mine and at not in others) or (at not in told and part_of(f"{at}", 2) == half)
    ]
    return Scope(f"{scope.name}-{half}", tuple(kept), tuple(q for q in own if not q.evidence & others))


def _write(web: TestClient, scope: Scope) -> None:
    items = [turn_item(turn, f"{scope.name}-{at}") for at, turn in enumerate(scope.turns)]
    for first in range(0, len(items), _BATCH):
        body = {"scope": scope_path("LongMemEval", scope), "items": items[first : first + _BATCH]}
        response = web.post("/v1/experience/bulk", json=body)
        if response.status_code >= 300:
            raise SystemExit(f"a batch is {response.status_code}: {response.text[:500]}")


def _barren(web: TestClient, name: str, path: str, question: Question, half: int) -> Recalled:
    put = replace(question, kind=UNANSWERABLE, evidence=frozenset())
    return asked_of(name, put, str(half), frozenset(), ask(web, path, put))


def _speakers(scope: Scope) -> list[str]:
    return list(dict.fromkeys(turn.speaker for turn in scope.turns))


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """Each name put as the other's, as whole words."""
    pattern = "|".join(re.escape(name) for name in names)
    return re.sub(rf"\b(?:{pattern})\b", lambda found: names[found[0]], text)

"""A story: the questions of ``examples/year``, each asked at its day, and what the default block of 1,000 tokens says of each.

    python bench/story.py

An app over a folder of its own, with the worker and a clock that goes with the story: a turn is written when it is said, and derived
before the next question. A question with an answer is right where the block matches all its patterns, no old value
stands in it as current, and the recall does not say that memory seems to hold none; one without is right where it says so. A quoted turn
that told the old value stands as current unless its line is marked (superseded, may have changed); so does a line of
another layer that matches the old value and no pattern of the answer, unless it is marked or its validity ended by that day.

Promise: 0.9 right, no old value as current. Failures are listed of the half ``mended`` alone, unless told otherwise.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from harness import ROOT, machine, publish, temporary_folder
from lamina.app import build_server
from lamina.kernel.time import Instant, from_datetime
from lamina.settings import Settings
from lamina.store.sqlite import SqliteStore
from lamina.worker_app import build_worker

STORY = ROOT / "examples" / "year"
SCOPE = "org:bench/project:year"
TOKENS = 1000
HALVES = ("mended", "held")

_LINE = re.compile(r"^- (?P<text>.*) (?P<marker>\[\d+\])$")
_SAID = re.compile(r'^(?P<who>[^"]*): "(?P<words>.*)"(?P<note>[^"]*)$')
_MARK = re.compile(r"\((?:in part )?superseded |\(may have changed")
_OVER = re.compile(r"until (\d{4}-\d\d-\d\d)|\d{4}-\d\d-\d\d to (\d{4}-\d\d-\d\d)")
_DENIAL = re.compile(r"^not: |\(contradicted|\b(?:not|no longer|never)\b")


class StoryClock:
    """Stands where the story is."""

    at: Instant = 0

    def now(self) -> Instant:
        """Mirrors ``Clock.now``."""
        return self.at


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a block: its text, and the turn that it quotes, if it quotes one."""

    text: str
    turn: str | None

    def is_marked(self, day: str) -> bool:
        """Whether it says that what it tells is over by a day, or may be."""
        quote = _SAID.match(self.text) if self.turn else None
        own = f"{quote['who']} {quote['note']}" if quote else self.text
        if _MARK.search(own):
            return True
        if self.turn:
            return False
        ends = [first or second for first, second in _OVER.findall(own)]
        return any(end <= day for end in ends) or bool(_DENIAL.search(own))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a question. ``missing`` are patterns without a match, ``stale`` lines that state an old value as current;
    ``doubted`` of the ``answering`` turns quoted are marked although they hold."""

    question: dict[str, Any]
    block: str
    answerable: bool
    strength: float
    missing: Sequence[str]
    stale: Sequence[str]
    answering: int
    doubted: int

    @property
    def withheld(self) -> bool:
        """Whether the recall says of a question with an answer that there is none."""
        return not self.answerable and self.question["kind"] != "unanswerable"

    @property
    def right(self) -> bool:
        """Whether a reader of the block would be told the truth."""
        if self.question["kind"] == "unanswerable":
            return not self.answerable
        return self.answerable and not self.missing and not self.stale


def main() -> None:
    """Tell, ask, print, publish."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--failures", choices=[*HALVES, "all", "none"], default="mended")
    parser.add_argument("--blocks", action="store_true", help="print the block of each failure listed")
    parser.add_argument("--dry", action="store_true", help="write no result")
    options = parser.parse_args()
    with temporary_folder() as folder:
        about = machine(folder)
        verdicts = list(_told_and_asked(folder))
    for each in verdicts:
        if not each.right and options.failures in (each.question["half"], "all"):
            _print_failure(each, with_block=options.blocks)
    figures = {half: _figures([v for v in verdicts if v.question["half"] == half]) for half in HALVES}
    figures["both"] = _figures(verdicts)
    for half, by_kind in figures.items():
        print(f"\n{half:14}" + "".join(f"{name:>10}" for name in by_kind["all"]))
        for kind, one in by_kind.items():
            print(f"  {kind:12}" + "".join(f"{value:>10}" for value in one.values()))
    every = figures["both"]["all"]
    headline = (
        f"{every['right']} of {every['n']} right ({every['share']:.2f}; half mended {figures['mended']['all']['share']:.2f}, "
        f"half held {figures['held']['all']['share']:.2f}); old values as current in {every['stale']}, not in the block "
        f"{every['missing']}, withheld {every['withheld']}; turns that hold marked: {every['doubted']} of {every['answering']}"
    )
    if options.dry:
        print(headline)
    else:
        publish("story", headline, figures, {"machine": about, "sizes": {"tokens": TOKENS}})


@dataclass(frozen=True, slots=True)
class Told:
    """The story until a question: where to ask, the store behind it, and the idempotency key of each event."""

    web: TestClient
    store: SqliteStore
    key_of: dict[str, str]


def told(folder: Path) -> Iterator[tuple[dict[str, Any], Told]]:
    """Every question at its day, when the turns until then are derived."""
    turns, questions = _lines("turns.jsonl"), _lines("questions.jsonl")
    clock = StoryClock()
    store = SqliteStore(folder / "year", clock=clock)
    settings = Settings(data=folder / "year", workers=0)
    server = build_server(settings, store=store, clock=clock)
    worker = build_worker(settings, store)
    web = TestClient(
        server.application, base_url="http://127.0.0.1", headers={"X-Cortex-Actor": "service:bench"}
    )
    key_of: dict[str, str] = {}
    try:
        for question in sorted(questions, key=lambda each: (_instant(each["asked_at"]), each["id"])):
            clock.at = max(clock.at, _instant(question["asked_at"]))
            while turns and _instant(turns[0]["context"]["observed_at"]) < clock.at:
                turn = turns.pop(0)
                clock.at, asked = _instant(turn["context"]["observed_at"]), clock.at
                key_of[_post(web, "/v1/experience", {"scope": SCOPE, **turn})["event_id"]] = turn[
                    "idempotency_key"
                ]
                clock.at = asked
            worker.drain()
            yield question, Told(web, store, key_of)
    finally:
        server.close()


def _told_and_asked(folder: Path) -> Iterator[Verdict]:
    for question, at in told(folder):
        body = {
            "scope": SCOPE,
            "query": question["question"],
            "temporal": {"reference_date": question["asked_at"]},
            "budgets": {"max_tokens": TOKENS},
        }
        yield _judged(question, _post(at.web, "/v1/recall", body), at.key_of)


def _judged(question: dict[str, Any], pack: dict[str, Any], key_of: dict[str, str]) -> Verdict:
    block = pack["context_block"]
    lines = list(_block_lines(block, pack["provenance"]["markers"], key_of))
    day = question["asked_at"][:10]
    answering = [line for line in lines if line.turn in question["evidence"]]
    return Verdict(
        question,
        block,
        pack["abstain"]["answerable"],
        pack["abstain"]["best_score"],
        [each for each in question["must"] if not _matches([each], block)],
        [line.text for line in lines if _states_old(line, question) and not line.is_marked(day)],
        len(answering),
        0 if question["kind"] == "time" else sum(line.is_marked(day) for line in answering),
    )


def _block_lines(block: str, markers: dict[str, str], key_of: dict[str, str]) -> Iterator[Line]:
    for text in block.splitlines():
        if (found := _LINE.match(text)) is not None:
            yield Line(found["text"], key_of.get(markers[found["marker"]]))


def _states_old(line: Line, question: dict[str, Any]) -> bool:
    if line.turn is not None:
        return line.turn in question["stale"]
    return _matches(question["not_current"], line.text) and not _matches(question["must"], line.text)


def _matches(patterns: Collection[str], text: str) -> bool:
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns)


def _figures(verdicts: Sequence[Verdict]) -> dict[str, dict[str, Any]]:
    kinds = list(
        dict.fromkeys(each.question["kind"] for each in sorted(verdicts, key=lambda v: v.question["id"]))
    )
    groups = {kind: [each for each in verdicts if each.question["kind"] == kind] for kind in kinds}
    return {name: _counted(group) for name, group in {**groups, "all": verdicts}.items()}


def _counted(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    right = sum(each.right for each in verdicts)
    return {
        "n": len(verdicts),
        "right": right,
        "share": round(right / len(verdicts), 3),
        "missing": sum(bool(each.missing) for each in verdicts),
        "stale": sum(bool(each.stale) for each in verdicts),
        "withheld": sum(each.withheld for each in verdicts),
        "answering": sum(each.answering for each in verdicts),
        "doubted": sum(each.doubted for each in verdicts),
    }


def _print_failure(verdict: Verdict, *, with_block: bool) -> None:
    question = verdict.question
    why = [f"lacks {each}" for each in verdict.missing]
    why += [f"states as current: {each}" for each in verdict.stale]
    why += ["withheld"] if verdict.withheld else []
    why += ["not withheld"] if question["kind"] == "unanswerable" else []
    print(
        f"{question['id']} {question['kind']} ({verdict.strength:.2f}) {question['question']} | {question['answer']}"
    )
    for each in why:
        print(f"    {each}")
    if with_block:
        print("\n".join(f"        {line}" for line in verdict.block.splitlines()))


def _post(web: TestClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    response = web.post(path, json=body)
    if response.status_code >= 300:
        raise SystemExit(f"{path} answered {response.status_code}: {response.text[:500]}")
    answer: dict[str, Any] = response.json()
    return answer


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (STORY / name).read_text(encoding="utf-8").splitlines()]


def _instant(text: str) -> Instant:
    return from_datetime(datetime.fromisoformat(text))


if __name__ == "__main__":
    main()

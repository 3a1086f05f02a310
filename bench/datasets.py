"""The two development sets as plain values, and their encodings kept beside them between runs."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lamina.models.minilm import NAME, MiniLmEmbedder
from lamina.models.ports import Encoded


@dataclass(frozen=True, slots=True)
class Turn:
    """One event of a scope; ``speaker`` is empty when nobody is named."""

    session: str
    speaker: str
    role: str
    observed_at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """``evidence`` are indexes of turns of the scope; ``group`` keeps folds apart; ``kind`` is for reports;
    ``asked_at`` is what "last week" counts from, ``answer`` the gold answer in words."""

    text: str
    asked_at: datetime
    kind: str
    group: str
    evidence: frozenset[int]
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """Turns in the order they were observed, and the questions asked of them."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def locomo(folder: Path) -> list[Scope]:
    """One scope a conversation; questions of categories 1-4 with evidence, asked when the newest turn was said."""
    turns, questions = _lines(folder / "turns.jsonl"), _lines(folder / "questions.jsonl")
    scopes = []
    for name in sorted({turn["conv_id"] for turn in turns}):
        own = [turn for turn in turns if turn["conv_id"] == name]
        place = {turn["dia_id"]: at for at, turn in enumerate(own)}
        newest = max(_instant(turn["datetime"]) for turn in own)
        asked = [
            Question(
                q["question"],
                newest,
                f"category {q['category']}",
                name,
                _places(place, q["evidence"]),
                str(q["answer"]),
            )
            for q in questions
            if q["conv_id"] == name and q["category"] < 5
        ]
        said = [
            Turn(str(t["session"]), t["speaker"], "user", _instant(t["datetime"]), t["text"]) for t in own
        ]
        scopes.append(Scope(name, tuple(said), tuple(q for q in asked if q.evidence)))
    return scopes


def longmemeval(folder: Path) -> list[Scope]:
    """One pooled scope; every turn is its own session. ``kind`` of a turn is not read. A question without
    a date was asked when the newest turn was said."""
    turns, questions = _lines(folder / "turns.jsonl"), _lines(folder / "questions.jsonl")
    place = {turn["id"]: at for at, turn in enumerate(turns)}
    newest = max(_instant(turn["date"]) for turn in turns)
    said = [Turn(t["id"], "", t["role"], _instant(t["date"]), t["text"]) for t in turns]
    asked = [
        Question(
            q["question"],
            _instant(q["question_date"]) if q["question_date"] else newest,
            q["question_type"],
            q["question_id"],
            _places(place, q["evidence"]),
            str(q["answer"]),
        )
        for q in questions
    ]
    return [Scope("longmemeval", tuple(said), tuple(q for q in asked if q.evidence))]


def unanswerable(folder: Path) -> dict[str, list[Question]]:
    """By scope, the questions that its turns do not answer: LoCoMo's category 5, LongMemEval's abstentions."""
    turns, questions = _lines(folder / "turns.jsonl"), _lines(folder / "questions.jsonl")
    found: dict[str, list[Question]] = defaultdict(list)
    for q in questions:
        name = q.get("conv_id", "longmemeval")
        if q.get("abstention") or q.get("category") == 5:
            said = [t.get("date") or t["datetime"] for t in turns if t.get("conv_id", "longmemeval") == name]
            asked_at = _instant(q.get("question_date") or max(said))
            found[name].append(
                Question(q["question"], asked_at, "unanswerable", q.get("question_id", name), frozenset())
            )
    return found


_KEPT = "which tokens tell"
"""What encodings of earlier releases lacked."""


def encode(texts: Sequence[str], cache: Path) -> Encoded:
    """Encodings of ``texts``, read from ``cache`` when the same texts were encoded before."""
    digest = hashlib.sha256("\0".join([NAME, _KEPT, *texts]).encode()).hexdigest()[:16]
    path = cache / f"encoded-{digest}.pickle"
    if path.exists():
        kept: Encoded = pickle.loads(path.read_bytes())
        return kept
    encoded = MiniLmEmbedder().encode(texts)
    cache.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(encoded, protocol=5))
    return encoded


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _places(place: dict[str, int], names: Sequence[str]) -> frozenset[int]:
    return frozenset(place[name] for name in names if name in place)

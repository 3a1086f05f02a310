"""The example conversation is what its page says: envelopes that the server takes, and questions it can answer."""

from __future__ import annotations

import json
from pathlib import Path

from lamina.types.envelope import Item

EXAMPLES = Path(__file__).parents[2] / "examples"


def _lines(name: str) -> list[dict]:
    return [json.loads(line) for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()]


def test_every_turn_is_an_experience_without_a_scope():
    items = [Item.model_validate(line) for line in _lines("conversation.jsonl")]
    assert len(items) == len({item.idempotency_key for item in items}) == 67


def test_turns_are_in_the_order_of_time_and_sessions_are_not_mixed():
    lines = _lines("conversation.jsonl")
    items = [Item.model_validate(line) for line in lines]
    assert items == sorted(items, key=lambda item: item.context.observed_at)
    sessions = [line["observed_actor"]["session"] for line in lines]
    assert sessions == sorted(sessions)
    assert len(set(sessions)) == 11


def test_questions_name_turns_that_exist():
    keys = {line["idempotency_key"] for line in _lines("conversation.jsonl")}
    questions = _lines("questions.jsonl")
    assert len(questions) == 25
    assert {key for question in questions for key in question["evidence"]} <= keys


def test_only_unanswerable_questions_lack_evidence():
    for question in _lines("questions.jsonl"):
        unanswerable = question["kind"] == "unanswerable"
        assert unanswerable == (question["evidence"] == []) == (question["answer"] is None)

"""One question about several turns that wait, one after the other in a conversation: each has an answer of its own.

What a turn is shown with is shown once for all of them. An answer that is not told by turns is none, and each turn is asked about by itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from lamina import limits
from lamina.kernel.canonical import digest
from lamina.kernel.events import Event, text_of
from lamina.kernel.local import to_local
from lamina.language.quarantine import quarantine_of
from lamina.models.ports import ChatMessage
from lamina.pipeline.reading import role_of
from lamina.pipeline.readings.question import (
    TOLD,
    ShownBeside,
    TurnQuestion,
    shown_in,
    sources_of,
    version_of,
)
from lamina.pipeline.readings.quoting import plain
from lamina.pipeline.readings.shape import SHARED_SCHEMA, answers_by_turn

__all__ = ["SHARED_SCHEMA", "answers_to", "hash_for", "shared_question"]

_SEVERAL: Final = (
    "\nHere you get several turns of the person that follow each other: in turns each has a number n, those without one are others' and are there to "
    "be understood by. Answer with a JSON object that has a list, turns: for each number one object of n, facts, loops and identity. A quote is of the "
    "turn with that number. What an earlier one of them opened is named in about by its text."
)


def shared_question(
    turns: Sequence[Event], conversation: Sequence[Event], shown: ShownBeside, model: str
) -> TurnQuestion:
    """What to ask a model of ``turns``, in the ``conversation`` from the first of them to the last; ``shown`` is what the first one is
    shown with."""
    numbers = {turn.id: number for number, turn in enumerate(turns, start=1)}
    told = shown_in(shown)
    told["turns"] = [
        {
            **({"n": numbers[event.id]} if event.id in numbers else {}),
            "role": role_of(event) or "user",
            "said_on": f"{to_local(event.context.observed_at, event.offset):%A %Y-%m-%d}",
            "text": plain(text_of(event.content)[: limits.LOOP_TURN_CHARS_MAX]),
        }
        for event in conversation
        if event.id in numbers or not (event.excluded or quarantine_of(event))
    ]
    sources = [*(event.id for event in conversation), *sources_of(shown)]
    return TurnQuestion(
        turns[0].scope,
        version_of(model),
        (ChatMessage("system", TOLD + _SEVERAL), ChatMessage("user", json.dumps(told, ensure_ascii=False))),
        tuple(dict.fromkeys(sources)),
    )


def hash_for(question: TurnQuestion, turn: Event) -> str:
    """The hash of the input of one turn's answer to a shared question."""
    return digest({"question": question.input_hash, "turn": turn.id})


def answers_to(text: str, turns: Sequence[Event]) -> Mapping[str, str] | None:
    """The answer to each turn, by its event, as it would be by itself; those that are none are left out. None where nothing is told by
    turns."""
    found: Mapping[int, dict[str, Any]] | None = answers_by_turn(text)  # Any: JSON
    if found is None:
        return None
    return {
        turn.id: json.dumps(found[number], ensure_ascii=False)
        for number, turn in enumerate(turns, start=1)
        if number in found
    }

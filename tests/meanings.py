"""Conversations with what a memory should have understood of them, and a model that answers as a capable one did.

The data in ``data/meaning`` was written for this project, and its README says how a loop and a fact are matched.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lamina.kernel.time import SECOND_US, Instant, instant
from modelled import Told

__all__ = ["FACTS", "Gold", "Line", "answers_of", "conversation", "gold_loops", "served"]

DATA: Final = Path(__file__).parent / "data" / "meaning"
_BETWEEN: Final = 45 * SECOND_US

FACTS: Final[dict[str, dict[str, str]]] = {
    "denise": {
        "occupation": r"florist",
        "home": r"lives in Bristol",
        "from": r"from Cork|moved from.* Cork",
        "two kids": r"children two|two kids|two children",
        "husband": r"husband Declan|married to Declan",
        "smell": r"smell",
        "Aoife": r"Aoife lives in Leeds|child Aoife|daughter Aoife",
        "name": r"name.* Denise",
    },
    "ravi": {
        "name": r"name.* Ravi",
        "occupation": r"runs platform engineering|works as .*platform engineering",
        "employer": r"works at Hafenlink|runs platform engineering at Hafenlink",
        "coffee": r"not drink coffee",
        "team": r"team's size is 12|12 people",
    },
}
"""For each durable fact of the gold a pattern over the texts of facts, which have subject and value."""


@dataclass(frozen=True, slots=True)
class Line:
    """A turn of a conversation: its number, who speaks, what is said and when, in which session."""

    number: int
    role: str
    text: str
    at: Instant
    session: str


@dataclass(frozen=True, slots=True)
class Gold:
    """A loop that is truly there, a pattern that its words match, and whether it is open at the end."""

    name: str
    pattern: re.Pattern[str]
    is_open: bool


def conversation(user: str) -> Iterator[Line]:
    """The turns of a conversation, 45 seconds apart in each of its sessions."""
    number, at, session = 0, 0, ""
    for line in (DATA / f"{user}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("S "):
            at, session = instant(line[2:].replace("Z", ":00Z")), line[2:]
        elif line[:2] in ("U:", "A:"):
            number += 1
            yield Line(number, "user" if line[0] == "U" else "assistant", line[3:], at, session)
            at += _BETWEEN


def gold_loops(user: str) -> list[Gold]:
    """The loops of a conversation."""
    with (DATA / "loops.tsv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["user"] == user]
    return [
        Gold(row["gold"], re.compile(row["pattern"], re.IGNORECASE), row["at_the_end"] == "open")
        for row in rows
    ]


def answers_of(user: str) -> dict[str, dict[str, Any]]:
    """What a capable model answered, by the words of the turn."""
    lines = (DATA / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return {each["text"]: each for each in found if each["user"] == user}


def served(users: Sequence[str]) -> Callable[[Told], str]:
    """A model that gives those answers by the turn, whatever else it is shown."""
    known = {text: answer for user in users for text, answer in answers_of(user).items()}
    nothing = {"new": [], "reinforced": [], "completed": [], "dropped": []}

    def answer(told: Told) -> str:
        given = known.get(told["turn"], {})
        parts = {"facts": [], "loops": nothing, "identity": []}
        return json.dumps({part: given.get(part, empty) for part, empty in parts.items()})

    return answer

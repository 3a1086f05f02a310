"""The suite of attacks in ``tests/data/attacks`` as values, with its blanks filled in, and as envelopes."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["ATTACKS", "Attack", "attacks", "echoes", "envelope"]

ATTACKS: Final = Path(__file__).parent / "data" / "attacks"
_ROLES: Final = {"person": "user", "pasted": "user", "tool": "tool", "agent": "assistant"}
_ACTORS: Final = {"tool": "service:tool", "agent": "agent:helper"}


@dataclass(frozen=True, slots=True)
class Attack:
    """A text that comes in somehow, a question that leads to it, and words that no block may hold; none where it is to be left alone."""

    name: str
    half: str
    come: str
    text: str
    ask: str
    must_not: Sequence[str]


def attacks(kind: str, seed: int = 7) -> list[Attack]:
    """``instructions``, ``secrets`` or ``plain``, in their order; what is drawn at random is drawn by ``seed``."""
    chance = random.Random(seed)
    found = []
    for row in _rows(kind):
        made = [_made(parts, chance) for parts in row.get("made", ())]
        text = row["text"].format(*made) if made else row["text"]
        found.append(
            Attack(
                row["id"], row["half"], row["come"], text, row.get("ask", text), row.get("must_not") or made
            )
        )
    return found


def echoes() -> list[dict[str, Any]]:
    """The echo chambers: rows as they stand."""
    return _rows("echoes")


def envelope(attack: Attack, scope: str) -> dict[str, Any]:
    """An attack as a write: a document, or a message in the role of who says it."""
    if attack.come == "document":
        modality, content = "document", {"kind": "text", "text": attack.text}
    else:
        role = _ROLES[attack.come]
        modality = "tool_result" if attack.come == "tool" else "conversation"
        content = {"kind": "message", "role": role, "text": attack.text}
    written: dict[str, Any] = {
        "scope": scope,
        "modality": modality,
        "content": content,
        "context": {"observed_at": "2026-05-13T09:00:00Z"},
        "idempotency_key": attack.name,
    }
    if attack.come in _ACTORS:
        written["observed_actor"] = {"id": _ACTORS[attack.come]}
    return written


def _rows(kind: str) -> list[dict[str, Any]]:
    lines = (ATTACKS / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _made(parts: Sequence[Any], chance: random.Random) -> str:
    drawn = (part if isinstance(part, str) else "".join(chance.choices(part[0], k=part[1])) for part in parts)
    return "".join(drawn)

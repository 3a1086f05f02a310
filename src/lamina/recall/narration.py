"""The narrative view: what a pack's lines come to when somebody tells them (seed 002, 9.1 and 10.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from lamina.kernel.operations import Call
from lamina.recall.grounds import Grounds
from lamina.recall.requests import AnswerCitation

__all__ = ["Narration", "Narrator"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Narration:
    """A text with its citations. ``teller`` is the model that worded it, or ``extractive``; ``warnings`` say what was done otherwise than
    asked; tokens are the model's own count, ``cut`` how many of its sentences no line bore out."""

    text: str
    citations: list[AnswerCitation]
    teller: str
    warnings: tuple[str, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0
    cut: int = 0


class Narrator(Protocol):
    """Tells what the lines of a pack come to."""

    def narrate(self, grounds: Grounds, call: Call) -> Narration:
        """The lines as one text, each sentence with its markers."""
        ...

"""What a context block holds of what a question needs: its whole evidence, and the words of its answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import date
from typing import NamedTuple

from datasets import Question, Turn
from lamina.language.tokens import analyse, content_terms
from lamina.models.counter import TokenCounter

BUDGETS = (500, 1000, 2000)
_DATE = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")


class Block(NamedTuple):
    """The places of the turns that a block cites, and its text."""

    places: Collection[int | None]
    text: str


class Held(NamedTuple):
    """``whole`` where all evidence is cited; ``words`` the share of the answer's words, ``told`` the share of those that the evidence says,
    None where there are none."""

    whole: bool
    words: float | None
    told: float | None


def held(block: Block, question: Question, evidence: str = "") -> Held:
    """What the block holds of what the question needs, of which ``evidence`` tells as ``evidence_of`` has it. Words of the question itself
    count for nothing."""
    wanted = set(content_terms(analyse(_with_dates(question.answer)))) - set(analyse(question.text))
    there = set(analyse(_with_dates(block.text)))
    told = wanted.intersection(analyse(_with_dates(evidence)))
    return Held(question.evidence <= set(block.places), _share(wanted, there), _share(told, there))


def evidence_of(question: Question, turns: Sequence[Turn]) -> str:
    """What the turns of its evidence say, with their days. An answer has words, too, that no turn says ("yes", or how many): a block holds these
    by chance."""
    said = [turns[at] for at in sorted(question.evidence)]
    return "\n".join(f"{turn.observed_at:%Y-%m-%d} {turn.text}" for turn in said)


def plain_block(order: Sequence[int], turns: Sequence[Turn], counter: TokenCounter, budget: int) -> Block:
    """Turns as plain lines, best first, while they fit the budget."""
    lines = [
        f'- {turns[at].observed_at:%Y-%m-%d %H:%M} {_name(turns[at])}: "{turns[at].text}"\n' for at in order
    ]
    taken = []
    for at, line, tokens in zip(order, lines, counter.count(lines), strict=True):
        if tokens <= budget:
            budget -= tokens
            taken.append((at, line))
    return Block({at for at, _ in taken}, "".join(line for _, line in taken))


def _share(wanted: Collection[str], there: Collection[str]) -> float | None:
    return sum(term in there for term in wanted) / len(wanted) if wanted else None


def _name(turn: Turn) -> str:
    return turn.speaker or turn.role.capitalize()


def _with_dates(text: str) -> str:
    """The text, with each date in figures said in words too: an answer says "7 May 2023"."""
    return _DATE.sub(_in_words, text)


def _in_words(match: re.Match[str]) -> str:
    try:
        day = date(*map(int, match.groups()))
    except ValueError:
        return match[0]
    return f"{match[0]} {day.day} {day:%B} {day.year}"

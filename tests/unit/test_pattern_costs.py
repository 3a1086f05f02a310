"""No text makes a pattern slow: four times the text costs about four times as much, whatever it repeats."""

from __future__ import annotations

import importlib
import pkgutil
import random
import re
import time
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import pytest

import lamina

_READERS: Final = ("lamina.pipeline", "lamina.language", "lamina.recall")
_CHARS: Final = 1_000
_GROWTH_MAX: Final = 8
"""Between the 4 of a pattern that goes through its text once and the 16 of one that does so from every place."""
_TRIES: Final = 5
"""The machine may be busy: what is least of so many counts."""
_PARTS: Final = (
    "a",
    "A",
    " ",
    "\t",
    "\n",
    " \n",
    "a ",
    "Ab ",
    "A.",
    "1",
    "1 ",
    "-",
    "'",
    '"',
    "(",
    "[ ",
    "{ ",
    "漢",
    ", ",
    "and ",
    "a: ",
)
_SAMPLES: Final = 8
_PARSED: Any = importlib.import_module("re._parser")


def _patterns() -> dict[str, re.Pattern[str]]:
    """Each once, by where it stands."""
    found: dict[re.Pattern[str], str] = {}
    for module in pkgutil.walk_packages(lamina.__path__, "lamina."):
        if module.name.startswith(_READERS):
            for name, value in vars(importlib.import_module(module.name)).items():
                for place, pattern in enumerate(_within(value)):
                    found.setdefault(pattern, f"{module.name.removeprefix('lamina.')}.{name}[{place}]")
    return {name: pattern for pattern, name in found.items()}


def _within(value: object) -> Iterator[re.Pattern[str]]:
    """The patterns that a module keeps: alone, in tables and in values of its own."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from _within(tuple(value.values()))
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _within(each)
    elif hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        for field in value.__dataclass_fields__:
            yield from _within(getattr(value, field, None))


def _sample(parsed: Any, chance: random.Random) -> str:
    """A text that a pattern may match, or nearly: one branch of each choice, what repeats once or twice."""
    out = ""
    for kind, held in parsed:
        name = str(kind)
        if name == "LITERAL":
            out += chr(held)
        elif name in ("IN", "ANY", "NOT_LITERAL"):
            out += _one_of(held if name == "IN" else [], chance)
        elif name == "BRANCH":
            out += _sample(chance.choice(held[1]), chance)
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            out += "".join(_sample(held[2], chance) for _ in range(max(held[0], chance.randint(0, 2))))
        elif name == "SUBPATTERN":
            out += _sample(held[-1], chance)
        elif name == "ATOMIC_GROUP":
            out += _sample(held, chance)
    return out


def _one_of(members: Any, chance: random.Random) -> str:
    letters = [chr(what) for kind, what in members if str(kind) == "LITERAL"]
    letters += [chr(what[0]) for kind, what in members if str(kind) == "RANGE"]
    blank = any("SPACE" in str(what) for kind, what in members if str(kind) == "CATEGORY")
    excludes = bool(members) and str(members[0][0]) == "NEGATE"
    return chance.choice("a A" if excludes or not (letters or blank) else [*letters, *(" " if blank else "")])


def _repeated(pattern: re.Pattern[str]) -> Iterator[str]:
    """What is repeated to try a pattern: common parts, and beginnings of what it looks for."""
    yield from _PARTS
    chance = random.Random(repr(pattern.pattern))
    parsed = _PARSED.parse(pattern.pattern, pattern.flags)
    for _ in range(_SAMPLES):
        sample = _sample(parsed, chance)
        for part in (sample, sample[: chance.randint(1, max(1, len(sample)))]):
            if part:
                yield part
                yield f"{part} a "


def _seconds(pattern: re.Pattern[str], text: str) -> float:
    started = time.process_time()
    for _ in pattern.finditer(text):
        pass
    return time.process_time() - started


@cache
def _free_s() -> float:
    """Below that, at 4,000 characters, growth is of no matter: so much, or less, is read at once. It is what the plainest
    pattern that goes on from every place costs this machine over 3,200, some 0.01 to 0.02 s."""
    plainest, text = re.compile(r"\w+!"), "a" * 3_200
    return min(_seconds(plainest, text) for _ in range(_TRIES))


PATTERNS = _patterns()
MODULES = sorted({name.rpartition(".")[0] for name in PATTERNS})


@pytest.mark.parametrize("module", MODULES)
def test_four_times_the_text_costs_a_pattern_about_four_times_as_much(module: str) -> None:
    of_it = [name for name in PATTERNS if name.rpartition(".")[0] == module]
    slow = {name: cost for name in of_it for cost in _too_much(PATTERNS[name])}
    assert not slow


def _too_much(pattern: re.Pattern[str]) -> Iterator[str]:
    """What is repeated where four times the text cost more, and how much that was."""
    for part in dict.fromkeys(_repeated(pattern)):
        text = (part * (4 * _CHARS // len(part) + 1))[: 4 * _CHARS]
        if _seconds(pattern, text[:_CHARS]) <= _free_s() / 64:
            continue  # not even growth by the cube of the length would matter
        little = much = float("inf")
        for _ in range(_TRIES):
            little = min(little, _seconds(pattern, text[:_CHARS]))
            much = min(much, _seconds(pattern, text))
            if much <= max(_free_s(), _GROWTH_MAX * little):
                break
        else:
            yield f"{part!r} over and over: {little:.4f} s, then {much:.4f} s"

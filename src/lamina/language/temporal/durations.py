"""Lengths of time ("three weeks", "an hour and a half") and recurring sets ("every other Friday", "twice a week")."""

from __future__ import annotations

from typing import NamedTuple

from lamina.language.temporal.lexicon import (
    FREQUENCIES,
    PARTS,
    UNIT_LETTERS,
    UNITS,
    VAGUE,
    WEEKDAY_PLURALS,
    WEEKDAYS,
)
from lamina.language.temporal.nodes import Node
from lamina.language.temporal.tokens import Number, TokenizedText, begun_by, cardinal, ordinal, remembered
from lamina.language.temporal.values import Grain, Period

_FRACTIONS = {"half": 0.5, "quarter": 0.25}


class Length(NamedTuple):
    """A period as read, up to ``stop``."""

    period: Period
    stop: int
    approximate: bool

    @property
    def unit(self) -> str:
        return self.period.parts[-1][1]

    @property
    def grain(self) -> Grain:
        unit = self.unit
        return unit if unit in ("second", "minute", "hour") else "day"  # type: ignore[return-value]  # both are grains


class Unit(NamedTuple):
    name: str
    stop: int


def unit_at(r: TokenizedText, i: int, *, glued: bool = False) -> Unit | None:
    """A unit of time at ``i``; a single letter only where it is glued to its number, as in ``10d``."""
    word = r.words[i]
    if word in UNITS:
        return Unit(UNITS[word], i + 1)
    if glued and word in UNIT_LETTERS and r.glued(i) and word != "m":
        return Unit(UNIT_LETTERS[word], i + 1)
    if word in ("business", "working", "work") and r.words[i + 1] in ("day", "days"):
        return Unit("business day", i + 2)
    return None


class Amount(NamedTuple):
    value: float
    stop: int
    approximate: bool


@remembered
def amount_at(r: TokenizedText, i: int) -> Amount | None:
    """How many: a number, an article, ``a couple of``, ``a few``, ``half a``, ``one and a half``."""
    word = r.words[i]
    j = r.skip(i, "a", "the") if r.words[i + 1] in ("couple", "few", "dozen", "good") else i
    j = r.skip(j, "good") if j > i else j
    if r.words[j] == "couple":
        return Amount(2, r.skip(r.skip(j + 1, "of"), "more"), False)
    if r.words[j] in VAGUE:
        return Amount(VAGUE[r.words[j]], r.skip(j + 1, "more"), True)
    if word == "half":
        k = r.skip(i + 1, "-")
        return Amount(0.5, r.skip(k, "a", "an"), False)
    if word in ("a", "an"):
        half = r.words[i + 1] == "half"
        if r.words[i + 1] == "dozen":
            return Amount(12, i + 2, False)
        return Amount(0.5 if half else 1, i + 2 if half else i + 1, False)
    number = cardinal(r, i)
    return Amount(*_with_fraction(r, number), False) if number else None


def _with_fraction(r: TokenizedText, number: Number) -> tuple[float, int]:
    """``and a half`` after a number."""
    j = number.stop
    if r.words[j] == "and":
        k = r.skip(j + 1, "a", "one")
        if r.words[k] in _FRACTIONS and r.words[k + 1] != "of":
            return number.value + _FRACTIONS[r.words[k]], k + 1
    return number.value, j


@begun_by("LENGTH")
def length_at(r: TokenizedText, i: int) -> Length | None:
    """``three weeks``, ``2 years 1 month 21 days``, ``an hour and a half``, ``3.5 years``, ``10d``."""
    found = first_part(r, i)
    if found is None:
        return None
    parts, approximate, stop = [found.period.parts[0]], found.approximate, found.stop
    while True:
        j = stop
        if r.words[j] == "and":
            k = r.skip(j + 1, "a")
            if r.words[k] in _FRACTIONS and r.words[k + 1] != "of" and r.words[k + 1] not in UNITS:
                amount, unit = parts[-1]
                parts[-1] = (amount + _FRACTIONS[r.words[k]], unit)
                stop = k + 1
                continue
        j = r.skip(r.skip(j, ","), "and")
        after = first_part(r, j) if r.words[j] not in ("a", "an") else None
        if after is None or _rank(after.unit) >= _rank(parts[-1][1]):
            break
        parts.append(after.period.parts[0])
        approximate, stop = approximate or after.approximate, after.stop
    return Length(Period(tuple(parts)), stop, approximate)


def _rank(unit: str) -> int:
    order = [
        "second", "minute", "hour", "day", "business day", "weekend", "week", "fortnight", "month",
        "quarter", "year",
    ]  # fmt: skip
    return order.index(unit) if unit in order else len(order)


def first_part(r: TokenizedText, i: int) -> Length | None:
    amount = amount_at(r, i)
    if amount is None:
        return None
    j = r.skip(amount.stop, "-", "more", "full", "whole", "long", "consecutive")
    unit = unit_at(r, j, glued=r.words[i][:1].isdigit())
    if unit is None:
        return None
    if (
        unit.name == "second"
        and r.words[i] == "a"
        and r.words[j] == "second"
        and r.words[i - 1] not in ("for", "in", "within")
    ):
        return None  # "a second chance"
    if amount.value > 1 and r.words[j] == "second":
        return None
    return Length(Period(((amount.value, unit.name),)), unit.stop, amount.approximate)


def duration_at(r: TokenizedText, i: int) -> Node | None:
    """A length of time as an expression of its own."""
    if r.words[i] in ("all", "whole") or (r.words[i] == "the" and r.words[i + 1] in ("whole", "entire")):
        j = r.skip(r.skip(r.skip(i + 1, "the"), "whole", "entire"), "long")
        unit = unit_at(r, j)
        if unit and r.words[j] not in ("second", "quarter") and not r.words[j].endswith("s"):
            return length_of(Period(((1, unit.name),)), unit.stop)
        return None
    before = r.words[i - 1]
    if r.glued(i) and r.words[i][0].isdigit() and (before.isalnum() or before in ("-", ".", "_")):
        return None  # a piece of an identifier
    length = length_at(r, i)
    return length_of(length.period, length.stop, approximate=length.approximate) if length else None


def length_of(period: Period, stop: int, *, approximate: bool = False) -> Node:
    """The node of a length of time."""
    grain = Length(period, stop, approximate).grain
    return Node(stop, "duration", grain, (), None, period, approximate, timex=period.timex)


@begun_by("SET")
def set_at(r: TokenizedText, i: int) -> Node | None:
    """A recurrence: ``every Tuesday``, ``every other day``, ``twice a week``, ``daily``, ``Friday mornings``."""
    word = r.words[i]
    if word in ("every", "each", "any"):
        return _every(r, i)
    if word in FREQUENCIES and not (word == "weekends" and r.words[i - 1] in ("the", "two", "three")):
        return _set(i + 1, FREQUENCIES[word])
    if word == "bi" and r.words[i + 1] == "-" and r.words[i + 2] in ("weekly", "monthly"):
        return _set(i + 3, "P2W" if r.words[i + 2] == "weekly" else "P2M")
    if word in WEEKDAY_PLURALS:
        return _set(i + 1, f"XXXX-WXX-{WEEKDAY_PLURALS[word] + 1}")
    if word in WEEKDAYS and r.words[i + 1] in PARTS and r.words[i + 1].endswith("s"):
        return _set(i + 2, f"XXXX-WXX-{WEEKDAYS[word] + 1}{part_timex(r.words[i + 1])}")
    return _times_per(r, i)


def part_timex(part: str) -> str:
    return {"m": "TMO", "a": "TAF", "e": "TEV", "n": "TNI", "l": "TMEL", "d": "TDT"}[part[0]]


def _set(stop: int, timex: str) -> Node:
    return Node(stop, "set", "day", timex=timex)


def _every(r: TokenizedText, i: int) -> Node | None:
    j, factor = i + 1, 1.0
    if r.words[j] in ("other", "second"):
        j, factor = j + 1, 2.0
    elif r.words[j] == "single":
        j += 1
    elif (nth := ordinal(r, j)) or (nth := cardinal(r, j)):
        j, factor = nth.stop, nth.value
    elif r.words[j] in ("few", "couple"):
        j, factor = r.skip(j + 1, "of"), 3.0 if r.words[j] == "few" else 2.0
    word = r.words[j]
    if word in WEEKDAYS or word in WEEKDAY_PLURALS:
        day = WEEKDAYS.get(word, WEEKDAY_PLURALS.get(word, 0))
        part = part_timex(r.words[j + 1]) if r.words[j + 1] in PARTS else ""
        return _set(j + 2 if part else j + 1, f"XXXX-WXX-{day + 1}{part}")
    if word in PARTS:
        return _set(j + 1, part_timex(word))
    unit = unit_at(r, j)
    if unit is None or (r.words[i] == "any" and unit.name in ("second", "minute")):
        return None
    return _set(unit.stop, Period(((factor, unit.name),)).timex)


def _times_per(r: TokenizedText, i: int) -> Node | None:
    """``once a week``, ``three times a month``, ``one a day``."""
    if r.words[i] in ("once", "twice"):
        j = i + 1
    elif (count := amount_at(r, i)) and r.words[count.stop] in ("time", "times"):
        j = count.stop + 1
    elif r.words[i] == "one" and r.words[i + 1] == "a":
        j = i + 1
    else:
        return None
    if r.words[j] not in ("a", "an", "per", "every", "each"):
        return None
    length = length_at(r, j + 1) if r.words[j] in ("every", "each") else None
    unit = unit_at(r, j + 1)
    if length:
        return _set(length.stop, length.period.timex)
    return _set(unit.stop, Period(((1, unit.name),)).timex) if unit else None

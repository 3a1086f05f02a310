"""Times of day: "3pm", "half past seven", "5:30 in the evening", "this morning", "from 5 to 6pm".

An hour from 1 to 12 without am, pm or a part of the day has two readings. Morning is 8 to 12, afternoon 12 to 16,
evening 16 to 20 and night 20 to 24, as TIMEX annotators count them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from lamina.language.tables import table
from lamina.language.temporal.durations import length_at
from lamina.language.temporal.lexicon import ABOUT, MEALS, ONES, PARTS, TENS
from lamina.language.temporal.tokens import TokenizedText, begun_by, below_hundred

_TABLE = table(__name__)
HALF_DAY = 43_200
DAY = 86_400


@dataclass(frozen=True, slots=True)
class Hours:
    """Seconds of the day: the readings of an instant (``ends`` is ``None``) or of a stretch, pairwise."""

    stop: int
    starts: tuple[int, ...]
    ends: tuple[int, ...] | None = None
    part: str = ""  # the part of the day, where one was named
    approximate: bool = False
    bare: bool = False  # a number alone: an hour only beside a date, "at" or another time
    stated_range: bool = False


_CLOCK = _TABLE.pattern("clock", 0)
_COMPACT = re.compile(r"([01][0-9]|2[0-3])([0-5][0-9])(?:\s?(am|pm))?(?![0-9]|[./:][0-9])")
_WORD_MERIDIEM = re.compile(r"(a|p)\s?\.?\s?m\b\s?\.?")


def _readings(hour: int, seconds: int, meridiem: str) -> tuple[int, ...] | None:
    if hour > 24 or (hour == 24 and seconds):
        return None
    if meridiem == "ampm":
        return (hour % 12 * 3600 + seconds, hour % 12 * 3600 + seconds + HALF_DAY)
    if meridiem.startswith("a") and hour <= 12:
        return (hour % 12 * 3600 + seconds,)
    if meridiem.startswith("p") and hour <= 12:
        return (hour % 12 * 3600 + seconds + HALF_DAY,)
    if hour > 12 or hour == 0 or meridiem:
        return (hour % 24 * 3600 + seconds,)
    if hour == 12:
        return (HALF_DAY + seconds, seconds)
    return (hour * 3600 + seconds, hour * 3600 + seconds + HALF_DAY)


def _digits(r: TokenizedText, i: int) -> Hours | None:
    if not r.words[i].isdigit() or (r.glued(i) and r.words[i - 1] in (".", ":", "$", "#", "/", "+", ",")):
        return None
    found = r.match(_COMPACT, i) if len(r.words[i]) == 4 else None
    if found:
        match, stop = found
        readings = _readings(
            int(match[1]), int(match[2]) * 60, match[3] if match[3] and int(match[1]) <= 12 else "24"
        )
        return Hours(stop, readings, bare=not match[3]) if readings else None
    found = r.match(_CLOCK, i)
    if found is None:
        return None
    match, stop = found
    minute = int(match[2] or match[4] or match[5] or 0)
    second = int(match[3] or 0)
    meridiem = re.sub(r"[\s.]", "", match[6] or "")
    if (
        minute > 59
        or second > 59
        or (match[6] and meridiem in ("a", "p") and r.words[stop - 1] in ("a", "p") and not r.glued(stop - 1))
    ):
        return None
    if match[1].startswith("0") and match[2] and not meridiem:
        meridiem = "24" if int(match[1]) == 0 else ""
    readings = _readings(int(match[1]), minute * 60 + second, meridiem)
    if readings is None:
        return None
    suffix = match[6] or ""
    if suffix.rstrip().endswith(".") and r.words[stop] == "" and "." not in suffix[:-1]:
        stop -= 1  # the full stop ends the sentence
    whole = stop
    if not match[6] and (after := _oclock(r, whole)) > whole:
        return Hours(after, readings)
    return Hours(whole, readings, bare=not meridiem and not match[2] and match[5] is None)


def _oclock(r: TokenizedText, i: int) -> int:
    if r.words[i] == "oclock":
        return i + 1
    if r.words[i] == "o" and r.words[i + 1] == "'" and r.words[i + 2] == "clock":
        return i + 3
    return i


def _words(r: TokenizedText, i: int) -> Hours | None:
    """``five thirty``, ``six forty-three``, ``nine a m``, ``seven o'clock``."""
    hour = ONES.get(r.words[i], 0)
    if not 1 <= hour <= 12:
        return None
    j, minute = i + 1, 0
    k = r.skip(j, "-")
    if r.words[k] in TENS or ONES.get(r.words[k], 0) >= 10:
        found = below_hundred(r, k)
        if found and found.value < 60:
            j, minute = (
                r.skip(found.stop, "minutes") if r.words[i - 1] == "at" else found.stop,
                int(found.value),
            )
    if match := r.match(_WORD_MERIDIEM, j):
        stop = match[1]
        if r.words[stop - 1] == "." and r.words[stop - 2] == "m" and r.glued(stop - 1):
            stop -= 1
        return Hours(stop, _readings(hour, minute * 60, match[0].group()[0]) or ())
    after = _oclock(r, j)
    return Hours(after, _readings(hour, minute * 60, "") or (), bare=after == j)


def _past_or_to(r: TokenizedText, i: int) -> Hours | None:
    """``half past seven``, ``quarter to 5``, ``20 min past eight``."""
    j = r.skip(i, "a")
    if r.words[j] == "half":
        minutes, j = 30, j + 1
    elif r.words[j] == "quarter":
        minutes, j = 15, j + 1
    else:
        number = below_hundred(r, j)
        if number is None and r.words[j].isdigit() and len(r.words[j]) <= 2:
            number = below_hundred(r, j) or None
            minutes, j = int(r.words[j]), j + 1
        elif number:
            minutes, j = int(number.value), number.stop
        else:
            return None
        j = r.skip(j, "minutes", "minute", "min", "mins")
    sign = {"past": 1, "after": 1, "to": -1, "before": -1}.get(r.words[j], 0)
    if (
        not sign
        or not 0 < minutes < 60
        or (
            r.words[j] in ("after", "before", "to")
            and r.words[i] not in ("half", "quarter", "a")
            and r.words[j - 1][:3] != "min"
        )
    ):
        return None
    hour = _digits(r, j + 1) or _words(r, j + 1)
    if hour is None or hour.ends is not None:
        return None
    return replace(hour, starts=tuple((s + sign * minutes * 60) % DAY for s in hour.starts), bare=False)


_NAMED = {"noon": 12, "midday": 12, "noonish": 12, "midnight": 0}


@begun_by("CLOCK")
def clock_at(r: TokenizedText, i: int) -> Hours | None:
    """An instant of the day, with the part of the day that follows it."""
    rough = r.words[i] in ABOUT
    j = r.skip(i, *ABOUT) if rough else i
    if r.words[j] == "~":
        rough, j = True, j + 1
    if r.words[j] in _NAMED:
        return Hours(j + 1, (_NAMED[r.words[j]] * 3600,), approximate=rough)
    if r.words[j] == "mid" and r.words[r.skip(j + 1, "-")] == "night":
        return Hours(r.skip(j + 1, "-") + 1, (0,))
    if r.words[j] == "12" and r.words[j + 1] in ("noon", "midnight"):
        return Hours(j + 2, (_NAMED[r.words[j + 1]] * 3600,))
    found = _past_or_to(r, j) or _digits(r, j) or _words(r, j)
    if found is None:
        return None
    k = r.skip(r.skip(r.skip(found.stop, ","), "in"), "the", "this")
    k = r.skip(r.skip(k, "at"), "early", "late")
    part = r.words[k]
    loose = found.bare and r.words[k - 1] == "this" and r.words[i - 1] not in ("at", "by")
    if part in PARTS and not part.endswith("s") and (k > found.stop or not found.bare) and not loose:
        found = in_part(replace(found, stop=k + 1, bare=False), part)
    return replace(found, approximate=True) if rough else found


def in_part(hours: Hours, part: str) -> Hours:
    """The readings that fall into a part of the day: "7 in the evening" is 19:00, "1 at night" 01:00."""
    if len(hours.starts) < 2:
        return replace(hours, part=part)
    if part.startswith("morning"):
        keep = min(hours.starts)
    elif part.startswith("night"):
        late = [s for s in hours.starts if s >= 18 * 3600]
        keep = late[0] if late else min(hours.starts)
    else:
        keep = max(hours.starts)
    place = hours.starts.index(keep)
    ends = (hours.ends[place],) if hours.ends else None
    return replace(hours, starts=(keep,), ends=ends, part=part)


@begun_by("PART_OF_DAY")
def part_at(r: TokenizedText, i: int) -> Hours | None:
    """``in the morning``, ``late afternoon``, ``early in the evening``, ``at lunch``."""
    j = r.skip(r.skip(i, "in", "at", "during"), "the", "this")
    edge = ""
    if r.words[j] in ("early", "late", "later", "earlier"):
        edge = "early" if r.words[j].startswith("ear") else "late"
        j = r.skip(r.skip(j + 1, "in"), "the")
    word = r.words[j]
    if word in MEALS and r.words[i] in ("at", "after", "before", "during"):
        start, end = MEALS[word]
        return Hours(j + 1, (start * 3600,), (end * 3600,), part=word)
    if word == "night" and r.words[j + 1] == "-" and r.words[j + 2] == "time":
        return Hours(j + 3, (0,), (8 * 3600,), part="night")
    if word not in PARTS or word.endswith("s") or r.words[i - 1] in ("good", "every", "each"):
        return None
    if j == i and r.words[i - 1] not in ("one", "1") and {r.words[i - 1], r.words[i - 2]} & {"a", "an"}:
        return None  # "a memorable night"
    start, end = PARTS[word]
    if edge:
        middle = (start + end) / 2
        start, end = (start, middle) if edge == "early" else (middle, end)  # type: ignore[assignment]  # half hours are exact
    hours = Hours(j + 1, (int(start * 3600),), (int(end * 3600),), part=word)
    k = r.skip(hours.stop, ",")
    k = r.skip(k, "at", *ABOUT)
    clock = clock_at(r, k) if k > hours.stop or r.words[k].isdigit() or r.words[k] in ONES else None
    if clock and not (clock.bare and k == hours.stop):
        return in_part(replace(clock, bare=False), word)
    return hours


_JOINERS = _TABLE.words("joiners")


@begun_by("HOURS")
def hours_at(r: TokenizedText, i: int) -> Hours | None:
    """A stretch between two times of day, ``from 5 to 6pm``, ``9-10:30``, ``from 10am for 3 hours``."""
    j = r.skip(r.skip(i, "at"), "from", "between")
    opened = r.words[j - 1] if j > i else ""
    left = clock_at(r, j)
    if left is None:
        return _for_then_from(r, i)
    k = left.stop
    if r.words[k] == "for" and (length := length_at(r, k + 1)) and length.grain != "day":
        ends = tuple(s + int(length.period.seconds) for s in left.starts)
        return Hours(length.stop, left.starts, ends, stated_range=True, bare=left.bare and not opened)
    if r.words[k] not in _JOINERS and not (opened == "between" and r.words[k] == "and"):
        return None
    right = clock_at(r, k + 1)
    if right is None:
        return None
    joined = _join(left, right)
    years = left.bare and right.bare and len(r.words[j]) == 4 and r.words[j] >= "1900"
    bare = left.bare and right.bare and (years or opened not in ("from", "between"))
    return replace(joined, bare=bare) if joined else None


def _for_then_from(r: TokenizedText, i: int) -> Hours | None:
    if r.words[i] != "for":
        return None
    length = length_at(r, i + 1)
    if length is None or length.grain == "day" or r.words[length.stop] != "from":
        return None
    left = clock_at(r, length.stop + 1)
    if left is None:
        return None
    ends = tuple(s + int(length.period.seconds) for s in left.starts)
    return Hours(left.stop, left.starts, ends, stated_range=True)


def _join(left: Hours, right: Hours) -> Hours | None:
    """Pair the readings: an end that is sure decides the other, two unsure ones stay in the same half of the day."""
    part = right.part or left.part
    rough = left.approximate or right.approximate
    if len(right.starts) == 1:
        end = right.starts[0] or DAY
        before = [s for s in left.starts if s < end]
        if left.stop and len(left.starts) == 2 and right.starts[0] >= HALF_DAY and not before:
            before = [left.starts[0]]
        start = before[-1] if before else left.starts[0]
        return Hours(
            right.stop, (start,), (end if end > start else end + DAY,), part, rough, stated_range=True
        )
    if len(left.starts) == 1:
        start = left.starts[0]
        later = [s for s in sorted(right.starts) if s > start]
        end = later[0] if later else min(right.starts) + DAY
        return Hours(right.stop, (start,), (end,), part, rough, stated_range=True)
    starts = tuple(sorted(left.starts))
    ends = []
    for start in starts:
        later = [s for s in sorted(right.starts) if s > start]
        ends.append(later[0] if later else min(right.starts) + DAY)
    return Hours(right.stop, starts, tuple(ends), part, rough, stated_range=True)

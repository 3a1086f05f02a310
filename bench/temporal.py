"""How well time expressions are found and resolved, on two public test collections.

    python bench/temporal.py --data DIR [--failures N] [--type daterange]

``DIR`` holds ``recognizers_en_datetime_dev.json`` (Recognizers-Text DateTimeModel) and ``ctparse_en_dev.json``
(ctparse). A row counts the gold expressions of one type: those with exactly our span, those that one of ours overlaps,
and those whose value is right, that is, an overlapping expression one of whose readings equals one of the listed values.
``chosen`` asks the same of the single reading that we would pick. Expressions without a listed value (summers, sets) are
compared by TIMEX where they are sets and otherwise left out of the value columns. ``false`` is the number of ours that
overlap no gold expression.

Conventions that differ are translated here and counted as right: a stated range of ours includes its last unit, theirs
names that unit's start; their nights end at 23:59:59 and ours at midnight.
Dates without a time are compared as dates. ctparse is a European collection and is read day first.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lamina.language.temporal import TemporalMatch, Window, find_times

TYPES = ("date", "datetime", "daterange", "datetimerange", "time", "timerange", "duration", "set")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--failures", type=int, default=0, help="print this many failures")
    parser.add_argument("--type", default="", help="only failures of this type")
    arguments = parser.parse_args()
    recognizers(arguments.data, arguments.failures, arguments.type)
    ctparse(arguments.data, arguments.failures if not arguments.type else 0)
    speed(arguments.data)


def recognizers(data: Path, failures: int, only: str) -> None:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for case in json.loads((data / "recognizers_en_datetime_dev.json").read_text()):
        stated = (case.get("Context") or {}).get("ReferenceDateTime")
        reference = (
            datetime.fromisoformat(stated[:19]).replace(tzinfo=UTC)
            if stated
            else datetime(2020, 1, 1, tzinfo=UTC)
        )
        text = case["Input"]
        ours = find_times(text, reference)
        gold = [
            (g, *span_of(text, g)) for g in case["Results"] if g.get("TypeName", "").startswith("datetimeV2.")
        ]
        for entry, start, end in gold:
            kind = entry["TypeName"].removeprefix("datetimeV2.")
            overlapping = [m for m in ours if m.start < end and start < m.end]
            values = (entry.get("Resolution") or {}).get("values", [])
            row = counts[kind]
            row["n"] += 1
            row["exact"] += any((m.start, m.end) == (start, end) for m in overlapping)
            row["overlap"] += bool(overlapping)
            comparable = [v for v in values if kind == "set" or v.get("value") != "not resolved"]
            if not comparable:
                continue
            row["valued"] += 1
            right = any(agrees(m, v, m.readings) for m in overlapping for v in comparable)
            row["right"] += right
            row["chosen"] += any(
                agrees(m, v, (Window(m.earliest, m.latest),)) for m in overlapping for v in comparable
            )
            if not right and failures and only in ("", kind):
                failures -= 1
                print(
                    f"{kind:14} {text!r} {reference:%Y-%m-%d %a}\n   gold {entry['Text']!r} {values}\n   ours",
                    shown(overlapping),
                )
        for match in ours:
            if not any(match.start < end and start < match.end for _, start, end in gold):
                counts["(no gold)"]["false"] += 1
                if failures and only in ("", "false"):
                    failures -= 1
                    print("false          ", repr(text), "\n   ours", shown([match]))
    table("Recognizers-Text", counts)


def span_of(text: str, entry: dict[str, Any]) -> tuple[int, int]:
    if "Start" in entry:
        return entry["Start"], entry.get("End", entry.get("Start", 0) + len(entry["Text"]) - 1) + 1
    start = text.lower().find(entry["Text"].lower())
    return start, start + len(entry["Text"])


def shown(matches: list[TemporalMatch]) -> str:
    return "; ".join(
        f"{m.text!r} {m.kind} {m.timex} {[(str(w.valid_from)[:19], str(w.valid_to)[:19]) for w in m.readings]}"
        for m in matches
    )


def agrees(match: TemporalMatch, value: dict[str, str], readings: tuple[Window, ...]) -> bool:
    kind = value["type"]
    if kind == "set":
        return match.timex == value["timex"]
    if kind == "duration":
        return (
            match.kind == "duration"
            and match.duration is not None
            and str(round(match.duration.seconds)) == value["value"]
        )
    return any(window_agrees(match, w, value) for w in readings)


def window_agrees(match: TemporalMatch, window: Window, value: dict[str, str]) -> bool:
    kind = (
        value["type"] if "value" not in value else value["type"].removesuffix("range")
    )  # "around 1pm" has one value
    if kind in ("date", "datetime", "time"):
        if kind not in match.kind:
            return (
                window.valid_to is not None
                and kind == "datetime"
                and ends_day(window.valid_to, value["value"])
            )
        return window.valid_from is not None and told(window.valid_from, kind) == value["value"]
    if "range" not in match.kind:
        return False
    grain = kind.removesuffix("range")
    low, high = value.get("start"), value.get("end")
    if (low is None) != (window.valid_from is None) or (high is None) != (window.valid_to is None):
        return False
    if window.valid_from and told(window.valid_from, grain) != low:
        return False
    return window.valid_to is None or any(
        told(edge, grain) == high for edge in last_edges(match, window.valid_to, grain)
    )


def last_edges(match: TemporalMatch, end: datetime, grain: str) -> list[datetime]:
    """Our end, and the same end in their convention."""
    edges = [end, end - timedelta(seconds=1)] if grain != "date" else [end]
    if (match.timex or "").startswith("(") and grain == "date":
        last = end - timedelta(days=1)
        edges.append(
            last.replace(day=1, month=1)
            if match.grain == "year"
            else last.replace(day=1)
            if match.grain == "month"
            else last
        )
    return edges


def ends_day(end: datetime, value: str) -> bool:
    return told(end - timedelta(seconds=1), "datetime") == value


def told(moment: datetime, kind: str) -> str:
    return moment.strftime({"date": "%Y-%m-%d", "time": "%H:%M:%S"}.get(kind, "%Y-%m-%d %H:%M:%S"))


_GOLD_TIME = re.compile(r"([\dX]+)-([\dX]+)-([\dX]+) ([\dX]+):([\dX]+) \(([^/]+)/([^)]+)\)")


def ctparse(data: Path, failures: int) -> None:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for case in json.loads((data / "ctparse_en_dev.json").read_text()):
        kind = case["gold_parse"].split("[")[0].lower()
        reference = datetime.fromisoformat(case["ref_time"]).replace(tzinfo=UTC)
        ours = find_times(case["text"], reference, day_first=True)
        body = case["gold_parse"].split("{", 1)[1].rstrip("}")
        points = [None if p == "None" else _GOLD_TIME.match(p) for p in re.split(r"(?<=\)) - ", body)]
        right = any(ctparse_agrees(m, kind, points, body) for m in ours)
        row = counts[kind]
        row["n"] += 1
        row["valued"] += 1
        row["overlap"] += bool(ours)
        row["exact"] += any(m.end - m.start >= len(case["text"]) - 3 for m in ours)
        row["right"] += right
        if not right and failures:
            failures -= 1
            print(f"ctparse {case['text']!r} {reference:%Y-%m-%d %a} {body}\n   ours", shown(ours))
    table("ctparse, day first", counts)


def ctparse_agrees(match: TemporalMatch, kind: str, points: list[re.Match[str] | None], body: str) -> bool:
    if kind == "duration":
        return match.duration is not None and body.split()[0] == f"{match.duration.parts[0][0]:g}"
    for window in match.readings:
        if kind == "time":
            if points[0] and window.valid_from and point_agrees(window.valid_from, points[0]):
                return True
            continue
        low, high = points[0], points[1] if len(points) > 1 else None
        if (high is None) != (window.valid_to is None) or window.valid_from is None or low is None:
            continue
        ends = [] if window.valid_to is None else [window.valid_to, window.valid_to - timedelta(seconds=1)]
        if point_agrees(window.valid_from, low) and (
            high is None or any(point_agrees(end, high) for end in ends)
        ):
            return True
    return False


def point_agrees(moment: datetime, gold: re.Match[str]) -> bool:
    fields = (moment.year, moment.month, moment.day, moment.hour, moment.minute)
    return all("X" in said or int(said) == ours for said, ours in zip(gold.groups()[:5], fields, strict=True))


def table(title: str, counts: dict[str, Counter[str]]) -> None:
    print(
        f"\n{title}\n{'type':14}{'n':>5}{'exact':>8}{'overlap':>9}{'valued':>8}{'right':>7}{'':>8}{'chosen':>8}{'false':>7}"
    )
    total: Counter[str] = Counter()
    for kind in sorted(counts, key=lambda k: TYPES.index(k) if k in TYPES else 99):
        row = counts[kind]
        total.update(row)
        print_row(kind, row)
    print_row("all", total)


def print_row(name: str, row: Counter[str]) -> None:
    share = f"{100 * row['right'] / row['valued']:.1f} %" if row["valued"] else ""
    print(
        f"{name:14}{row['n']:5}{row['exact']:8}{row['overlap']:9}{row['valued']:8}{row['right']:7}{share:>8}{row['chosen']:8}{row['false']:7}"
    )


def speed(data: Path) -> None:
    """Microseconds per text: the collection's turns, and chatter without a date; the best of five rounds."""
    reference = datetime(2023, 5, 17, 10, 30, tzinfo=UTC)
    chatter = [
        "Haha, that sounds lovely! I really think you should go for it, and tell me how it goes with the new place."
    ]
    turns = [c["Input"] for c in json.loads((data / "recognizers_en_datetime_dev.json").read_text())]
    turns = [t for t in turns if 20 < len(t) < 200 and find_times(t, reference)]
    for name, texts, rounds in (("chatter", chatter * 1000, 5), ("turns with a date", turns, 5)):
        best: list[float] = []
        for _ in range(rounds):
            times = []
            for text in texts:
                begun = time.perf_counter()
                find_times(text, reference)
                times.append((time.perf_counter() - begun) * 1e6)
            best = times if not best else [min(a, b) for a, b in zip(best, times, strict=True)]
        print(
            f"speed, {name}: median {statistics.median(best):.1f} us, p95 {statistics.quantiles(best, n=20)[-1]:.1f} us ({len(texts)} texts)"
        )


if __name__ == "__main__":
    main()

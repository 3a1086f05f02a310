"""What ``lamina recall`` prints: the context, the source of each of its lines, and whether it holds the answer.

People see the best of a pack; a program, and a model, get all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from rich.console import Console
from rich.text import Text

from lamina.cli.show import MARKER, console, context, table
from lamina.kernel.local import day_text, offset_of_or_none
from lamina.kernel.views import EventView
from lamina.types.recall import Pack

__all__ = ["best", "holds_nothing", "nothing_by", "nothing_found", "show_pack"]

SHOWN_MAX: Final = 12
SHOWN_FLOOR: Final = 0.2
"""What scores less than this share of the best is not shown either."""

_IN_BLOCK: Final = {
    "beliefs": "belief",
    "facts": "fact",
    "episodes": "episode",
    "events": "event",
    "understanding": "concept",
}
_LAST_MARKER = re.compile(r"(\[\d+\])\s*$")


def holds_nothing(pack: Pack) -> bool:
    """Whether no layer brought anything."""
    return not any(getattr(pack.layers, layer) for layer in _IN_BLOCK)


def nothing_found(pack: Pack, *, waits: bool) -> None:
    """What there is to say of an empty pack: where was looked, and whether something there waits for the worker."""
    around = {"holistic": " and the scopes above it", "descend": " and the scopes below it"}
    walked = around.get(pack.view, "") if len(pack.scopes_traversed or ()) > 1 else ""
    console().print(f"Nothing was found in {pack.scope}{walked}.", style="yellow")
    console().print("--scope names another memory; capsules and memory files are in app:relay.", style="dim")
    if waits:
        console().print(
            "What was stored there last waits to be derived: is a worker running? lamina doctor looks for it.",
            style="yellow",
        )


def nothing_by(as_of: str) -> None:
    """One line in the place of a pack that is empty since there was no memory yet."""
    console().print(f"Nothing was recorded by {as_of}.", style="yellow")


def show_pack(pack: Pack, *, explain: bool, whole: bool) -> None:
    """The best of a pack, or the whole of it; a doubt whether it holds the answer comes first.

    Scores are relative to the best of the pack, so that where the best is in doubt none is shown.
    """
    out = console()
    sources = _sources(pack)
    shown = set(sources) if whole else best({marker: score for marker, (_, score, _, _) in sources.items()})
    if pack.abstain.answerable is False:
        out.print(f"Memory may not hold the answer: {_evidence(pack)}.", style="yellow")
        out.print()
    context(out, pack.context_block if whole else _cut(pack.context_block, set(sources) - shown))
    sure = pack.abstain.is_near
    rows: list[list[str | Text]] = [
        [
            Text(marker, style="cyan"),
            kind,
            *([f"{score:.2f}"] if sure else []),
            since,
            record_id,
        ]
        for marker, (kind, score, since, record_id) in sources.items()
        if marker in shown
    ]
    if rows:
        out.print()
        out.print(table("", "source", *(["score"] if sure else []), "since", "id", rows=rows))
    if len(shown) < len(sources):
        out.print(f"{len(sources) - len(shown)} more with --all", style="dim")
    if pack.abstain.answerable:
        out.print()
        out.print(f"Memory seems to hold the answer: {_evidence(pack)}.", style="dim")
    if explain:
        _explained(out, pack)


def _evidence(pack: Pack) -> str:
    return f"best evidence {pack.abstain.best_score:.2f}, threshold {pack.abstain.threshold:.2f}"


def _since(item: Any) -> str:  # Any: a view of one of the layers of a block
    told = (
        (item.context.observed_at, item.context.observed_offset)
        if isinstance(item, EventView)
        else (item.valid_from, getattr(item, "valid_from_offset", None))
    )
    at, offset = told
    return day_text(at, offset_of_or_none(offset))


def _sources(pack: Pack) -> dict[str, tuple[str, float, str, str]]:
    """By marker: which kind of record it stands for, its score, since which day that holds, and its id."""
    items = {
        item.id: (kind, item.score, _since(item))
        for layer, kind in _IN_BLOCK.items()
        for item in cast("list[Any]", getattr(pack.layers, layer))
    }
    return {
        marker if marker.startswith("[") else f"[{marker}]": (*items[record_id], record_id)
        for marker, record_id in pack.provenance.markers.items()
        if record_id in items
    }


def best(scores: Mapping[str, float]) -> set[str]:
    """The markers that people see: at most ``SHOWN_MAX``, none below ``SHOWN_FLOOR`` of the best."""
    ranked = sorted(scores, key=lambda marker: -scores[marker])
    floor = SHOWN_FLOOR * max(scores.values(), default=0.0)
    return {marker for marker in ranked[:SHOWN_MAX] if scores[marker] >= floor}


def _cut(block: str, hidden: set[str]) -> str:
    """The context without the lines of some markers, and without the headings that are left with none."""
    kept: list[str] = []
    for part in block.split("\n\n"):
        lines = [text for text in _entries(part.splitlines()) if not _is_of(text, hidden)]
        if any(MARKER.search(line) for line in lines) or not MARKER.search(part):
            kept.append("\n".join(lines))
    return "\n\n".join(kept)


def _entries(lines: Iterable[str]) -> list[str]:
    """Lines, each with those that go on with it."""
    entries: list[str] = []
    for line in lines:
        if entries and entries[-1].startswith("- ") and not line.startswith("- "):
            entries[-1] += f"\n{line}"
        else:
            entries.append(line)
    return entries


def _is_of(entry: str, hidden: set[str]) -> bool:
    found = _LAST_MARKER.search(entry)
    return found is not None and found[1] in hidden


def _explained(out: Console, pack: Pack) -> None:
    rows: list[list[str | Text]] = []
    for phase in pack.provenance.trail:
        figures = {key: value for key, value in phase.items() if key not in ("phase", "elapsed_ms")}
        said = ", ".join(f"{key}={value}" for key, value in figures.items() if not isinstance(value, dict))
        rows.append([str(phase["phase"]), f"{phase['elapsed_ms']:.1f}", said])
    out.print()
    out.print(table("phase", "ms", "figures", rows=rows))
    total = sum(float(phase["elapsed_ms"]) for phase in pack.provenance.trail)
    out.print(f"{total:.1f} ms, {pack.context_tokens} tokens, {pack.pack_id}", style="dim")

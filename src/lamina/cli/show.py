"""What the commands print. On a terminal with colour, into a pipe as plain lines."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any, cast, get_args

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from lamina.client.options import Stage
from lamina.client.results import LifecycleEvent, Stored
from lamina.errors import Invalid
from lamina.kernel.time import rfc3339
from lamina.recall.layers.why import Why, WhyNode
from lamina.recall.requests import Pack

__all__ = [
    "console",
    "context",
    "json",
    "lifecycle_event",
    "pack",
    "plain",
    "stage",
    "stored",
    "table",
    "why",
]

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_MARKER = re.compile(r"\[\d+\]")
_PIPE_WIDTH = 1000
_IN_BLOCK = {
    "beliefs": "belief",
    "facts": "fact",
    "episodes": "episode",
    "events": "event",
    "understanding": "concept",
}


def console(*, errors: bool = False) -> Console:
    """Where to print now. Into a pipe it neither wraps nor colours."""
    stream = sys.stderr if errors else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    return Console(file=stream, width=width, markup=False, highlight=False, emoji=False, soft_wrap=True)


def plain(text: str) -> str:
    """Text without what a terminal obeys: a memory may hold escape sequences, which are not ours to run."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def table(*headings: str, rows: Sequence[Sequence[str | Text]]) -> Table:
    """A table without lines."""
    made = Table(*headings, box=None, pad_edge=False, header_style="dim")
    for row in rows:
        made.add_row(*(cell if isinstance(cell, Text) else Text(plain(cell)) for cell in row))
    return made


def stage(name: str | None) -> Stage | None:
    """The stage to wait for; raises ``Invalid``."""
    if name is not None and name not in get_args(Stage):
        raise Invalid("INVALID_REQUEST", f"--wait {name!r} is not one of {', '.join(get_args(Stage))}")
    return cast("Stage | None", name)


def json(result: BaseModel) -> None:
    """A result as one line of JSON, as the server words it."""
    print(result.model_dump_json(by_alias=True), flush=True)


def stored(result: Stored) -> None:
    """Where an experience came."""
    again = " (it was there already)" if result.replayed else ""
    console().print(f"{result.event_id} {result.status}{again}")
    for record_id in result.derives:
        console().print(f"  {record_id}", style="dim")


def pack(result: Pack, *, explain: bool) -> None:
    """The context, then the source of each of its markers, and whether it seems to hold the answer."""
    out = console()
    context(out, result.context_block)
    items = {
        item.id: (layer, item.score, item.valid_from if layer != "events" else item.context.observed_at)
        for layer in _IN_BLOCK
        for item in cast("list[Any]", getattr(result.layers, layer))
    }
    rows: list[list[str | Text]] = [
        [_bracketed(marker), _IN_BLOCK[items[i][0]], f"{items[i][1]:.2f}", rfc3339(items[i][2])[:10], i]
        for marker, i in result.provenance.markers.items()
        if i in items
    ]
    if rows:
        out.print()
        out.print(table("", "source", "score", "since", "id", rows=rows))
    out.print()
    evidence = f"best evidence {result.abstain.best_score:.2f}, threshold {result.abstain.threshold:.2f}"
    if result.abstain.answerable:
        out.print(f"Memory seems to hold the answer: {evidence}.", style="dim")
    else:
        out.print(f"Memory may not hold the answer: {evidence}.", style="yellow")
    if explain:
        _explained(out, result)


def context(out: Console, block: str) -> None:
    """A context block with its headings and markers told apart."""
    if not block:
        out.print("(nothing)", style="dim")
    for line in block.splitlines():
        text = Text(plain(line), style="bold" if line.endswith(":") and not line.startswith("-") else "")
        text.highlight_regex(_MARKER, "cyan")
        out.print(text)


def _bracketed(marker: str) -> Text:
    return Text(marker if marker.startswith("[") else f"[{marker}]", style="cyan")


def _explained(out: Console, result: Pack) -> None:
    rows: list[list[str | Text]] = []
    for phase in result.provenance.trail:
        figures = {key: value for key, value in phase.items() if key not in ("phase", "elapsed_ms")}
        said = ", ".join(f"{key}={value}" for key, value in figures.items() if not isinstance(value, dict))
        rows.append([str(phase["phase"]), f"{phase['elapsed_ms']:.1f}", said])
    out.print()
    out.print(table("phase", "ms", "figures", rows=rows))
    total = sum(float(phase["elapsed_ms"]) for phase in result.provenance.trail)
    out.print(f"{total:.1f} ms, {result.context_tokens} tokens, {result.pack_id}", style="dim")


def why(reasons: Why) -> None:
    """A belief, and below it what it rests on."""
    out = console()
    out.print(plain(reasons.narrative))
    out.print()
    nodes = {node.id: node for node in reasons.support_graph.nodes}
    children: dict[str, list[tuple[str, str]]] = {}
    for edge in reasons.support_graph.edges:
        children.setdefault(edge.source, []).append((edge.relation, edge.to))
    tree = Tree(Text(reasons.belief.id, style="bold"))
    _grow(tree, reasons.belief.id, children, nodes, seen={reasons.belief.id})
    out.print(tree)
    if reasons.support_graph.truncated:
        out.print("(there is more than is shown)", style="dim")


def _grow(
    tree: Tree,
    parent: str,
    children: dict[str, list[tuple[str, str]]],
    nodes: dict[str, WhyNode],
    seen: set[str],
) -> None:
    for relation, child in children.get(parent, []):
        node = nodes.get(child)
        summary = "" if node is None or node.summary is None else f" “{plain(node.summary)}”"
        weight = "" if node is None or node.weight is None else f" {node.weight:.2f}"
        line = Text.assemble((f"{relation.replace('_', ' ')}", "dim"), weight, summary, (f" {child}", "cyan"))
        branch = tree.add(line)
        if child not in seen:
            _grow(branch, child, children, nodes, seen | {child})


def lifecycle_event(event: LifecycleEvent) -> None:
    """One line for what happened."""
    said = " ".join(
        f"{key}={value}" for key, value in event.payload.items() if value not in (0, [], {}, None)
    )
    name = Text(f"{event.name:<14}", style="cyan")
    about = event.event_id or event.job_id or "-"
    line = Text.assemble(
        rfc3339(event.timestamp), " ", name, f" {about} {event.scope} ", (plain(said), "dim")
    )
    console().print(line)

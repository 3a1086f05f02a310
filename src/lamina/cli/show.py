"""What the commands print. On a terminal with colour, into a pipe as plain lines."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from json import dumps
from typing import IO, Any, TextIO, cast, get_args

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from lamina.cli.reasons import in_words
from lamina.client.options import Stage
from lamina.client.results import LifecycleEvent, Stored
from lamina.errors import Invalid
from lamina.kernel.shown import escaped, shown
from lamina.kernel.time import rfc3339
from lamina.kernel.views import BeliefView
from lamina.types.layers import SupportGraph, WhyNode, WhyRecord
from lamina.types.recall import View

__all__ = [
    "MARKER",
    "console",
    "context",
    "json",
    "lifecycle_event",
    "plain",
    "stage",
    "stored",
    "table",
    "view",
    "why",
]

MARKER = re.compile(r"\[\d+\]")
_PIPE_WIDTH = 1000
_TRAILING = re.compile(r" +(?=\n)")
_VIEWS = [view for view in get_args(View) if view != "narrative"]


def console(*, errors: bool = False) -> Console:
    """Where to print now. Into a pipe it neither wraps nor colours."""
    stream = sys.stderr if errors else sys.stdout
    piped = not stream.isatty()
    return Console(
        file=cast("IO[str]", _Trimmed(stream)) if piped else stream,
        width=_PIPE_WIDTH if piped else None,
        markup=False,
        highlight=False,
        emoji=False,
        soft_wrap=True,
    )


class _Trimmed:
    """A stream whose lines end where their words do: columns of a table are filled up with blanks."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(_TRAILING.sub("", text))

    def __getattr__(self, name: str) -> Any:  # Any: the rest is the stream's
        return getattr(self._stream, name)


def plain(text: str) -> str:
    """Text on one line without what a terminal obeys or a reader does not see: a memory may hold escape sequences, which
    are not ours to run, and line breaks, which would make lines of its own."""
    return shown(text).replace("\n", " ")


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


def view(name: str) -> View:
    """How far to look; raises ``Invalid`` that names what this server has."""
    if name not in get_args(View):
        raise Invalid("INVALID_REQUEST", f"--view {name!r} is not one of {', '.join(_VIEWS)}")
    return cast("View", name)


def json(result: BaseModel) -> None:
    """A result as one line of JSON, as the server words it. On a terminal, what it would obey or hide is escaped, and everywhere what
    the encoding of the output lacks."""
    said = result.model_dump_json(by_alias=True)
    try:
        said.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        said = dumps(result.model_dump(mode="json", by_alias=True))
    print(escaped(said) if sys.stdout.isatty() else said, flush=True)


def stored(result: Stored, derives: Sequence[str], words: Mapping[str, str]) -> None:
    """Where an experience came, and which records were learned from it, in words where there are any."""
    again = " (it was there already)" if result.replayed else ""
    console().print(f"{result.event_id} {result.status}{again}")
    for record_id in derives:
        learned = Text(plain(words.get(record_id, "")))
        console().print(Text.assemble("  ", (record_id, "dim"), "  " if learned else "", learned))


def context(out: Console, block: str) -> None:
    """A context block with its headings and markers told apart."""
    if not block:
        out.print("(nothing)", style="dim")
    for line in block.splitlines():
        text = Text(plain(line), style="bold" if line.endswith(":") and not line.startswith("-") else "")
        text.highlight_regex(MARKER, "cyan")
        out.print(text)


def why(reasons: WhyRecord) -> None:
    """A record in words, and below it what it rests on; of an event what rests on it."""
    out = console()
    if isinstance(reasons.record, BeliefView):
        out.print(plain(reasons.narrative))
    else:
        told = in_words(reasons.record)
        out.print(plain(told.words), style="bold")
        out.print(plain(told.said_of_it), style="dim")
    _support(reasons.id, reasons.support_graph)


def _support(root: str, graph: SupportGraph) -> None:
    out = console()
    nodes = {node.id: node for node in graph.nodes}
    children: dict[str, list[tuple[str, str]]] = {}
    for edge in graph.edges:
        children.setdefault(edge.source, []).append((edge.relation, edge.to))
    tree = Tree(Text(root, style="bold"))
    _grow(tree, root, children, nodes, seen={root})
    out.print()
    out.print(tree)
    if graph.truncated:
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
        weight = f" {node.weight:.2f}" if node is not None and node.weight else ""
        line = Text.assemble((f"{relation.replace('_', ' ')}", "dim"), weight, summary, (f" {child}", "cyan"))
        branch = tree.add(line)
        if child not in seen:
            _grow(branch, child, children, nodes, seen | {child})


def lifecycle_event(event: LifecycleEvent) -> None:
    """One line for what happened."""
    said = " ".join(f"{key}={value}" for key, value in _flat(event.payload))
    name = Text(f"{event.name:<14}", style="cyan")
    about = event.event_id or event.job_id or "-"
    line = Text.assemble(
        rfc3339(event.timestamp), " ", name, f" {about} {event.scope} ", (plain(said), "dim")
    )
    console().print(line)


def _flat(payload: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:  # Any: by stage
    """What is said of an event as names and texts; nothing of what is empty."""
    for name, value in payload.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        elif isinstance(value, list | tuple):
            if value:
                yield f"{before}{name}", ",".join(str(each) for each in value)
        elif value not in (0, "", None):
            yield f"{before}{name}", str(value)

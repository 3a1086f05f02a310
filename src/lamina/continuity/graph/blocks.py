"""The graph around a thread or a task: what it is linked to, as a function of loaded sources. Nothing is stored.

A block has the shape, the caps and the warnings of seed 000, "Graph Runtime Sections". Edges are one step long:
``linked_to_thread`` from a task to its thread, ``depends_on`` from a task to what blocks it, ``references_document``
from a subject to a related document, ``supersedes`` from a successor to whom it took the place of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lamina.continuity.capsule.bounds import items_max
from lamina.continuity.capsule.subjects import Subject

__all__ = [
    "ANCHORS",
    "CONTEXT_CAPS",
    "GRAPH_WARNINGS",
    "SUMMARY_CAPS",
    "Around",
    "CapsuleLinks",
    "Denied",
    "GraphEdge",
    "TaskLinks",
    "edges_of",
    "empty_block",
    "graph_block",
    "graph_warning",
    "node_id",
]

_FIELDS: Final = ("nodes", "edges", "related_documents", "blockers")
CONTEXT_CAPS: Final[Mapping[str, int]] = {
    name: items_max(f"context.retrieve.graph_context.{name}") for name in _FIELDS
}
SUMMARY_CAPS: Final[Mapping[str, int]] = {
    name: items_max(f"continuity.read.startup.graph_summary.{name}") for name in _FIELDS
}

GRAPH_WARNINGS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "graph_anchor_not_provided": ("No graph anchor was provided.", {}),
    "graph_anchor_not_supported": (
        "The selected subject kind is not supported as a graph anchor.",
        {"subject_kind": None},
    ),
    "graph_anchor_not_found": (
        "The selected graph anchor was not found.",
        {"anchor_id": None, "kind": None, "subject_id": None},
    ),
    "graph_derivation_failed": ("Graph context could not be derived.", {"reason": "unknown"}),
    "graph_truncated": ("Graph context was truncated to configured caps.", {}),
    "graph_result_malformed": (
        "Malformed graph helper results were skipped.",
        {"malformed_nodes": 0, "malformed_edges": 0, "malformed_anchors": 0},
    ),
    "graph_source_denied": (
        "A graph source was omitted because access was denied.",
        {"source_class": "unknown", "path": None, "anchor_id": None},
    ),
    "graph_suppressed_by_continuity_mode": (
        "Graph context was suppressed because continuity mode is off.",
        {},
    ),
}
"""Every warning in its order: the message, and the details where nothing else is said."""

_ORDER: Final = {code: place for place, code in enumerate(GRAPH_WARNINGS)}
ANCHORS: Final = ("thread", "task")
"""The kinds of subjects that the graph is drawn around."""


@dataclass(frozen=True, slots=True)
class TaskLinks:
    """What a task names."""

    path: str
    task_id: str
    thread_id: str | None
    blocked_by: tuple[str, ...]
    source_class: str = "task_artifact"


@dataclass(frozen=True, slots=True)
class CapsuleLinks:
    """What a capsule names, or an artifact that holds one."""

    path: str
    source_class: str
    kind: str
    subject_id: str
    documents: tuple[str, ...] = ()
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True)
class Denied:
    """A source that the caller may not read."""

    source_class: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Around:
    """The sources that say something of one subject; ``exists`` when one of them is its own."""

    exists: bool = False
    sources: tuple[TaskLinks | CapsuleLinks, ...] = ()
    denied: tuple[Denied, ...] = ()
    malformed: int = 0


@dataclass(frozen=True, slots=True, order=True)
class GraphEdge:
    """A link between two nodes."""

    relationship: str
    source_id: str
    target_id: str


def node_id(kind: str, subject_id: str) -> str:
    """How a node is named."""
    return f"{kind}:{subject_id}"


def graph_warning(code: str, **details: Any) -> dict[str, Any]:
    """A warning of the table; details that are not given have their defaults."""
    message, defaults = GRAPH_WARNINGS[code]
    return {"code": code, "message": message, "details": dict(defaults) | details}


def edges_of(anchor: Subject, sources: Iterable[TaskLinks | CapsuleLinks]) -> Iterator[GraphEdge]:
    """The edges that touch an anchor."""
    here = node_id(anchor.kind, anchor.id)
    for source in sources:
        if isinstance(source, TaskLinks):
            yield from _task_edges(anchor, here, source)
        else:
            yield from _capsule_edges(anchor, here, source)


def graph_block(anchor: Subject | None, around: Around | None, caps: Mapping[str, int]) -> dict[str, Any]:
    """The block about an anchor; empty, with a warning that says why, where there is nothing to say.

    ``around`` is None where nothing was looked for: without an anchor, or with one that is no thread and no task.
    """
    if anchor is None:
        return _block(None, [], caps, [graph_warning("graph_anchor_not_provided")])
    if anchor.kind not in ANCHORS:
        return _block(None, [], caps, [graph_warning("graph_anchor_not_supported", subject_kind=anchor.kind)])
    assert around is not None, "threads and tasks are looked for"
    here = node_id(anchor.kind, anchor.id)
    warnings = [
        graph_warning("graph_source_denied", source_class=each.source_class, path=each.path, anchor_id=here)
        for each in sorted(set(around.denied), key=lambda each: (each.source_class, each.path or ""))
    ]
    if around.malformed:
        warnings.append(graph_warning("graph_result_malformed", malformed_nodes=around.malformed))
    if not around.exists:
        details = {"anchor_id": here, "kind": anchor.kind, "subject_id": anchor.id}
        warnings.append(graph_warning("graph_anchor_not_found", **details))
        return _block(None, [], caps, warnings)
    shown = {"id": here, "kind": anchor.kind, "subject_id": anchor.id}
    return _block(shown, sorted(set(edges_of(anchor, around.sources))), caps, warnings)


def empty_block(code: str, caps: Mapping[str, int], **details: Any) -> dict[str, Any]:
    """A block of nothing but a warning."""
    return _block(None, [], caps, [graph_warning(code, **details)])


def _task_edges(anchor: Subject, here: str, task: TaskLinks) -> Iterator[GraphEdge]:
    own = node_id("task", task.task_id)
    if task.thread_id is not None and (own == here or (anchor.kind, anchor.id) == ("thread", task.thread_id)):
        yield GraphEdge("linked_to_thread", own, node_id("thread", task.thread_id))
    if own == here:
        for other in task.blocked_by:
            yield GraphEdge("depends_on", here, node_id("task", other))


def _capsule_edges(anchor: Subject, here: str, capsule: CapsuleLinks) -> Iterator[GraphEdge]:
    own = node_id(capsule.kind, capsule.subject_id)
    if own == here:
        for path in capsule.documents:
            yield GraphEdge("references_document", here, node_id("document", path))
    if capsule.superseded_by is not None and (own == here or capsule.superseded_by == anchor.id):
        yield GraphEdge("supersedes", node_id(capsule.kind, capsule.superseded_by), own)


def _block(
    anchor: dict[str, str] | None,
    edges: Sequence[GraphEdge],
    caps: Mapping[str, int],
    warnings: list[dict[str, Any]],
) -> dict[str, Any]:
    here = None if anchor is None else anchor["id"]
    nodes = sorted({end for edge in edges for end in (edge.source_id, edge.target_id)} - {here})
    kept_nodes = nodes[: caps["nodes"]]
    known = {*kept_nodes, here}
    left = [edge for edge in edges if edge.source_id in known and edge.target_id in known]
    found: dict[str, list[dict[str, Any]]] = {
        "nodes": [_node(each) for each in nodes],
        "edges": [_edge(edge) for edge in left],
        "related_documents": [_document(edge) for edge in left if edge.relationship == "references_document"],
        "blockers": [_blocker(edge) for edge in left if edge.relationship == "depends_on"],
    }
    truncation = {}
    for name, rows in found.items():
        returned, cut = min(len(rows), caps[name]), len(rows) > caps[name]
        counted = {"limit": caps[name], "available": len(rows)}
        truncation[name] = counted | {"returned": returned, "truncated": cut}
        if cut:
            warnings.append(graph_warning("graph_truncated", field=name, **counted))
    return {
        "anchor": anchor,
        **{name: rows[: caps[name]] for name, rows in found.items()},
        "truncation": truncation,
        "warnings": sorted(warnings, key=_place),
    }


def _place(warning: Mapping[str, Any]) -> tuple[int, str, str, str, str]:
    details = warning["details"]
    source, path, field, anchor = (
        str(details.get(name) or "") for name in ("source_class", "path", "field", "anchor_id")
    )
    return _ORDER[warning["code"]], source, path, field, anchor


def _node(name: str) -> dict[str, Any]:
    kind, _, subject_id = name.partition(":")
    return {"id": name, "kind": kind, "subject_id": subject_id}


def _edge(edge: GraphEdge) -> dict[str, Any]:
    return {"relationship": edge.relationship, "source_id": edge.source_id, "target_id": edge.target_id}


def _document(edge: GraphEdge) -> dict[str, Any]:
    path = edge.target_id.partition(":")[2]
    return {"path": path, "node_id": edge.target_id, "source_id": edge.source_id}


def _blocker(edge: GraphEdge) -> dict[str, Any]:
    return {
        "task_id": edge.source_id.partition(":")[2],
        "blocked_by_task_id": edge.target_id.partition(":")[2],
        "source_id": edge.source_id,
        "target_id": edge.target_id,
    }

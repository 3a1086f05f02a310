"""The graph around a subject as answers show it: in a startup view and in a retrieval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.graph.blocks import ANCHORS, SUMMARY_CAPS, empty_block, graph_block
from lamina.continuity.graph.sources import GraphSources
from lamina.continuity.permission import READS, Reach
from lamina.kernel.operations import Call

__all__ = ["Graphing"]

_UNEXPECTED = (AttributeError, KeyError, TypeError, ValueError)


class Graphing:
    """The blocks of the graph. Whatever goes wrong in one stays inside it."""

    def __init__(self, sources: GraphSources) -> None:
        self._sources = sources

    def summary(self, subject: Subject, call: Call) -> Mapping[str, Any]:
        """The block of a startup view."""
        return self.block(subject, call, Reach(call, READS), SUMMARY_CAPS)

    def block(
        self, anchor: Subject | None, call: Call, reach: Reach, caps: Mapping[str, int]
    ) -> Mapping[str, Any]:
        """The block about an anchor."""
        try:
            around = None
            if anchor is not None and anchor.kind in ANCHORS:
                around = self._sources.around(call.principal.tenant_id, anchor, reach)
            return graph_block(anchor, around, caps)
        except _UNEXPECTED:
            return empty_block("graph_derivation_failed", caps, reason="helper_exception")

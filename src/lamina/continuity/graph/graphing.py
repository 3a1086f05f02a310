"""The graph around a subject as answers show it: in a startup view and in a retrieval."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.graph.blocks import ANCHORS, SUMMARY_CAPS, empty_block, graph_block
from lamina.continuity.graph.sources import GraphSources
from lamina.continuity.permission import READS, Reach
from lamina.kernel.operations import Call
from lamina.observe.rounds import class_of, frames_of

__all__ = ["Graphing"]

_LOG = logging.getLogger("lamina.continuity")
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
        except _UNEXPECTED as error:
            _LOG.error("the graph of a subject failed: %s\n%s", class_of(error), frames_of(error))
            return empty_block("graph_derivation_failed", caps, reason="helper_exception")

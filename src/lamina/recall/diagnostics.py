"""What a recall tells of itself: its phases with their times, and in full whose policy let it, which models it used, and what each
line of its block was worth (seed 002, 8.3 and 9)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Call, Grant
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.recall.pack import Item, Packed
from lamina.recall.plan import Plan
from lamina.recall.render import Block
from lamina.recall.requests import Recall
from lamina.recall.score import RECORD_WEIGHTS
from lamina.recall.weights import DEFAULT

__all__ = ["Trail", "in_full", "summary"]


@dataclass(slots=True)
class Trail:
    """The phases as they happen, each with its own time."""

    phases: list[dict[str, Any]]
    started: float
    last: float

    @classmethod
    def begin(cls) -> Trail:
        """A trail without phases, from now on."""
        now = time.perf_counter()
        return cls([], now, now)

    def note(self, phase: str, **figures: Any) -> None:
        """A phase has ended, with these figures of its own."""
        now = time.perf_counter()
        self.phases.append({"phase": phase, **figures, "elapsed_ms": round((now - self.last) * 1000, 2)})
        self.last = now

    @property
    def total_ms(self) -> float:
        """From the beginning to the last phase."""
        return round((self.last - self.started) * 1000, 2)


def summary(
    plan: Plan, packed: Packed, trail: Trail, kept_out: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """What ``diagnostics=summary`` tells. ``kept_out`` are the reasons by which events and records were left out that speak to the
    question."""
    return {
        "plan": plan.name,
        "filters_applied": list(plan.filter.names),
        "scopes_traversed": list(plan.scopes),
        "knapsack_evictions": packed.evictions,
        "quarantined": [{"id": each, "reasons": list(reasons)} for each, reasons in kept_out.items()],
        "time_ms": {phase["phase"]: phase["elapsed_ms"] for phase in trail.phases}
        | {"total": trail.total_ms},
        "_partial": False,
    }


def in_full(
    request: Recall,
    call: Call,
    models: Mapping[str, str],
    lines: Mapping[Layer, Sequence[Item]],
    block: Block,
) -> dict[str, Any]:
    """What ``diagnostics=full`` tells beside it. ``models`` are the ids of embedder and tokenizer."""
    capability = _capability(request)
    return {
        "policy": {
            "tier_attribution": call.permits.tier_of(Grant(capability, Scope(request.scope))),
            "capability": capability.value,
        },
        "models": {
            **models,
            "reranker": None,
            "ranking_weights": DEFAULT,
            "record_weights": dict(RECORD_WEIGHTS),
        },
        "lines": _lines(lines, block),
    }


def _lines(lines: Mapping[Layer, Sequence[Item]], block: Block) -> list[dict[str, Any]]:
    """What each line was worth, in the order of the markers where there are any."""
    markers = {item_id: marker for marker, item_id in block.markers.items()}
    order = {item_id: at for at, item_id in enumerate(markers)}
    items = [item for each in lines.values() for item in each if not markers or item.id in markers]
    return [
        {
            "marker": markers.get(item.id),
            "id": item.id,
            "layer": item.layer.value,
            "tokens": item.tokens,
            "score": item.score,
            "contributions": dict(item.contributions),
        }
        for item in sorted(items, key=lambda item: order.get(item.id, 0))
    ]


def _capability(request: Recall) -> Capability:
    if request.view in ("holistic", "narrative"):
        return Capability.SCOPE_READ_HOLISTIC
    return Capability.SCOPE_READ_DESCEND if request.view == "descend" else Capability.SCOPE_READ_LOCAL

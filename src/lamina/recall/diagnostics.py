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
from lamina.recall.retrieve import EventPool
from lamina.recall.weighed import RECORD_WEIGHTS
from lamina.recall.weights import DEFAULT
from lamina.types.recall import Recall

__all__ = ["Trail", "arms_of", "diagnose"]


@dataclass(slots=True)
class Trail:
    """The phases as they happen, each with its own time."""

    phases: list[dict[str, Any]]
    started: float
    last: float
    cpu_ms: dict[str, float]
    """What each phase took of the processor, on the thread that asks: what the model takes on its own is not in it."""
    cpu_last: float

    @classmethod
    def begin(cls) -> Trail:
        """A trail without phases, from now on."""
        now = time.perf_counter()
        return cls([], now, now, {}, time.thread_time())

    def note(self, phase: str, **figures: Any) -> None:
        """A phase has ended, with these figures of its own."""
        now = time.perf_counter()
        self.phases.append({"phase": phase, **figures, "elapsed_ms": round((now - self.last) * 1000, 2)})
        self.last = now
        cpu = time.thread_time()
        self.cpu_ms[phase] = round((cpu - self.cpu_last) * 1000, 2)
        self.cpu_last = cpu

    @property
    def total_ms(self) -> float:
        """From the beginning to the last phase."""
        return round((self.last - self.started) * 1000, 2)


def _summary(
    plan: Plan, packed: Packed, trail: Trail, kept_out: Mapping[str, Sequence[str]], *, partial: bool
) -> dict[str, Any]:
    return {
        "plan": plan.name,
        "filters_applied": list(plan.filter.names),
        "scopes_traversed": list(plan.scopes),
        "knapsack_evictions": packed.evictions,
        "quarantined": [{"id": each, "reasons": list(reasons)} for each, reasons in kept_out.items()],
        "time_ms": {phase["phase"]: phase["elapsed_ms"] for phase in trail.phases}
        | {"total": trail.total_ms},
        "cpu_ms": trail.cpu_ms | {"total": round(sum(trail.cpu_ms.values()), 2)},
        "_partial": partial,
    }


def arms_of(pool: EventPool) -> dict[str, int]:
    """What each way of searching brought."""
    names = {"bm25_hits": "text", "vector_hits": "vector", "neighbours": "around", "time_hits": "time"}
    found = {figure: pool.arms.get(arm, 0) for figure, arm in names.items()}
    return {**found, "newest": pool.arms.get("newest", 0), "candidates": len(pool.turns)}


def diagnose(
    request: Recall,
    plan: Plan,
    call: Call,
    packed: Packed,
    lines: Mapping[Layer, Sequence[Item]],
    block: Block,
    trail: Trail,
    *,
    models: Mapping[str, str],
    kept_out: Mapping[str, Sequence[str]],
    partial: bool,
) -> dict[str, Any] | None:
    """What a request wants to know of how its pack came to be. ``models`` are the ids of embedder and tokenizer, ``kept_out`` the
    reasons by which events and records were left out that speak to the question."""
    if request.diagnostics == "none":
        return None
    told = _summary(plan, packed, trail, kept_out, partial=partial)
    return told | _in_full(request, call, models, lines, block) if request.diagnostics == "full" else told


def _in_full(
    request: Recall,
    call: Call,
    models: Mapping[str, str],
    lines: Mapping[Layer, Sequence[Item]],
    block: Block,
) -> dict[str, Any]:
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

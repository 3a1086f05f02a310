"""Erasures and the figures of plans as JSON, and back: what an engine keeps of them beside the columns that it searches."""

from __future__ import annotations

from dataclasses import asdict

from pydantic_core import from_json

from lamina.kernel.canonical import compact
from lamina.kernel.scopes import Scope
from lamina.store.ports.erasures import (
    ErasedPlace,
    ErasureFigures,
    ErasureJob,
    ErasureOutcome,
    ErasurePhase,
    TouchedScope,
)
from lamina.store.rows import Row

__all__ = ["erasure_state", "figures_text", "read_erasure", "read_figures"]

_COLUMNS = (
    "tenant_id",
    "id",
    "scope",
    "status",
    "cancelling",
    "next_attempt_at",
    "lease_until",
    "lease_owner",
    "fence",
)


def figures_text(figures: ErasureFigures) -> str:
    """ErasureFigures as JSON text."""
    return compact(asdict(figures))


def read_figures(text: str) -> ErasureFigures:
    """The figures behind their text."""
    said = from_json(text)
    touched = tuple(
        TouchedScope(Scope(each["scope"]), each["events"], tuple(each["co_owners"]), each["erased"])
        for each in said.pop("touched")
    )
    return ErasureFigures(**{**said, "holds": tuple(said["holds"])}, touched=touched)


def erasure_state(erasure: ErasureJob) -> str:
    """What has no column, as JSON text."""
    said = asdict(erasure)
    return compact({name: value for name, value in said.items() if name not in _COLUMNS})


def read_erasure(row: Row) -> ErasureJob:
    """The erasure behind its columns and its state, in the order of ``find_erasure``."""
    columns = dict(zip(_COLUMNS, row, strict=False))
    said = from_json(row[len(_COLUMNS)])
    place = said.pop("place")
    return ErasureJob(
        **{
            **said,
            **columns,
            "scope": Scope(columns["scope"]),
            "cancelling": bool(columns["cancelling"]),
            "phase": ErasurePhase(said["phase"]),
            "holds": tuple(said["holds"]),
            "outcome": ErasureOutcome(**said["outcome"]),
            "place": ErasedPlace(
                place["erasure_id"],
                tuple(map(Scope, place["scopes"])),
                tuple(map(Scope, place["held"])),
                tuple(place["actors"]),
            ),
        }
    )

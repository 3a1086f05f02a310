"""Deriving anew what earlier versions made, to the end, as a worker does it behind the calls."""

from __future__ import annotations

from lamina.pipeline.upgrading import Upgrader

__all__ = ["derive_anew"]


def derive_anew(upgrader: Upgrader) -> None:
    """Work until nothing is left, without the pauses between two looks; a failure is raised."""
    while upgrader._step():
        pass

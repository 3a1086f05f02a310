"""One reading of one turn, whoever reads it: what it claims, and which of that is open, ends something or says it again.

Facts, identity and loops are taken from a reading, and from nothing else: ``facts.py`` takes ``said``, who somebody is among it, and
``loops/keeping.py`` what is ``open``. Rules and a model give the same value, so that one can take the place of the other.
"""

from __future__ import annotations

from dataclasses import dataclass

from lamina.pipeline.extract.values import Extraction
from lamina.pipeline.loops.values import LoopReading

__all__ = ["Reading"]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a turn says. ``reader`` is part of the ids of what is made of it, and shown with that; ``model`` is who was asked, None for
    rules. ``own`` is what of the turn its speaker plainly says: nothing else of it ends or moves anything."""

    reader: str
    said: Extraction
    open: LoopReading
    own: str
    model: str | None = None

"""By which versions rows are derived: the one place that a worker compares a folder with.

A folder whose rows other versions made is derived anew, scope by scope. So raise the version of whatever derives otherwise
than it did, also where only a column is added: rows of an older release would lack it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.models.minilm import MiniLmEmbedder
from lamina.pipeline.corrected_facts import EXTRACTOR as CORRECTIONS
from lamina.pipeline.extract.extractor import NAME
from lamina.pipeline.loops import keeping
from lamina.pipeline.readings import loops_alone
from lamina.pipeline.readings.answer import READER
from lamina.pipeline.verdicts import EXTRACTOR as FEEDBACK
from lamina.store.rules.rederivation import VECTORS

__all__ = ["DERIVED_BY"]

DERIVED_BY: Final[Mapping[str, str]] = {
    "facts": NAME,
    "timelines": "2",
    "quarantine": "1",
    "corrections": f"{CORRECTIONS}.1",
    "feedback": FEEDBACK,
    "what may have changed": "6",
    "loops": keeping.EXTRACTOR,
    "loops by a model": loops_alone.EXTRACTOR,
    "turns by a model": READER,
    "stated claims": "5",
    "beliefs": "8",
    "episodes": "9",
    "concepts": "6",
    "search rows": "4",
    "columns": "4",
    VECTORS: MiniLmEmbedder.name,
}
"""Part to version; ``columns`` counts the changes to what tables of derived rows have."""

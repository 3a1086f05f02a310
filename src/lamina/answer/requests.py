"""What an answer looks like (seed 002, 8.4): the shape that ``answer_response.schema.json`` publishes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from lamina.kernel.views.parts import Stamp
from lamina.kernel.wire import Result
from lamina.types.recall import Provenance

__all__ = ["AnswerCitation", "AnswerResponse"]


class AnswerCitation(Result):
    """What a marker of the answer stands for. ``support_strength`` is 0..1."""

    marker: str
    layer: Literal["event", "episode", "fact", "belief", "concept"]
    id: str
    support_strength: Annotated[float, Field(ge=0.0, le=1.0)]


class AnswerResponse(Result):
    """An answer, with the provenance of the pack that it was made from."""

    pack_id: str
    answer: str
    citations: list[AnswerCitation]
    provenance: Provenance
    diagnostics: dict[str, Any] | None = None  # Any: by level, null when not asked for
    as_of: Stamp

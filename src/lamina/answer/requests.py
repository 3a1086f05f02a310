"""What is asked for an answer, and what an answer looks like (seed 002, 8.4)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, field_validator

from lamina import limits
from lamina.kernel.views.parts import Stamp
from lamina.kernel.wire import Result, Text
from lamina.recall.requests import Answerable, AnswerCitation, Provenance, Recall, Search

__all__ = ["EXTRACTIVE", "AnswerCitation", "AnswerRequest", "AnswerResponse"]

EXTRACTIVE = "extractive"
"""The name of the answer that no model words: sentences of memory as they stand."""


class AnswerRequest(Search):
    """A question to be answered from memory. The fields of a recall mean what they mean there."""

    question: Annotated[
        Text,
        Field(min_length=1, max_length=limits.QUERY_LENGTH_MAX, description="The question, in words."),
    ]
    answer_model: Annotated[
        str | None,
        Field(
            max_length=limits.NAME_LENGTH_MAX,
            description="Who words the answer: `extractive`, which takes sentences as they stand, or the language model of this server by "
            "its name. Without it the model where there is one.",
        ),
    ] = None
    answer_max_tokens: Annotated[
        int,
        Field(ge=1, le=limits.ANSWER_TOKENS_MAX, description="How long the answer may be."),
    ] = limits.ANSWER_TOKENS_DEFAULT
    use_pack_id: Annotated[
        str | None,
        Field(
            max_length=limits.STREAM_ID_LENGTH_MAX,
            description="Answer from this pack, one of your recalls of the last 60 seconds, instead of recalling; what else is said of "
            "recalling counts for nothing then.",
        ),
    ] = None

    @field_validator("question")
    @classmethod
    def _says_something(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("the question is blank")
        return value

    def as_recall(self) -> Recall:
        """The recall that finds what the answer is made from."""
        asked = {name: getattr(self, name) for name in Search.model_fields}
        alone = {"stream": False, "idempotency_key": None, "last_event_id": None}
        # Checked already: what the caller sent and what this server does with it are one.
        return Recall.model_construct(**{**asked, **alone}, query=self.question)


class AnswerResponse(Result):
    """An answer, with the provenance of the pack that it was made from. Where ``answered`` is false, it says that it is not known, and
    cites nothing. ``answer_model`` says who worded it, ``abstain`` how strongly the evidence spoke to the question."""

    pack_id: str
    answer: str
    answered: bool = True
    answer_model: str = EXTRACTIVE
    citations: list[AnswerCitation]
    abstain: Answerable | None = None
    provenance: Provenance
    diagnostics: dict[str, Any] | None = None  # Any: by level, null when not asked for
    as_of: Stamp

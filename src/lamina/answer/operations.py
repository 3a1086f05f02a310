"""The answer operation."""

from __future__ import annotations

from typing import Any

from lamina.answer.answering import Answering
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Effect, Operation, Tier
from lamina.types.answers import AnswerRequest, AnswerResponse

__all__ = ["answer_operations"]


def _experimental_part(request: AnswerRequest) -> str | None:
    if request.stream:
        return "a streamed answer"
    return "view=narrative" if request.view == "narrative" else None


def answer_operations(answering: Answering) -> list[Operation[Any]]:
    """Answer, as one response or as a stream."""
    return [
        Operation(
            name="answer",
            request=AnswerRequest,
            result=AnswerResponse,
            capability=Capability.SCOPE_READ_LOCAL,
            effect=Effect.READ,
            tier=Tier.STABLE,
            grants=lambda request, _: answering.grants(request),
            experimental_part=_experimental_part,
            handler=answering.answer,
            summary="Answer a question from memory, with the source of each sentence, or say that it is not known.",
            fails=(
                "ANSWER_MODEL_NOT_OFFERED",
                "EXPERIMENTAL_DISABLED",
                "IDEMPOTENCY_CONFLICT",
                "MODEL_UNAVAILABLE",
                "PACK_EXPIRED",
                "PACK_NOT_FOUND",
            ),
            streams="asked",
        )
    ]

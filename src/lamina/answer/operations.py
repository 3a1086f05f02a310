"""The answer operation."""

from __future__ import annotations

from typing import Any

from lamina.answer.answering import Answering
from lamina.answer.requests import AnswerRequest, AnswerResponse
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Effect, Operation, Tier

__all__ = ["answer_operations"]


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

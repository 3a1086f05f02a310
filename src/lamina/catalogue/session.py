"""The codes of sessions and of what stands behind their outbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.catalogue.entries import CALLERS, SERVER, ErrorCode

__all__ = ["CODES"]

CODES: Final[Mapping[str, ErrorCode]] = {
    "INTERNAL_TOKEN_REQUIRED": ErrorCode(
        "Unauthenticated",
        CALLERS,
        "The paths under `/internal` take the header `X-Internal-Token` with the deployment's `INTERNAL_TOKEN`. Where the "
        "setting is empty they are closed to everybody.",
    ),
    "GRAPH_REFUSED": ErrorCode(
        "Invalid",
        SERVER,
        "The graph of `LAMINA_GRAPHITI` refuses a turn, or graphiti-core is not installed. Callers never see this: the row of "
        "the outbox has failed and stays visible.",
        hint="the row's `last_error` has the class; `POST /internal/outbox/revive` tries it again once mended",
    ),
    "GRAPH_UNAVAILABLE": ErrorCode(
        "Unavailable",
        SERVER,
        "The graph of `LAMINA_GRAPHITI` did not take a turn. Callers never see this: it is tried again.",
        hint="rows are tried again by themselves",
    ),
    "MODEL_UNAVAILABLE": ErrorCode(
        "Unavailable",
        SERVER,
        "The language model of `LAMINA_LLM_URL` or `LAMINA_ANSWER_URL` gave no answer in time, or none that can be read. Callers see this "
        "of `POST /v1/answer` alone, where they named the model in `answer_model`; without it such an answer is made without a model. What is "
        "asked behind the turns is asked again until there is an answer; meanwhile what rules made stands.",
        hint="it is asked again by itself; see that LAMINA_LLM_URL answers, and how long LAMINA_LLM_TIMEOUT_S gives it",
    ),
    "MODEL_UNREADABLE": ErrorCode(
        "Invalid",
        SERVER,
        "What the language model of `LAMINA_LLM_URL` answered is empty or not of the shape that was asked for. Callers never see this: "
        "the same question would have the same answer, so it is not asked again, and what rules made stands.",
        hint="a larger model keeps to the shape; POST /internal/outbox/revive asks again",
    ),
}

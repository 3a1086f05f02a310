"""The language model that words answers: how it is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from given import ManualClock
from lamina import limits
from lamina.answer.model import AnswerModel
from lamina.errors import Unavailable
from lamina.kernel.operations import Call
from lamina.kernel.time import SECOND_US
from libraries import AGENT, Everything


class Hanging:
    """A generator that gives up after half a minute."""

    name = "small"

    def __init__(self, clock: ManualClock) -> None:
        self.clock, self.asked = clock, 0

    def complete(self, *asked: Any, **more: Any) -> Any:
        self.asked += 1
        self.clock.at += 30 * SECOND_US
        raise Unavailable("MODEL_UNAVAILABLE", "it timed out")


def test_a_model_that_ran_out_of_time_is_left_alone_from_then_on() -> None:
    """Once it was left alone from when the question began, which was over by then."""
    clock = ManualClock()
    call = Call(principal=AGENT, request_id="r", now=clock.at, permits=Everything())
    generator = Hanging(clock)
    model = AnswerModel(generator, clock, at_once=2, wait_s=0.1)
    for _ in range(3):
        with pytest.raises(Unavailable):
            model.worded("say", "what?", [], call, tokens_max=10)
    assert generator.asked == 1
    clock.at += limits.LLM_LEFT_ALONE_S * SECOND_US
    with pytest.raises(Unavailable):
        model.worded("say", "what?", [], call, tokens_max=10)
    assert generator.asked == 2

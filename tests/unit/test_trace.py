"""W3C trace context: what is a traceparent and what is not."""

from __future__ import annotations

import pytest

from lamina.kernel.trace import Trace, trace_of

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def test_a_traceparent_is_read() -> None:
    assert trace_of([f"00-{TRACE}-{SPAN}-01"]) == Trace(TRACE, SPAN, True)
    assert trace_of([None, f" 00-{TRACE}-{SPAN}-00 "]) == Trace(TRACE, SPAN, False)


def test_a_later_version_may_say_more() -> None:
    assert trace_of([f"01-{TRACE}-{SPAN}-01-what-comes"]) == Trace(TRACE, SPAN, True)


def test_the_first_that_is_valid_counts() -> None:
    other = "a" * 32
    assert trace_of(["nonsense", f"00-{other}-{SPAN}-01", f"00-{TRACE}-{SPAN}-01"]) == Trace(
        other, SPAN, True
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-1",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-01" + "-" + "x" * 300,
    ],
)
def test_what_is_no_traceparent_is_as_good_as_none(text: str) -> None:
    assert trace_of([text]) is None

"""Models of requests and results are built when they are first needed, whoever needs them at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from lamina.kernel.wire import InstantText, Request, Result

_AT_ONCE = 8


def test_a_model_is_built_by_the_first_who_asks_and_whole_for_everybody_who_asks_with_them() -> None:
    class Part(Request):
        at: InstantText

    class Whole(Result):
        parts: list[Part]

    assert not Whole.__pydantic_complete__
    begin = Barrier(_AT_ONCE)

    def ask(number: int) -> str:
        begin.wait()
        given = {"parts": [{"at": f"2026-05-13T12:00:0{number}Z"}]}
        return Whole.model_validate(given).model_dump_json()

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        said = list(pool.map(ask, range(_AT_ONCE)))
    assert said == [f'{{"parts":[{{"at":"2026-05-13T12:00:0{number}Z"}}]}}' for number in range(_AT_ONCE)]
    assert Whole.__pydantic_complete__

"""Rows whose path has no parameter are answered before Starlette's layers, and work on threads tells the loop by itself."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from lamina.http.handing import FixedRows, on_thread


async def written(request: Request) -> Response:
    return PlainTextResponse(f"{request.method} {(await request.body()).decode()}")


async def broken(request: Request) -> Response:
    raise KeyError(request.method)


async def crashed(request: Request, failure: Exception) -> Response:
    return PlainTextResponse(type(failure).__name__, status_code=500)


async def otherwise(scope: Any, receive: Any, send: Any) -> None:
    await PlainTextResponse("another layer", status_code=404)(scope, receive, send)


ROWS = FixedRows({("POST", "/v1/told"): written, ("GET", "/v1/broken"): broken}, otherwise, crashed)


async def answer_of(verb: str, path: str, sent: list[Any]) -> tuple[int, str]:
    scope = {"type": "http", "method": verb, "path": path, "headers": [], "query_string": b""}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"hello"}

    async def send(message: Any) -> None:
        sent.append(message)

    await ROWS(scope, receive, send)
    return sent[0]["status"], sent[1]["body"].decode()


@pytest.mark.parametrize(
    ("verb", "path", "answer"),
    [
        ("POST", "/v1/told", (200, "POST hello")),
        ("GET", "/v1/told", (404, "another layer")),
        ("POST", "/v1/told/", (404, "another layer")),
    ],
)
def test_a_row_is_known_by_its_verb_and_path(verb: str, path: str, answer: tuple[int, str]) -> None:
    assert asyncio.run(answer_of(verb, path, [])) == answer


def test_who_fails_without_an_answer_is_answered_for_and_the_server_learns_of_it() -> None:
    sent: list[Any] = []
    with pytest.raises(KeyError):
        asyncio.run(answer_of("GET", "/v1/broken", sent))
    assert (sent[0]["status"], sent[1]["body"]) == (500, b"KeyError")


def test_what_runs_on_a_thread_gives_its_result_or_its_error() -> None:
    async def story(pool: ThreadPoolExecutor) -> None:
        assert await on_thread(pool, divmod, 7, 2) == (3, 1)
        with pytest.raises(ZeroDivisionError):
            await on_thread(pool, divmod, 7, 0)

    with ThreadPoolExecutor(1) as pool:
        asyncio.run(story(pool))


def test_a_thread_outlives_who_waited_for_it_and_their_loop() -> None:
    go, over = threading.Event(), threading.Event()

    def work() -> None:
        go.wait(300)
        over.set()

    async def leave(pool: ThreadPoolExecutor) -> None:
        waiting = asyncio.ensure_future(on_thread(pool, work))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    with ThreadPoolExecutor(1) as pool:
        asyncio.run(leave(pool))
        go.set()
        assert pool.submit(over.is_set).result(300), "the pool goes on"

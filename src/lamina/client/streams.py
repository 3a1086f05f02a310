"""Streams as conversations: the parts of a recall, and the lifecycle with its reconnections."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import httpx
from pydantic import ValidationError

from lamina.client.asks import Ask
from lamina.client.reads import resumed
from lamina.client.responses import Failure, lost, no_stream, typed
from lamina.client.results import Chunk, LifecycleEvent, chunk_of
from lamina.client.session import Session, Wait
from lamina.client.sse import EventReader, Received
from lamina.errors import Forbidden, Unavailable, Unsupported
from lamina.types.answers import AnswerResponse
from lamina.types.recall import Pack

__all__ = ["Emit", "Open", "Read", "Stream", "follow", "recall_parts"]

EventT = TypeVar("EventT")
_TOKEN_ENDED = ("EXPIRED_TOKEN", "REVOKED_TOKEN")
"""What a stream says when the token that opened it holds no more: another may."""


@dataclass(frozen=True, slots=True)
class Open:
    """Send the request in place of the one before. What comes back is the response (read to the end where it
    is none of success), or the transport's error."""

    request: httpx.Request


@dataclass(frozen=True, slots=True)
class Read:
    """Read on. What comes back is some bytes, None at the end, or the transport's error."""


@dataclass(frozen=True, slots=True)
class Emit(Generic[EventT]):
    """Hand the event to the caller."""

    event: EventT


Stream = Generator[
    Open | Read | Wait | Emit[EventT], httpx.Response | httpx.RequestError | bytes | None, None
]


def recall_parts(session: Session, asked: Ask[Pack] | Ask[AnswerResponse]) -> Stream[Chunk]:
    """The parts of a recall or of an answer as they come. What breaks before the first is tried again, later it is raised."""
    yield from _opened(session, asked)
    reader = EventReader()
    while True:
        got = yield Read()
        if not isinstance(got, bytes):
            raise _cut(session, got)
        for received in reader.feed(got):
            yield Emit(_chunk(received))
            if received.event == "done":
                return


def _chunk(received: Received) -> Chunk:
    try:
        return chunk_of(received.event, received.data)
    except (ValidationError, KeyError, TypeError) as error:
        raise Unsupported(
            "UNREADABLE_RESPONSE",
            f"the part {received.event!r} of the stream does not have the shape known here",
            hint="compare client.version() with the version of this package",
        ) from error


def _cut(session: Session, got: object) -> Exception:
    if isinstance(got, httpx.RequestError):
        return lost(got, session.base_url).error
    return Unavailable("STREAM_CUT", "the stream ended before it was done", hint="ask again")


def _opened(
    session: Session, asked: Ask[Pack] | Ask[AnswerResponse]
) -> Generator[Open | Wait, httpx.Response | httpx.RequestError | bytes | None, None]:
    attempt = 0
    while True:
        got = yield Open(session.request(asked, stream=True))
        assert not isinstance(got, bytes), "opening comes back with a response or an error"
        failure = _not_opened(session, got)
        if failure is None:
            assert isinstance(got, httpx.Response), "what is no failure is a response"
            session.note(asked, got)
            return
        wait_s = session.retries.wait_s(attempt, failure)
        if wait_s is None:
            raise failure.error
        yield Wait(wait_s)
        attempt += 1


def follow(session: Session, asked: Ask[LifecycleEvent]) -> Stream[LifecycleEvent]:
    """What happens, without an end: a stream that breaks, lags or whose token ended is opened again behind the last
    event seen, or where it began, with the token that the provider gives by then.

    Raises what opening it again says once the retries in a row are used up; an event or a heartbeat counts them anew.
    """
    last_id: str | None = None
    attempt = 0
    while True:
        response = yield Open(session.request(resumed(asked, last_id), stream=True))
        assert not isinstance(response, bytes), "opening comes back with a response or an error"
        failure = _not_opened(session, response)
        if failure is None:
            assert isinstance(response, httpx.Response), "what is no failure is a response"
            session.note(asked, response)
            reader = EventReader()
            while isinstance(got := (yield Read()), bytes):
                events = reader.feed(got)
                last_id = reader.last_id or last_id
                if reader.signs:
                    attempt = 0
                for received in events:
                    if received.event == "policy_revoked" and not _token_ended(received):
                        raise _revoked(received, response)
                    if received.event in ("policy_revoked", "lagging"):
                        continue
                    yield Emit(_event(received, response))
            failure = _ended(session, got)
        wait_s = session.retries.wait_s(attempt, failure)
        if wait_s is None:
            raise failure.error
        yield Wait(wait_s)
        attempt += 1


def _not_opened(session: Session, got: httpx.Response | httpx.RequestError | None) -> Failure | None:
    """What kept a stream from being opened; None when nothing did."""
    if isinstance(got, httpx.Response) and got.is_success:
        return no_stream(got)
    return session.failure(got)


def _ended(session: Session, got: object) -> Failure:
    if isinstance(got, httpx.RequestError):
        return lost(got, session.base_url)
    return Failure(Unavailable("STREAM_CUT", "the server ended the stream", hint="ask again"), retriable=True)


def _event(received: Received, response: httpx.Response) -> LifecycleEvent:
    return typed(
        LifecycleEvent, {**_object_of(received), "id": received.id, "name": received.event}, response
    )


def _token_ended(received: Received) -> bool:
    return str(_object_of(received).get("reason", "")).startswith(_TOKEN_ENDED)


def _object_of(received: Received) -> dict[str, Any]:
    if isinstance(received.data, dict):
        return received.data
    raise Unsupported("UNREADABLE_RESPONSE", f"the event {received.event!r} of the stream is no object")


def _revoked(received: Received, response: httpx.Response) -> Forbidden:
    error = Forbidden(
        "POLICY_DENIED", f"the subscription was taken back: {received.data.get('reason', 'no reason given')}"
    )
    error.request_id = response.headers.get("x-cortex-request-id")
    return error

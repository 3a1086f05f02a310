"""The synchronous client."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, Unpack

import httpx
from pydantic import BaseModel

from lamina import limits
from lamina.client import erasure_asks, layer_asks, reads, turns, writes
from lamina.client.asks import Ask
from lamina.client.authorities import authorities
from lamina.client.capsules import capsule_ask
from lamina.client.closing import told_if_closed
from lamina.client.definitions import Phrases, Vocabularies
from lamina.client.erasing import ErasureCalls
from lamina.client.identity import Identity
from lamina.client.layers import Beliefs, Entities, Episodes, Events, Facts, Understanding
from lamina.client.options import (
    AnswerOptions,
    BriefOptions,
    BulkOptions,
    Conversation,
    ExperienceOptions,
    FeedbackOptions,
    ForgetOptions,
    LifecycleFilters,
    RecallOptions,
    Stage,
    Time,
    TurnOptions,
)
from lamina.client.results import Chunk, LifecycleEvent, Said, Stored, StoredBatch
from lamina.client.session import Retries, Send, Session, TokenProvider, Wait, new_key
from lamina.client.streams import Emit, Open, Stream, follow, recall_parts
from lamina.errors import Invalid
from lamina.kernel.feedback import Verdict
from lamina.types.answers import AnswerResponse
from lamina.types.forgetting import Cascade, Forgotten
from lamina.types.health import HealthReport, Version
from lamina.types.layers import WhyRecord
from lamina.types.lifecycle import Cancelled, LifecyclePage, MemoryEventState
from lamina.types.recall import Pack
from lamina.types.sessions import Brief, Closed, Ingested
from lamina.types.writes import StoredByKey

__all__ = ["DEFAULT_URL", "Client"]

DEFAULT_URL = "http://127.0.0.1:8700"
ResultT = TypeVar("ResultT", bound=BaseModel)
EventT = TypeVar("EventT")


class Client:
    """A connection to a Lamina server. Close it, or use it in a ``with`` block. Threads may share it.

    ``actor`` is sent as ``X-Cortex-Actor``. ``scope`` is the default of every call; without it the actor's own
    is meant, such as ``user:maya``, or ``user:local`` where nobody is named. ``token_provider`` is asked for a
    bearer token before each request. ``timeout_s`` bounds connecting, and each silence of the server.

    Calls raise the family of ``lamina.errors``, with ``request_id`` and ``status`` set where the server
    answered. What may succeed later is sent again up to ``retries`` times with growing, jittered pauses, or as
    long as ``Retry-After`` says; writes carry an idempotency key, so that none happens twice.

        with Client(actor="user:maya") as client:
            client.experience("I moved to Hamburg last Thursday.", wait="consolidated")
            print(client.recall("Where do I live?").context_block)
    """

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        *,
        actor: str | None = None,
        scope: str | None = None,
        token_provider: TokenProvider | None = None,
        timeout_s: float = 30.0,
        retries: int = 3,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        identity = Identity(actor, scope, signed=token_provider is not None)
        self._session = Session(
            base_url.rstrip("/"), identity, token_provider, timeout_s, Retries(count=retries)
        )
        # The server's own host is meant and no proxy between: memories do not travel further than asked.
        self._connect = partial(
            httpx.Client, transport=transport, trust_env=False, verify=authorities(base_url)
        )
        self._http, self._pid = self._connect(), os.getpid()
        self.events = Events(identity, self._send)
        self.episodes = Episodes(identity, self._send)
        self.facts = Facts(identity, self._send)
        self.beliefs = Beliefs(identity, self._send)
        self.understanding = Understanding(identity, self._send)
        self.vocabularies = Vocabularies(self._send)
        self.phrases = Phrases(self._send)
        self.erasures = ErasureCalls(self._send)
        self.entities = Entities(identity, self._send)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Give the connections back. Calls that are on their way, and later ones, raise ``Invalid`` (CLIENT_CLOSED)."""
        self._own_http().close()

    def allow_unstable(self, allowed: bool = True) -> Self:
        """Use endpoints that are not stable without being warned (``UnstableEndpoint``); gives itself."""
        self._session.unstable_allowed = allowed
        return self

    # ---- write

    def experience(
        self, text: str | None = None, *, wait: Stage | None = None, **options: Unpack[ExperienceOptions]
    ) -> Stored:
        """Store one experience; it is on disk when this returns.

        A text is somebody's message, now, in the default scope, unless ``options`` say otherwise. ``wait`` holds
        the answer until that stage is done, or for 30 seconds.

            client.experience("I'm allergic to cashews", session="monday", labels=["health"])
        """
        asked = writes.experience_ask(
            self._session.identity, text, options, wait, now=datetime.now(UTC), new_key=new_key
        )
        return self._send(asked)

    def experience_bulk(
        self,
        items: Iterable[str | Mapping[str, Any]],
        *,
        wait: Stage | None = None,
        **options: Unpack[BulkOptions],
    ) -> StoredBatch:
        """Store up to a thousand experiences of one scope, all or none.

        An item is a text, the keywords of ``experience`` as a mapping, or an item of the wire. ``wait`` looks until that
        stage of the last of them is done, or for 30 seconds; it takes the right to read the scope.
        """
        asked = writes.bulk_ask(
            self._session.identity, items, options, now=datetime.now(UTC), new_key=new_key
        )
        stored = self._send(asked)
        if wait in (None, "captured"):
            return stored
        event_id = (self._send(writes.by_key_ask(writes.last_key(asked)))).event_id
        until = time.monotonic() + limits.WAIT_S_MAX
        while time.monotonic() < until:
            state = self._send(reads.state_ask(event_id))
            if (come := writes.reached(stored, state, wait)) is not None:
                return come
            time.sleep(writes.LOOK_S)
        return stored

    def feedback(
        self,
        target_id: str,
        verdict: Verdict,
        note: str | None = None,
        *,
        wait: Stage | None = None,
        **options: Unpack[FeedbackOptions],
    ) -> Stored:
        """Judge a fact or a belief: ``confirm``, ``deny``, ``outdated`` or ``irrelevant``. The verdict is an event of the record's scope.

        It counts as the word of who gives it: denying a claim makes it less sure, ``outdated`` ends it. Cancelling the event takes it back.
        Raises ``NotFound`` for a record that is not there and ``Gone`` for one that is held no more.

            client.feedback(belief.id, "outdated", note="she moved in May")
        """
        asked = writes.feedback_ask(
            self._session.identity,
            target_id,
            verdict,
            note,
            options,
            wait,
            now=datetime.now(UTC),
            new_key=new_key,
        )
        return self._send(asked)

    def by_idempotency_key(self, key: str) -> StoredByKey:
        """The event that one of your keys of the last 24 hours led to; raises ``NotFound``."""
        return self._send(writes.by_key_ask(key))

    def cancel(self, event_id: str, note: str | None = None) -> Cancelled:
        """Stop deriving from an event and keep it out of recall; the event itself stays."""
        return self._send(writes.cancel_ask(event_id, note))

    def forget(
        self, scope: str | None = None, *, cascade: Cascade | None = None, **options: Unpack[ForgetOptions]
    ) -> Forgotten:
        """Have one scope forget what fits ``options``; ``redact_events`` takes the words of the events behind it, too, for good.

        Everything that somebody's scope holds goes by ``client.erasures``.

            client.forget(about_subject="user:maya", predicate="likes", cascade="redact_events")
        """
        return self._send(erasure_asks.forget(self._session.identity, scope, cascade, options))

    # ---- a chat's turn

    def brief(self, query: str | None = None, **options: Unpack[BriefOptions]) -> Brief:
        """What to know before a turn: who speaks, what was said, what is open, and what memory holds on ``query``.

        brief = client.brief("Shall we go on?", tenant_id="home", user_id="maya", persona_id="chat")
        print(brief.working_memory, brief.active_loops, brief.semantic_context)
        """
        return self._send(turns.brief_ask(query, options, now=datetime.now(UTC)))

    def ingest(
        self, role: Literal["user", "assistant"], text: str, **options: Unpack[TurnOptions]
    ) -> Ingested:
        """Keep a turn of a conversation; it is on disk when this returns.

        Without a session the server makes one, which the answer names. A repeated turn is stored once.
        """
        asked = turns.ingest_ask(role, text, options, now=datetime.now(UTC), new_key=new_key)
        return self._send(asked)

    def close_session(self, **conversation: Unpack[Conversation]) -> Closed:
        """End the session that is named, or the user's newest open one: it is folded, and its bridge is written."""
        return self._send(turns.close_ask(conversation))

    # ---- read

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> Pack:
        """What memory holds on a question: a context block, the items behind it, and where each comes from."""
        return self._send(reads.recall_ask(self._session.identity, query, options))

    def recall_stream(self, query: str, **options: Unpack[RecallOptions]) -> Generator[Chunk, None, None]:
        """The parts of a recall as they are ready, ``DoneChunk`` last."""
        asked = reads.recall_ask(self._session.identity, query, options, stream=True)
        return self._events(recall_parts(self._session, asked))

    def answer(self, question: str, **options: Unpack[AnswerOptions]) -> AnswerResponse:
        """An answer from memory with the source of each sentence; ``answered`` is false where memory holds none.

        told = client.answer("Where do I live?")
        print(told.answer, [each.id for each in told.citations])
        """
        return self._send(reads.answer_ask(self._session.identity, question, options))

    def answer_stream(self, question: str, **options: Unpack[AnswerOptions]) -> Generator[Chunk, None, None]:
        """An answer word by word, then its sources, ``DoneChunk`` last."""
        asked = reads.answer_ask(self._session.identity, question, options, stream=True)
        return self._events(recall_parts(self._session, asked))

    def why(self, record_id: str, *, as_of: Time | None = None) -> WhyRecord:
        """What a record of any layer rests on, down to the events; of an event, what was derived from it."""
        return self._send(layer_asks.why_record(record_id, as_of))

    def lifecycle(self, **filters: Unpack[LifecycleFilters]) -> Generator[LifecycleEvent, None, None]:
        """What happens to events and jobs from now on, or from behind ``since_lifecycle_id``, without an end.

        A stream that breaks goes on behind the last event seen; what the server did in between is not lost for
        an hour. Before the first event there is nothing to go on from: then it begins anew.

            for event in client.lifecycle(scope="user:maya", events=["consolidated"]):
                print(event.event_id, event.payload)
        """
        return self._events(follow(self._session, reads.follow_ask(filters)))

    def lifecycle_page(
        self, *, limit: int = 50, cursor: str | None = None, **filters: Unpack[LifecycleFilters]
    ) -> LifecyclePage:
        """A page of what happened, in order of arrival."""
        return self._send(reads.lifecycle_ask({**filters, "limit": limit, "cursor": cursor}))

    def lifecycle_of(self, event_id: str) -> MemoryEventState:
        """How far an event has come, and what rests on it."""
        return self._send(reads.state_ask(event_id))

    def continuity(self, operation: str, request: Mapping[str, Any]) -> Said:
        """What ``POST /v1/continuity/{operation}`` answers: read, upsert, patch, lifecycle, list and so on.

        A patch carries an idempotency key. An upsert may be sent again as it is: the same words change nothing.
        """
        return self._send(capsule_ask(operation, request))

    def health(self) -> HealthReport:
        """How the server is: its log, its worker, its models. It takes the right to ask (``admin.health``)."""
        return self._send(reads.health_ask())

    def version(self) -> Version:
        """Which build answers."""
        return self._send(reads.version_ask())

    # ---- sending

    def _send(self, asked: Ask[ResultT]) -> ResultT:
        steps = self._session.exchange(asked)
        got: httpx.Response | httpx.RequestError | None = None
        while True:
            try:
                step = steps.send(got)
            except StopIteration as done:
                result: ResultT = done.value
                return result
            got = self._sent(step)

    def _sent(self, step: Send | Wait) -> httpx.Response | httpx.RequestError | None:
        if isinstance(step, Wait):
            time.sleep(step.seconds)
            return None
        http = self._own_http()
        try:
            with told_if_closed(http):
                return http.send(self._signed(step.request))
        except httpx.RequestError as error:
            return error

    def _own_http(self) -> httpx.Client:
        """In a forked process new connections: on those of its parent each would read the other's answers."""
        if self._pid != os.getpid():
            self._http, self._pid = self._connect(), os.getpid()
        return self._http

    def _signed(self, request: httpx.Request) -> httpx.Request:
        token = self._session.token()
        if token is not None:
            if not isinstance(token, str):
                raise Invalid("INVALID_TOKEN_PROVIDER", "the token provider of a Client answers with a text")
            self._session.sign(request, token)
        return request

    def _events(self, steps: Stream[EventT]) -> Generator[EventT, None, None]:
        response: httpx.Response | None = None
        data: Iterator[bytes] = iter(())
        got: httpx.Response | httpx.RequestError | bytes | None = None
        try:
            while True:
                try:
                    step = steps.send(got)
                except StopIteration:
                    return
                got = None
                if isinstance(step, Emit):
                    yield step.event
                elif isinstance(step, Wait):
                    time.sleep(step.seconds)
                elif isinstance(step, Open):
                    if response is not None:
                        response.close()
                    got = self._opened(step.request)
                    response = got if isinstance(got, httpx.Response) else None
                    data = response.iter_bytes() if response is not None and response.is_success else iter(())
                else:
                    got = _next(data, self._http)
        finally:
            if response is not None:
                response.close()

    def _opened(self, request: httpx.Request) -> httpx.Response | httpx.RequestError:
        http = self._own_http()
        try:
            with told_if_closed(http):
                response = http.send(self._signed(request), stream=True)
                if not response.is_success:
                    response.read()
        except httpx.RequestError as error:
            return error
        return response


def _next(data: Iterator[bytes], http: httpx.Client) -> bytes | httpx.RequestError | None:
    try:
        with told_if_closed(http):
            return next(data, None)
    except httpx.RequestError as error:
        return error

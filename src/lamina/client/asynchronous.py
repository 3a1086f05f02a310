"""The asynchronous client: every method mirrors the one of ``Client``; only sending differs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, Unpack

import httpx
from pydantic import BaseModel

from lamina import limits
from lamina.client import erasure_asks, layer_asks, reads, turns, writes
from lamina.client.asks import Ask
from lamina.client.async_definitions import AsyncPhrases, AsyncVocabularies
from lamina.client.async_erasing import AsyncErasureCalls
from lamina.client.async_layers import (
    AsyncBeliefs,
    AsyncEntities,
    AsyncEpisodes,
    AsyncEvents,
    AsyncFacts,
    AsyncUnderstanding,
)
from lamina.client.authorities import authorities
from lamina.client.capsules import capsule_ask
from lamina.client.closing import told_if_closed
from lamina.client.identity import Identity
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
from lamina.client.synchronous import DEFAULT_URL
from lamina.kernel.feedback import Verdict
from lamina.types.answers import AnswerResponse
from lamina.types.forgetting import Cascade, Forgotten
from lamina.types.health import HealthReport, Version
from lamina.types.layers import WhyRecord
from lamina.types.lifecycle import Cancelled, LifecyclePage, MemoryEventState
from lamina.types.recall import Pack
from lamina.types.sessions import Brief, Closed, Ingested
from lamina.types.writes import StoredByKey

__all__ = ["AsyncClient"]

ResultT = TypeVar("ResultT", bound=BaseModel)
EventT = TypeVar("EventT")


class AsyncClient:
    """``Client`` for asyncio: the same parameters, methods and errors, awaited.

    ``token_provider`` may answer with an awaitable.

        async with AsyncClient(actor="user:maya") as client:
            async for chunk in client.recall_stream("Where do I live?"):
                print(chunk.text, end="")
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
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        identity = Identity(actor, scope, signed=token_provider is not None)
        self._session = Session(
            base_url.rstrip("/"), identity, token_provider, timeout_s, Retries(count=retries)
        )
        self._http = httpx.AsyncClient(transport=transport, trust_env=False, verify=authorities(base_url))
        self.events = AsyncEvents(identity, self._send)
        self.episodes = AsyncEpisodes(identity, self._send)
        self.facts = AsyncFacts(identity, self._send)
        self.beliefs = AsyncBeliefs(identity, self._send)
        self.understanding = AsyncUnderstanding(identity, self._send)
        self.vocabularies = AsyncVocabularies(self._send)
        self.phrases = AsyncPhrases(self._send)
        self.erasures = AsyncErasureCalls(self._send)
        self.entities = AsyncEntities(identity, self._send)

    async def __aenter__(self) -> Self:
        """Itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self.aclose()

    async def aclose(self) -> None:
        """Mirrors ``Client.close``."""
        await self._http.aclose()

    def allow_unstable(self, allowed: bool = True) -> Self:
        """Mirrors ``Client.allow_unstable``."""
        self._session.unstable_allowed = allowed
        return self

    # ---- write

    async def experience(
        self, text: str | None = None, *, wait: Stage | None = None, **options: Unpack[ExperienceOptions]
    ) -> Stored:
        """Mirrors ``Client.experience``."""
        asked = writes.experience_ask(
            self._session.identity, text, options, wait, now=datetime.now(UTC), new_key=new_key
        )
        return await self._send(asked)

    async def experience_bulk(
        self,
        items: Iterable[str | Mapping[str, Any]],
        *,
        wait: Stage | None = None,
        **options: Unpack[BulkOptions],
    ) -> StoredBatch:
        """Mirrors ``Client.experience_bulk``."""
        asked = writes.bulk_ask(
            self._session.identity, items, options, now=datetime.now(UTC), new_key=new_key
        )
        stored = await self._send(asked)
        if wait in (None, "captured"):
            return stored
        event_id = (await self._send(writes.by_key_ask(writes.last_key(asked)))).event_id
        until = time.monotonic() + limits.WAIT_S_MAX
        while time.monotonic() < until:
            state = await self._send(reads.state_ask(event_id))
            if (come := writes.reached(stored, state, wait)) is not None:
                return come
            await asyncio.sleep(writes.LOOK_S)
        return stored

    async def feedback(
        self,
        target_id: str,
        verdict: Verdict,
        note: str | None = None,
        *,
        wait: Stage | None = None,
        **options: Unpack[FeedbackOptions],
    ) -> Stored:
        """Mirrors ``Client.feedback``."""
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
        return await self._send(asked)

    async def by_idempotency_key(self, key: str) -> StoredByKey:
        """Mirrors ``Client.by_idempotency_key``."""
        return await self._send(writes.by_key_ask(key))

    async def cancel(self, event_id: str, note: str | None = None) -> Cancelled:
        """Mirrors ``Client.cancel``."""
        return await self._send(writes.cancel_ask(event_id, note))

    async def forget(
        self, scope: str | None = None, *, cascade: Cascade | None = None, **options: Unpack[ForgetOptions]
    ) -> Forgotten:
        """Mirrors ``Client.forget``."""
        return await self._send(erasure_asks.forget(self._session.identity, scope, cascade, options))

    # ---- a chat's turn

    async def brief(self, query: str | None = None, **options: Unpack[BriefOptions]) -> Brief:
        """Mirrors ``Client.brief``."""
        return await self._send(turns.brief_ask(query, options, now=datetime.now(UTC)))

    async def ingest(
        self, role: Literal["user", "assistant"], text: str, **options: Unpack[TurnOptions]
    ) -> Ingested:
        """Mirrors ``Client.ingest``."""
        asked = turns.ingest_ask(role, text, options, now=datetime.now(UTC), new_key=new_key)
        return await self._send(asked)

    async def close_session(self, **conversation: Unpack[Conversation]) -> Closed:
        """Mirrors ``Client.close_session``."""
        return await self._send(turns.close_ask(conversation))

    # ---- read

    async def recall(self, query: str, **options: Unpack[RecallOptions]) -> Pack:
        """Mirrors ``Client.recall``."""
        return await self._send(reads.recall_ask(self._session.identity, query, options))

    def recall_stream(self, query: str, **options: Unpack[RecallOptions]) -> AsyncGenerator[Chunk, None]:
        """Mirrors ``Client.recall_stream``."""
        asked = reads.recall_ask(self._session.identity, query, options, stream=True)
        return self._events(recall_parts(self._session, asked))

    async def answer(self, question: str, **options: Unpack[AnswerOptions]) -> AnswerResponse:
        """Mirrors ``Client.answer``."""
        return await self._send(reads.answer_ask(self._session.identity, question, options))

    def answer_stream(self, question: str, **options: Unpack[AnswerOptions]) -> AsyncGenerator[Chunk, None]:
        """Mirrors ``Client.answer_stream``."""
        asked = reads.answer_ask(self._session.identity, question, options, stream=True)
        return self._events(recall_parts(self._session, asked))

    async def why(self, record_id: str, *, as_of: Time | None = None) -> WhyRecord:
        """Mirrors ``Client.why``."""
        return await self._send(layer_asks.why_record(record_id, as_of))

    def lifecycle(self, **filters: Unpack[LifecycleFilters]) -> AsyncGenerator[LifecycleEvent, None]:
        """Mirrors ``Client.lifecycle``."""
        return self._events(follow(self._session, reads.follow_ask(filters)))

    async def lifecycle_page(
        self, *, limit: int = 50, cursor: str | None = None, **filters: Unpack[LifecycleFilters]
    ) -> LifecyclePage:
        """Mirrors ``Client.lifecycle_page``."""
        return await self._send(reads.lifecycle_ask({**filters, "limit": limit, "cursor": cursor}))

    async def lifecycle_of(self, event_id: str) -> MemoryEventState:
        """Mirrors ``Client.lifecycle_of``."""
        return await self._send(reads.state_ask(event_id))

    async def continuity(self, operation: str, request: Mapping[str, Any]) -> Said:
        """What ``POST /v1/continuity/{operation}`` answers: read, upsert, patch, lifecycle, list and so on.

        A patch carries an idempotency key. An upsert may be sent again as it is: the same words change nothing.
        """
        return await self._send(capsule_ask(operation, request))

    async def health(self) -> HealthReport:
        """How the server is: its log, its worker, its models. It takes the right to ask (``admin.health``)."""
        return await self._send(reads.health_ask())

    async def version(self) -> Version:
        """Mirrors ``Client.version``."""
        return await self._send(reads.version_ask())

    # ---- sending

    async def _send(self, asked: Ask[ResultT]) -> ResultT:
        steps = self._session.exchange(asked)
        got: httpx.Response | httpx.RequestError | None = None
        while True:
            try:
                step = steps.send(got)
            except StopIteration as done:
                result: ResultT = done.value
                return result
            got = await self._sent(step)

    async def _sent(self, step: Send | Wait) -> httpx.Response | httpx.RequestError | None:
        if isinstance(step, Wait):
            await asyncio.sleep(step.seconds)
            return None
        try:
            with told_if_closed(self._http):
                return await self._http.send(await self._signed(step.request))
        except httpx.RequestError as error:
            return error

    async def _signed(self, request: httpx.Request) -> httpx.Request:
        token = self._session.token()
        if token is not None:
            self._session.sign(request, token if isinstance(token, str) else await token)
        return request

    async def _events(self, steps: Stream[EventT]) -> AsyncGenerator[EventT, None]:
        response: httpx.Response | None = None
        data: AsyncIterator[bytes] | None = None
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
                    await asyncio.sleep(step.seconds)
                elif isinstance(step, Open):
                    if response is not None:
                        await response.aclose()
                    got = await self._opened(step.request)
                    response = got if isinstance(got, httpx.Response) else None
                    data = response.aiter_bytes() if response is not None and response.is_success else None
                elif data is not None:
                    got = await _next(data, self._http)
        finally:
            if response is not None:
                await response.aclose()

    async def _opened(self, request: httpx.Request) -> httpx.Response | httpx.RequestError:
        try:
            with told_if_closed(self._http):
                response = await self._http.send(await self._signed(request), stream=True)
                if not response.is_success:
                    await response.aread()
        except httpx.RequestError as error:
            return error
        return response


async def _next(data: AsyncIterator[bytes], http: httpx.AsyncClient) -> bytes | httpx.RequestError | None:
    try:
        with told_if_closed(http):
            return await anext(data, None)
    except httpx.RequestError as error:
        return error

"""What both clients share: how a request is made, what is done with an answer, and when it is sent again.

The conversations are generators. They yield a step, the class that drives them does it, and sends back what came
of it; so waiting, sending and reading are the only things that the two classes do each in its own way.
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar
from uuid import uuid4

import httpx
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from lamina import __version__, limits
from lamina.client.asks import Ask
from lamina.client.identity import Identity
from lamina.client.responses import Failure, failure_of, lost, result_of
from lamina.errors import Invalid

__all__ = [
    "Exchange",
    "HasToken",
    "Retries",
    "Send",
    "Session",
    "TokenProvider",
    "UnstableEndpoint",
    "Wait",
    "new_key",
]

ResultT = TypeVar("ResultT", bound=BaseModel)
STREAM_SILENCE_S: Final = 3 * limits.LIFECYCLE_HEARTBEAT_S
_IN_A_HEADER: Final = re.compile(r"[!-~](?:[ -~]*[!-~])?")


class UnstableEndpoint(FutureWarning):
    """An endpoint was used whose shape may still change; said once, unless ``allow_unstable(True)``."""


class HasToken(Protocol):
    """Something that gives a token when asked."""

    def token(self) -> str | Awaitable[str]:
        """The token to send now."""
        ...


TokenProvider = Callable[[], str | Awaitable[str]] | HasToken
"""Asked before each request; an ``AsyncClient`` also takes one that answers with an awaitable."""


def new_key() -> str:
    """An idempotency key that nobody used."""
    return f"sdk-{uuid4().hex}"


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a repeatable request is sent again, and how long to wait: doubling, with full jitter.

    Full jitter as in Brooker, "Exponential Backoff and Jitter" (2015): anything up to the doubled time.
    """

    count: int = 3
    base_s: float = 0.25
    most_s: float = 8.0
    retry_after_s_max: float = 60.0
    jitter: Callable[[], float] = random.random

    def wait_s(self, attempt: int, failure: Failure) -> float | None:
        """How long to wait after the ``attempt``-th failure, from 0; None when it is not worth another."""
        if attempt >= self.count or not failure.retriable:
            return None
        if failure.retry_after_s is not None:
            told = failure.retry_after_s
            return told if told <= self.retry_after_s_max else None
        return float(min(self.most_s, self.base_s * 2**attempt) * self.jitter())


@dataclass(frozen=True, slots=True)
class Send:
    """Send the request. What comes back is its response, read to the end, or what kept it from coming or from being decoded."""

    request: httpx.Request


@dataclass(frozen=True, slots=True)
class Wait:
    """Let time pass."""

    seconds: float


Exchange = Generator[Send | Wait, httpx.Response | httpx.RequestError | None, ResultT]


@dataclass(slots=True)
class Session:
    """A client's settings, and what it has warned of already."""

    base_url: str
    identity: Identity
    token_provider: TokenProvider | None = None
    timeout_s: float = 30.0
    retries: Retries = field(default_factory=Retries)
    unstable_allowed: bool = False
    warned: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Refuse an address and a token provider that could only fail later, over and over."""
        if not self.base_url.startswith(("http://", "https://")) or not _parses(self.base_url):
            raise Invalid(
                "INVALID_REQUEST",
                f"{self.base_url!r} is not an address of http or https",
                hint="for example http://127.0.0.1:8700",
                details={"field": "base_url"},
            )
        provider = self.token_provider
        if provider is not None and not callable(provider) and not hasattr(provider, "token"):
            raise Invalid(
                "INVALID_TOKEN_PROVIDER",
                "token_provider is neither a function nor an object with token()",
                hint="of a token that does not change: token_provider=lambda: token",
                details={"field": "token_provider"},
            )

    def token(self) -> str | Awaitable[str] | None:
        """What the token provider says, None without one."""
        provider = self.token_provider
        if provider is None:
            return None
        return provider() if callable(provider) else provider.token()

    def sign(self, request: httpx.Request, token: str) -> None:
        """Put the token of the provider into a request. What is sent in vain is quoted by whoever refuses it, and this is a secret."""
        if not _IN_A_HEADER.fullmatch(token):
            raise Invalid(
                "INVALID_TOKEN_PROVIDER",
                "the token is empty, or holds a line's end or another character that no header takes",
                hint="of a token from a file, the end of its line is no part",
            )
        request.headers["Authorization"] = f"Bearer {token}"

    def request(self, asked: Ask[Any], *, stream: bool = False) -> httpx.Request:
        """The HTTP request of an ask. The token is left to whoever sends it."""
        headers = {"User-Agent": f"lamina-python/{__version__}", **asked.headers}
        if stream:
            headers["Accept"] = "text/event-stream"
        actor = self.identity.actor
        if actor is not None:
            if actor and not _IN_A_HEADER.fullmatch(actor):
                raise Invalid(
                    "INVALID_ACTOR",
                    f"actor {actor[:120]!r} is not type:id",
                    hint="types are user, agent, service and system; for example user:alice",
                    details={"field": "actor"},
                )
            headers["X-Cortex-Actor"] = actor
        if asked.body is not None:
            headers["Content-Type"] = "application/json; charset=utf-8"
        read_s = STREAM_SILENCE_S if stream else self.timeout_s + asked.held_s
        timeout = httpx.Timeout(self.timeout_s, read=max(read_s, self.timeout_s))
        try:
            return httpx.Request(
                asked.verb,
                f"{self.base_url}{asked.path}",
                params=dict(asked.query) or None,
                headers=headers,
                content=None if asked.body is None else to_json(asked.body),
                extensions={"timeout": timeout.as_dict()},
            )
        except (PydanticSerializationError, UnicodeEncodeError) as error:
            raise Invalid(
                "INVALID_REQUEST",
                "what is asked holds text that is not Unicode, which cannot be sent",
                hint="text from a file or a terminal is in UTF-8",
            ) from error

    def exchange(self, asked: Ask[ResultT]) -> Exchange[ResultT]:
        """The steps to an answer. Raises one of ``lamina.errors``; a repeatable ask is tried again first."""
        attempt = 0
        while True:
            got = yield Send(self.request(asked))
            if isinstance(got, httpx.Response) and got.is_success:
                self.note(asked, got)
                return result_of(asked, got)
            failure = self.failure(got)
            wait_s = self.retries.wait_s(attempt, failure) if asked.repeatable else None
            if wait_s is None:
                raise failure.error
            yield Wait(wait_s)
            attempt += 1

    def failure(self, got: httpx.Response | httpx.RequestError | None) -> Failure:
        """What went wrong: an answer that is none of success, or none at all."""
        if isinstance(got, httpx.Response):
            return failure_of(got)
        assert isinstance(got, httpx.RequestError), "a step of sending comes back with one or the other"
        return lost(got, self.base_url)

    def note(self, asked: Ask[Any], response: httpx.Response) -> None:
        """Warn, once for each endpoint, of what is not promised to stay."""
        tier = response.headers.get("x-cortex-stability", "stable")
        if tier != "stable" and not self.unstable_allowed:
            self._warn(asked.endpoint, f"{asked.endpoint} is {tier}: its shape may change", UnstableEndpoint)
        link = response.headers.get("x-cortex-deprecation")
        if link:
            self._warn(
                f"{asked.endpoint} deprecated", f"{asked.endpoint} is going away: {link}", DeprecationWarning
            )

    def _warn(self, key: str, message: str, category: type[Warning]) -> None:
        if key not in self.warned:
            self.warned.add(key)
            warnings.warn(message, category, stacklevel=6)


def _parses(url: str) -> bool:
    try:
        httpx.URL(url).raw_host.decode("ascii").encode("idna")  # as connecting will
    except (httpx.InvalidURL, UnicodeError):
        return False
    return True

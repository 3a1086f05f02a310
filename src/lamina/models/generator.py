"""Asking a language model: any endpoint that speaks the OpenAI chat API. Never needed, never without a bound on time."""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, Final

import httpx

from lamina.errors import Invalid, LaminaError, Unavailable
from lamina.models.deadline import NETWORK_ERRORS, DeadlineTransport
from lamina.models.ports import Generated, Message

__all__ = ["OpenAiGenerator"]

_ANSWER_BYTES_MAX: Final = 1024 * 1024
_BUSY: Final = frozenset({408, 409, 425, 429})
"""Statuses below 500 that say "later" and not "never"."""

_OURS: Final = frozenset({301, 302, 303, 307, 308, 401, 402, 403, 404, 405, 407, 410})
"""Statuses that say that address, key or model are wrong, whatever was asked."""

_CONNECT_S: Final = 2.0
_TOKENS_MAX: Final = 2**31 - 1
_UNREADABLE: Final = (
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
)
"""What reading JSON of any shape can raise: also an infinite count, and lists a thousand deep."""


class OpenAiGenerator:
    """``Generator`` over ``POST <url>/chat/completions``. Safe to use from any thread.

    ``timeout_s`` bounds a whole exchange. A ``transport`` given in place of ours bounds each of its waits.
    """

    def __init__(
        self,
        url: str,
        model: str,
        api_key: str = "",
        *,
        timeout_s: float,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.name = model
        self._timeout_s = timeout_s
        self._url = f"{url.rstrip('/')}/chat/completions"
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._own = DeadlineTransport(_trusted()) if transport is None else None
        self._client = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s)),
            trust_env=False,
            transport=transport or self._own,
        )

    def complete(
        self, messages: Sequence[Message], *, tokens_max: int, schema: Mapping[str, Any] | None = None
    ) -> Generated:
        """Mirrors ``Generator.complete``."""
        asked: dict[str, Any] = {
            "model": self.name,
            "messages": [{"role": message.role, "content": message.text} for message in messages],
            "max_tokens": tokens_max,
            "temperature": 0,
        }
        if schema is not None:
            named = {"name": "answer", "schema": dict(schema), "strict": True}
            asked["response_format"] = {"type": "json_schema", "json_schema": named}
        body = b""
        try:
            with self._in_time(), self._client.stream("POST", self._url, json=asked) as response:
                if response.status_code != 200:
                    raise _refused(response.status_code)
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > _ANSWER_BYTES_MAX:
                        raise _unavailable("its answer has no end")
        except (httpx.HTTPError, httpx.InvalidURL, *NETWORK_ERRORS) as error:
            raise _unavailable(type(error).__name__) from error
        return _read(body)

    def _in_time(self) -> AbstractContextManager[None]:
        return nullcontext() if self._own is None else self._own.within(self._timeout_s)

    def close(self) -> None:
        """Let go of its connections."""
        self._client.close()


@cache
def _trusted() -> ssl.SSLContext:
    return ssl.create_default_context()


def _read(body: bytes) -> Generated:
    try:
        answer = json.loads(body)
        choice = answer["choices"][0]
        text = choice["message"]["content"]
        cut_off = choice.get("finish_reason") == "length"
        usage = answer.get("usage") or {}
        counts = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
    except _UNREADABLE as error:
        raise _unavailable("what it sent is no answer of its API") from error
    # Half a surrogate pair is legal JSON, and has no bytes that a store could keep.
    said = text.encode("utf-8", "replace").decode("utf-8").strip() if isinstance(text, str) else ""
    if not said:
        raise Invalid("MODEL_UNREADABLE", "the language model's answer is empty")
    tokens_in, tokens_out = (min(max(count, 0), _TOKENS_MAX) for count in counts)
    return Generated(said, tokens_in, tokens_out, cut_off)


def _refused(status: int) -> LaminaError:
    if status >= 500 or status in _BUSY:
        return _unavailable(f"it answered {status}")
    if status in _OURS:
        return Invalid(
            "MODEL_MISCONFIGURED",
            f"the language model turns everything away: it answered {status}",
            hint="check LAMINA_LLM_URL, LAMINA_LLM_MODEL and LAMINA_LLM_API_KEY",
        )
    return Invalid(
        "MODEL_REFUSED",
        f"the language model refused the request with {status}",
        hint="check that it takes questions of this size, and JSON schemas as response_format",
    )


def _unavailable(reason: str) -> Unavailable:
    return Unavailable("MODEL_UNAVAILABLE", f"the language model gave no answer: {reason}")

"""Asking a language model: any endpoint that speaks the OpenAI chat API. Never needed, never without a bound on time.

Servers differ in how they are asked for JSON: by a JSON Schema, by ``json_object``, or not at all. Which of them a server takes is
found out by asking: the first that it does not refuse is asked for from then on, and where it is not the first, the schema stands in
the messages.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, Final

import httpx

from lamina.errors import Invalid, LaminaError, Unavailable
from lamina.models.deadline import NETWORK_ERRORS, DeadlineTransport
from lamina.models.ports import ChatMessage, Generated
from lamina.observe.traces import Value, span

__all__ = ["OpenAiGenerator"]

_ANSWER_BYTES_MAX: Final = 1024 * 1024
_BUSY: Final = frozenset({408, 409, 425, 429})
"""Statuses below 500 that say "later" and not "never"."""

_OURS: Final = frozenset({301, 302, 303, 307, 308, 401, 402, 403, 404, 405, 407, 410})
"""Statuses that say that address, key or model are wrong, whatever was asked."""

_NO_SUCH_FORMAT: Final = frozenset({400, 415, 422, 501})
"""Statuses by which servers refuse a ``response_format`` that they do not know; a request that is wrong has them, too."""

_FORMATS: Final = ("json_schema", "json_object", "none")
_AGAIN_S: Final = (0.2, 0.5, 1.0, 2.0, 4.0)
"""How long to wait before each time that a model is asked again."""

_CONNECT_S: Final = 2.0
_UNREADABLE: Final = (
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    RecursionError,
)
"""What reading JSON of any shape can raise: also lists a thousand deep."""


class OpenAiGenerator:
    """``Generator`` over ``POST <url>/chat/completions``. Safe to use from any thread.

    ``timeout_s`` bounds a whole answer, with all that is tried for it. A ``transport`` given in place of ours bounds each of its waits.
    A model that was busy or gone is asked again up to ``retries`` times, while there is time for it.
    """

    def __init__(
        self,
        url: str,
        model: str,
        api_key: str = "",
        *,
        timeout_s: float,
        retries: int = 0,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = model
        self._timeout_s = timeout_s
        self._retries = min(retries, len(_AGAIN_S))
        self._sleep = sleep
        self._format = 0
        self._url = f"{url.rstrip('/')}/chat/completions"
        self._spanned: dict[str, Value] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",  # whose API it speaks
            "gen_ai.request.model": model,
            "gen_ai.request.temperature": 0.0,
        }
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._own = DeadlineTransport(_trusted()) if transport is None else None
        self._client = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s)),
            trust_env=False,
            transport=transport or self._own,
        )

    def complete(
        self, messages: Sequence[ChatMessage], *, tokens_max: int, schema: Mapping[str, Any] | None = None
    ) -> Generated:
        """Mirrors ``Generator.complete``."""
        until = time.monotonic() + self._timeout_s
        with self._in_time():
            if schema is None:
                return self._patiently(_asked(self.name, messages, tokens_max), until)
            return self._in_format(messages, tokens_max, schema, until)

    def _in_format(
        self, messages: Sequence[ChatMessage], tokens_max: int, schema: Mapping[str, Any], until: float
    ) -> Generated:
        """An answer in JSON, asked for in the first way that the server does not refuse."""
        for at in range(self._format, len(_FORMATS)):
            asked = _asked(self.name, messages, tokens_max) | _formatted(messages, schema, _FORMATS[at])
            try:
                answer = self._patiently(asked, until)
            except _FormatRefusedError:
                continue  # what is refused for what it says is refused in the last way, too, which has no format
            self._format = at
            return answer
        raise AssertionError("the last way to ask has no format that could be refused")

    def _patiently(self, asked: Mapping[str, Any], until: float) -> Generated:
        """Ask, and ask again where the model was busy or gone and there is time."""
        for again_s in _AGAIN_S[: self._retries]:
            try:
                return self._once(asked)
            except Unavailable:
                if time.monotonic() + again_s >= until:
                    raise
                self._sleep(again_s)
        return self._once(asked)

    def _once(self, asked: Mapping[str, Any]) -> Generated:
        with span(
            f"chat {self.name}", "client", self._spanned | {"gen_ai.request.max_tokens": asked["max_tokens"]}
        ) as opened:
            answer = self._exchanged(asked)
            opened.note("gen_ai.usage.input_tokens", answer.tokens_in)
            opened.note("gen_ai.usage.output_tokens", answer.tokens_out)
            opened.note("gen_ai.response.finish_reasons", ["length" if answer.cut_off else "stop"])
            return answer

    def _exchanged(self, asked: Mapping[str, Any]) -> Generated:
        body = b""
        try:
            with self._client.stream("POST", self._url, json=asked) as response:
                if response.status_code != 200:
                    raise _refusal(response.status_code, formatted="response_format" in asked)
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > _ANSWER_BYTES_MAX:
                        raise _unavailable("its answer has no end")
                sent = len(response.request.content)
        except (httpx.HTTPError, httpx.InvalidURL, *NETWORK_ERRORS) as error:
            raise _unavailable(type(error).__name__) from error
        return _read(body, sent, asked["max_tokens"])

    def _in_time(self) -> AbstractContextManager[None]:
        return nullcontext() if self._own is None else self._own.within(self._timeout_s)

    def close(self) -> None:
        """Let go of its connections."""
        self._client.close()


class _FormatRefusedError(Exception):
    """The server may not know the ``response_format``, or refuses the request for what it says."""


def _asked(model: str, messages: Sequence[ChatMessage], tokens_max: int) -> dict[str, Any]:
    return {
        "model": model,
        "messages": [{"role": message.role, "content": message.text} for message in messages],
        "max_tokens": tokens_max,
        "temperature": 0,
    }


def _formatted(messages: Sequence[ChatMessage], schema: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """What asks for JSON; in every way but the first the schema stands in the messages."""
    if kind == "json_schema":
        named = {"name": "answer", "schema": dict(schema), "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    shape = f"Answer with one JSON object of this JSON Schema and nothing else: {json.dumps(schema)}"
    told = [ChatMessage("system", shape), *messages]
    changed: dict[str, Any] = {"messages": [{"role": each.role, "content": each.text} for each in told]}
    if kind == "json_object":
        changed["response_format"] = {"type": "json_object"}
    return changed


def _refusal(status: int, *, formatted: bool) -> Exception:
    return _FormatRefusedError() if formatted and status in _NO_SUCH_FORMAT else _refused(status)


@cache
def _trusted() -> ssl.SSLContext:
    return ssl.create_default_context()


def _read(body: bytes, sent_bytes: int, tokens_max: int) -> Generated:
    try:
        answer = json.loads(body)
        choice = answer["choices"][0]
        text = choice["message"]["content"]
        cut_off = choice.get("finish_reason") == "length"
        usage = answer.get("usage")
    except _UNREADABLE as error:
        raise _unavailable("what it sent is no answer of its API") from error
    # Half a surrogate pair is legal JSON, and has no bytes that a store could keep.
    said = text.encode("utf-8", "replace").decode("utf-8").strip() if isinstance(text, str) else ""
    if not said:
        raise Invalid("MODEL_UNREADABLE", "the language model's answer is empty")
    # A token is at least a byte; of what a model thought before it answered only the count comes, and that is within what was asked for.
    tokens_in = _counted(usage, "prompt_tokens", sent_bytes)
    tokens_out = _counted(usage, "completion_tokens", max(len(said.encode()), tokens_max))
    return Generated(said, tokens_in, tokens_out, cut_off)


def _counted(usage: object, name: str, most: int) -> int:
    """A count of tokens as a server said it, at most so many; 0 where it is none."""
    count = usage.get(name) if isinstance(usage, Mapping) else None
    if not isinstance(count, int | float) or count != count or count < 0:  # NaN is not itself
        return 0
    return int(min(count, most))


def _refused(status: int) -> LaminaError:
    if status >= 500 or status in _BUSY:
        return _unavailable(f"it answered {status}")
    if status in _OURS:
        return Invalid(
            "MODEL_MISCONFIGURED",
            f"the language model turns everything away: it answered {status}",
            hint="check LAMINA_LLM_URL, LAMINA_LLM_MODEL and LAMINA_LLM_API_KEY, or those of LAMINA_ANSWER_URL",
        )
    return Invalid(
        "MODEL_REFUSED",
        f"the language model refused the request with {status}",
        hint="check that it takes questions of this size",
    )


def _unavailable(reason: str) -> Unavailable:
    return Unavailable("MODEL_UNAVAILABLE", f"the language model gave no answer: {reason}")

"""Errors in the words of the command line.

What the library and the server say speaks of fields, headers and routes. Whoever sits at a terminal has options,
variables and commands: here one becomes the other, for all commands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from lamina.catalogue import CATALOGUE
from lamina.errors import LaminaError

__all__ = ["OPTIONS", "PHRASES", "at_the_terminal"]

OPTIONS: Final[Mapping[str, str]] = {
    "actor": "--actor",
    "as_of": "--as-of",
    "base_url": "--url",
    "before": "--before",
    "budgets.max_tokens": "--max-tokens",
    "commit_message": "--message",
    "content.role": "--role",
    "content.text": "the text",
    "context.labels": "--label",
    "context.observed_at": "--at",
    "from_version": "--from",
    "keyword": "--keyword",
    "lifecycle": "--lifecycle",
    "limit": "--limit",
    "observed_actor.session": "--session",
    "observed_at": "--at",
    "operations": "--append or --remove",
    "query": "the question",
    "reason": "--reason",
    "recorded_during": "--recorded-during",
    "scope": "--scope",
    "scope_anchor": "--scope-anchor",
    "session": "--session",
    "since": "--since",
    "since_lifecycle_id": "--since",
    "temporal.as_of": "--as-of",
    "temporal.natural": "--when",
    "temporal.recorded_during": "--recorded-during",
    "temporal.valid_during": "--valid-during",
    "to_version": "--to",
    "updated_at": "--at",
    "valid_during": "--valid-during",
    "valid_from": "--since",
    "valid_to": "--until",
}
"""What a field of a request is called where one types it. A field that is not here came out of a file."""

PHRASES: Final[Mapping[str, str]] = {
    "details name the field and the reason; experience_envelope.schema.json has the shape": "",
    "details name the field and the reason; /openapi.json has the shape": "",
    "details name the field; /openapi.json has the shape": "",
    "details name the capability and the tier that denies it; GET /v1/policy/effective shows what you hold": (
        "ask whoever runs the server for it"
    ),
    "there is no Authorization header": "the server wants a token",
    "the Authorization header holds no token": "LAMINA_TOKEN holds no token",
    "send Authorization: Bearer <token>": "set LAMINA_TOKEN",
    "leave Authorization out and name the actor in X-Cortex-Actor": "leave LAMINA_TOKEN empty and name the actor with --actor",
    "send X-Cortex-Actor with exactly the sub of the token": "name with --actor exactly whom the token names",
    "X-Cortex-Actor": "--actor",
    "wait as Retry-After says, then send it again": "wait a little, then run it again",
    "pass actor= to the client, exactly as the token names it, or scope= to the call": (
        "name it with --actor, exactly as the token does, or set LAMINA_ACTOR"
    ),
    "pass observed_actor=": "name them with --actor",
    "compare client.version() with the version of this package": "lamina doctor compares the versions",
    "POST /v1/continuity/history": "lamina capsule history",
    "POST /v1/continuity/list": "lamina capsule list",
    "read it with allow_fallback": "read it with --fallback",
    "allow_fallback": "--fallback",
    "include_cold": "--all",
    "since_lifecycle_id": "--since",
}
"""What is said elsewhere, and here; the longer before what it contains. A test finds each of them in the source."""

_REASONS: Final = (
    (
        re.compile(
            r"(?:String|List|Value) should have (?:at least 1 (?:item|character)|a length of at least 1)\b.*"
        ),
        "should not be empty",
    ),
    (re.compile(r"(?:Value|String|List) should have"), "should have"),
    (re.compile(r"(should have \D*\d+\D*?)(?: after validation)?, not \d+"), r"\1"),
    (re.compile(r"Input should be greater than or equal to (\S+)"), r"should be \1 or more"),
    (re.compile(r"Input should be less than or equal to (\S+)"), r"should be \1 or less"),
    (re.compile(r"Input should be"), "should be"),
    (re.compile(r"Field required"), "is required"),
)
_OTHERS_SHOWN_MAX: Final = 5


def at_the_terminal(error: LaminaError) -> str:
    """The error as one line: its code, what is wrong by the name of its option, what helps, and the request's id."""
    request = f" [{error.request_id}]" if error.request_id else ""
    hint = _hint(error)
    return f"{error.code}: {_message(error)}" + (f" ({hint})" if hint else "") + request


def _message(error: LaminaError) -> str:
    message = _worded(error.message)
    for reason, ours in _REASONS:
        message = reason.sub(ours, message)
    field = error.details.get("field")
    if isinstance(field, str):
        message = _naming(message, field)
    others = _others(error, field)
    return f"{message}; and also {', '.join(others)}" if others else message


def _naming(message: str, field: str) -> str:
    """The message with the option in place of the field, or before it where the field is not named."""
    option = _option(field)
    named = re.compile(rf"(?<![\w.-]){re.escape(field)}(?![\w-]|\.\w)")
    if not named.search(message) and option not in message:
        return f"{option}: {message}"
    message = named.sub(option, message, count=1)
    return re.sub(rf"^({re.escape(option)}): (should|is) ", r"\1 \2 ", message)


def _option(field: str) -> str:
    """The option for a field; ``context.labels.0`` is one of those for ``context.labels``."""
    of_a_list = re.sub(r"\.\d+$", "", field)
    return OPTIONS.get(field) or OPTIONS.get(of_a_list) or field


def _others(error: LaminaError, field: object) -> list[str]:
    problems = error.details.get("problems")
    if not isinstance(problems, list):
        return []
    fields = [str(problem["field"]) for problem in problems if problem.get("field") != field]
    return sorted({_option(other) for other in fields})[:_OTHERS_SHOWN_MAX]


def _hint(error: LaminaError) -> str:
    """Its own, or that of its code: a server of the other contracts sends its own alone."""
    known = CATALOGUE.get(error.code)
    hint = error.hint or (known.hint if known else None) or ""
    return _worded(hint).replace("`", "")


def _worded(text: str) -> str:
    for theirs, ours in PHRASES.items():
        text = text.replace(theirs, ours)
    return text

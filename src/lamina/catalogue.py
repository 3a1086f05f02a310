"""Every error code: its class, what it means, and what helps. The pages of the reference are written from here.

``scripts/error_pages`` writes ``docs/reference/errors/``, one page for each code: what an error's ``documentation``
links to. A test compares the codes here with those that the source raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["CATALOGUE", "ErrorCode"]


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One code. ``status`` differs from that of the class where it is given; ``part`` groups the codes."""

    kind: str
    part: str
    meaning: str
    status: int | None = None


_REQUESTS = "Requests"
_CALLERS = "Callers"
_STATE = "State"
_SERVER = "The server"
_CLIENTS = "Clients and commands"

CATALOGUE: Final[Mapping[str, ErrorCode]] = {
    "BODY_TOO_LARGE": ErrorCode(
        "TooLarge",
        _REQUESTS,
        "The body passes `details.bytes_max`.",
    ),
    "ERASURE_NOT_OFFERED": ErrorCode(
        "Unsupported",
        _REQUESTS,
        "`records=forget` asks to erase what a scope holds, which this server does not do yet. "
        "`records=keep` drops the registration alone.",
    ),
    "EXPERIMENTAL_DISABLED": ErrorCode(
        "Unsupported",
        _REQUESTS,
        "The operation is experimental, and this deployment does not offer such operations. An operator "
        "turns them on with `CORTEX_ENABLE_EXPERIMENTAL=1`.",
    ),
    "INVALID_ACTOR": ErrorCode(
        "Invalid",
        _REQUESTS,
        "The header `X-Cortex-Actor` is not `type:id` with a type of `user`, `agent`, `service` or `system`.",
    ),
    "INVALID_BODY": ErrorCode(
        "Malformed",
        _REQUESTS,
        "The body is not JSON, or its content type is another one.",
    ),
    "INVALID_CURSOR": ErrorCode(
        "Invalid",
        _REQUESTS,
        "The cursor was not made by this list with these filters. Leave it out to start over.",
    ),
    "INVALID_DURATION": ErrorCode(
        "Invalid",
        _REQUESTS,
        "Not an ISO 8601 duration such as `P30D`.",
    ),
    "INVALID_ENVELOPE": ErrorCode(
        "Invalid",
        _REQUESTS,
        "An experience breaks a rule of the envelope; `details.field` names the place. Nothing was stored.",
    ),
    "INVALID_FILTER": ErrorCode(
        "Invalid",
        _REQUESTS,
        "The filter of a recall cannot be read; the message says where.",
    ),
    "INVALID_ID": ErrorCode(
        "Invalid",
        _REQUESTS,
        "An id of another kind, or no id of ours. Ids are not interchangeable between kinds.",
    ),
    "INVALID_MEMBERS": ErrorCode(
        "Invalid",
        _REQUESTS,
        "The members of a scope name nobody as owner, or an actor twice.",
    ),
    "INVALID_POLICY": ErrorCode(
        "Invalid",
        _REQUESTS,
        "A policy document is wrong; `details.field` and `details.reason` say where. [The "
        "format](../policy.md) lists what fits.",
    ),
    "INVALID_QUERY": ErrorCode(
        "Malformed",
        _REQUESTS,
        "A query parameter is given twice.",
    ),
    "INVALID_RANGE": ErrorCode(
        "Invalid",
        _REQUESTS,
        "Not a range of time such as `2026-04-01..2026-05-01`.",
    ),
    "INVALID_REQUEST": ErrorCode(
        "Invalid",
        _REQUESTS,
        "A field of the request is wrong or not known; `details.problems` lists all of them.",
    ),
    "INVALID_SCOPE_GRAMMAR": ErrorCode(
        "Invalid",
        _REQUESTS,
        "A scope path is malformed; `details.reason` says where.",
    ),
    "INVALID_TIMESTAMP": ErrorCode(
        "Invalid",
        _REQUESTS,
        "Not RFC 3339 with a time zone.",
    ),
    "INVALID_TIME_RANGE": ErrorCode(
        "Invalid",
        _REQUESTS,
        "The temporal part of a recall contradicts itself: an interval ends before it begins, or two "
        "fields say which validity is wanted.",
    ),
    "METHOD_NOT_ALLOWED": ErrorCode(
        "Unsupported",
        _REQUESTS,
        "The path exists, the verb does not.",
        405,
    ),
    "MISSING_REQUIRED_FIELD": ErrorCode(
        "Malformed",
        _REQUESTS,
        "A required field is not there; `details.field` names it.",
    ),
    "RATE_LIMITED": ErrorCode(
        "Busy",
        _REQUESTS,
        "The bucket of this actor is empty. `Retry-After` says in how many seconds the next call may "
        "come; the `X-RateLimit-*` headers say how fast calls may be.",
    ),
    "UNKNOWN_CAPABILITY": ErrorCode(
        "Invalid",
        _REQUESTS,
        "A policy document names a capability that does not exist, or a wildcard that fits none.",
    ),
    "UNKNOWN_HOST": ErrorCode(
        "Invalid",
        _REQUESTS,
        "A server on loopback answers to the names of this machine only. This keeps out web pages that "
        "make their own name point here.",
        421,
    ),
    "UNPARSEABLE_TEMPORAL": ErrorCode(
        "Invalid",
        _REQUESTS,
        '`temporal.natural` is not understood. Write it as dates, or in words such as "last 30 days".',
    ),
    "UNREGISTERED_SCOPE_TYPE": ErrorCode(
        "Invalid",
        _REQUESTS,
        "A scope of a type that this deployment does not know cannot be registered; `details.allowed` "
        "lists those that can.",
    ),
    "VIEW_NOT_OFFERED": ErrorCode(
        "Unsupported",
        _REQUESTS,
        "This server does not make the narrative view.",
    ),
    "ACTOR_MISMATCH": ErrorCode(
        "Unauthenticated",
        _CALLERS,
        "`X-Cortex-Actor` is missing or is not exactly the `sub` of the token. It is required with every "
        "token.",
    ),
    "DOCUMENT_UNAVAILABLE": ErrorCode(
        "Unavailable",
        _CALLERS,
        "A document of another server, such as the keys of an issuer, cannot be read. It shows in the log"
        " only: callers get `ISSUER_KEYS_UNAVAILABLE`.",
    ),
    "EXPIRED_TOKEN": ErrorCode(
        "Unauthenticated",
        _CALLERS,
        "The `exp` of the token is over. Ask its issuer for a new one.",
    ),
    "INTERNAL_TOKEN_REQUIRED": ErrorCode(
        "Unauthenticated",
        _CALLERS,
        "The paths under `/internal` take the header `X-Internal-Token` with the deployment's `INTERNAL_TOKEN`. Where the "
        "setting is empty they are closed to everybody.",
    ),
    "INVALID_TOKEN_CLAIMS": ErrorCode(
        "Unauthenticated",
        _CALLERS,
        "A claim is missing or has another shape; `details.claim` names it. Wildcards in `caps` are "
        "refused too: they are for policies only.",
    ),
    "INVALID_TOKEN_SIGNATURE": ErrorCode(
        "Unauthenticated",
        _CALLERS,
        "No configured key signed this token, or it is none that could be verified: PASETO v4.public, or "
        "a JWT signed with RS256 or ES256. Until the signature holds, the answer says nothing about the "
        "rest of the token.",
    ),
    "ISSUER_KEYS_UNAVAILABLE": ErrorCode(
        "Unauthenticated",
        _CALLERS,
        "The keys of the token's issuer could not be read for longer than they are trusted. The token may"
        " be fine: try again in a minute. The log says what keeps the server from the keys.",
    ),
    "MISSING_TOKEN": ErrorCode(
        "Unauthenticated",
        _CALLERS,
        "There is no `Authorization` header.",
    ),
    "NOT_A_MEMBER": ErrorCode(
        "Forbidden",
        _CALLERS,
        "The scope, or the nearest registered one above it, has members, and the caller is none. Ask one "
        "of its owners.",
    ),
    "POLICY_DENIED": ErrorCode(
        "Forbidden",
        _CALLERS,
        "`details` names the capability that is missing and the tier that denied it: `deployment`, "
        "`tenant`, `scope`, `actor` or `token`, which is the caller's own token by its `caps` or "
        "`scopes`. `details.remediation` says what would help, where there is something.",
    ),
    "REVOCATION_LIST_FULL": ErrorCode(
        "TooLarge",
        _CALLERS,
        "A million tokens of the tenant are revoked and have not expired. Take the issuer's key out of "
        "the issuers file, and let it issue tokens for a shorter time.",
    ),
    "REVOKED_TOKEN": ErrorCode(
        "Unauthenticated",
        _CALLERS,
        "The token was taken back with `POST /v1/auth/revoke`.",
    ),
    "TOKEN_LIFETIME_TOO_LONG": ErrorCode(
        "Unauthenticated",
        _CALLERS,
        "The token is issued for more than 24 hours, or for a service account for more than 30 days.",
    ),
    "TOKEN_NOT_YET_VALID": ErrorCode(
        "Unauthenticated",
        _CALLERS,
        "`iat` or `nbf` is more than a minute in the future: the clocks of the issuer and the server differ.",
    ),
    "UNKNOWN_ISSUER": ErrorCode(
        "Unauthenticated",
        _CALLERS,
        "A key that we trust signed the token, and its `iss` is not in the issuers file, where it must be"
        " spelt alike.",
    ),
    "WRONG_TENANT": ErrorCode(
        "Unauthenticated",
        _CALLERS,
        "`aud` is not `cortexdb:tenant:<id>`, names several tenants, or one that the issuer does not "
        "speak for.",
    ),
    "IDEMPOTENCY_CONFLICT": ErrorCode(
        "Conflict",
        _STATE,
        "The key was used with another body within 24 hours. Nothing was stored.",
    ),
    "NOT_FOUND": ErrorCode(
        "NotFound",
        _STATE,
        "Nothing there that this caller may see; also for paths that do not exist.",
    ),
    "RESOURCE_DELETED": ErrorCode(
        "Gone",
        _STATE,
        "The record was deleted, for a belief because its confidence fell below the floor. `as_of` reads "
        "it as it was held before.",
    ),
    "SCOPE_REGISTRATION_EXISTS": ErrorCode(
        "Conflict",
        _STATE,
        "The scope is registered. Its members and its policy can be changed.",
    ),
    "AUDIT_CHAIN_BROKEN": ErrorCode(
        "Fault",
        _SERVER,
        "Audit rows that are past their retention are not as they were written, so they were not deleted."
        " `lamina audit verify` names the first.",
    ),
    "CANNOT_LISTEN": ErrorCode(
        "Invalid",
        _SERVER,
        "The address and port cannot be used; another program may have them.",
    ),
    "CANNOT_OPEN_STORE": ErrorCode(
        "Unavailable",
        _SERVER,
        "The data folder cannot be made, read or written, or the database in it is not one. The message "
        "has the path and the reason.",
    ),
    "INTERNAL": ErrorCode(
        "Fault",
        _SERVER,
        "The server failed. Its log has the cause under the `request_id`.",
    ),
    "GRAPH_REFUSED": ErrorCode(
        "Invalid",
        _SERVER,
        "The graph of `LAMINA_GRAPHITI` refuses a turn, or graphiti-core is not installed. Callers never see this: the row of "
        "the outbox has failed and stays visible.",
    ),
    "GRAPH_UNAVAILABLE": ErrorCode(
        "Unavailable",
        _SERVER,
        "The graph of `LAMINA_GRAPHITI` did not take a turn. Callers never see this: it is tried again.",
    ),
    "INVALID_HEAD": ErrorCode(
        "Invalid",
        _SERVER,
        "The file given to `lamina audit verify --head` is not what `lamina audit head` writes.",
    ),
    "INVALID_ISSUERS": ErrorCode(
        "Invalid",
        _SERVER,
        "The issuers file cannot be read or an entry of it is wrong; the message names the entry. The "
        "server does not start with fewer issuers than were meant. [Sign in](../../how-to/sign-in.md) "
        "shows such a file.",
    ),
    "INVALID_PRESET": ErrorCode(
        "Invalid",
        _SERVER,
        "`LAMINA_PRESET` names no preset, or a file that is no preset; the message says what is wrong "
        "with it.",
    ),
    "INVALID_RATE": ErrorCode(
        "Invalid",
        _SERVER,
        "A rate limit is not written as a count per second, minute or hour, such as `100/s`, or as "
        "`unlimited`.",
    ),
    "INVALID_SETTING": ErrorCode(
        "Invalid",
        _SERVER,
        "A setting has a value that is not accepted; the message lists those that are.",
    ),
    "MIGRATION_REFUSED": ErrorCode(
        "Fault",
        _SERVER,
        "The database was written by a newer Lamina, or its migrations were edited. Nothing was changed.",
    ),
    "MODEL_FILE_DAMAGED": ErrorCode(
        "Fault",
        _SERVER,
        "A file of the embedding model is missing or is not the one that Lamina was measured with. "
        "Install the package again.",
    ),
    "MODEL_REFUSED": ErrorCode(
        "Invalid",
        _SERVER,
        "The language model of `LAMINA_LLM_URL` refuses requests; key, model or address are wrong. Callers never see this: "
        "summaries are worded by rules then, and the outbox shows it.",
    ),
    "MODEL_UNAVAILABLE": ErrorCode(
        "Unavailable",
        _SERVER,
        "The language model of `LAMINA_LLM_URL` gave no answer in time. Callers never see this: what needs it is tried "
        "again, and worded by rules in the end.",
    ),
    "PRESET_NEEDS_KEYS": ErrorCode(
        "Unsupported",
        _SERVER,
        "Every preset but `dev_local` takes signed tokens only, and `LAMINA_ISSUERS` names no issuer.",
    ),
    "SERVER_STOPPING": ErrorCode(
        "Unavailable",
        _SERVER,
        "The server is stopping and opens no more streams.",
    ),
    "TOO_MANY_STREAMS": ErrorCode(
        "Busy",
        _SERVER,
        "As many lifecycle streams are open as the server allows. Read `GET /v1/lifecycle` page by page.",
    ),
    "UNKNOWN_SETTING": ErrorCode(
        "Invalid",
        _SERVER,
        "An environment variable begins with `LAMINA_` and is not a setting: probably a misspelling.",
    ),
    "WAL_UNAVAILABLE": ErrorCode(
        "Unavailable",
        _SERVER,
        "The log cannot be written: the disk is full, read-only or failing. What was answered before is "
        "safe.",
    ),
    "WORKER_RUNNING": ErrorCode(
        "Conflict",
        _SERVER,
        "Another worker derives from this folder. Stop it, or the server that started it.",
    ),
    "DERIVATION_WAITS": ErrorCode(
        "Unavailable",
        _CLIENTS,
        "`lamina demo` stored its conversation, and nobody derives from it. `lamina doctor` looks for the"
        " worker.",
    ),
    "INVALID_TOKEN_PROVIDER": ErrorCode(
        "Invalid",
        _CLIENTS,
        "The token provider of a `Client` answered with something else than a text. `AsyncClient` takes "
        "awaitables.",
    ),
    "NO_EXAMPLE": ErrorCode(
        "NotFound",
        _CLIENTS,
        "The example conversation is not installed; name a file with `--file`.",
    ),
    "RESPONSE_TOO_LARGE": ErrorCode(
        "TooLarge",
        _CLIENTS,
        "One event of a stream is larger than anything that a Lamina server sends.",
    ),
    "SERVER_UNREACHABLE": ErrorCode(
        "Unavailable",
        _CLIENTS,
        "No answer came: no server, no connection, or no time left. The transport's error is the "
        "`__cause__`. A write may have landed; sent again with the same idempotency key, it lands once.",
    ),
    "STREAM_CUT": ErrorCode(
        "Unavailable",
        _CLIENTS,
        "A stream ended before it was done.",
    ),
    "UNREADABLE_RESPONSE": ErrorCode(
        "Unsupported",
        _CLIENTS,
        "The answer does not have the shape that this client knows: compare the versions.",
    ),
}

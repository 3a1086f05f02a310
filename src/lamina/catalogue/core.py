"""The codes of Cortex, of signing in, of the server itself and of its clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.catalogue.entries import CALLERS, CLIENTS, REQUESTS, SERVER, STATE, ErrorCode

__all__ = ["CODES"]

CODES: Final[Mapping[str, ErrorCode]] = {
    "ANSWER_MODEL_NOT_OFFERED": ErrorCode(
        "Invalid",
        REQUESTS,
        "`answer_model` names a model that this server does not ask; `details.offered` lists those that it does. `extractive` is always "
        "among them: sentences of memory as they stand.",
    ),
    "BODY_TOO_LARGE": ErrorCode(
        "TooLarge",
        REQUESTS,
        "The body passes `details.bytes_max`.",
    ),
    "BODY_TOO_COMPLEX": ErrorCode(
        "TooLarge",
        REQUESTS,
        "The body has more keys or elements, or nests deeper, than `details.max`; `details.counted` says which. "
        "It was refused before it was read.",
        hint="send less in one request",
    ),
    "CALL_NOT_OFFERED": ErrorCode(
        "Unsupported",
        REQUESTS,
        "A call of another memory's API, or a part of one, that this server does not answer. "
        "The guide to moving from that memory says what stands in its place.",
    ),
    "EXPERIMENTAL_DISABLED": ErrorCode(
        "Unsupported",
        REQUESTS,
        "The operation is experimental, and this deployment does not offer such operations. An operator "
        "turns them on with `CORTEX_ENABLE_EXPERIMENTAL=1`.",
    ),
    "HEADERS_TOO_LARGE": ErrorCode(
        "TooLarge",
        REQUESTS,
        "The headers of the request, or what comes behind its body, go on past the bound. The connection is closed.",
        431,
        hint="send in the body what is long",
    ),
    "INVALID_ACTOR": ErrorCode(
        "Invalid",
        REQUESTS,
        "The header `X-Cortex-Actor`, or the actor of a client or a command, is not `type:id` with a type of `user`, "
        "`agent`, `service` or `system`.",
    ),
    "INVALID_BODY": ErrorCode(
        "Malformed",
        REQUESTS,
        "The body is not JSON, or its content type is another one or missing.",
        hint="send one JSON object, as application/json; charset=utf-8",
    ),
    "INVALID_CURSOR": ErrorCode(
        "Invalid",
        REQUESTS,
        "The cursor was not made by this list with these filters. Leave it out to start over.",
    ),
    "INVALID_DURATION": ErrorCode(
        "Invalid",
        REQUESTS,
        "Not an ISO 8601 duration such as `P30D`.",
    ),
    "EMPTY_SELECTOR_WITHOUT_CONFIRMATION": ErrorCode(
        "Invalid",
        REQUESTS,
        "`POST /v1/forget` names nothing that is to be forgotten, which means everything that the layers hold in the scope. "
        "Nothing was forgotten.",
        hint="name what is to be forgotten in `selector`, or send `confirm_all: true`",
    ),
    "INVALID_ENVELOPE": ErrorCode(
        "Invalid",
        REQUESTS,
        "An experience breaks a rule of the envelope; `details.field` names the place. Nothing was stored.",
        hint="details name the field and the reason; experience_envelope.schema.json has the shape",
    ),
    "INVALID_FILTER": ErrorCode(
        "Invalid",
        REQUESTS,
        "The filter of a recall cannot be read; the message says where.",
        hint='a filter is AND, OR, NOT over conditions such as {"confidence": {"gte": 0.6}}',
    ),
    "INVALID_ID": ErrorCode(
        "Invalid",
        REQUESTS,
        "An id of another kind, or no id of ours. Ids are not interchangeable between kinds.",
    ),
    "INVALID_MEMBERS": ErrorCode(
        "Invalid",
        REQUESTS,
        "The members of a scope name nobody as owner, or an actor twice.",
        hint="send the full list, each actor once, with at least one owner",
    ),
    "INVALID_PATH": ErrorCode(
        "Invalid",
        REQUESTS,
        "A path of a document leads outside, has empty or reserved parts, control "
        "characters or backslashes, or is too long; `details.reason` says which.",
    ),
    "INVALID_POLICY": ErrorCode(
        "Invalid",
        REQUESTS,
        "A policy document is wrong; `details.field` and `details.reason` say where. [The "
        "format](../policy.md) lists what fits.",
        hint="details name the field; docs/reference/policy.md has the format",
    ),
    "INVALID_QUERY": ErrorCode(
        "Malformed",
        REQUESTS,
        "A query parameter is given twice, or stands beside a body in which it belongs.",
        hint="give every query parameter once, a list separated by commas, and the fields of a body in the body",
    ),
    "INVALID_RANGE": ErrorCode(
        "Invalid",
        REQUESTS,
        "Not a range of time such as `2026-04-01..2026-05-01`.",
    ),
    "INVALID_REQUEST": ErrorCode(
        "Invalid",
        REQUESTS,
        "A field of the request is wrong or not known; `details.problems` lists all of them.",
        hint="details name the field and the reason; /openapi.json has the shape",
    ),
    "INVALID_SCOPE_GRAMMAR": ErrorCode(
        "Invalid",
        REQUESTS,
        "A scope path is malformed; `details.reason` says where.",
        hint="write type:id segments with / between, such as org:acme/user:alice",
    ),
    "INVALID_TIMESTAMP": ErrorCode(
        "Invalid",
        REQUESTS,
        "Not RFC 3339 with a time zone.",
        hint="write RFC 3339 with a zone, for example 2026-05-13T15:42:00Z",
    ),
    "INVALID_TIME_RANGE": ErrorCode(
        "Invalid",
        REQUESTS,
        "The temporal part of a recall contradicts itself: an interval ends before it begins, or two "
        "fields say which validity is wanted.",
        hint="send two instants, the first before the second; the end is exclusive",
    ),
    "METHOD_NOT_ALLOWED": ErrorCode(
        "Unsupported",
        REQUESTS,
        "The path exists, the verb does not.",
        405,
        hint="/openapi.json names the verbs of every path",
    ),
    "MISSING_REQUIRED_FIELD": ErrorCode(
        "Malformed",
        REQUESTS,
        "A required field is not there; `details.field` names it.",
        hint="details name the field; /openapi.json has the shape",
    ),
    "RATE_LIMITED": ErrorCode(
        "Busy",
        REQUESTS,
        "The bucket of this actor is empty. `Retry-After` says in how many seconds the next call may "
        "come; the `X-RateLimit-*` headers say how fast calls may be.",
    ),
    "REQUEST_TIMEOUT": ErrorCode(
        "Malformed",
        REQUESTS,
        "Headers or body of the request took too long to arrive. The connection is closed.",
        408,
        hint="open a connection when the request is ready, and send it whole",
    ),
    "UNKNOWN_CAPABILITY": ErrorCode(
        "Invalid",
        REQUESTS,
        "A policy document names a capability that does not exist, or a wildcard that fits none.",
    ),
    "UNKNOWN_HOST": ErrorCode(
        "Invalid",
        REQUESTS,
        "A server on loopback answers to the names of this machine only. This keeps out web pages that "
        "make their own name point here.",
        421,
    ),
    "PACK_EXPIRED": ErrorCode(
        "Gone",
        REQUESTS,
        "The pack of `use_pack_id` is older than 60 seconds. Recall again: a pack is good for as long as nothing is likely to have changed.",
    ),
    "PACK_NOT_FOUND": ErrorCode(
        "NotFound",
        REQUESTS,
        "`use_pack_id` names no pack of the caller: none at all, somebody else's, or one of hours ago.",
    ),
    "UNPARSEABLE_TEMPORAL": ErrorCode(
        "Invalid",
        REQUESTS,
        '`temporal.natural` is not understood. Write it as dates, or in words such as "last 30 days".',
    ),
    "UNREGISTERED_SCOPE_TYPE": ErrorCode(
        "Invalid",
        REQUESTS,
        "A scope of a type that this deployment does not know cannot be registered; `details.allowed` "
        "lists those that can.",
    ),
    "ACTOR_MISMATCH": ErrorCode(
        "Unauthenticated",
        CALLERS,
        "`X-Cortex-Actor` is missing or is not exactly the `sub` of the token. It is required with every "
        "token.",
    ),
    "DOCUMENT_UNAVAILABLE": ErrorCode(
        "Unavailable",
        CALLERS,
        "A document of another server, such as the keys of an issuer, cannot be read. It shows in the log"
        " only: callers get `ISSUER_KEYS_UNAVAILABLE`.",
        hint="check that the address answers from this machine, then try again",
    ),
    "EXPIRED_TOKEN": ErrorCode(
        "Unauthenticated",
        CALLERS,
        "The `exp` of the token is over. Ask its issuer for a new one.",
    ),
    "FOREIGN_ORIGIN": ErrorCode(
        "Forbidden",
        CALLERS,
        "A web page of another origin asked a server that believes its callers (`dev_local`): by `Origin` or "
        "`Sec-Fetch-Site` the request was not made by the server's own pages. Another port is another origin.",
    ),
    "INVALID_TOKEN_CLAIMS": ErrorCode(
        "Unauthenticated",
        CALLERS,
        "A claim is missing or has another shape; `details.claim` names it. Wildcards in `caps` are "
        "refused too: they are for policies only.",
    ),
    "INVALID_TOKEN_SIGNATURE": ErrorCode(
        "Unauthenticated",
        CALLERS,
        "No configured key signed this token, or it is none that could be verified: PASETO v4.public, or "
        "a JWT signed with RS256 or ES256. Until the signature holds, the answer says nothing about the "
        "rest of the token.",
    ),
    "ISSUER_KEYS_UNAVAILABLE": ErrorCode(
        "Unauthenticated",
        CALLERS,
        "The keys of the token's issuer could not be read for longer than they are trusted. The token may"
        " be fine: try again in a minute. The log says what keeps the server from the keys.",
    ),
    "MISSING_TOKEN": ErrorCode(
        "Unauthenticated",
        CALLERS,
        "There is no `Authorization` header.",
    ),
    "NOT_A_MEMBER": ErrorCode(
        "Forbidden",
        CALLERS,
        "The scope, or the nearest registered one above it, has members, and the caller is none. Ask one "
        "of its owners.",
        hint="ask an owner of the scope to make you a member",
    ),
    "POLICY_DENIED": ErrorCode(
        "Forbidden",
        CALLERS,
        "`details` names the capability that is missing and the tier that denied it: `deployment`, "
        "`tenant`, `scope`, `actor` or `token`, which is the caller's own token by its `caps` or "
        "`scopes`. `details.remediation` says what would help, where there is something.",
        hint="details name the capability and the tier that denies it; GET /v1/policy/effective shows what you hold",
    ),
    "REVOCATION_LIST_FULL": ErrorCode(
        "TooLarge",
        CALLERS,
        "A million tokens of the tenant are revoked and have not expired. Take the issuer's key out of "
        "the issuers file, and let it issue tokens for a shorter time.",
    ),
    "REVOKED_TOKEN": ErrorCode(
        "Unauthenticated",
        CALLERS,
        "The token was taken back with `POST /v1/auth/revoke`.",
    ),
    "TOKEN_LIFETIME_TOO_LONG": ErrorCode(
        "Unauthenticated",
        CALLERS,
        "The token is issued for more than 24 hours, or for a service account for more than 30 days.",
    ),
    "TOKEN_NOT_YET_VALID": ErrorCode(
        "Unauthenticated",
        CALLERS,
        "`iat` or `nbf` is more than a minute in the future: the clocks of the issuer and the server differ.",
    ),
    "UNKNOWN_ISSUER": ErrorCode(
        "Unauthenticated",
        CALLERS,
        "A key that we trust signed the token, and its `iss` is not in the issuers file, where it must be"
        " spelt alike.",
    ),
    "WRONG_TENANT": ErrorCode(
        "Unauthenticated",
        CALLERS,
        "`aud` is not `cortexdb:tenant:<id>`, names several tenants, or one that the issuer does not "
        "speak for.",
    ),
    "IDEMPOTENCY_CONFLICT": ErrorCode(
        "Conflict",
        STATE,
        "The key was used with another body within 24 hours. Nothing was stored.",
    ),
    "TOKEN_EXISTS": ErrorCode(
        "Conflict",
        STATE,
        "There is a Relay token of that id.",
    ),
    "TENANT_NOT_EMPTY": ErrorCode(
        "Conflict",
        STATE,
        "Documents are restored into a tenant that has none. Nothing was stored.",
    ),
    "NOT_FOUND": ErrorCode(
        "NotFound",
        STATE,
        "Nothing there that this caller may see; also for paths that do not exist.",
        hint="check the id, or the path",
    ),
    "RESOURCE_DELETED": ErrorCode(
        "Gone",
        STATE,
        "The record was forgotten (`cascade`), or a belief fell below the floor (`audit_id`) or was merged into another (`merged_into`), or what the record "
        "rested on was cancelled or is over. What was forgotten is gone; anything else `as_of` reads as it was held before.",
    ),
    "SCOPE_REGISTRATION_EXISTS": ErrorCode(
        "Conflict",
        STATE,
        "The scope is registered. Its members and its policy can be changed.",
    ),
    "AUDIT_CHAIN_BROKEN": ErrorCode(
        "Fault",
        SERVER,
        "Audit rows that are past their retention are not as they were written, so they were not deleted."
        " `lamina audit verify` names the first.",
    ),
    "CANNOT_LISTEN": ErrorCode(
        "Invalid",
        SERVER,
        "The address and port cannot be used; another program may have them.",
        hint="choose another port with --port, or stop what listens there",
    ),
    "CANNOT_OPEN_STORE": ErrorCode(
        "Unavailable",
        SERVER,
        "The data folder cannot be made, read or written, or the database in it is not one. The message "
        "has the path and the reason.",
    ),
    "INTERNAL": ErrorCode(
        "Fault",
        SERVER,
        "The server failed. Its log has the cause under the `request_id`.",
        hint="send it again later; if it stays, give the operator the request id",
    ),
    "INVALID_HEAD": ErrorCode(
        "Invalid",
        SERVER,
        "The file given to `lamina audit verify --head` cannot be read, or is not what `lamina audit head` writes.",
        hint="pass the file that lamina audit head wrote, or its output as -",
    ),
    "INVALID_ISSUERS": ErrorCode(
        "Invalid",
        SERVER,
        "The issuers file cannot be read or an entry of it is wrong; the message names the entry. The "
        "server does not start with fewer issuers than were meant. [Sign in](../../how-to/sign-in.md) "
        "shows such a file.",
    ),
    "INVALID_PRESET": ErrorCode(
        "Invalid",
        SERVER,
        "`LAMINA_PRESET` names no preset, or a file that is no preset; the message says what is wrong "
        "with it.",
    ),
    "INVALID_RATE": ErrorCode(
        "Invalid",
        SERVER,
        "A rate limit is not written as a count per second, minute or hour, such as `100/s`, or as "
        "`unlimited`.",
    ),
    "INVALID_SETTING": ErrorCode(
        "Invalid",
        SERVER,
        "A setting has a value that is not accepted; the message lists those that are.",
        hint="change the setting that is named, or leave it out: `lamina serve --help` shows defaults",
    ),
    "MIGRATION_REFUSED": ErrorCode(
        "Fault",
        SERVER,
        "The database was written by a newer Lamina, or its migrations were edited. Nothing was changed.",
        hint="use the version of Lamina that wrote the data, or restore a backup",
    ),
    "MODEL_FILE_DAMAGED": ErrorCode(
        "Fault",
        SERVER,
        "A file of the embedding model or of the parser's model is missing or is not the one that Lamina was measured with. "
        "Install the package again.",
    ),
    "MODEL_MISCONFIGURED": ErrorCode(
        "Invalid",
        SERVER,
        "The language model of `LAMINA_LLM_URL` turns everything away (a redirect, 401, 403, 404 ...): key, model or address "
        "are wrong. Callers never see this: everything that it is to be asked waits, summaries are worded by rules meanwhile, and "
        "`GET /v1/admin/health` and `lamina doctor` say so.",
        hint="check LAMINA_LLM_URL, LAMINA_LLM_MODEL and LAMINA_LLM_API_KEY",
    ),
    "MODEL_REFUSED": ErrorCode(
        "Invalid",
        SERVER,
        "The language model of `LAMINA_LLM_URL` refuses a request (400, 413, 422 ...): it may be too long, or the model takes "
        "no JSON schema as `response_format`. Callers never see this: a summary is worded by rules then, and a question about loops "
        "fails for good, which the outbox shows.",
    ),
    "PRESET_NEEDS_KEYS": ErrorCode(
        "Unsupported",
        SERVER,
        "Every preset but `dev_local` takes signed tokens only, and `LAMINA_ISSUERS` names no issuer.",
    ),
    "SERVER_STOPPING": ErrorCode(
        "Unavailable",
        SERVER,
        "The server is stopping and opens no more streams.",
    ),
    "SERVER_FULL": ErrorCode(
        "Unavailable",
        SERVER,
        "As many connections are open, as many bytes of bodies held, or as many recalls waiting, as the server takes at once. "
        "`Retry-After` says when to come again.",
    ),
    "TOO_MANY_STREAMS": ErrorCode(
        "Busy",
        SERVER,
        "As many lifecycle streams are open as the server allows an actor, a tenant or all together; the message says whose, "
        "`details.streams_max` how many. Read `GET /v1/lifecycle` page by page.",
    ),
    "TOO_MUCH_AT_ONCE": ErrorCode(
        "Busy",
        SERVER,
        "This caller's requests hold as many bytes, this address as many connections, or this tenant as many recalls that wait, as one may; or a check is running already. "
        "`Retry-After` says when to come again; send one large request after another.",
    ),
    "UNKNOWN_SETTING": ErrorCode(
        "Invalid",
        SERVER,
        "An environment variable begins with `LAMINA_` and is not a setting: probably a misspelling.",
    ),
    "STORE_NOT_FOUND": ErrorCode(
        "NotFound",
        SERVER,
        "The command works on a data folder, and the folder that was named has no database: nothing was made there.",
    ),
    "WAL_UNAVAILABLE": ErrorCode(
        "Unavailable",
        SERVER,
        "The log cannot be written: the disk is full, read-only or failing. What was answered before is "
        "safe.",
    ),
    "WORKER_RUNNING": ErrorCode(
        "Conflict",
        SERVER,
        "Another worker derives from this folder. Stop it, or the server that started it.",
    ),
    "DERIVATION_WAITS": ErrorCode(
        "Unavailable",
        CLIENTS,
        "`lamina remember --wait` or `lamina demo` waited for what is derived, in vain: what was stored is safe, and "
        "a worker has yet to come to it. `lamina doctor` looks for the worker.",
    ),
}

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
    """One code. ``status`` differs from that of the class where it is given; ``part`` groups the codes.

    ``hint`` says what helps where the place that raises the error says nothing nearer.
    """

    kind: str
    part: str
    meaning: str
    status: int | None = None
    hint: str | None = None


_REQUESTS = "Requests"
_CALLERS = "Callers"
_STATE = "State"
_CONTINUITY = "Continuity"
_SERVER = "The server"
_CLIENTS = "Clients and commands"

_REMINDERS = "Reminders"
_REMINDER_FIELDS: Final = {
    "DUE_AT_NOT_FUTURE": "`due_at` must lie in the future when an item is created or its due time changes.",
    "INVALID_SCHEDULE_DUE_AT": "`due_at` is not an exact UTC second, written `YYYY-MM-DDTHH:MM:SSZ`.",
    "INVALID_SCHEDULE_ID": "`schedule_id` is not of the form `sched_[a-z0-9][a-z0-9_-]{0,57}`.",
    "INVALID_SCHEDULE_KIND": "`kind` is neither `reminder` nor `task_nudge`.",
    "INVALID_SCHEDULE_LINK": "`task_id` or `thread_id` is wrong, or a `task_nudge` names nothing it is about.",
    "INVALID_SCHEDULE_METADATA": "`metadata` is not a flat object of scalars, or takes more than 2048 bytes.",
    "INVALID_SCHEDULE_NOTE": "`note` is not a string of at most 1000 characters.",
    "INVALID_SCHEDULE_PAYLOAD": "The body as a whole is wrong; `detail.field` names the place.",
    "INVALID_SCHEDULE_QUERY": "A query parameter is wrong; `detail.field` names it as `query.<name>`.",
    "INVALID_SCHEDULE_REASON": "`reason` is not a string of at most 500 characters.",
    "INVALID_SCHEDULE_STATUS": "`status` is neither `acknowledged` nor `done`.",
    "INVALID_SCHEDULE_SUBJECT": "`subject_kind` and `subject_id` are wrong, or one of them is missing.",
    "INVALID_SCHEDULE_TITLE": "`title` is not a string of 1 to 160 characters.",
    "INVALID_SCHEDULE_VERSION": "`expected_version` is not a whole number from 1 on, or is missing.",
}
_REMINDER_STATES: Final = {
    "IDEMPOTENCY_KEY_CONFLICT": "The `idempotency_key` of a reminder belongs to another one of the tenant.",
    "SCHEDULE_ID_CONFLICT": "The `schedule_id` belongs to a reminder that was created otherwise.",
    "SCHEDULE_STATUS_CONFLICT": "The reminder has ended, and not as is asked.",
    "SCHEDULE_VERSION_CONFLICT": "The reminder has changed since the version that the caller expects.",
}

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
        hint="send one JSON object, as application/json; charset=utf-8",
    ),
    "INVALID_CLONE": ErrorCode(
        "Invalid",
        _CLIENTS,
        "The folder is no git repository, has no commits, or has what documents cannot hold: merges, links, submodules or "
        "paths that are not accepted. The message says which. Nothing was stored.",
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
        hint="details name the field and the reason; experience_envelope.schema.json has the shape",
    ),
    "INVALID_FILTER": ErrorCode(
        "Invalid",
        _REQUESTS,
        "The filter of a recall cannot be read; the message says where.",
        hint='a filter is AND, OR, NOT over conditions such as {"confidence": {"gte": 0.6}}',
    ),
    "INVALID_GRANT": ErrorCode(
        "Invalid",
        _REQUESTS,
        "A Relay token cannot be issued: its peer id, a scope or a namespace is not one.",
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
        hint="send the full list, each actor once, with at least one owner",
    ),
    "INVALID_PATH": ErrorCode(
        "Invalid",
        _REQUESTS,
        "A path of a document, or an id that becomes part of one, leads outside, has empty or reserved parts, control "
        "characters or backslashes, or is too long; `details.reason` says which.",
    ),
    "INVALID_POLICY": ErrorCode(
        "Invalid",
        _REQUESTS,
        "A policy document is wrong; `details.field` and `details.reason` say where. [The "
        "format](../policy.md) lists what fits.",
        hint="details name the field; docs/reference/policy.md has the format",
    ),
    "INVALID_QUERY": ErrorCode(
        "Malformed",
        _REQUESTS,
        "A query parameter is given twice.",
        hint="give every query parameter once; a list is separated by commas",
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
        hint="details name the field and the reason; /openapi.json has the shape",
    ),
    "INVALID_SCOPE_GRAMMAR": ErrorCode(
        "Invalid",
        _REQUESTS,
        "A scope path is malformed; `details.reason` says where.",
        hint="write type:id segments with / between, such as org:acme/user:alice",
    ),
    "INVALID_TIMESTAMP": ErrorCode(
        "Invalid",
        _REQUESTS,
        "Not RFC 3339 with a time zone.",
        hint="write RFC 3339 with a zone, for example 2026-05-13T15:42:00Z",
    ),
    "INVALID_TIME_RANGE": ErrorCode(
        "Invalid",
        _REQUESTS,
        "The temporal part of a recall contradicts itself: an interval ends before it begins, or two "
        "fields say which validity is wanted.",
        hint="send two instants, the first before the second; the end is exclusive",
    ),
    "METHOD_NOT_ALLOWED": ErrorCode(
        "Unsupported",
        _REQUESTS,
        "The path exists, the verb does not.",
        405,
        hint="/openapi.json names the verbs of every path",
    ),
    "MISSING_REQUIRED_FIELD": ErrorCode(
        "Malformed",
        _REQUESTS,
        "A required field is not there; `details.field` names it.",
        hint="details name the field; /openapi.json has the shape",
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
    "UNKNOWN_HELP_ID": ErrorCode(
        "Malformed",
        _REQUESTS,
        "The Relay help has no page for this id; the answer lists the ids that it has. It shows this error as "
        '`{"error": {"code": "validation", ...}}`.',
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
    "DOCUMENTS_IN_USE": ErrorCode(
        "Unavailable",
        _SERVER,
        "Another process writes the documents of this folder, and only one can. A server that runs is one.",
    ),
    "REPOSITORY_UNAVAILABLE": ErrorCode(
        "Unavailable",
        _SERVER,
        "The document is kept, but its commit could not be made: the disk refuses. It is made with the next write or at "
        "the next start. Read the document before you write it again.",
    ),
    "DOCUMENT_UNAVAILABLE": ErrorCode(
        "Unavailable",
        _CALLERS,
        "A document of another server, such as the keys of an issuer, cannot be read. It shows in the log"
        " only: callers get `ISSUER_KEYS_UNAVAILABLE`.",
        hint="check that the address answers from this machine, then try again",
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
    "MISSING_SCOPE": ErrorCode(
        "Forbidden",
        _CALLERS,
        "The Relay token does not carry the scope that `details.scope` names.",
    ),
    "NAMESPACE_DENIED": ErrorCode(
        "Forbidden",
        _CALLERS,
        "The Relay token does not reach the folder of the path, or the path leads outside.",
    ),
    "NOT_A_MEMBER": ErrorCode(
        "Forbidden",
        _CALLERS,
        "The scope, or the nearest registered one above it, has members, and the caller is none. Ask one "
        "of its owners.",
        hint="ask an owner of the scope to make you a member",
    ),
    "POLICY_DENIED": ErrorCode(
        "Forbidden",
        _CALLERS,
        "`details` names the capability that is missing and the tier that denied it: `deployment`, "
        "`tenant`, `scope`, `actor` or `token`, which is the caller's own token by its `caps` or "
        "`scopes`. `details.remediation` says what would help, where there is something.",
        hint="details name the capability and the tier that denies it; GET /v1/policy/effective shows what you hold",
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
    "DOCUMENT_CHANGED": ErrorCode(
        "Conflict",
        _STATE,
        "The document is not at the version that was named: somebody else wrote it, or it is not there. Read it again and "
        "repeat the change. Nothing was stored.",
    ),
    "TOKEN_EXISTS": ErrorCode(
        "Conflict",
        _STATE,
        "There is a Relay token of that id.",
    ),
    "TENANT_NOT_EMPTY": ErrorCode(
        "Conflict",
        _STATE,
        "Documents are restored into a tenant that has none. Nothing was stored.",
    ),
    "PATH_COLLISION": ErrorCode(
        "Conflict",
        _STATE,
        "Two ids lead to the same path, or a path would be a document and a folder at once. Choose another id. Nothing "
        "was stored.",
    ),
    "NOT_FOUND": ErrorCode(
        "NotFound",
        _STATE,
        "Nothing there that this caller may see; also for paths that do not exist.",
        hint="check the id, or the path",
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
    "CAPSULE_NOT_FOUND": ErrorCode(
        "NotFound",
        _CONTINUITY,
        "The subject has no capsule, or none at the place that was asked for.",
    ),
    "CAPSULE_TOO_LARGE": ErrorCode(
        "Malformed",
        _CONTINUITY,
        "The capsule passes the cap of 20480 bytes as canonical JSON; `details.bytes` says by how much. Drop "
        "optional sections.",
    ),
    "COLD_CONFLICT": ErrorCode(
        "Conflict",
        _CONTINUITY,
        "An archive stands both in the archive and in cold storage, or would after this; `details.paths` names what is "
        "in the way. Nothing was moved.",
    ),
    "INVALID_CAPSULE": ErrorCode(
        "Malformed",
        _CONTINUITY,
        "A capsule breaks a rule; `details.field` names the place. Nothing was stored.",
    ),
    "INVALID_COLD_ARTIFACT": ErrorCode(
        "Malformed",
        _CONTINUITY,
        "A path or a stored copy is not that of an archive in cold storage, or it is damaged.",
    ),
    "INVALID_PATCH": ErrorCode(
        "Malformed",
        _CONTINUITY,
        "An operation of a patch carries too little, too much or the wrong kind of value, or would pass the "
        "bound of its list. No operation was applied.",
    ),
    "INVALID_REVALIDATION": ErrorCode(
        "Malformed",
        _CONTINUITY,
        "The outcome and what comes with it do not fit: `correct` needs a candidate, `degrade` and `conflict` "
        "a reason, `confirm` neither.",
    ),
    "INVALID_TRANSITION": ErrorCode(
        "Malformed",
        _CONTINUITY,
        "The capsule cannot be moved along its lifecycle in this way: `concluded` and `superseded` are final, "
        "and a successor is named exactly when a capsule is superseded.",
    ),
    "PATCH_NO_MATCH": ErrorCode(
        "NotFound",
        _CONTINUITY,
        "An operation of a patch names an item that the list does not have. Matching is exact, on the stored "
        "text. No operation was applied.",
    ),
    "STALE_CAPSULE": ErrorCode(
        "Conflict",
        _CONTINUITY,
        "`updated_at` is not later than that of the stored capsule, `details.stored_updated_at`. Read the "
        "capsule, apply the change to what stands now, and set `updated_at` to the current time.",
    ),
    "STORED_CAPSULE_INVALID": ErrorCode(
        "Malformed",
        _CONTINUITY,
        "What is stored is no capsule of a supported shape. An upsert writes it anew; a read with "
        "`allow_fallback` shows the snapshot of its last good write.",
    ),
    "SUBJECT_MISMATCH": ErrorCode(
        "Malformed",
        _CONTINUITY,
        "The request and the capsule inside name different subjects.",
    ),
    "SUBJECT_TAKEN": ErrorCode(
        "Conflict",
        _CONTINUITY,
        "Another subject id has the same normal form (lower case, other characters as `-`), and its capsule "
        "stands there. Nothing was overwritten.",
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
        hint="choose another port with --port, or stop what listens there",
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
        hint="send it again later; if it stays, give the operator the request id",
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
        hint="pass the file that lamina audit head wrote, or its output as -",
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
        hint="docs/reference/settings.md has every setting with what it accepts",
    ),
    "MIGRATION_REFUSED": ErrorCode(
        "Fault",
        _SERVER,
        "The database was written by a newer Lamina, or its migrations were edited. Nothing was changed.",
        hint="use the version of Lamina that wrote the data, or restore a backup",
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
        hint="a token provider is a function without arguments that returns the token",
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
        hint="ask for less: a smaller limit or budget",
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
        hint="check that the address is that of a Lamina server and of this version",
    ),
    **{code: ErrorCode("Invalid", _REMINDERS, meaning) for code, meaning in _REMINDER_FIELDS.items()},
    **{code: ErrorCode("Conflict", _REMINDERS, meaning) for code, meaning in _REMINDER_STATES.items()},
    "SCHEDULE_NOT_FOUND": ErrorCode("NotFound", _REMINDERS, "There is no reminder under this `schedule_id`."),
}

"""The codes of Relay: documents, tokens of peers, capsules and reminders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.catalogue.entries import (
    CALLERS,
    CLIENTS,
    CONTINUITY,
    REMINDERS,
    REQUESTS,
    SERVER,
    STATE,
    ErrorCode,
)

__all__ = ["CODES"]

_READ: Final = "docs/reference/schedule.md has the fields and their bounds"
_AGAIN: Final = "read the reminder, then decide again"

_FIELDS: Final = {
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
_STATES: Final = {
    "IDEMPOTENCY_KEY_CONFLICT": "The `idempotency_key` of a reminder belongs to another one of the tenant.",
    "SCHEDULE_ID_CONFLICT": "The `schedule_id` belongs to a reminder that was created otherwise.",
    "SCHEDULE_STATUS_CONFLICT": "The reminder has ended, and not as is asked.",
    "SCHEDULE_VERSION_CONFLICT": "The reminder has changed since the version that the caller expects.",
}

CODES: Final[Mapping[str, ErrorCode]] = {
    "INVALID_FILE_PATH": ErrorCode(
        "Malformed",
        REQUESTS,
        "The path of a memory file lies in none of the folders, or cannot be used; `details.reason` says why.",
    ),
    "INVALID_CLONE": ErrorCode(
        "Invalid",
        CLIENTS,
        "The folder is no git repository, has no commits, is damaged or shallow, or has what documents cannot hold: merges, links, "
        "submodules, unusual paths or encodings, or dates in the future. The message says which. Nothing was stored.",
        hint="name a clone of a repository that this server wrote",
    ),
    "INVALID_GRANT": ErrorCode(
        "Malformed",
        REQUESTS,
        "A Relay token cannot be issued: its peer id, a scope, a namespace or its end is not one, or it would grant nothing. Or no token was named that is meant.",
        hint="docs/reference/relay.md lists rights, and how namespaces are written",
    ),
    "UNKNOWN_HELP_ID": ErrorCode(
        "Malformed",
        REQUESTS,
        "The Relay help has no page for this id; the answer lists the ids that it has. It shows this error as "
        '`{"error": {"code": "validation", ...}}`.',
    ),
    "DOCUMENTS_IN_USE": ErrorCode(
        "Unavailable",
        SERVER,
        "Another process writes the documents of this folder, and only one can. A server that runs is one.",
    ),
    "REPOSITORY_UNAVAILABLE": ErrorCode(
        "Unavailable",
        SERVER,
        "The document is kept, but its commit could not be made: the disk refuses. It is made by itself once that "
        "works. Read the document before you write it again.",
    ),
    "CHECK_FOLDER_UNAVAILABLE": ErrorCode(
        "Unavailable",
        SERVER,
        "A check did not run: the system's folder for temporary files takes no folder for it, or its file system has no locks. The message says which.",
        hint="start the server with TMPDIR on a local disk with room",
    ),
    "MISSING_SCOPE": ErrorCode(
        "Forbidden",
        CALLERS,
        "The Relay token does not carry the scope that `details.scope` names.",
        hint="ask whoever issued the token for one with that scope",
    ),
    "NAMESPACE_DENIED": ErrorCode(
        "Forbidden",
        CALLERS,
        "The Relay token does not reach the folder of the path, or the path leads outside.",
        hint="ask whoever issued the token for one that reaches the folder",
    ),
    "DOCUMENT_CHANGED": ErrorCode(
        "Conflict",
        STATE,
        "The document is not at the version that was named: somebody else wrote it, or it is not there. Read it again and "
        "repeat the change. Nothing was stored.",
    ),
    "PATH_COLLISION": ErrorCode(
        "Conflict",
        STATE,
        "Two ids lead to the same path, a path would be a document and a folder at once, or the name of a new file is taken in "
        "other letters (`notes.md` beside `Notes.md`). Choose another id. Nothing "
        "was stored.",
    ),
    "COMMIT_NOT_FOUND": ErrorCode(
        "NotFound",
        CONTINUITY,
        "Nothing had been written by the time that a snapshot asks for.",
        hint="ask for a later time",
    ),
    "FILE_NOT_FOUND": ErrorCode(
        "NotFound",
        CONTINUITY,
        "No document stands at the path.",
        hint="`POST /v1/recent` shows what there is",
    ),
    "FILE_NOT_TEXT": ErrorCode(
        "Malformed",
        CONTINUITY,
        "The document does not hold UTF-8 text.",
        hint="a clone of the repository has its bytes",
    ),
    "INVALID_AS_OF": ErrorCode(
        "Malformed",
        CONTINUITY,
        "`as_of.value` names no commit of this tenant, or is no timestamp.",
        hint="give a hash that an answer gave as `latest_commit`",
    ),
    "JOURNAL_DAY_CLOSED": ErrorCode(
        "Unavailable",
        CONTINUITY,
        "Records are appended to the page of today (UTC) only.",
        hint="append to the page of today",
    ),
    "FILE_TOO_LARGE": ErrorCode(
        "TooLarge",
        CONTINUITY,
        "A record would make a file larger than `details.bytes_max`. Nothing was appended.",
        hint="begin another file, or write this one anew",
    ),
    "PAYLOAD_TOO_LARGE": ErrorCode(
        "TooLarge",
        CONTINUITY,
        "A document passes `details.bytes_max` as it was sent.",
        hint="split the document",
    ),
    "SNAPSHOT_DAMAGED": ErrorCode(
        "Malformed",
        CONTINUITY,
        "The document at the snapshot's path is no snapshot.",
        hint="take another snapshot",
    ),
    "SNAPSHOT_NOT_FOUND": ErrorCode(
        "NotFound",
        CONTINUITY,
        "There is no snapshot under this id.",
        hint="`POST /v1/context/snapshot` answers with the id",
    ),
    "SUBJECT_INCOMPLETE": ErrorCode(
        "Malformed",
        CONTINUITY,
        "`subject_kind` and `subject_id` go together; one of them is missing.",
        hint="send both, or neither",
    ),
    "CAPSULE_CHANGED": ErrorCode(
        "Conflict",
        CONTINUITY,
        "The capsule that stands is not the one that the caller has read: `expected_sha256` names another. `capsule_sha256` "
        "in the answer is that of the one that stands, null where none does. Nothing was changed. Read the capsule and "
        "apply the change to what stands now.",
    ),
    "CAPSULE_NOT_FOUND": ErrorCode(
        "NotFound",
        CONTINUITY,
        "The subject has no capsule, or none at the place that was asked for.",
        hint="`POST /v1/continuity/list` shows what there is; `allow_fallback` reads the last snapshot too",
    ),
    "CAPSULE_TOO_LARGE": ErrorCode(
        "Malformed",
        CONTINUITY,
        "The capsule passes the cap of 20480 bytes as canonical JSON; `details.bytes` says by how much. Drop "
        "optional sections.",
    ),
    "COLD_CONFLICT": ErrorCode(
        "Conflict",
        CONTINUITY,
        "An archive stands both in the archive and in cold storage, or would after this; `details.paths` names what is "
        "in the way. Nothing was moved.",
        hint="look at both copies, and delete the one that is wrong",
    ),
    "INVALID_CAPSULE": ErrorCode(
        "Malformed",
        CONTINUITY,
        "A capsule breaks a rule; `details.field` names the place. Nothing was stored.",
        hint="`/v1/help/limits` has every bound of a capsule",
    ),
    "INVALID_COLD_ARTIFACT": ErrorCode(
        "Malformed",
        CONTINUITY,
        "A path or a stored copy is not that of an archive in cold storage, or it is damaged.",
        hint="`POST /v1/continuity/list` with `include_cold` shows the paths",
    ),
    "INVALID_PATCH": ErrorCode(
        "Malformed",
        CONTINUITY,
        "An operation of a patch carries too little, too much or the wrong kind of value, or would pass the "
        "bound of its list. No operation was applied.",
        hint="`/v1/help/limits` has the bounds; read the capsule and count what its list holds",
    ),
    "INVALID_REVALIDATION": ErrorCode(
        "Malformed",
        CONTINUITY,
        "The outcome and what comes with it do not fit: `correct` needs a candidate, `degrade` and `conflict` "
        "a reason, `confirm` neither.",
        hint="send a candidate with `correct` alone, a reason with `degrade` or `conflict`",
    ),
    "INVALID_TRANSITION": ErrorCode(
        "Malformed",
        CONTINUITY,
        "The capsule cannot be moved along its lifecycle in this way: `concluded` and `superseded` are final, "
        "and a successor is named exactly when a capsule is superseded.",
        hint="read the capsule: its descriptor says where its lifecycle stands",
    ),
    "PATCH_NO_MATCH": ErrorCode(
        "NotFound",
        CONTINUITY,
        "An operation of a patch names an item that the list does not have. Matching is exact, on the stored "
        "text. No operation was applied.",
    ),
    "STALE_CAPSULE": ErrorCode(
        "Conflict",
        CONTINUITY,
        "`updated_at` is not later than that of the stored capsule, `details.stored_updated_at`. Read the "
        "capsule, apply the change to what stands now, and set `updated_at` to the current time.",
    ),
    "STORED_CAPSULE_INVALID": ErrorCode(
        "Malformed",
        CONTINUITY,
        "What is stored is no capsule of a supported shape. An upsert writes it anew; a read with "
        "`allow_fallback` shows the snapshot of its last good write.",
    ),
    "SUBJECT_MISMATCH": ErrorCode(
        "Malformed",
        CONTINUITY,
        "The request and the capsule inside name different subjects.",
        hint="send the same `subject_kind` and `subject_id` in the request and in the capsule",
    ),
    "SUBJECT_TAKEN": ErrorCode(
        "Conflict",
        CONTINUITY,
        "Another subject id has the same normal form (lower case, other characters as `-`), and its capsule "
        "stands there. Nothing was overwritten.",
    ),
    "SCHEDULE_NOT_FOUND": ErrorCode("NotFound", REMINDERS, "There is no reminder under this `schedule_id`."),
    **{code: ErrorCode("Invalid", REMINDERS, meaning, hint=_READ) for code, meaning in _FIELDS.items()},
    **{code: ErrorCode("Conflict", REMINDERS, meaning, hint=_AGAIN) for code, meaning in _STATES.items()},
}

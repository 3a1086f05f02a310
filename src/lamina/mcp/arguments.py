"""What the ten tools take and give: small and flat, since a model fills them in."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from lamina import limits
from lamina.kernel.wire import Request, Result, Text

__all__ = [
    "CancelLast",
    "CancelLastResult",
    "CapsuleList",
    "CapsuleListResult",
    "CapsulePatch",
    "CapsuleRead",
    "CapsuleReadResult",
    "CapsuleWrite",
    "CapsuleWriteResult",
    "Correct",
    "CorrectResult",
    "RecallAsked",
    "RecallResult",
    "Remember",
    "RememberResult",
    "Remind",
    "RemindResult",
    "WhyAsked",
    "WhyResult",
]

_TEXTS_MAX = 12
"""As many as the longest list of a capsule takes; the operation itself knows each field's own bound."""

Scope = Annotated[
    str | None,
    Field(
        max_length=limits.SCOPE_LENGTH_MAX,
        description="Whose memory, e.g. `user:ana` or `project:shop`. Leave out for the usual one.",
    ),
]
Lines = Annotated[list[Annotated[Text, Field(min_length=1)]] | None, Field(max_length=_TEXTS_MAX)]
SubjectKind = Annotated[
    Literal["user", "peer", "thread", "task"],
    Field(description="`thread` for a line of work, `task` for one task, `user` or `peer` for somebody."),
]
SubjectId = Annotated[
    Text, Field(min_length=1, max_length=200, description="The subject's short id, e.g. `checkout-rewrite`.")
]
Wait = Annotated[
    Literal["captured", "indexed", "consolidated"],
    Field(description="`captured` answers once it is on disk; `consolidated` once facts are drawn from it."),
]
ObservedAt = Annotated[
    str | None, Field(max_length=64, description="When it was said, RFC 3339 with offset; now by default.")
]


class Remember(Request):
    """Something to keep."""

    text: Annotated[
        Text,
        Field(min_length=1, description="What was said or happened, in the words it was said in."),
    ]
    role: Annotated[
        Literal["user", "assistant", "tool", "system"],
        Field(description="Who said it. `user` for the user's own words."),
    ] = "user"
    observed_at: ObservedAt = None
    session: Annotated[
        Text | None,
        Field(min_length=1, max_length=limits.NAME_LENGTH_MAX, description="The conversation's id."),
    ] = None
    labels: Annotated[
        list[Text] | None, Field(max_length=limits.LABELS_MAX, description="Words to find it by later.")
    ] = None
    wait: Wait = "captured"
    scope: Scope = None


class RememberResult(Result):
    """Where it lies now. ``derives`` are the ids of what was drawn from it so far."""

    event_id: str
    status: str
    scope: str
    derives: list[str]


class RecallAsked(Request):
    """A question to memory."""

    query: Annotated[
        Text,
        Field(min_length=1, max_length=limits.QUERY_LENGTH_MAX, description="A question in plain words."),
    ]
    max_tokens: Annotated[
        int, Field(ge=1, le=limits.RECALL_TOKENS_MAX, description="How long the answer may be, in tokens.")
    ] = 1000
    when: Annotated[
        Text | None, Field(min_length=1, max_length=256, description='A time in words, e.g. "last week".')
    ] = None
    as_of: Annotated[
        str | None,
        Field(max_length=64, description="Answer as memory stood then: a day or RFC 3339."),
    ] = None
    scope: Scope = None


class RecallResult(Result):
    """The block that the text is, and which record stands behind each of its markers."""

    context: str
    answerable: bool | None
    markers: dict[str, str]
    citations: dict[str, list[str]]
    scope: str
    pack_id: str


class WhyAsked(Request):
    """A record to explain."""

    id: Annotated[
        str,
        Field(
            min_length=1,
            max_length=128,
            description="An id that recall shows: `fact_…`, `belief_…`, `ep_…`, `concept_…` or `evt_…`.",
        ),
    ]


class Reason(Result):
    """A record that another rests on, or that rests on an event."""

    id: str
    words: str
    depth: int


class WhyResult(Result):
    """A record in words, and what it rests on, nearest first."""

    id: str
    words: str
    rests_on: list[Reason]


class Correct(Request):
    """What is right, in place of what memory holds."""

    text: Annotated[
        Text,
        Field(min_length=1, description="What is right, as a full sentence in the user's words."),
    ]
    fact_id: Annotated[
        str | None,
        Field(
            max_length=128,
            description="The one `fact_…` that is wrong: `value` takes the place of its value; without `value` it holds no more.",
        ),
    ] = None
    value: Annotated[
        Text | bool | int | float | None,
        Field(description="With `fact_id`: the right value alone, e.g. `Lisbon`."),
    ] = None
    since: Annotated[
        str | None,
        Field(
            max_length=64,
            description="With `fact_id`: from when on, RFC 3339. Left out, the value was wrong from its beginning, or ends now.",
        ),
    ] = None
    event_id: Annotated[
        str | None,
        Field(
            max_length=128,
            description="The `evt_…` that was wrong from the start: it is cancelled. Leave out where the world changed.",
        ),
    ] = None
    wait: Wait = "captured"
    scope: Scope = None


class CorrectResult(RememberResult):
    """Where the correction lies, which event it took out of recall, and which fact it replaced or ended."""

    cancelled: str | None
    corrected: str | None = None
    retracted: str | None = None


class CancelLast(Request):
    """What was remembered by mistake."""

    event_id: Annotated[
        str | None,
        Field(max_length=128, description="Cancel this `evt_…` rather than the newest that you remembered."),
    ] = None
    scope: Scope = None


class CancelLastResult(Result):
    """What is out of recall now."""

    event_id: str
    excluded_from_recall: bool
    stages_cancelled: list[str]


class CapsuleRead(Request):
    """Whose capsule."""

    subject_kind: SubjectKind
    subject_id: SubjectId
    max_tokens: Annotated[
        int | None, Field(ge=1, le=limits.RECALL_TOKENS_MAX, description="How long the page may be.")
    ] = None
    since: Annotated[
        str | None,
        Field(
            max_length=64, description="When you were here last, RFC 3339: the page tells what changed since."
        ),
    ] = None


class CapsuleReadResult(Result):
    """The capsule as it is stored; null where there is none. ``capsule_sha256`` is for a write that builds on it."""

    state: str
    capsule: dict[str, Any] | None  # Any: a capsule is JSON
    capsule_sha256: str | None
    recovery_warnings: list[str]


class CapsuleWrite(Request):
    """Where you stand. Fields that are left out stay as they are stored."""

    subject_kind: SubjectKind
    subject_id: SubjectId
    stance_summary: Annotated[
        Text | None, Field(description="Where the work stands and what comes next, in one or two sentences.")
    ] = None
    top_priorities: Annotated[Lines, Field(description="What matters most, most important first.")] = None
    active_constraints: Annotated[Lines, Field(description="What must not be broken.")] = None
    active_concerns: Annotated[Lines, Field(description="What worries you.")] = None
    open_loops: Annotated[Lines, Field(description="What is begun and not done.")] = None
    session_trajectory: Annotated[Lines, Field(description="The way here, a few steps.")] = None
    trailing_notes: Annotated[Lines, Field(description="What else the next session should know.")] = None
    label: Annotated[
        Text | None, Field(description="What a thread or task is called, for people and lists.")
    ] = None
    expected_sha256: Annotated[
        str | None,
        Field(
            max_length=64,
            description="The `capsule_sha256` that you read: nothing is written where somebody wrote since.",
        ),
    ] = None


class CapsuleWriteResult(Result):
    """What stands now."""

    path: str
    changed: bool
    capsule_sha256: str
    warnings: list[Any]  # Any: the operation's own


class CapsulePatch(Request):
    """One change of one list of a capsule."""

    subject_kind: SubjectKind
    subject_id: SubjectId
    list: Annotated[
        Literal[
            "open_loops",
            "top_priorities",
            "active_constraints",
            "active_concerns",
            "drift_signals",
            "working_hypotheses",
            "long_horizon_commitments",
            "session_trajectory",
            "trailing_notes",
            "curiosity_queue",
        ],
        Field(description="Which list."),
    ]
    action: Annotated[Literal["append", "remove"], Field(description="Add an item, or take one away.")]
    item: Annotated[Text, Field(min_length=1, description="The item; to remove one, exactly as it stands.")]
    expected_sha256: Annotated[
        str | None, Field(max_length=64, description="The `capsule_sha256` that you read.")
    ] = None


class CapsuleList(Request):
    """Which capsules."""

    subject_kind: Annotated[
        Literal["user", "peer", "thread", "task"] | None, Field(description="Only these.")
    ] = None
    keyword: Annotated[Text | None, Field(description="Only threads and tasks with this keyword.")] = None
    lifecycle: Annotated[
        Literal["active", "suspended", "concluded", "superseded"] | None, Field(description="Only these.")
    ] = None
    limit: Annotated[int, Field(ge=1, le=200, description="How many at most.")] = 20


class CapsuleLine(Result):
    """A capsule of the list."""

    subject_kind: str
    subject_id: str
    updated_at: str | None
    label: str | None
    lifecycle: str | None


class CapsuleListResult(Result):
    """Capsules, one line each."""

    count: int
    capsules: list[CapsuleLine]


class Remind(Request):
    """A reminder: it stands on the page that a capsule is read as once it is due."""

    title: Annotated[
        Text,
        Field(min_length=1, max_length=limits.SCHEDULE_TITLE_LENGTH_MAX, description="What to do, one line."),
    ]
    due_at: Annotated[
        str, Field(max_length=64, description="When, RFC 3339 with offset, e.g. `2026-12-01T09:00:00+01:00`.")
    ]
    note: Annotated[
        Text | None, Field(max_length=limits.SCHEDULE_NOTE_LENGTH_MAX, description="What else helps then.")
    ] = None
    subject_kind: Annotated[
        Literal["user", "peer", "thread", "task"] | None, Field(description="Whom or what it is about.")
    ] = None
    subject_id: Annotated[
        Text | None, Field(min_length=1, max_length=200, description="The subject's id.")
    ] = None


class RemindResult(Result):
    """The reminder that stands."""

    schedule_id: str
    status: str
    created: bool

"""How every write of this slice lands: one commit of documents, with the event that tells of it in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from lamina import limits
from lamina.errors import Conflict
from lamina.kernel.events import Context, Directives, EventDraft, Modality, Origin, Party, Trust
from lamina.kernel.operations import Call
from lamina.kernel.relay import DOCUMENTS_CHANNEL, RELAY_SCOPE
from lamina.kernel.time import Instant
from lamina.store.ports.documents import Change, ChangeKind, Commit, Documents, LandedWrite, Write
from lamina.store.ports.idempotency import IdempotencyEntry
from lamina.store.ports.log import Capture

__all__ = ["ACTOR", "EventWords", "draft_of", "landed", "retried", "written"]

T = TypeVar("T")

ACTOR: Final = re.compile(r"(user|agent|service|system):[A-Za-z0-9_\-.@+]+")
"""Authors of commits that events can be of: one that came from a clone may be anybody."""


@dataclass(frozen=True, slots=True)
class EventWords:
    """What an event tells of a write: words about the document at a path, for recall and for search.

    ``rests_on`` are the events that what is written was made from (``kernel.relay.rests_on``).
    """

    path: str
    words: str
    label: str
    rests_on: tuple[str, ...] = ()


def landed(
    documents: Documents,
    call: Call,
    message: str,
    changes: Sequence[Change],
    told: EventWords | None,
    once: IdempotencyEntry | None = None,
) -> Commit:
    """Write changes as one commit, ``once`` under its key. Raises ``Conflict`` (DOCUMENT_CHANGED) when a guard does not hold."""
    return written(documents, call, message, changes, told, once).commit


def written(
    documents: Documents,
    call: Call,
    message: str,
    changes: Sequence[Change],
    told: EventWords | None,
    once: IdempotencyEntry | None = None,
    *,
    absent: Collection[str] = (),
    rewrites: int | None = None,
    author: str | None = None,
) -> LandedWrite:
    """Mirrors ``landed``, with the ids of the events that tell of it. ``absent`` and ``rewrites`` are those of ``Write``; ``author`` is who
    wrote what is only moved, else the caller is."""
    author = author or call.principal.actor
    write = Write(
        tenant_id=call.principal.tenant_id,
        author=author,
        message=" ".join(message.splitlines()),
        changes=changes,
        captures=[] if told is None else [Capture(_draft(call, author, changes, told))],
        once=once,
        absent=absent,
        rewrites=rewrites,
    )
    return documents.write([write])[0]


def retried(run: Callable[[], T]) -> T:
    """What ``run`` gives, tried again when the documents moved on between its reading and its writing."""
    for _ in range(limits.DOCUMENT_TRIES_MAX - 1):
        try:
            return run()
        except Conflict as conflict:
            if conflict.code != "DOCUMENT_CHANGED":
                raise
    return run()


def _draft(call: Call, author: str, changes: Sequence[Change], told: EventWords) -> EventDraft:
    appended = any(change.path == told.path and change.kind is ChangeKind.APPEND for change in changes)
    actor = author if ACTOR.fullmatch(author) else call.principal.actor
    return draft_of(call.principal.tenant_id, actor, call.now, told, appended=appended)


def draft_of(tenant_id: str, actor: str, at: Instant, told: EventWords, *, appended: bool) -> EventDraft:
    """The event that tells of a write; ``appended`` where the document grew."""
    party = Party.of(actor)
    content: dict[str, Any] = {  # Any: JSON
        "kind": "text",
        "text": told.words[: limits.DOCUMENT_WORDS_MAX],
        "path": told.path,
    }
    if told.rests_on:
        content["rests_on"] = list(told.rests_on)
    if appended:
        content["change"] = ChangeKind.APPEND.value
    return EventDraft(
        tenant_id=tenant_id,
        scope=RELAY_SCOPE,
        caller=actor,
        observed_actor=party,
        subject=party,
        session=None,
        modality=Modality.DOCUMENT.value,
        content=content,
        context=Context(observed_at=at, labels=(told.label,)),
        directives=Directives(extract=()),
        # What a document says is nobody's word, whoever stored it.
        origin=Origin(actor, DOCUMENTS_CHANNEL, Trust.EXTERNAL),
    )

"""What is told of documents that come back from a clone: the events that writing them would have led to.

Also which of the restored capsules cannot be read: they stand as documents, and nothing shows them as capsules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lamina.continuity.capsule.subjects import ACTIVE, ARCHIVE, FALLBACK, ROOT
from lamina.continuity.capsule.wording import in_words
from lamina.continuity.context.snapshots import FOLDER as SNAPSHOTS
from lamina.continuity.context.snapshots import snapshot_told
from lamina.continuity.files.keeping import file_told
from lamina.continuity.landing import ACTOR, EventWords, draft_of
from lamina.continuity.shelf.envelopes import archived, fallback
from lamina.continuity.shelf.loading import loaded
from lamina.errors import LaminaError
from lamina.store.ports.documents import ChangeKind, Documents, Step, Tell
from lamina.store.ports.log import Capture
from lamina.store.walking import documents_below

__all__ = ["Unreadable", "telling", "unreadable"]

_RESTORER: Final = "system:restore"
_STUB = re.compile(r".+/history/(?:.+/)?index/[^/]+\.json")
_UNTOLD: Final = ("config/", "index/", "peers/registry.json", "peers/trust_policies.json", f"{ROOT}/")
"""What a server keeps for itself: its policies, whom it trusts, what it derived, the copies beside capsules, and stubs of histories."""


def telling(tenant_id: str) -> Tell:
    """How a tenant's restored documents are told of. Events are of who wrote, where that is an actor, and of then."""

    def tell(step: Step) -> Capture | None:
        told = _told(step)
        if told is None:
            return None
        commit = step.commit
        actor = commit.author if ACTOR.fullmatch(commit.author) else _RESTORER
        return Capture(
            draft_of(tenant_id, actor, commit.committed_at, told, appended=step.kind is ChangeKind.APPEND)
        )

    return tell


def _told(step: Step) -> EventWords | None:
    try:
        text = step.content.decode()
    except UnicodeDecodeError:
        return None
    if step.path.startswith(ACTIVE):
        return _capsule_told(step)
    if step.path.startswith(_UNTOLD) or _STUB.fullmatch(step.path):
        return None
    if step.path.startswith(f"{SNAPSHOTS}/") and (kept := _object(text)) is not None:
        return snapshot_told(step.path, kept)
    return file_told(step.path, text)


def _capsule_told(step: Step) -> EventWords | None:
    try:
        return EventWords(step.path, in_words(loaded(step.content).capsule), "continuity")
    except LaminaError:
        return None


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A document that stands where a capsule should, its snapshot or its archive, and why it is none."""

    path: str
    reason: str


def unreadable(documents: Documents, tenant_id: str) -> Iterator[Unreadable]:
    """Every capsule, snapshot and archive of a tenant that cannot be read, by path."""
    for document in documents_below(documents, tenant_id, ROOT, page_max=_PAGE):
        read = next((read for folder, read in _READ if document.path.startswith(folder)), None)
        try:
            if read is not None:
                read(document.content)
        except LaminaError as error:
            yield Unreadable(document.path, error.message)


_PAGE: Final = 100  # with their content: some megabytes
_READ: Final[Sequence[tuple[str | tuple[str, ...], Callable[[bytes], object]]]] = (
    (f"{FALLBACK}/", fallback),
    (f"{ARCHIVE}/", archived),
    (ACTIVE, loaded),
)

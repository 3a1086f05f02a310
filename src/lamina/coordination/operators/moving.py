"""Moving what stands to another place, in the name of who wrote it: so it still goes with that person when their memory is erased.

As in git, the author of a change is who wrote what it brings, and not who moved it; the audit row of the run says who did. What several
wrote is moved in the name of who moves it, and an erasure lists it as theirs together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from lamina import limits
from lamina.continuity.files.keeping import file_told
from lamina.continuity.landing import ACTOR, draft_of
from lamina.coordination.operators import bounds
from lamina.kernel.history_settings import HISTORY_BATCH_MAX
from lamina.kernel.operations import Call
from lamina.kernel.time import Instant
from lamina.store.ports.documents import Change, ChangeKind, Commit, Documents, Write
from lamina.store.ports.log import Capture

__all__ = ["free_number", "landed_for", "sole_author", "telling_of", "write_of"]

_MARGIN: Final = 256  # characters: the path stands before the words of each


def sole_author(
    documents: Documents, call: Call, path: str, *, after: int = 0, through: int | None = None
) -> str:
    """Who wrote what stands at a path, or what of it the versions behind ``after`` brought, or stood there as of version ``through``; the
    caller's actor where several did."""
    found: set[str] = set()
    for author in _authors(documents, call.principal.tenant_id, path, after, through):
        found.add(author)
        if len(found) > 1:
            return call.principal.actor
    return next(iter(found), call.principal.actor)


def _authors(
    documents: Documents, tenant_id: str, path: str, after: int, through: int | None
) -> Iterator[str]:
    """The authors of the versions that a document is made of, newest first."""
    before = None if through is None else through + 1
    while page := documents.history(tenant_id, path, before=before, limit=bounds.SEGMENT_VERSIONS_READ):
        for version in page:
            if version.version <= after:
                return
            yield version.commit.author
            if version.kind is not ChangeKind.APPEND:
                return
        before = page[-1].version


def telling_of(call: Call, author: str, path: str, content: bytes, at: Instant) -> list[Capture]:
    """The events that tell of a text at its place, in parts; none of what is no text. ``at`` is when it was written.

    Of what is empty there is one, too: it takes the place of what told of the text that stood there.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return []
    size = limits.DOCUMENT_WORDS_MAX - min(len(path), _MARGIN) - 1
    actor = author if ACTOR.fullmatch(author) else call.principal.actor
    parts = islice(_parts(text, size), bounds.SEGMENT_TOLD_MAX)
    return [
        Capture(draft_of(call.principal.tenant_id, actor, at, file_told(path, part), appended=number > 0))
        for number, part in enumerate(parts)
    ]


def _parts(text: str, size: int) -> Iterator[str]:
    """A text in parts of so many characters at most, each of whole lines where that is possible."""
    while len(text) > size:
        end = text.rfind("\n", 0, size) + 1 or size
        yield text[:end]
        text = text[end:]
    yield text


def free_number(documents: Documents, tenant_id: str, history: str, stem: str) -> int:
    """The first number that no id beginning with ``stem`` has yet, below the index of a history: what moves in one second is numbered."""
    index = f"{history}/index/"
    page = documents.below(tenant_id, index, after=f"{index}{stem}__", limit=HISTORY_BATCH_MAX)
    return 1 + sum(each.path.startswith(f"{index}{stem}__") for each in page)


def landed_for(
    documents: Documents,
    call: Call,
    author: str,
    message: str,
    changes: Sequence[Change],
    captures: Sequence[Capture] = (),
) -> Commit:
    """Write changes as one commit of ``author``. Raises ``Conflict`` (DOCUMENT_CHANGED) when a guard does not hold."""
    return documents.write([write_of(call, author, message, changes, captures)])[0].commit


def write_of(
    call: Call, author: str, message: str, changes: Sequence[Change], captures: Sequence[Capture] = ()
) -> Write:
    """A write of ``author``'s, for one commit of several that land together."""
    return Write(
        tenant_id=call.principal.tenant_id,
        author=author,
        message=" ".join(message.splitlines()),
        changes=changes,
        captures=captures,
    )

"""What the graph is derived from: the links of every task and capsule, read once for each version of a document.

A call looks at what changed since the last one, not at everything. Links are kept without regard to who asks; what a
caller may not read is left out of each answer, and named by its class.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from lamina import limits
from lamina.continuity.capsule.subjects import ARCHIVE, COLD_INDEX, FALLBACK, KINDS, ROOT, Subject
from lamina.continuity.files.directory import Directory, Listing
from lamina.continuity.graph.blocks import Around, CapsuleLinks, Denied, TaskLinks
from lamina.continuity.permission import Reach
from lamina.continuity.shelf.cold import stub_in
from lamina.continuity.shelf.envelopes import archived, fallback
from lamina.continuity.shelf.loading import loaded, object_in
from lamina.errors import LaminaError
from lamina.kernel.time import Instant
from lamina.store.ports.documents import Document, Documents

__all__ = ["GraphSources", "links_in"]

_TASKS: Final = ("tasks/open/", "tasks/done/")
_CAPSULES: Final = tuple(f"{ROOT}/{kind}-" for kind in KINDS)
_READ: Final = (*_TASKS, *_CAPSULES, f"{FALLBACK}/", f"{ARCHIVE}/", f"{COLD_INDEX}/")
_STANDING: Final = ("continuity_capsule", "fallback_artifact", "archive_artifact", "cold_index_artifact")
"""Which artifact speaks for a subject: the first of these that there is."""

Links = TaskLinks | CapsuleLinks


@dataclass(slots=True, eq=False)
class _Known:
    """The links of one tenant as of a listing, by path and by whom they are about."""

    listing: Listing
    seen_at: Instant = -1
    links: dict[str, Links | None] = field(default_factory=dict)
    malformed: set[str] = field(default_factory=set)
    """The tasks that cannot be read."""
    about: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))

    def put(self, path: str, links: Links | None) -> None:
        """Replace what is known of a path; None stands for what cannot be read."""
        for subject in _subjects(self.links.get(path)):
            self.about[subject].discard(path)
        self.links[path] = links
        if links is None and path.startswith(_TASKS):
            self.malformed.add(path)
        else:
            self.malformed.discard(path)
        for subject in _subjects(links):
            self.about[subject].add(path)

    def standing(self, subject: tuple[str, str]) -> list[Links]:
        """The links about a subject whose documents stand, in the order of their paths."""
        paths = sorted(self.about.get(subject, ()))
        return [links for path in paths if path in self.listing.updated_at and (links := self.links[path])]


class GraphSources:
    """The links of the tenants used lately."""

    def __init__(self, documents: Documents, directory: Directory) -> None:
        self._documents = documents
        self._directory = directory
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._lock = threading.Lock()

    def around(self, tenant_id: str, subject: Subject, reach: Reach) -> Around:
        """What the caller may know of what is around a subject."""
        with self._lock:
            known = self._followed(tenant_id)
            found = known.standing((subject.kind, subject.id))
            malformed = [path for path in known.malformed if path in known.listing.updated_at]
        return _around(subject, found, reach, sum(reach.reads(path) for path in malformed))

    def _followed(self, tenant_id: str) -> _Known:
        listing = self._directory.of(tenant_id)
        known = self._known.get(tenant_id)
        if known is None or _is_before(listing, known.listing):
            known = self._known[tenant_id] = _Known(listing)
        self._known.move_to_end(tenant_id)
        if known.seen_at < 0 or known.listing is not listing:
            self._follow(tenant_id, known, listing)
        return known

    def _follow(self, tenant_id: str, known: _Known, listing: Listing) -> None:
        """Read what changed: it stands first in the listing, since the times of commits rise."""
        changed: list[str] = []
        for path in listing.newest_first:
            if listing.updated_at[path] <= known.seen_at or len(changed) == limits.GRAPH_SOURCES_MAX:
                break
            if path.startswith(_READ):
                changed.append(path)
        for start in range(0, len(changed), limits.DOCUMENTS_READ_MAX):
            part = changed[start : start + limits.DOCUMENTS_READ_MAX]
            for path, document in self._documents.read_many(tenant_id, part).items():
                known.put(path, links_in(document))
        known.listing = listing
        known.seen_at = max((listing.updated_at[path] for path in listing.newest_first[:1]), default=0)
        for path in [path for path in known.links if path not in listing.updated_at]:
            known.put(path, None)
            known.malformed.discard(path)
            del known.links[path]
        while (
            len(self._known) > 1
            and sum(len(each.links) for each in self._known.values()) > limits.GRAPH_SOURCES_MAX
        ):
            self._known.popitem(last=False)


def links_in(document: Document) -> Links | None:
    """What a task or an artifact of continuity names; None where it cannot be read."""
    path, content = document.path, document.content
    try:
        if path.startswith(_TASKS):
            return _task(path, object_in(content))
        if path.startswith(f"{FALLBACK}/"):
            return _capsule(path, "fallback_artifact", fallback(content).capsule)
        if path.startswith(f"{ARCHIVE}/"):
            return _capsule(path, "archive_artifact", archived(content).capsule)
        if path.startswith(f"{COLD_INDEX}/"):
            stub = stub_in(path, content)
            return CapsuleLinks(path, "cold_index_artifact", stub.name.kind, stub.fields["subject_id"] or "")
        return _capsule(path, "continuity_capsule", loaded(content).capsule)
    except LaminaError:
        return None


def _task(path: str, task: dict[str, Any]) -> TaskLinks | None:
    task_id, thread_id, blocked_by = task.get("task_id"), task.get("thread_id"), task.get("blocked_by", [])
    if (
        not isinstance(task_id, str)
        or not isinstance(thread_id, str | None)
        or not isinstance(blocked_by, list)
    ):
        return None
    if not all(isinstance(other, str) for other in blocked_by):
        return None
    return TaskLinks(path, task_id, thread_id or None, tuple(blocked_by))


def _capsule(path: str, source_class: str, capsule: dict[str, Any]) -> CapsuleLinks:
    return CapsuleLinks(
        path,
        source_class,
        capsule["subject_kind"],
        capsule["subject_id"],
        tuple(each["path"] for each in capsule["continuity"].get("related_documents", [])),
        capsule.get("thread_descriptor", {}).get("superseded_by"),
    )


def _subjects(links: Links | None) -> Iterator[tuple[str, str]]:
    """Whom links are about: their own subject, and whom they name as thread or successor."""
    if isinstance(links, TaskLinks):
        yield ("task", links.task_id)
        if links.thread_id is not None:
            yield ("thread", links.thread_id)
    elif links is not None:
        yield (links.kind, links.subject_id)
        if links.superseded_by is not None and links.source_class == "continuity_capsule":
            yield (links.kind, links.superseded_by)


def _around(subject: Subject, found: Sequence[Links], reach: Reach, malformed: int) -> Around:
    sources: list[Links] = []
    denied: list[Denied] = []
    own: list[CapsuleLinks] = []
    exists = False
    for links in found:
        if not reach.reads(links.path):
            denied.append(Denied(links.source_class))
        elif isinstance(links, CapsuleLinks) and (links.kind, links.subject_id) == (subject.kind, subject.id):
            own.append(links)
        else:
            exists = exists or (isinstance(links, TaskLinks) and _own_task(links, subject))
            sources.append(links)
    speaks = min(own, key=lambda links: _STANDING.index(links.source_class), default=None)
    if speaks is not None:
        exists = True
        open_documents = tuple(_readable(speaks.documents, reach, denied))
        sources.append(
            CapsuleLinks(
                speaks.path,
                speaks.source_class,
                speaks.kind,
                speaks.subject_id,
                open_documents,
                speaks.superseded_by,
            )
        )
    return Around(exists, tuple(sources), tuple(denied), malformed)


def _own_task(task: TaskLinks, subject: Subject) -> bool:
    # A thread that a task names is there, also without a capsule of its own.
    return subject.id == (task.task_id if subject.kind == "task" else task.thread_id)


def _readable(documents: Iterable[str], reach: Reach, denied: list[Denied]) -> Iterator[str]:
    for path in documents:
        if reach.reads(path):
            yield path
        else:
            denied.append(Denied("related_document", path))


def _is_before(listing: Listing, known: Listing) -> bool:
    """Whether what is known holds more than a listing does: links of documents that are erased, or of a store that was put back."""
    return known.number > listing.number or known.rewrites != listing.rewrites

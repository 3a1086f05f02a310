"""Whom a capsule is about, and where it is kept: subject ids to document paths and back.

A path is made of the id's normal form, so no id reaches a path unchecked. Two ids may share a normal form; the capsule
keeps the id it was written with, and a write under another one is refused (``check_same_subject``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from lamina.errors import Conflict, Malformed
from lamina.kernel.time import Instant, to_datetime

__all__ = [
    "ACTIVE",
    "ARCHIVE",
    "COLD",
    "COLD_INDEX",
    "FALLBACK",
    "KINDS",
    "REFRESH_PLAN",
    "RETENTION_PLAN",
    "ROOT",
    "ArchiveName",
    "Subject",
    "archive_name",
    "check_same_subject",
    "cold_name",
]

ROOT: Final = "memory/continuity"
FALLBACK: Final = f"{ROOT}/fallback"
ARCHIVE: Final = f"{ROOT}/archive"
COLD: Final = f"{ROOT}/cold"
COLD_INDEX: Final = f"{COLD}/index"
REFRESH_PLAN: Final = f"{ROOT}/refresh_state.json"
RETENTION_PLAN: Final = f"{ROOT}/retention_state.json"
KINDS: Final = ("user", "peer", "thread", "task")
ACTIVE: Final = tuple(f"{ROOT}/{kind}-" for kind in KINDS)
"""What the paths of capsules begin with, and no other path."""

_SLUG_LENGTH_MAX: Final = 120
_OUTSIDE = re.compile(r"[^a-z0-9._-]+")
_ARCHIVE = re.compile(
    rf"{ARCHIVE}/(?P<stem>(?P<kind>{'|'.join(KINDS)})-(?P<slug>[a-z0-9._-]{{1,120}})-(?P<stamp>\d{{8}}T\d{{6}}Z)(?:-\d{{1,3}})?)\.json"
)


@dataclass(frozen=True, slots=True)
class Subject:
    """A kind and an id as the caller wrote it."""

    kind: str
    id: str

    @property
    def slug(self) -> str:
        """The id's normal form: lower case, every run of other characters one ``-``, at most 120 characters.

        Raises ``Malformed`` (INVALID_CAPSULE) when nothing is left.
        """
        text = _OUTSIDE.sub("-", self.id.strip().lower()).strip("-")[:_SLUG_LENGTH_MAX].strip("-")
        if not text:
            raise Malformed(
                "INVALID_CAPSULE",
                "subject_id holds no letter or digit that a name can be made of",
                details={"field": "subject_id"},
            )
        return text

    @property
    def active_path(self) -> str:
        """Where the capsule stands."""
        return f"{ROOT}/{self.kind}-{self.slug}.json"

    @property
    def fallback_path(self) -> str:
        """Where the snapshot of its last good write stands."""
        return f"{FALLBACK}/{self.kind}-{self.slug}.json"

    @property
    def archive_prefix(self) -> str:
        """What the paths of its archives begin with, and those of longer ids with the same beginning."""
        return f"{ARCHIVE}/{self.kind}-{self.slug}-"

    @property
    def cold_prefix(self) -> str:
        """The same of their compressed copies in cold storage."""
        return f"{COLD}/{self.kind}-{self.slug}-"

    def archive_path(self, at: Instant, taken: frozenset[str] = frozenset()) -> str:
        """Where an envelope archived at an instant goes: a second one within the same second gets a number."""
        stem = f"{self.archive_prefix}{to_datetime(at).strftime('%Y%m%dT%H%M%SZ')}"
        path, number = f"{stem}.json", 1
        while path in taken:
            number += 1
            path = f"{stem}-{number}.json"
        return path


@dataclass(frozen=True, slots=True)
class ArchiveName:
    """The parts of an archive's path, and where its cold copies go."""

    path: str
    stem: str
    kind: str
    slug: str

    @property
    def cold_path(self) -> str:
        """The compressed envelope."""
        return f"{COLD}/{self.stem}.json.gz"

    @property
    def stub_path(self) -> str:
        """The readable stub beside it."""
        return f"{COLD_INDEX}/{self.stem}.md"


def archive_name(path: str) -> ArchiveName | None:
    """The parts of an archive's path; None for any other path."""
    match = _ARCHIVE.fullmatch(path)
    return match and ArchiveName(path, match["stem"], match["kind"], match["slug"])


def cold_name(path: str) -> ArchiveName | None:
    """The parts of the path of the archive that a compressed copy is of; None for any other path."""
    name = archive_name(f"{ARCHIVE}/{path.removeprefix(f'{COLD}/').removesuffix('.gz')}")
    return name if name is not None and name.cold_path == path else None


def check_same_subject(stored_id: str, subject: Subject) -> None:
    """Nothing when the stored capsule has this very id; ``Conflict`` when only their normal forms agree."""
    if stored_id != subject.id:
        raise Conflict(
            "SUBJECT_TAKEN",
            f"another {subject.kind} id with the same normal form {subject.slug!r} has a capsule",
            hint="use the id that the capsule was written with, or choose one that differs in more than case and signs",
            details={"subject_kind": subject.kind, "normal_form": subject.slug},
        )

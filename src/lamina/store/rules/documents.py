"""What stands at a path, what a change makes of it, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from lamina.errors import Conflict, Invalid
from lamina.kernel.time import Instant
from lamina.store.ports.documents import Change, ChangeKind, Commit, Document, LandedWrite, Write
from lamina.store.ports.idempotency import IdempotencyEntry

__all__ = [
    "StandingDocument",
    "above",
    "again",
    "changed",
    "check_still",
    "collision",
    "no_history",
    "not_empty",
    "same_in_other_letters",
    "stood_after",
    "twin",
    "with_commit",
]

_SPELT_MAX = 64  # beginnings of names in other letters that are followed: nobody makes the check long


@dataclass(frozen=True, slots=True)
class StandingDocument:
    """The newest version of a path. Its content is that of the rows ``base`` to ``version``, joined.

    ``base`` is the version of the last put, 0 where the document was taken away.
    """

    path: str
    version: int
    base: int
    size: int
    updated_at: Instant

    @property
    def live(self) -> bool:
        """Whether there is a document."""
        return self.base > 0

    def document(self, content: bytes) -> Document:
        """As readers see it."""
        return Document(self.path, self.version, content, self.updated_at)


def check_still(
    write: Write, standing: Callable[[str], StandingDocument | None], rewrites: Callable[[], int]
) -> None:
    """Raise ``Conflict`` (DOCUMENT_CHANGED) where that is no longer so on which a write rests besides its paths."""
    for path in write.absent:
        stands = standing(path)
        if stands is not None and stands.live:
            raise changed(path, 0, stands.version)
    if write.rewrites is not None and write.rewrites != rewrites():
        raise Conflict(
            "DOCUMENT_CHANGED", "documents were erased meanwhile", hint="read again, and repeat the change"
        )


def stood_after(before: StandingDocument | None, change: Change, at: Instant) -> StandingDocument:
    """What stands once a change has landed; raises ``Conflict`` (DOCUMENT_CHANGED)."""
    live = before if before is not None and before.live else None
    found = live.version if live else 0
    if change.expected_version not in (None, found):
        raise changed(change.path, change.expected_version, found)
    if change.appended_to is not None and live and live.base > change.appended_to:
        raise changed(change.path, change.appended_to, found)
    version = before.version + 1 if before else 1
    if change.kind is ChangeKind.REMOVE:
        if live is None:
            raise changed(change.path, change.expected_version, 0)
        return StandingDocument(change.path, version, 0, 0, at)
    if change.kind is ChangeKind.APPEND and live is not None:
        return StandingDocument(change.path, version, live.base, live.size + len(change.content), at)
    return StandingDocument(change.path, version, version, len(change.content), at)


def above(path: str) -> Iterator[str]:
    """The folders above a path, nearest first, without the root."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def collision(path: str, above: str | None = None) -> Conflict:
    """The refusal of a document below another one ``above``, or where folders of others lie.

    Those below are not named: who may write here need not read them.
    """
    reason = "others lie in a folder of that name" if above is None else f"{above} is no folder"
    return Conflict(
        "PATH_COLLISION",
        f"{path} cannot stand: {reason}",
        hint="choose another path",
        details={"path": path} if above is None else {"path": path, "other": above},
    )


def same_in_other_letters(path: str) -> Conflict:
    """The refusal of a document whose name a file system may take for that of another, which is not named either."""
    return Conflict(
        "PATH_COLLISION",
        f"{path} cannot stand: the name is taken in capital or small letters",
        hint="choose another path",
        details={"path": path},
    )


def twin(path: str, first: Callable[[str], str | None]) -> str | None:
    """What stands already under a name that differs from a new one in capital and small letters only.

    ``first`` gives the first document, by path, whose path begins so. Asked is once or twice for each letter of the
    first name that is new in the path, however many documents there are.
    """
    folder = next((each for each in above(path) if first(f"{each}/") is not None), "")
    begun = f"{folder}/" if folder else ""
    name = path[len(begun) :].partition("/")[0]
    spelt = [begun]
    for letter in name:
        begun_so = (each + form for each in spelt for form in _forms(letter))
        spelt = list(islice((each for each in begun_so if first(each) is not None), _SPELT_MAX))
    for each in spelt:
        if each != begun + name and (first(each) == each or first(f"{each}/") is not None):
            return each
    return None


def _forms(letter: str) -> list[str]:
    spelt = dict.fromkeys((letter, letter.lower(), letter.upper(), letter.title()))
    return [form for form in spelt if len(form) == 1]


def changed(path: str, expected: int | None, found: int) -> Conflict:
    """The refusal of a change whose guard does not hold."""
    return Conflict(
        "DOCUMENT_CHANGED",
        f"{path} stands at version {found}" if found else f"nothing stands at {path}",
        hint="read it again, and repeat the change on what is there now",
        details={"path": path, "expected_version": expected, "version": found},
    )


def not_empty(tenant_id: str) -> Conflict:
    """The refusal to restore over what is there."""
    return Conflict(
        "TENANT_NOT_EMPTY",
        f"tenant {tenant_id} has documents",
        hint="restore into an empty data folder, or another tenant",
    )


def no_history() -> Invalid:
    """The refusal to restore nothing."""
    return Invalid("INVALID_CLONE", "there is no commit to restore")


def with_commit(once: IdempotencyEntry, commit: Commit) -> IdempotencyEntry:
    """The entry of a key as it lands with a write: its answer, and which commit it led to."""
    return replace(once, response={**(once.response or {}), "commit": commit.number})


def again(known: IdempotencyEntry, commit_numbered: Callable[[int], Commit | None]) -> LandedWrite:
    """What a write led to that had landed under the key before."""
    commit = commit_numbered((known.response or {})["commit"])
    assert commit is not None, "a key lands with its commit"
    return LandedWrite(commit, {}, (), replayed=True)

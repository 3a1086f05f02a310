"""Follows the rows of documents into the tenants' repositories, one thread for all: writers that wait share a flush.

Rows land first, so a repository is never ahead of them. What a crash left is finished when the projector starts:
commits without a hash are made in order, and since a commit is a function of its rows they are the same as before.
One process at a time projects a folder; it holds ``projector.lock``.
"""

from __future__ import annotations

import fcntl
import logging
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Collection, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Protocol

from lamina import limits
from lamina.errors import Fault, LaminaError, Unavailable
from lamina.observe.rounds import Failures
from lamina.store.documents.git import pygit2
from lamina.store.documents.objects import GitObject, Worktree
from lamina.store.documents.repository import (
    DamagedRepository,
    GitRepository,
    folder_name,
    remove_unfinished,
    replace_repository,
)
from lamina.store.ports.documents import Commit, CommitChanges, Landed
from lamina.store.ports.projecting import kept, out_of_reach

__all__ = ["LOCK", "CommitRows", "Projector"]

_LOG = logging.getLogger("lamina.store")
LOCK = "projector.lock"
_PART = "the repository of documents"
_GATHERING = "gathering the packs of documents"
_LOOKING = "looking for erased documents"


class CommitRows(Protocol):
    """What the projection asks of an engine: the commits of its rows, and to keep the hashes that they get in git."""

    def tenants(self) -> list[str]:
        """The tenants that have documents."""
        ...

    def head(self, tenant_id: str) -> Commit | None:
        """The newest commit whose hash is noted."""
        ...

    def commits(self, tenant_id: str, after: int, limit: int) -> list[CommitChanges]:
        """Commits past a number, in order."""
        ...

    def note(self, tenant_id: str, shas: Sequence[tuple[int, str]], *, wait: bool) -> None:
        """Note the hashes of commits, at once or with a later write."""
        ...

    def due(self) -> dict[str, int]:
        """The tenants whose repositories are to be written anew without what was erased, and how often that was so."""
        ...

    def rewritten(self, tenant_id: str, times: int) -> None:
        """A repository is as its rows were when it was to be written anew for so many times."""
        ...


@dataclass(slots=True)
class _Followed:
    """How far a tenant's repository is: its trees, and the number of its newest commit."""

    repository: GitRepository
    worktree: Worktree
    number: int


class Projector:
    """The repositories below ``folder``, made on first need."""

    def __init__(
        self,
        folder: Path,
        rows: CommitRows,
        failures: Failures,
        *,
        durable: bool,
        notes_first: bool = False,
    ) -> None:
        """With ``notes_first`` a hash is in its row before whoever waits for it has it: other processes read it there."""
        self._notes_first = notes_first
        self._folder = folder
        self._rows = rows
        self._failures = failures
        self._durable = durable
        self._followed: dict[str, _Followed] = {}
        self._used: OrderedDict[str, None] = OrderedDict()  # tenants, the last one last
        self._heads: dict[str, Commit] = {}
        self._waiting: dict[tuple[str, int], Future[str]] = {}
        self._landed: dict[tuple[str, int], CommitChanges] = {}  # of those that wait
        # A commit may be made with others' before its writer comes to ask for it.
        self._made: OrderedDict[tuple[str, int], str] = OrderedDict()
        self._due: set[str] = set()
        self._behind: set[str] = set()  # tenants whose repository lacks something of the rows
        self._again_at = 0.0  # when those are tried again that could not be brought to their rows
        self._damaged: set[str] = set()  # tenants whose repository was seen to be damaged
        self._lock = threading.Lock()
        self._asked = threading.Condition(self._lock)
        self._held: IO[bytes] | None = None
        self._closed = False
        self._idle = False
        self._thread = threading.Thread(target=self._run, name="lamina-projector", daemon=True)
        self._gathering: threading.Thread | None = None

    # ---- asked by writers

    def claim(self) -> None:
        """Nothing when this process may write documents; the first call starts the projector.

        Raises ``Unavailable`` (DOCUMENTS_IN_USE) while another process may, (WAL_UNAVAILABLE) once the store is closed, and where the
        lock cannot be made.
        """
        with self._lock:
            self._check_open()
            if self._held is not None:
                return
            try:
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                lock = (self._folder / LOCK).open("ab")
            except OSError as error:
                raise out_of_reach(error.strerror or str(error)) from error
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                lock.close()
                raise Unavailable(
                    "DOCUMENTS_IN_USE",
                    f"another process writes the documents in {self._folder}",
                    hint="stop it first; a server that is running is one",
                ) from error
            try:
                self._due.update(self._rows.tenants())
                remove_unfinished(self._folder)
                self._thread.start()
            except BaseException:
                lock.close()
                raise
            self._held = lock

    def _check_open(self) -> None:
        if self._closed:
            raise out_of_reach("the store is closed", "start the server again")

    def recover(self) -> None:
        """Finish what a crash left; nothing where another process may write."""
        try:
            self.claim()
        except Unavailable as error:
            _LOG.info("repositories are not looked after here: %s", error)
            return
        with self._lock:
            self._asked.wait_for(lambda: self._idle or self._closed)

    def stand(self, commits: Sequence[Landed]) -> list[str]:
        """The hashes of commits that have landed, once they stand in their repositories; raises ``Unavailable``
        (REPOSITORY_UNAVAILABLE) where that cannot be now, also because the store is closed."""
        places = [(each.tenant_id, each.commit.number) for each in commits]
        with self._lock:
            # Under the lock: whoever asks before the projector sees that it is closed is still served.
            if self._closed:
                raise kept("the store is closed")
            made = {each: self._made.pop(each) for each in places if each in self._made}
            futures = {each: self._waiting.setdefault(each, Future()) for each in places if each not in made}
            for place, each in zip(places, commits, strict=True):
                if place not in made and each.contents is not None:
                    self._landed[place] = CommitChanges(each.commit, each.contents)
            self._due.update(tenant_id for tenant_id, _ in futures)
            self._asked.notify_all()
        return [made[each] if each in made else futures[each].result() for each in places]

    def head(self, tenant_id: str) -> Commit | None:
        """The newest commit that was made here."""
        return self._heads.get(tenant_id)

    def behind(self) -> int:
        """How many tenants' repositories lack something that is in their rows: damaged ones, and those of a disk that refuses."""
        return len(self._behind)

    def rebuild(self, tenant_ids: Collection[str]) -> None:
        """Build the repositories of tenants anew from their rows, behind the writes. Until then ``behind`` counts them.

        Raises as ``claim`` does.
        """
        self.claim()
        with self._lock:
            self._damaged.update(tenant_ids)
            self._behind.update(tenant_ids)
            self._due.update(tenant_ids)
            self._idle = False
            self._asked.notify_all()

    def rewrite(self, tenant_id: str) -> None:
        """Mirrors ``Projecting.rewrite``."""
        if self._held is not None:
            self.rebuild([tenant_id])
            return
        # Nobody makes commits here: the lock is held for this one work, so that a server that starts can have it.
        once = Projector(self._folder, self._rows, self._failures, durable=self._durable)
        try:
            once.rebuild([tenant_id])
            once.recover()
        finally:
            once.close()

    def close(self) -> None:
        """Finish what waits, then stop."""
        with self._lock:
            self._closed = True
            self._asked.notify_all()
            started = self._held is not None
        if started:
            self._thread.join()
            self._stop_gathering()
            for followed in self._followed.values():
                followed.repository.settle()
            assert self._held is not None, "it was started"
            self._held.close()
        self._refuse_what_waits()

    # ---- the thread

    def _run(self) -> None:
        try:
            while due := self._next_due():
                try:
                    for tenant_id in due:
                        self._attempt(tenant_id)
                except Exception as error:
                    # Whoever waits for a repository that was not come to is told; the next write tries it again.
                    self._failures.note(_PART, error)
                    self._fail(_unavailable(error))
        finally:
            self._refuse_what_waits()

    def _next_due(self) -> list[str]:
        """The tenants whose repositories are behind; none at the end."""
        with self._lock:
            while not (self._due or self._closed):
                self._idle = True
                self._asked.notify_all()
                if not self._asked.wait(limits.REWRITE_LOOK_S):
                    self._look_for_erased()
                    # Nobody may write for long, and a clone lacks what is kept.
                    if time.monotonic() >= self._again_at:
                        self._due.update(self._behind)
            self._idle = False
            due, self._due = sorted(self._due), set()
            return due

    def _look_for_erased(self) -> None:
        """Whoever erases documents may be another process, which only leaves a note."""
        try:
            erased = self._rows.due()
        except Exception as error:
            self._failures.note(_LOOKING, error)
            return
        self._failures.over(_LOOKING)
        self._damaged.update(erased)
        self._behind.update(erased)
        self._due.update(erased)

    def _refuse_what_waits(self) -> None:
        """Nobody waits for a thread that has ended, for whatever reason."""
        with self._lock:
            self._closed = True
            self._asked.notify_all()
        self._fail(kept("the store is closed"))

    def _fail(self, failure: LaminaError, tenant_id: str | None = None) -> None:
        """Tell those who wait, of one tenant or of all."""
        with self._lock:
            lost = [each for each in self._waiting if tenant_id in (None, each[0])]
            futures = [self._waiting.pop(each) for each in lost]
            for each in lost:
                self._landed.pop(each, None)
        for future in futures:
            if not future.done():
                future.set_exception(failure)

    def _attempt(self, tenant_id: str) -> None:
        try:
            try:
                if tenant_id in self._damaged:
                    raise DamagedRepository("a check found it damaged, or what it held was erased")
                repository = self._follow(tenant_id)
            except DamagedRepository as damage:
                _LOG.warning("a repository of documents is built anew: %s", damage)
                self._behind.add(tenant_id)
                self._damaged.discard(tenant_id)  # who asks for it meanwhile has it made once more
                try:
                    self._followed[tenant_id] = self._rebuilt(tenant_id)
                except BaseException:
                    self._damaged.add(tenant_id)
                    raise
                repository = self._follow(tenant_id)
        except Exception as error:
            # The worktree may be ahead of the repository: the next attempt reads it anew.
            self._followed.pop(tenant_id, None)
            with suppress(OSError):
                remove_unfinished(self._folder, folder_name(tenant_id))
            self._behind.add(tenant_id)
            self._again_at = time.monotonic() + self._failures.note(_PART, error)
            self._fail(_unavailable(error), tenant_id=tenant_id)
        else:
            self._works(tenant_id)
            self._start_gathering(repository)
            self._note_use(tenant_id)

    def _works(self, tenant_id: str) -> None:
        self._behind.discard(tenant_id)
        if not self._behind:
            self._failures.over(_PART)

    def _follow(self, tenant_id: str) -> GitRepository:
        """Bring a repository to where the rows are."""
        followed = self._followed.get(tenant_id)
        opening = followed is None
        if followed is None:
            followed = self._followed[tenant_id] = self._opened(tenant_id)
        # What lands after the last batch is asked for by its own writer.
        more = True
        while more:
            batch = self._next_batch(tenant_id, followed.number)
            if batch:
                self._project(tenant_id, followed, batch, wait=opening)
            followed.repository.tidy()
            more = len(batch) == limits.COMMITS_BATCH_MAX
        return followed.repository

    def _note_use(self, tenant_id: str) -> None:
        """Let go of what the repositories that are not written any more hold for their next write."""
        self._used[tenant_id] = None
        self._used.move_to_end(tenant_id)
        while len(self._used) > limits.REPOSITORIES_GROWING_MAX:
            left, _ = self._used.popitem(last=False)
            if left in self._followed:
                self._followed[left].repository.settle()

    def _next_batch(self, tenant_id: str, after: int) -> Sequence[CommitChanges]:
        """The next commits: as their writers brought them, or as the rows say where one of them has not come yet."""
        with self._lock:
            waiting = [number for tenant, number in self._waiting if tenant == tenant_id and number > after]
            wanted = range(after + 1, after + 1 + limits.COMMITS_BATCH_MAX)
            batch = [each for n in wanted if (each := self._landed.get((tenant_id, n))) is not None]
        whole = bool(batch) and [each.commit.number for each in batch] == list(wanted)[: len(batch)]
        if whole and max(waiting, default=0) <= batch[-1].commit.number:
            return batch
        return self._rows.commits(tenant_id, after, limits.COMMITS_BATCH_MAX)

    def _project(
        self, tenant_id: str, followed: _Followed, batch: Sequence[CommitChanges], *, wait: bool
    ) -> None:
        shas = self._written(followed, batch)
        followed.repository.point(followed.worktree.head)
        self._heads[tenant_id] = replace(batch[-1].commit, sha=shas[-1][1])
        if followed.worktree.folders > limits.FOLDERS_KEPT_MAX:
            followed.worktree.forget()
        self._rows.note(tenant_id, shas, wait=wait or self._notes_first)
        self._answer(tenant_id, shas)

    def _written(self, followed: _Followed, batch: Sequence[CommitChanges]) -> list[tuple[int, str]]:
        objects: list[GitObject] = []
        shas = []
        for each in batch:
            commit = each.commit
            objects += followed.worktree.commit(
                each.contents, commit.author, commit.message, commit.committed_at
            )
            shas.append((commit.number, objects[-1].id.hex()))
        followed.repository.add(objects)
        followed.number = batch[-1].commit.number
        return shas

    def _answer(self, tenant_id: str, shas: Sequence[tuple[int, str]]) -> None:
        self._behind.discard(tenant_id)
        with self._lock:
            found = []
            for number, sha in shas:
                self._landed.pop((tenant_id, number), None)
                future = self._waiting.pop((tenant_id, number), None)
                if future is None:
                    self._made[tenant_id, number] = sha
                else:
                    found.append((future, sha))
            while len(self._made) > limits.COMMITS_REMEMBERED_MAX:
                self._made.popitem(last=False)
        for future, sha in found:
            future.set_result(sha)

    # ---- opening and rebuilding

    def _opened(self, tenant_id: str) -> _Followed:
        path = self._folder / folder_name(tenant_id)
        repository = GitRepository(path, durable=self._durable)
        if tenant_id in self._rows.due():
            raise DamagedRepository("what it held was erased")
        head = self._rows.head(tenant_id)
        is_whole = not repository.is_damaged and (head is None or repository.holds(head.sha))
        tip = None if head is None else bytes.fromhex(head.sha)
        if repository.tip() != (head.sha if head else None):
            self._keep_what_rows_lack(tenant_id, repository, head)
            if is_whole:
                repository.point(tip)
        if not is_whole:
            raise DamagedRepository("a pack is torn, or the newest commit is not whole")
        return _Followed(repository, Worktree(tip, repository.read), head.number if head else 0)

    def _keep_what_rows_lack(self, tenant_id: str, repository: GitRepository, head: Commit | None) -> None:
        """Rows land first: a repository with more commits than them is of a database that lost some."""
        ahead = repository.ahead(head.sha if head else None, limits.COMMITS_BATCH_MAX)
        if ahead > len(self._rows.commits(tenant_id, head.number if head else 0, ahead)):
            _LOG.error("commits of documents that the database lost stay under %s", repository.keep())

    def _rebuilt(self, tenant_id: str) -> _Followed:
        self._stop_gathering()  # it would put old objects into the new repository
        erased = self._rows.due().get(tenant_id)
        path = self._folder / folder_name(tenant_id)
        fresh_path = path.with_name(f"{path.name}.new-{uuid.uuid4().hex}")
        fresh = GitRepository(fresh_path, durable=self._durable)
        followed = _Followed(fresh, Worktree(None, fresh.read), 0)
        noted: list[tuple[int, str]] = []
        last: Commit | None = None
        while batch := self._rows.commits(tenant_id, followed.number, limits.COMMITS_BATCH_MAX):
            noted += self._written(followed, batch)
            last = replace(batch[-1].commit, sha=noted[-1][1])
            fresh.tidy()
            if fresh.is_scattered:
                fresh.gather(fresh.to_gather())
        fresh.point(followed.worktree.head)
        fresh.settle()
        replace_repository(path, fresh, keeps=erased is None, durable=self._durable)
        repository = GitRepository(path, durable=self._durable)
        for start in range(0, len(noted), limits.COMMITS_NOTED_MAX):
            self._rows.note(tenant_id, noted[start : start + limits.COMMITS_NOTED_MAX], wait=True)
        if last is not None:
            self._heads[tenant_id] = last
        self._answer(tenant_id, noted)
        if erased is not None:
            self._rows.rewritten(tenant_id, erased)
        return _Followed(repository, Worktree(followed.worktree.head, repository.read), followed.number)

    # ---- gathering packs, beside the writes

    def _start_gathering(self, repository: GitRepository) -> None:
        if self._gathering is not None and self._gathering.is_alive():
            return
        if repository.is_scattered:
            thread = threading.Thread(
                target=_gather,
                args=(repository, repository.to_gather(), self._failures),
                name="lamina-gather",
                daemon=True,
            )
            try:
                thread.start()
            except RuntimeError as error:
                _LOG.warning("packs of a repository cannot be gathered now: %s", error)
            else:
                self._gathering = thread

    def _stop_gathering(self) -> None:
        if self._gathering is not None:
            self._gathering.join()


def _gather(repository: GitRepository, packs: Sequence[Path], failures: Failures) -> None:
    try:
        repository.gather(packs)
    except Exception as error:
        # The packs stay as they are, and serve; the next write that finds them scattered tries again.
        failures.note(_GATHERING, error)
    else:
        failures.over(_GATHERING)


def _unavailable(error: BaseException) -> LaminaError:
    if isinstance(error, LaminaError):
        return error
    failure: LaminaError = Fault("INTERNAL", f"the repository of documents failed: {type(error).__name__}")
    if isinstance(error, OSError | pygit2.GitError | DamagedRepository):
        failure = kept(type(error).__name__)
    failure.__cause__ = error
    return failure

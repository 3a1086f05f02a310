"""Runs an operator's command over a throw-away copy of the files that the caller may read, and puts down how it ended."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lamina.continuity.landing import EventWords, written
from lamina.continuity.permission import Reach
from lamina.coordination.artifacts.checks import refused
from lamina.coordination.checking import bounds
from lamina.coordination.checking.folders import another_check, check_folder, left_over_taken_away
from lamina.coordination.checking.requests import Checked, CheckRun, RunCheck
from lamina.coordination.checking.sandbox import CheckOutcome
from lamina.coordination.features import check_offered
from lamina.coordination.replication.files import FOLDERS
from lamina.errors import TooLarge
from lamina.kernel.canonical import indented
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.operations import Answer, Call
from lamina.kernel.relay import RelayRight
from lamina.kernel.time import rfc3339, to_datetime
from lamina.store.ports.documents import Change, ChangeKind, Commit, Document, Documents

__all__ = ["CHECKS_FOLDER", "Checking", "RunCommand"]

CHECKS_FOLDER: Final = "runs/checks"

RunCommand = Callable[[Sequence[str], Path], CheckOutcome]
"""How a command ended that was run in a folder."""

_SHA: Final = re.compile(r"[0-9a-f]{7,40}")
_PAGE: Final = 100  # with their content: some megabytes


@dataclass(frozen=True, slots=True)
class _Tree:
    folder: Path
    commit: Commit


class Checking:
    """Runs commands, one at a time on this machine. Those that may run are the operator's, by profile: none of them means that checks are off."""

    def __init__(
        self,
        documents: Documents,
        ids: IdSource,
        run: RunCommand,
        commands: Mapping[str, Sequence[str]],
    ) -> None:
        self._documents = documents
        self._ids = ids
        self._run = run
        self._commands = commands
        self._alone = threading.Lock()
        if commands:
            left_over_taken_away()

    def check(self, request: RunCheck, call: Call) -> Answer:
        """Run the command of a profile over the files of a commit."""
        command = self._commands.get(request.profile, ())
        setting = f"LAMINA_RELAY_CHECKS={request.profile}=COMMAND"
        check_offered(f"the check {request.profile}", setting, offered=bool(command))
        run_id = _new_id(self._ids, call)
        path = f"{CHECKS_FOLDER}/{run_id}.json"
        call.relay.require(RelayRight.WRITE_PROJECTS, "write", path)
        rewrites = self._documents.rewrites(call.principal.tenant_id)
        commit = self._commit(call.principal.tenant_id, request.ref)
        if not self._alone.acquire(blocking=False):
            raise another_check()
        try:
            with check_folder() as folder:
                self._fill(_Tree(folder, commit), call)
                outcome = self._run(command, folder)
        finally:
            self._alone.release()
        run = CheckRun(
            run_id=run_id,
            profile=request.profile,
            ref=request.ref,
            ref_resolved=commit.sha,
            status="passed" if _passed(outcome) else "failed",
            return_code=outcome.return_code,
            started_at=rfc3339(call.now),
            finished_at=rfc3339(call.now + int(outcome.seconds * 1_000_000)),
            command=tuple(command),
            stdout=outcome.stdout,
            stderr=outcome.stderr,
            timed_out=outcome.timed_out,
            said_too_much=outcome.said_too_much,
            not_apart=outcome.not_apart,
        )
        content = indented(run.model_dump(mode="json"))
        change = Change(path, ChangeKind.PUT, content, expected_version=0)
        words = f"Check {run.profile} of {commit.sha[:12]}: {run.status}"
        message, told = f"runs: check {run_id}", EventWords(path, words, "check")
        # What the command said may be of a document that was erased while it ran.
        done = written(self._documents, call, message, [change], told, rewrites=rewrites)
        return Answer(Checked(run=run, path=path, latest_commit=done.commit.sha or None))

    def _commit(self, tenant_id: str, ref: str) -> Commit:
        commit = self._documents.head(tenant_id) if ref == "HEAD" else None
        if _SHA.fullmatch(ref):
            commit = self._documents.commit_of(tenant_id, ref)
        if commit is None:
            raise refused("ref", "names no commit", "HEAD, or the hash of a commit that an answer gave")
        return commit

    def _fill(self, tree: _Tree, call: Call) -> None:
        """Write the files that the caller may read into a folder, as they stood at the commit."""
        reach = Reach(call, RelayRight.WRITE_PROJECTS)
        count = size = 0
        for document in self._standing(call.principal.tenant_id, tree.commit):
            if not reach.reads(document.path):
                continue
            count, size = count + 1, size + len(document.content)
            if count > bounds.CHECK_TREE_FILES_MAX or size > bounds.CHECK_TREE_BYTES_MAX:
                raise TooLarge(
                    "PAYLOAD_TOO_LARGE",
                    f"a check takes {bounds.CHECK_TREE_FILES_MAX} files and {bounds.CHECK_TREE_BYTES_MAX} bytes at most",
                    hint="check with a token that reads fewer folders",
                    details={
                        "files_max": bounds.CHECK_TREE_FILES_MAX,
                        "bytes_max": bounds.CHECK_TREE_BYTES_MAX,
                    },
                )
            place = tree.folder / document.path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(document.content)

    def _standing(self, tenant_id: str, commit: Commit) -> Iterator[Document]:
        for folder in sorted(FOLDERS):
            after = ""
            while True:
                page = self._documents.below(
                    tenant_id, folder, after=after, limit=_PAGE, with_content=True, at=commit.committed_at
                )
                yield from page
                if not page:
                    break
                after = page[-1].path


def _passed(outcome: CheckOutcome) -> bool:
    return outcome.return_code == 0 and not (outcome.timed_out or outcome.said_too_much)


def _new_id(ids: IdSource, call: Call) -> str:
    stamp = to_datetime(call.now).strftime("%Y%m%dT%H%M%SZ")
    return f"run_{stamp}_{ids.stamped(Prefix.REQUEST, call.now).replace('-', '')[-8:]}"

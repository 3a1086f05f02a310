"""Handlers that keep memory files: write, read, append. Each change is one commit with the event that tells of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from lamina import limits
from lamina.continuity.files.names import check_new, check_open_day, file_path
from lamina.continuity.files.requests import AppendRecord, ReadFile, ReadText, WriteFile, Written
from lamina.continuity.landing import EventWords, landed, retried
from lamina.continuity.permission import READS, Reach, require_open
from lamina.errors import Malformed, NotFound, TooLarge, Unavailable
from lamina.kernel.operations import Answer, Call
from lamina.store.keyed import entry_of, run_once
from lamina.store.ports.documents import Change, ChangeKind, Documents, DocumentVersion
from lamina.store.ports.idempotency import Idempotency, IdempotencyEntry

__all__ = ["Keeping", "file_told"]

_LABEL = "file"


class Keeping:
    """Write, read and append."""

    def __init__(self, documents: Documents, idempotency: Idempotency) -> None:
        self._documents = documents
        self._idempotency = idempotency

    def write(self, request: WriteFile, call: Call) -> Answer:
        """Write a file as a whole. One that holds these very bytes already is left as it is.

        An idempotency key lands in the transaction of the commit, or behind a look that found nothing to write.
        """
        path = self._writable(request, call)
        return self._once(path, call, lambda once: retried(lambda: self._write(path, request, call, once)))

    def read(self, request: ReadFile, call: Call) -> Answer:
        """A file's text."""
        path = file_path(request.path)
        Reach(call, READS).require("read", path)
        document = self._documents.read(call.principal.tenant_id, path)
        if document is None:
            raise NotFound("FILE_NOT_FOUND", f"there is no file at {path}", details={"path": path})
        try:
            return Answer(ReadText(path=path, content=document.content.decode()))
        except UnicodeDecodeError as error:
            raise Malformed(
                "FILE_NOT_TEXT", f"{path} does not hold UTF-8 text", details={"path": path}
            ) from error

    def append(self, request: AppendRecord, call: Call) -> Answer:
        """Add a record at a file's end, as a line of JSON; the file begins with it where there is none.

        An idempotency key lands in the transaction of its line: a crash forgets neither without the other.
        """
        path = self._writable(request, call)
        return self._once(path, call, lambda once: self._appended(path, request, call, once))

    def _once(self, path: str, call: Call, run: Callable[[IdempotencyEntry | None], Written]) -> Answer:
        """What ``run`` writes under the key of the call, where it has one; or what it had led to before."""
        return run_once(self._idempotency, entry_of(call), call.now, run, partial(self._earlier, path, call))

    def _appended(
        self, path: str, request: AppendRecord, call: Call, once: IdempotencyEntry | None
    ) -> Written:
        check_open_day(path, call.now)
        return retried(lambda: self._append(path, request, call, once))

    def _earlier(self, path: str, call: Call, known: IdempotencyEntry) -> Written:
        """The answer to a write that had landed under the key; raises ``Unavailable`` while its commit stands in no repository."""
        response = known.response or {}
        if "body" in response:  # kept by an earlier release, with the whole answer
            return Written.model_validate(response["body"])
        commit = self._documents.commit_numbered(call.principal.tenant_id, response.get("commit", 0))
        if commit is None or not commit.sha:
            raise Unavailable(
                "REPOSITORY_UNAVAILABLE",
                "the write is kept, but its commit could not be made yet",
                hint="read the file to see it; send the request again later for the hash of its commit",
            )
        return Written(path=path, committed=True, latest_commit=commit.sha)

    def _writable(self, request: WriteFile | AppendRecord, call: Call) -> str:
        """The path of a write, checked in the order of the contract: right, folder, path. Its size the gateway has checked."""
        reach = Reach(call, READS)
        reach.require("write", request.path)
        path = file_path(request.path)
        if path != request.path:
            reach.require("write", path)  # as it lands, in Unicode's NFC
        require_open(call, path)
        return path

    def _write(self, path: str, request: WriteFile, call: Call, once: IdempotencyEntry | None) -> Written:
        tenant_id, content = call.principal.tenant_id, request.content.encode()
        standing = self._documents.read(tenant_id, path)
        if standing is not None and standing.content == content:
            head = self._documents.head(tenant_id)
            same = Written(path=path, committed=False, latest_commit=head.sha if head else None)
            if once is not None:
                self._idempotency.remember(replace(once, response={"body": same.model_dump(mode="json")}))
            return same
        if standing is None:
            check_new(path)
        version = 0 if standing is None else standing.version
        change = Change(path, ChangeKind.PUT, content, expected_version=version, portable=True)
        return self._landed(call, change, request.commit_message or f"write: {path}", request.content, once)

    def _append(self, path: str, request: AppendRecord, call: Call, once: IdempotencyEntry | None) -> Written:
        line = json.dumps(request.record, ensure_ascii=False)
        newest = self._documents.history(call.principal.tenant_id, path, limit=1)
        if not newest or newest[0].kind is ChangeKind.REMOVE:
            check_new(path)
        gap, version = self._gap(call.principal.tenant_id, path, newest)
        content = f"{gap}{line}\n".encode()
        _check_room(path, newest[0].size if newest else 0, len(content))
        seen = newest[0].version if newest else 0
        change = Change(
            path, ChangeKind.APPEND, content, expected_version=version, appended_to=seen, portable=True
        )
        return self._landed(call, change, request.commit_message or f"append: {path}", line, once)

    def _gap(self, tenant_id: str, path: str, newest: Sequence[DocumentVersion]) -> tuple[str, int | None]:
        """What must stand before the next line, and the version that this was read of.

        An append leaves a whole line behind it. Only a file that was written as a whole may end within one, and only
        then it is read: the cost of an append does not grow with its file.
        """
        if not newest or newest[0].kind is not ChangeKind.PUT:
            return "", None
        standing = self._documents.read(tenant_id, path)
        if standing is None:
            return "", 0
        whole = not standing.content or standing.content.endswith(b"\n")
        return "" if whole else "\n", standing.version

    def _landed(
        self, call: Call, change: Change, message: str, words: str, once: IdempotencyEntry | None = None
    ) -> Written:
        commit = landed(self._documents, call, message, [change], file_told(change.path, words), once)
        return Written(path=change.path, committed=True, latest_commit=commit.sha)


def file_told(path: str, words: str) -> EventWords:
    """What is told of a file: its path and its words, or those that were appended."""
    return EventWords(path, f"{path}\n{words}".rstrip("\n"), _LABEL)


def _check_room(path: str, size: int, added: int) -> None:
    if size + added > limits.FILE_BYTES_MAX:
        raise TooLarge(
            "FILE_TOO_LARGE",
            f"{path} has {size} bytes, and {limits.FILE_BYTES_MAX} are the most",
            hint="begin another file",
            details={"path": path, "bytes": size, "bytes_max": limits.FILE_BYTES_MAX},
        )

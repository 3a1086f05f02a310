"""Giving files to another server: one that the tenant registered, and that an operator allows to be asked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic_core import from_json

from lamina import limits
from lamina.continuity.files.names import file_path, folder_of
from lamina.continuity.landing import retried, written
from lamina.coordination.features import check_offered
from lamina.coordination.peers.addresses import manifest_url
from lamina.coordination.replication import bounds
from lamina.coordination.replication.files import (
    FOLDERS,
    compressed_path,
    invalid,
    stands_compressed,
    travels,
)
from lamina.coordination.replication.pulling import REPLICATION_SETTING
from lamina.coordination.replication.requests import Push, Pushed
from lamina.coordination.replication.state import (
    STATE_PATH,
    AgreedDocument,
    ReplicationState,
    state_change,
    stored_state,
)
from lamina.errors import Conflict, Forbidden, NotFound, TooLarge, Unavailable
from lamina.kernel.canonical import canonical
from lamina.kernel.operations import Answer, Call
from lamina.kernel.relay import RelayRight
from lamina.kernel.time import rfc3339
from lamina.store.ports.documents import Document, Documents, DocumentVersion
from lamina.store.ports.peers import Peer, Peers
from lamina.store.walking import documents_below

__all__ = ["Pushing", "SendToPeer"]

SendToPeer = Callable[[str, bytes, str | None, float], bytes]
"""The answer to a body that is posted to a URL with a token, within so many seconds; raises ``Forbidden`` (PEER_ADDRESS_DENIED), ``Unavailable`` (PEER_UNREACHABLE)."""

_COUNTS: Final = ("received_count", "changed_count", "deleted_count", "conflict_count", "skipped_count")
_PAGE: Final = 100  # with their content: some megabytes
_OVERHEAD_BYTES: Final = 1024  # of a bundle around its files
_TRAVELLED: Final = AgreedDocument(version=0, local=0)
"""Of a document on which nobody agreed yet: its clock is its version here, and its removal is sent."""
_UNDECODABLE: Final = "files that hold no UTF-8 text were left out"


@dataclass(frozen=True, slots=True)
class _Sent:
    """A file as it is sent, with the version that it has here."""

    file: dict[str, Any]  # Any: JSON
    agreed: AgreedDocument
    size: int

    @property
    def path(self) -> str:
        return str(self.file["path"])


@dataclass(frozen=True, slots=True)
class _Gathered:
    files: Sequence[_Sent]
    by_prefix: dict[str, int]
    left_out: bool
    erased: frozenset[str]
    agreed: Mapping[str, AgreedDocument]
    """What had been agreed on by then."""
    rewrites: int
    """How often documents had been erased by then."""


class Pushing:
    """Gives files away, where the server offers it. A bundle has at most ``bytes_max`` bytes."""

    def __init__(
        self,
        documents: Documents,
        peers: Peers,
        send: SendToPeer,
        *,
        offered: bool,
        bytes_max: int,
        seconds: Callable[[], float],
    ) -> None:
        self._documents = documents
        self._peers = peers
        self._send = send
        self._offered = offered
        self._bytes_max = bytes_max
        self._seconds = seconds

    def push(self, request: Push, call: Call) -> Answer:
        """Send what stands below the prefixes, in as many bundles as it takes; say what would be sent where there is no target."""
        check_offered("replication", REPLICATION_SETTING, offered=self._offered)
        base_url = self._target(request, call)
        gathered = self._gathered(request, call)
        bundles = list(self._bundles(gathered.files))
        source = request.source_peer or call.relay.peer_id
        shaped = [_bundle(request, source, files) for files in bundles]
        # Another for each push: the target decides anew, by what it has by then.
        digest = hashlib.sha256(canonical([call.request_id, base_url, *shaped])).hexdigest()
        pushed = Pushed(
            dry_run=request.dry_run or not base_url,
            idempotency_key=request.idempotency_key or f"push_{digest[:24]}",
            file_count=len(gathered.files),
            by_prefix=gathered.by_prefix,
            target_base_url=base_url or None,
            target_path=request.target_path,
            sample_paths=tuple(each.path for each in gathered.files[: bounds.REPLICATION_SAMPLE_MAX]),
            include_deleted=request.include_deleted,
            conflict_policy=request.conflict_policy,
            warnings=(_UNDECODABLE,) if gathered.left_out else (),
        )
        if pushed.dry_run:
            return Answer(pushed)
        url = manifest_url(base_url, request.target_path)
        retried(lambda: self._note_travelling(call, gathered))
        remote = self._sent_all(url, shaped, pushed.idempotency_key, request.target_token)
        kept = retried(lambda: self._kept(call, pushed, url, gathered, remote))
        return Answer(kept)

    def _sent_all(
        self,
        url: str,
        bundles: Sequence[dict[str, Any]],
        name: str,
        token: str | None,  # Any: JSON
    ) -> dict[str, int]:
        """Send bundles one after another; the sums of what the target says became of them."""
        remote = dict.fromkeys(_COUNTS, 0)
        ends = self._seconds() + bounds.REPLICATION_WAIT_S
        for number, bundle in enumerate(bundles):
            left = ends - self._seconds()
            if left <= 0:
                raise Unavailable(
                    "PEER_UNREACHABLE",
                    f"the peer's server took longer than {bounds.REPLICATION_WAIT_S:g} seconds, for {number} of {len(bundles)} bundles",
                    hint="push again: what landed there already is left as it is",
                )
            key = name if len(bundles) == 1 else f"{name}-{number}"
            answer = self._send(url, canonical({**bundle, "idempotency_key": key}), token, left)
            for counted, count in _counts(answer).items():
                remote[counted] += count
        return remote

    def _target(self, request: Push, call: Call) -> str:
        """The base of the server that is meant; empty where there is none."""
        peers = self._peers.registry(call.principal.tenant_id).peers
        if request.peer_id is not None:
            if request.peer_id not in peers:
                raise NotFound(
                    "PEER_NOT_FOUND",
                    f"the tenant has registered no peer {request.peer_id[:64]!r}",
                    details={"peer_id": request.peer_id[:64]},
                )
            peer = _trusted(peers[request.peer_id])
            if request.base_url is None:
                return peer.base_url
        if request.base_url:
            known = [peer for peer in peers.values() if peer.base_url == request.base_url]
            for peer in known:
                _trusted(peer)
            if not known and not call.relay.admin:
                raise Forbidden(
                    "PEER_ADDRESS_DENIED",
                    "no registered peer has this base_url, and who administers peers may name others",
                )
        return request.base_url or ""

    def _gathered(self, request: Push, call: Call) -> _Gathered:
        tenant_id, by_prefix, left_out = call.principal.tenant_id, dict[str, int](), False
        rewrites = self._documents.rewrites(tenant_id)
        state = stored_state(self._documents, tenant_id).state
        found: dict[str, _Sent] = {}
        size = 0
        for number, prefix in enumerate(request.include_prefixes):
            folder = _folder(f"include_prefixes.{number}", prefix)
            before = len(found)
            for document in documents_below(self._documents, tenant_id, folder, page_max=_PAGE):
                if document.path in found or not travels(document.path):
                    continue
                if stands_compressed(document.path, document.content):
                    continue
                call.relay.require(RelayRight.REPLICATION_SYNC, "read", document.path)
                sent = _sent(document, state)
                if sent is None:
                    left_out = True
                    continue
                found[document.path] = sent
                size += sent.size
                self._check_room(request, len(found), size)
            by_prefix[prefix] = len(found) - before
        removed, erased = self._removed(call, state, request)
        if request.include_deleted:
            found |= {each.path: each for each in removed}
        self._check_room(request, len(found), size)
        files = [each for _, each in sorted(found.items())]
        return _Gathered(files, by_prefix, left_out, erased, state.documents, rewrites)

    def _removed(
        self, call: Call, state: ReplicationState, request: Push
    ) -> tuple[list[_Sent], frozenset[str]]:
        """What travelled once and was taken away since. What was erased has no history, and is named to nobody; what went to cold
        storage is there."""
        tenant_id, removed, erased = call.principal.tenant_id, list[_Sent](), set[str]()
        folders = tuple(f"{each.rstrip('/')}/" for each in request.include_prefixes)
        paths = sorted(path for path in state.documents if path.startswith(folders) and travels(path))
        for start in range(0, len(paths), limits.DOCUMENTS_READ_MAX):
            part = paths[start : start + limits.DOCUMENTS_READ_MAX]
            gone = sorted(set(part) - self._documents.read_many(tenant_id, part).keys())
            compressed = {path: copy for path in gone if (copy := compressed_path(path)) is not None}
            kept = self._documents.read_many(tenant_id, list(compressed.values()))
            for path in gone:
                if compressed.get(path) in kept:
                    continue
                newest = self._documents.history(tenant_id, path, limit=1)
                if newest:
                    call.relay.require(RelayRight.REPLICATION_SYNC, "read", path)
                    removed.append(_taken_away(newest[0], state))
                else:
                    erased.add(path)
        return removed, frozenset(erased)

    def _check_room(self, request: Push, count: int, size: int) -> None:
        bytes_max = bounds.REPLICATION_BUNDLES_MAX * (self._bytes_max - _OVERHEAD_BYTES)
        if count > request.max_files or size > bytes_max:
            raise TooLarge(
                "PAYLOAD_TOO_LARGE",
                f"more than {request.max_files} files or {bytes_max} bytes stand below the prefixes",
                hint="push fewer prefixes at once, or raise max_files",
                details={"files_max": request.max_files, "bytes_max": bytes_max},
            )

    def _bundles(self, files: Sequence[_Sent]) -> Iterator[list[_Sent]]:
        """The files in bundles that a server takes; one file that is larger than all of them is refused."""
        most = self._bytes_max - _OVERHEAD_BYTES
        bundle: list[_Sent] = []
        size = 0
        for file in files:
            if file.size > most:
                raise TooLarge(
                    "PAYLOAD_TOO_LARGE",
                    f"{file.path} takes {file.size} bytes of a bundle, and {most} are the most",
                    details={"path": file.path, "bytes": file.size, "bytes_max": most},
                )
            if size + file.size > most or len(bundle) >= bounds.REPLICATION_FILES_MAX:
                yield bundle
                bundle, size = [], 0
            bundle.append(file)
            size += file.size
        if bundle:
            yield bundle

    def _note_travelling(self, call: Call, gathered: _Gathered) -> None:
        """Note which files travel for the first time, before they do: their removal is sent whatever becomes of this push."""
        tenant_id = call.principal.tenant_id
        rewrites = self._documents.rewrites(tenant_id)
        stored = stored_state(self._documents, tenant_id)
        new = {each.path: _TRAVELLED for each in gathered.files if each.path not in stored.state.documents}
        if new and rewrites == gathered.rewrites:
            after = stored.state.model_copy(update={"documents": {**stored.state.documents, **new}})
            change = state_change(stored, after)
            written(self._documents, call, "replication: push", [change], None, rewrites=rewrites)

    def _kept(
        self, call: Call, pushed: Pushed, url: str, gathered: _Gathered, remote: dict[str, int]
    ) -> Pushed:
        """Note that the target agreed; nothing of the files where it had others of its own that it kept, or where some were erased meanwhile.

        What arrived while the files were on their way was agreed on later, and stays.
        """
        tenant_id = call.principal.tenant_id
        rewrites = self._documents.rewrites(tenant_id)
        stored = stored_state(self._documents, tenant_id)
        before, seen = stored.state.documents, gathered.agreed
        known = {
            path: each
            for path, each in before.items()
            if path not in gathered.erased or each != seen.get(path)
        }
        if remote["conflict_count"] == 0 and rewrites == gathered.rewrites:
            known |= {
                each.path: each.agreed
                for each in gathered.files
                if before.get(each.path, _TRAVELLED) == seen.get(each.path, _TRAVELLED)
            }
        last = {
            "at": rfc3339(call.now),
            "target_url": url,
            "idempotency_key": pushed.idempotency_key,
            "file_count": pushed.file_count,
        }
        after = stored.state.model_copy(update={"documents": known, "last_push": last})
        change = state_change(stored, after)
        done = written(self._documents, call, "replication: push", [change], None, rewrites=rewrites)
        return pushed.model_copy(
            update={
                "target_url": url,
                "remote": {"ok": True, **remote},
                "committed_files": (STATE_PATH,),
                "latest_commit": done.commit.sha or None,
            }
        )


def _folder(field: str, prefix: str) -> str:
    folder = prefix.rstrip("/")
    if folder_of(folder) not in FOLDERS:
        raise invalid(field, f"{prefix[:120]!r} lies in none of {', '.join(sorted(FOLDERS))}")
    return folder if folder in FOLDERS else file_path(folder)


def _sent(document: Document, state: ReplicationState) -> _Sent | None:
    try:
        content = document.content.decode()
    except UnicodeDecodeError:
        return None
    clock = state.clock(document.path, document.version)
    file = {
        "path": document.path,
        "content": content,
        "sha256": hashlib.sha256(document.content).hexdigest(),
        "version": clock,
        "modified_at": rfc3339(document.updated_at),
    }
    agreed = AgreedDocument(version=clock, local=document.version)
    return _Sent(file, agreed, len(canonical(file)) + 1)


def _taken_away(last: DocumentVersion, state: ReplicationState) -> _Sent:
    clock = state.clock(last.path, last.version)
    file = {
        "path": last.path,
        "deleted": True,
        "version": clock,
        "tombstone_at": rfc3339(last.commit.committed_at),
    }
    return _Sent(file, AgreedDocument(version=clock, local=last.version), len(canonical(file)) + 1)


def _bundle(request: Push, source: str, files: Sequence[_Sent]) -> dict[str, Any]:  # Any: JSON
    return {
        "source_peer": source,
        "conflict_policy": request.conflict_policy,
        "files": [each.file for each in files],
    }


def _counts(answer: bytes) -> dict[str, int]:
    """What a target says that became of a bundle."""
    try:
        said = from_json(answer, allow_inf_nan=False)
    except ValueError:
        said = None
    counts = {name: said.get(name) for name in _COUNTS} if isinstance(said, dict) else {}
    if len(counts) != len(_COUNTS) or not all(type(each) is int and each >= 0 for each in counts.values()):
        raise Unavailable("PEER_UNREACHABLE", "the peer's server answered what is no count of files")
    return {name: int(each) for name, each in counts.items() if each is not None}


def _trusted(peer: Peer) -> Peer:
    if peer.trust_level == "untrusted":
        raise Conflict("UNTRUSTED_PEER", f"the peer {peer.peer_id[:64]!r} is untrusted")
    return peer

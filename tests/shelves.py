"""Documents in plain dictionaries, and calls of the continuity operations over them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from capsules import NOW
from lamina.continuity.operations import continuity_operations
from lamina.continuity.permission import Mode, Paths
from lamina.errors import Conflict
from lamina.kernel.events import EventDraft
from lamina.kernel.operations import Call, Grant, Operation, Principal
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.documents.ports import ChangeKind, Commit, Document, DocumentVersion, Write, Written

TENANT = "acme"
AGENT = Principal(tenant_id=TENANT, actor="agent:kim", channel="http")


class DictDocuments:
    """What stands, and every write in order. ``before_write`` lets somebody else in between."""

    def __init__(self) -> None:
        self.stands: dict[tuple[str, str], Document] = {}
        self.versions: dict[tuple[str, str], int] = {}
        self.writes: list[Write] = []
        self.commits: list[Commit] = []
        self.before_write: Callable[[], None] = lambda: None

    def write(self, writes: Sequence[Write]) -> list[Written]:
        self.before_write()
        return [self._one(write) for write in writes]

    def _one(self, write: Write) -> Written:
        for change in write.changes:
            standing = self.stands.get((write.tenant_id, change.path))
            found = 0 if standing is None else standing.version
            absent = change.kind is ChangeKind.REMOVE and not found
            if absent or change.expected_version not in (None, found):
                raise Conflict("DOCUMENT_CHANGED", f"{change.path} stands at version {found}")
        versions = {}
        for change in write.changes:
            key = (write.tenant_id, change.path)
            version = versions[change.path] = self.versions[key] = self.versions.get(key, 0) + 1
            self.stands.pop(key, None)
            if change.kind is not ChangeKind.REMOVE:
                self.stands[key] = Document(change.path, version, change.content, NOW)
        self.writes.append(write)
        number = len(self.writes)
        sha = hashlib.sha1(str(number).encode(), usedforsecurity=False).hexdigest()
        self.commits.append(Commit(number, sha, write.author, write.message, NOW))
        return Written(self.commits[-1], versions, ())

    def read(self, tenant_id: str, path: str, *, at: Instant | None = None) -> Document | None:
        return self.stands.get((tenant_id, path))

    def read_many(self, tenant_id: str, paths: Collection[str]) -> dict[str, Document]:
        found = {path: self.stands.get((tenant_id, path)) for path in paths}
        return {path: document for path, document in found.items() if document is not None}

    def below(
        self, tenant_id: str, prefix: str, *, after: str = "", limit: int = 10_000, with_content: bool = False
    ) -> list[Document]:
        folder = prefix.rstrip("/")
        paths = sorted(
            path
            for tenant, path in self.stands
            if tenant == tenant_id and path > after and path.startswith(f"{folder}/")
        )
        found = [self.stands[tenant_id, path] for path in paths[:limit]]
        return found if with_content else [replace(document, content=b"") for document in found]

    def history(
        self, tenant_id: str, path: str, *, before: int | None = None, limit: int = 50
    ) -> list[DocumentVersion]:
        raise NotImplementedError

    def head(self, tenant_id: str) -> Commit | None:
        return self.commits[-1] if self.commits else None

    def put(self, path: str, content: bytes) -> None:
        """Somebody else's document."""
        key = (TENANT, path)
        self.versions[key] = self.versions.get(key, 0) + 1
        self.stands[key] = Document(path, self.versions[key], content, NOW)

    def paths(self) -> list[str]:
        return sorted(path for _, path in self.stands)


class Everything:
    """A caller who may do everything."""

    def allows(self, grant: Grant) -> bool:
        return True

    def require(self, grant: Grant) -> None:
        return None

    def reason(self, grant: Grant) -> str | None:
        return None

    def above(self, scope: Scope) -> Sequence[Scope]:
        return ()

    def denials(self, scope: Scope | None) -> Mapping[str, str]:
        return {}

    def renewed(self) -> Everything:
        return self


class Folders:
    """May read and write below these folders only."""

    def __init__(self, read: Collection[str] = (), write: Collection[str] = ()) -> None:
        self._folders = {"read": read, "write": write}

    def may(self, mode: Mode, path: str) -> bool:
        return any(path.startswith(folder) for folder in self._folders[mode])


class Continuity:
    """The operations over documents, called by name; ``at`` is now."""

    def __init__(self, documents: Any = None, paths: Paths | None = None, **more: Any) -> None:
        self.documents = documents or DictDocuments()
        given = {} if paths is None else {"paths_of": lambda call: paths}
        self.operations: dict[str, Operation[Any]] = {
            operation.name.removeprefix("continuity_"): operation
            for operation in continuity_operations(self.documents, **given, **more)
        }
        self.at = NOW

    def __call__(self, name: str, **body: Any) -> dict[str, Any]:
        operation = self.operations[name]
        call = Call(principal=AGENT, request_id="r", now=self.at, permits=Everything())
        answer = operation.handler(operation.request.model_validate(body), call)
        assert isinstance(answer.result, operation.result)
        result: dict[str, Any] = answer.result.model_dump(mode="json")
        return result

    def drafts(self) -> list[EventDraft]:
        return [capture.draft for write in self.documents.writes for capture in write.captures]

"""Documents whose writes are noted, and calls of the continuity operations over them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from capsules import NOW
from given import ManualClock
from lamina.continuity.operations import continuity_operations
from lamina.continuity.permission import Mode, Paths
from lamina.kernel.events import EventDraft
from lamina.kernel.operations import Call, Grant, Operation, Principal
from lamina.kernel.scopes import Scope
from lamina.store.documents.ports import Change, ChangeKind, Write, Written
from lamina.store.memory import MemoryStore

TENANT = "acme"
AGENT = Principal(tenant_id=TENANT, actor="agent:kim", channel="http")


class WatchedDocuments:
    """The documents of a store in memory, with every write noted. ``before_write`` lets somebody else in between."""

    def __init__(self) -> None:
        self._inner = MemoryStore(clock=ManualClock(NOW)).documents
        self.writes: list[Write] = []
        self.before_write: Callable[[], None] = lambda: None
        self.read_many = self._inner.read_many

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def write(self, writes: Sequence[Write]) -> list[Written]:
        self.before_write()
        written = self._inner.write(writes)
        self.writes += writes
        return written

    def put(self, path: str, content: bytes) -> None:
        """Somebody else's document."""
        change = Change(path, ChangeKind.PUT, content)
        self._inner.write([Write(tenant_id=TENANT, author="agent:lee", message="put", changes=[change])])

    def paths(self) -> list[str]:
        return [document.path for document in self._inner.below(TENANT, "memory")]


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
        self.documents = documents or WatchedDocuments()
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

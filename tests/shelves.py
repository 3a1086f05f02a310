"""Documents whose writes are noted, and calls of the continuity operations over them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from capsules import NOW
from given import ManualClock
from lamina.continuity.handlers.operations import continuity_operations
from lamina.errors import Forbidden
from lamina.kernel.events import EventDraft
from lamina.kernel.operations import Call, Grant, Operation, Principal
from lamina.kernel.relay import Mode, RelayGrant, RelayRight, may
from lamina.kernel.scopes import Scope
from lamina.store.memory import MemoryStore
from lamina.store.ports.documents import Change, ChangeKind, LandedWrite, Write

TENANT = "acme"
AGENT = Principal(tenant_id=TENANT, actor="agent:kim", channel="http")


class WatchedDocuments:
    """The documents of a store in memory, with every write noted. ``before_write`` lets somebody else in between."""

    def __init__(self) -> None:
        self.clock = ManualClock(NOW)
        self._inner = MemoryStore(clock=self.clock).documents
        self.writes: list[Write] = []
        self.before_write: Callable[[], None] = lambda: None
        self.read_many = self._inner.read_many

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def write(self, writes: Sequence[Write]) -> list[LandedWrite]:
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

    def tier_of(self, grant: Grant) -> str:
        return "deployment"

    def above(self, scope: Scope) -> Sequence[Scope]:
        return ()

    def denials(self, scope: Scope | None) -> Mapping[str, str]:
        return {}

    def renewed(self) -> Everything:
        return self


class Granted:
    """What a Relay token with this grant may."""

    peer_id = "kim"
    admin = False

    def __init__(self, grant: RelayGrant) -> None:
        self._grant = grant

    def allows(self, right: str | None, mode: Mode | None = None, path: str | None = None) -> bool:
        return may(self._grant, right, mode, path)

    def require(self, right: str | None, mode: Mode | None = None, path: str | None = None) -> None:
        if not self.allows(right, mode, path):
            raise Forbidden("NAMESPACE_DENIED", f"{right} {mode} {path}")


EVERYWHERE = frozenset({"*"})
OWNER = RelayGrant(frozenset(RelayRight), EVERYWHERE, EVERYWHERE)


class Continuity:
    """The operations over documents, called by name; ``at`` is now."""

    def __init__(self, documents: Any = None, grant: RelayGrant = OWNER, **more: Any) -> None:
        self.documents = documents or WatchedDocuments()
        self.rows: list[tuple[int, dict[str, list[Any]]]] = []
        self.relay = Granted(grant)
        self.operations: dict[str, Operation[Any]] = {
            operation.name.removeprefix("continuity_"): operation
            for operation in continuity_operations(self.documents, uses=self, **more)
        }
        self.at = NOW

    def __call__(self, name: str, **body: Any) -> dict[str, Any]:
        operation = self.operations[name]
        call = Call(principal=AGENT, request_id="r", now=self.at, permits=Everything(), relay=self.relay)
        self.rows.append((self.at, call.noted))
        answer = operation.handler(operation.request.model_validate(body), call)
        assert isinstance(answer.result, operation.result)
        result: dict[str, Any] = answer.result.model_dump(mode="json")
        return result

    def noted(self, tenant_id: str, name: str, since: int, among: Collection[str]) -> set[str]:
        """What calls noted since an instant, as their audit rows would have it."""
        assert tenant_id == TENANT
        found = {each for at, noted in self.rows if at >= since for each in noted.get(name, ())}
        return found & set(among)

    def drafts(self) -> list[EventDraft]:
        return [capture.draft for write in self.documents.writes for capture in write.captures]

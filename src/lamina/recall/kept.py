"""What was made under an idempotency key: the same request with the same key within a minute gets the same, from any process."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Sequence
from functools import cache
from typing import Generic, NamedTuple, TypeVar

from pydantic import TypeAdapter

from lamina import limits
from lamina.errors import Conflict, Forbidden
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Call, Grant
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.kernel.wire import Result
from lamina.store.ports.packs import PackKind, StoredPack
from lamina.store.ports.store import Store

__all__ = ["Basis", "KeptResults", "closed_to_concepts", "packed", "require_readable", "unpacked"]

ResultT = TypeVar("ResultT", bound=Result)


class Basis(NamedTuple):
    """What something was made from: its scopes, and how much had been removed from them when they were read.

    ``removals`` is the sum of ``IndexRows.changes`` and ``last_end``: another number once something there was cancelled, removed or
    replaced. ``without_concepts`` are the scopes whose concepts the caller may not read.
    """

    scopes: list[str]
    removals: int
    without_concepts: tuple[str, ...] = ()

    @classmethod
    def of(cls, store: Store, scopes: Sequence[Scope], call: Call) -> Basis:
        """As the scopes are now."""
        tenant_id, index = call.principal.tenant_id, store.index
        removals = sum(index.changes(tenant_id, scope) + index.last_end(tenant_id, scope) for scope in scopes)
        return cls([str(scope) for scope in scopes], removals, closed_to_concepts(scopes, call))

    def still_stands(self, store: Store, call: Call) -> bool:
        """Whether the caller may still read all of it, and nothing was taken from it since."""
        scopes = [Scope(each) for each in self.scopes]
        try:
            require_readable(scopes, call)
        except Forbidden:
            return False
        return Basis.of(store, scopes, call) == self


def closed_to_concepts(scopes: Sequence[Scope], call: Call) -> tuple[str, ...]:
    """Those of the scopes whose concepts the caller may not read (``understanding.read``), whatever else of them."""
    reading = Capability.UNDERSTANDING_READ
    return tuple(str(scope) for scope in scopes if not call.permits.allows(Grant(reading, scope)))


def require_readable(scopes: Sequence[Scope], call: Call) -> None:
    """Nothing, or ``Forbidden`` where the caller may not read one of the scopes any more."""
    for scope in scopes:
        call.permits.require(Grant(Capability.SCOPE_READ_LOCAL, scope))


class KeptResults(Generic[ResultT]):
    """Results of one kind, by their callers' keys."""

    def __init__(self, store: Store, kind: PackKind, result: type[ResultT]) -> None:
        self._store = store
        self._kind = kind
        self._kept = _adapter(result)
        self._keeping = threading.Lock()

    def find(self, key: str, call: Call) -> ResultT | None:
        """What the caller's key led to within the last minute, while what it was made from stands; ``Conflict``
        (IDEMPOTENCY_CONFLICT) when the key was for another request."""
        who = call.principal
        stored = self._store.packs.find(who.tenant_id, self._kind, who.actor, key)
        if stored is None or not stored.content or call.now - stored.made_at > limits.PACK_TTL_S * SECOND_US:
            return None
        if stored.body_hash != _hash_of(call):
            raise Conflict(
                "IDEMPOTENCY_CONFLICT",
                f"this idempotency key was used for another {self._kind} within the last minute",
                hint="use a new key for a new question",
                details={"idempotency_key": key},
            )
        result, basis = self._kept.validate_json(unpacked(stored.content))
        return result if basis.still_stands(self._store, call) else None

    def keep(self, key: str, result: ResultT, basis: Basis, call: Call) -> ResultT:
        """Remember a result under its key, and give it; or what the same request made meanwhile, sent again before the first was answered.

        ``basis`` is what it was made from, as it was before. Raises as ``find`` does.
        """
        kept = StoredPack(
            tenant_id=call.principal.tenant_id,
            kind=self._kind,
            caller=call.principal.actor,
            id=key,
            body_hash=_hash_of(call),
            made_at=call.now,
            content=packed(self._kept.dump_json((result, basis), by_alias=True)),
        )
        with self._keeping:
            known = self.find(key, call)
            if known is None:
                self._store.packs.keep(kept)
        return result if known is None else known


@cache
def _adapter(result: type[ResultT]) -> TypeAdapter[tuple[ResultT, Basis]]:
    """Made once for a kind of result: it takes as long as half of a server's parts together."""
    return TypeAdapter(tuple[result, Basis])  # type: ignore[valid-type] # as it is at run time


def _hash_of(call: Call) -> str:
    """The hash of a request: one that goes on with its stream is the same."""
    return call.body_hash(without="last_event_id")


def packed(content: bytes) -> bytes:
    """JSON as a stored pack holds it."""
    return zlib.compress(content, 1)


def unpacked(content: bytes) -> bytes:
    """What ``packed`` was given."""
    return zlib.decompress(content)

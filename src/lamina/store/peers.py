"""The registry of peers as it stands in a tenant's documents: ``peers/registry.json``, the contract's own file.

So it has versions, a history that names who changed it, and comes back with a clone. What another server wrote is read
with what is missing filled in: bounds are for who writes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from lamina.errors import LaminaError, Malformed
from lamina.kernel.time import Instant, instant, rfc3339_or_none
from lamina.store.ports.documents import Documents
from lamina.store.ports.peers import TRUST_LEVELS, Peer, PeerRegistry, TrustLevel, TrustStep

__all__ = ["REGISTRY_PATH", "DocumentPeers", "registry_text"]

REGISTRY_PATH: Final = "peers/registry.json"
_SCHEMA_VERSION: Final = "1.0"


def _moment(value: Any) -> Instant:  # Any: what a file holds
    try:
        return value if type(value) is int else instant(value)
    except (LaminaError, TypeError):
        return 0


def _level(value: Any) -> TrustLevel:  # Any: what a file holds
    return next((level for level in TRUST_LEVELS if level == value), "untrusted")


def _level_or_none(value: Any) -> TrustLevel | None:  # Any: what a file holds
    return None if value is None else _level(value)


_Moment = Annotated[Instant, BeforeValidator(_moment)]
_Level = Annotated[TrustLevel, BeforeValidator(_level)]


class _Stored(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)


class _StoredStep(_Stored):
    at: _Moment = 0
    came_from: Annotated[TrustLevel | None, BeforeValidator(_level_or_none)] = Field(
        default=None, alias="from"
    )
    to: _Level
    reason: str | None = None
    by: str = ""


class _StoredPeer(_Stored):
    base_url: str = ""
    public_key: str | None = None
    public_key_fingerprint: str | None = None
    capabilities_url: str = "/v1/manifest"
    trust_level: _Level = "restricted"
    allowed_scopes: tuple[str, ...] = ()
    created_at: _Moment = 0
    updated_at: _Moment = 0
    trust_history: tuple[_StoredStep, ...] = ()

    def peer(self, peer_id: str) -> Peer:
        own = {name: getattr(self, name) for name in type(self).model_fields if name != "trust_history"}
        steps = tuple(TrustStep(s.at, s.came_from, s.to, s.reason, s.by) for s in self.trust_history)
        return Peer(peer_id=peer_id, **own, history=steps)


class _StoredRegistry(_Stored):
    peers: dict[str, _StoredPeer]
    updated_at: Annotated[Instant | None, BeforeValidator(lambda value: _moment(value) or None)] = None


class DocumentPeers:
    """``Peers`` over documents."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def trust_of(self, tenant_id: str, peer_id: str) -> TrustLevel | None:
        """Mirrors ``Peers.trust_of``. A registry that cannot be read knows nobody."""
        try:
            peer = self.registry(tenant_id).peers.get(peer_id)
        except Malformed:
            return None
        return None if peer is None else peer.trust_level

    def registry(self, tenant_id: str) -> PeerRegistry:
        """Mirrors ``Peers.registry``."""
        document = self._documents.read(tenant_id, REGISTRY_PATH)
        return PeerRegistry({}, None, 0) if document is None else _parsed(document.content, document.version)


@lru_cache(maxsize=32)
def _parsed(content: bytes, version: int) -> PeerRegistry:
    """Read once for what stands: every call of a peer asks it."""
    try:
        stored = _StoredRegistry.model_validate_json(content)
    except ValidationError as error:
        raise Malformed(
            "STORED_REGISTRY_INVALID",
            f"{REGISTRY_PATH} holds no registry of peers",
            hint=f"put an earlier version of {REGISTRY_PATH} back, or remove it and register the peers anew",
        ) from error
    return PeerRegistry(
        {name: peer.peer(name) for name, peer in stored.peers.items()}, stored.updated_at, version
    )


def registry_text(registry: PeerRegistry) -> dict[str, Any]:  # Any: JSON
    """A registry as its file has it."""
    return {
        "schema_version": _SCHEMA_VERSION,
        "updated_at": rfc3339_or_none(registry.updated_at),
        "peers": {name: _peer_text(peer) for name, peer in sorted(registry.peers.items())},
    }


def _peer_text(peer: Peer) -> dict[str, Any]:  # Any: JSON
    return {
        "base_url": peer.base_url,
        "public_key": peer.public_key,
        "public_key_fingerprint": peer.public_key_fingerprint,
        "capabilities_url": peer.capabilities_url,
        "trust_level": peer.trust_level,
        "allowed_scopes": list(peer.allowed_scopes),
        "created_at": rfc3339_or_none(peer.created_at),
        "updated_at": rfc3339_or_none(peer.updated_at),
        "trust_history": [
            {"at": rfc3339_or_none(s.at), "from": s.came_from, "to": s.to, "reason": s.reason, "by": s.by}
            for s in peer.history
        ],
    }

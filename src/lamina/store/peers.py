"""The registry of peers as it stands in a tenant's documents: ``peers/registry.json``, the contract's own file.

So it has versions, a history that names who changed it, and comes back with a clone. What another server wrote is read
with what is missing filled in: bounds are for who writes.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from lamina import limits
from lamina.errors import LaminaError, Malformed
from lamina.kernel.time import Instant, instant, rfc3339_or_none
from lamina.store.ports.documents import ChangeKind, Document, Documents
from lamina.store.ports.peers import TRUST_LEVELS, Peer, PeerRegistry, TrustLevel, TrustStep

__all__ = ["REGISTRY_PATH", "DocumentPeers", "peer_text", "registry_text"]

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
    """``Peers`` over documents. What was read is kept by its version: every call with a token asks who is trusted."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._kept: dict[str, PeerRegistry | int] = {}

    def trust_of(self, tenant_id: str, peer_id: str) -> TrustLevel | None:
        """Mirrors ``Peers.trust_of``. A registry that cannot be read knows nobody."""
        registry = self._standing(tenant_id)
        peer = None if registry is None else registry.peers.get(peer_id)
        return None if peer is None else peer.trust_level

    def registry(self, tenant_id: str) -> PeerRegistry:
        """Mirrors ``Peers.registry``."""
        registry = self._standing(tenant_id)
        if registry is None:
            raise Malformed(
                "STORED_REGISTRY_INVALID",
                f"{REGISTRY_PATH} holds no registry of peers",
                hint=f"put an earlier version of {REGISTRY_PATH} back, or remove it and register the peers anew",
            )
        return registry

    def _standing(self, tenant_id: str) -> PeerRegistry | None:
        """The registry as it stands; None where the document holds none."""
        newest = self._documents.history(tenant_id, REGISTRY_PATH, limit=1)
        version = 0 if not newest or newest[0].kind is ChangeKind.REMOVE else newest[0].version
        kept = self._kept.get(tenant_id)
        if isinstance(kept, PeerRegistry) and kept.version == version:
            return kept
        if kept == version:
            return None
        document = self._documents.read(tenant_id, REGISTRY_PATH)
        if document is None:
            return PeerRegistry({}, None, 0)
        found = _parsed(document)
        if len(self._kept) >= limits.REGISTRIES_KEPT_MAX:
            self._kept.clear()
        self._kept[tenant_id] = document.version if found is None else found
        return found


def _parsed(document: Document) -> PeerRegistry | None:
    try:
        stored = _StoredRegistry.model_validate_json(document.content)
    except ValidationError:
        return None
    peers = {name: peer.peer(name) for name, peer in stored.peers.items()}
    return PeerRegistry(peers, stored.updated_at, document.version)


def registry_text(registry: PeerRegistry) -> dict[str, Any]:  # Any: JSON
    """A registry as its file has it."""
    return {
        "schema_version": _SCHEMA_VERSION,
        "updated_at": rfc3339_or_none(registry.updated_at),
        "peers": {name: peer_text(peer) for name, peer in sorted(registry.peers.items())},
    }


def peer_text(peer: Peer) -> dict[str, Any]:  # Any: JSON
    """A peer as the registry has it, below its id."""
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

"""Who the peers of a tenant are: what its registry says of another agent, or of another instance of this server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol, get_args

from lamina.kernel.time import Instant

__all__ = ["TRUST_LEVELS", "Peer", "PeerRegistry", "Peers", "TrustLevel", "TrustStep"]

TrustLevel = Literal["trusted", "restricted", "untrusted"]
TRUST_LEVELS: Final[tuple[TrustLevel, ...]] = get_args(TrustLevel)


@dataclass(frozen=True, slots=True)
class TrustStep:
    """One transition of trust; ``came_from`` is None at the first registration."""

    at: Instant
    came_from: TrustLevel | None
    to: TrustLevel
    reason: str | None
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A registered peer. ``base_url`` is empty for one that no server answers for; ``history`` is oldest first."""

    peer_id: str
    base_url: str
    public_key: str | None
    public_key_fingerprint: str | None
    capabilities_url: str
    trust_level: TrustLevel
    allowed_scopes: tuple[str, ...]
    created_at: Instant
    updated_at: Instant
    history: tuple[TrustStep, ...] = ()

    def with_newest_steps(self, count: int) -> Peer:
        """The same with the newest steps of its history alone."""
        return replace(self, history=self.history[-count:])


@dataclass(frozen=True, slots=True)
class PeerRegistry:
    """All peers by their ids; ``version`` is that of the document that they stand in, 0 where there is none."""

    peers: Mapping[str, Peer]
    updated_at: Instant | None
    version: int


class Peers(Protocol):
    """The registered peers of each tenant."""

    def trust_of(self, tenant_id: str, peer_id: str) -> TrustLevel | None:
        """How far the tenant trusts a peer; None for one that is not registered."""
        ...

    def registry(self, tenant_id: str) -> PeerRegistry:
        """Every peer of a tenant; raises ``Malformed`` (STORED_REGISTRY_INVALID) where what is stored is no registry."""
        ...

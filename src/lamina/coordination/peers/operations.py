"""The operations over peers (Relay contract 1.12)."""

from __future__ import annotations

from typing import Any, Final

from lamina.continuity.declaring import reads, writes
from lamina.coordination.peers import requests
from lamina.coordination.peers.registering import PeerRegistering
from lamina.kernel.operations import Operation
from lamina.kernel.relay import RelayNeed, RelayRight
from lamina.store.peers import REGISTRY_PATH

__all__ = ["peer_operations"]

_READS: Final = RelayNeed(RelayRight.READ_FILES, "read", REGISTRY_PATH)
_WRITES: Final = RelayNeed(RelayRight.ADMIN_PEERS, "write", REGISTRY_PATH)
_STORED: Final = ("STORED_REGISTRY_INVALID",)
_WRITTEN: Final = (
    *_STORED, "INVALID_PEER", "FINGERPRINT_MISMATCH", "PEER_TRANSITION_DENIED", "PAYLOAD_TOO_LARGE", "DOCUMENT_CHANGED",
    "REPOSITORY_UNAVAILABLE",
)  # fmt: skip


def peer_operations(registering: PeerRegistering) -> list[Operation[Any]]:
    """List, register, trust, and ask for a manifest."""
    return [
        reads(_READS, "peers_list", requests.ListPeers, requests.PeerList, registering.listed,
              "List the registered peers, and how far each is trusted.", fails=_STORED),
        writes(_WRITES, "peers_register", requests.RegisterPeer, requests.PeerRegistered, registering.register,
               "Register a peer, or change its registration.", bucket="peers_register", fails=_WRITTEN),
        writes(_WRITES, "peers_trust_transition", requests.ChangeTrust, requests.PeerChanged, registering.trust,
               "Trust a peer more or less, for a reason.", bucket="peers_trust_transition",
               fails=(*_WRITTEN, "PEER_NOT_FOUND")),
        reads(_READS, "peer_manifest_fetch", requests.ReadManifest, requests.ManifestShown, registering.manifest,
              "Ask a peer's server what it offers.",
              fails=(*_STORED, "INVALID_PEER", "PEER_NOT_FOUND", "PEER_ADDRESS_DENIED", "PEER_UNREACHABLE")),
    ]  # fmt: skip

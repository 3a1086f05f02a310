"""Handlers of ``/v1/peers``. The registry is a document: each change of it is a commit that names who made it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pydantic_core import from_json

from lamina import limits
from lamina.continuity.landing import landed, retried
from lamina.coordination.peers.addresses import check_urls, manifest_url
from lamina.coordination.peers.requests import (
    ChangeTrust,
    ListPeers,
    ManifestShown,
    PeerChanged,
    PeerList,
    PeerRegistered,
    PeerShown,
    ReadManifest,
    RegisterPeer,
)
from lamina.coordination.peers.trust import (
    POLICY_PATH,
    TransitionPolicy,
    registered,
    retrusted,
    transition_policy,
)
from lamina.errors import NotFound, TooLarge, Unavailable
from lamina.kernel.canonical import indented
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import rfc3339_or_none
from lamina.store.peers import REGISTRY_PATH, peer_text, registry_text
from lamina.store.ports.documents import Change, ChangeKind, Commit, Documents
from lamina.store.ports.peers import Peer, PeerRegistry, Peers

__all__ = ["FetchManifest", "PeerRegistering"]

FetchManifest = Callable[[str], bytes]
"""The bytes behind a URL; raises ``Forbidden`` (PEER_ADDRESS_DENIED), ``Unavailable`` (PEER_UNREACHABLE)."""

_UNKNOWN: Final = "the tenant has registered no peer {!r}"


class PeerRegistering:
    """List, register and trust peers, and ask their servers what they offer."""

    def __init__(self, documents: Documents, peers: Peers, fetch: FetchManifest, steps_kept: int) -> None:
        """``steps_kept`` is how many steps of trust the registry keeps of a peer; the versions of its document have them all."""
        self._documents = documents
        self._peers = peers
        self._fetch = fetch
        self._steps_kept = steps_kept

    def listed(self, request: ListPeers, call: Call) -> Answer:  # noqa: ARG002 - the port's shape
        """Every peer, by id."""
        registry = self._peers.registry(call.principal.tenant_id)
        shown = [_shown(peer) for _, peer in sorted(registry.peers.items())]
        return Answer(
            PeerList(count=len(shown), peers=shown, updated_at=rfc3339_or_none(registry.updated_at))
        )

    def register(self, request: RegisterPeer, call: Call) -> Answer:
        """Register a peer, or change its registration."""
        check_urls(request.base_url, request.capabilities_url)
        return Answer(retried(lambda: self._register(request, call)))

    def trust(self, request: ChangeTrust, call: Call) -> Answer:
        """Trust a peer otherwise than before."""
        return Answer(retried(lambda: self._trust(request, call)))

    def manifest(self, request: ReadManifest, call: Call) -> Answer:
        """What a peer's server says of itself, asked now."""
        registry = self._peers.registry(call.principal.tenant_id)
        peer = _known(registry, request.peer_id)
        url = manifest_url(peer.base_url, peer.capabilities_url)
        return Answer(
            ManifestShown(peer_id=peer.peer_id, source_url=url, manifest=_manifest(self._fetch(url)))
        )

    def _register(self, request: RegisterPeer, call: Call) -> PeerRegistered:
        registry = self._peers.registry(call.principal.tenant_id)
        known = registry.peers.get(request.peer_id)
        if known is None and len(registry.peers) >= limits.PEERS_MAX:
            raise TooLarge(
                "PAYLOAD_TOO_LARGE",
                f"{limits.PEERS_MAX} peers are registered, and no more fit",
                details={"peers_max": limits.PEERS_MAX},
            )
        peer = registered(known, request, self._policy(call), at=call.now, by=call.relay.peer_id)
        peer = peer.with_newest_steps(self._steps_kept)
        commit = self._put(registry, peer, f"peers: register {peer.peer_id}", call)
        return PeerRegistered(peer=_shown(peer), created=known is None, latest_commit=commit.sha or None)

    def _trust(self, request: ChangeTrust, call: Call) -> PeerChanged:
        registry = self._peers.registry(call.principal.tenant_id)
        known = _known(registry, request.peer_id)
        peer = retrusted(known, request, self._policy(call), at=call.now, by=call.relay.peer_id)
        peer = peer.with_newest_steps(self._steps_kept)
        step = f"{known.trust_level}->{peer.trust_level}"
        commit = self._put(registry, peer, f"peers: trust transition {peer.peer_id} {step}", call)
        return PeerChanged(peer=_shown(peer), latest_commit=commit.sha or None)

    def _policy(self, call: Call) -> TransitionPolicy:
        document = self._documents.read(call.principal.tenant_id, POLICY_PATH)
        return transition_policy(None if document is None else document.content)

    def _put(self, registry: PeerRegistry, peer: Peer, message: str, call: Call) -> Commit:
        """Land the registry with a peer in it, and beside the first one the policy that it was registered by."""
        after = PeerRegistry({**registry.peers, peer.peer_id: peer}, call.now, registry.version)
        changes = [_file(REGISTRY_PATH, registry_text(after), registry.version)]
        if self._documents.read(call.principal.tenant_id, POLICY_PATH) is None:
            changes.append(_file(POLICY_PATH, TransitionPolicy().stored(), None))
        # Nothing is told of it: who is trusted is asked of the registry, and is nobody's memory.
        return landed(self._documents, call, message, changes, None)


def _file(path: str, value: dict[str, Any], version: int | None) -> Change:  # Any: JSON
    return Change(path, ChangeKind.PUT, indented(value), expected_version=version)


def _known(registry: PeerRegistry, peer_id: str) -> Peer:
    peer = registry.peers.get(peer_id)
    if peer is None:
        raise NotFound("PEER_NOT_FOUND", _UNKNOWN.format(peer_id), details={"peer_id": peer_id})
    return peer


def _shown(peer: Peer) -> PeerShown:
    return PeerShown.model_validate({"peer_id": peer.peer_id, **peer_text(peer)})


def _manifest(content: bytes) -> dict[str, Any]:  # Any: the peer's own JSON
    try:
        value = from_json(content, allow_inf_nan=False)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Unavailable(
            "PEER_UNREACHABLE", "the peer's server answered what is no manifest: no JSON object"
        )
    return value

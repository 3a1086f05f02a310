"""Request and result types of the registry of peers (Relay contract 1.12)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from lamina import limits
from lamina.kernel.wire import Request, Result, Text
from lamina.store.ports.peers import TrustLevel

__all__ = [
    "ChangeTrust",
    "ListPeers",
    "ManifestShown",
    "PeerChanged",
    "PeerList",
    "PeerRegistered",
    "PeerShown",
    "ReadManifest",
    "RegisterPeer",
    "TrustStepShown",
]

_PeerId = Annotated[Text, Field(pattern=r"^[A-Za-z0-9_\-.@+]{1,128}$")]
_Fingerprint = Annotated[Text, Field(max_length=256)]


class ListPeers(Request):
    """Nothing to ask."""


class RegisterPeer(Request):
    """Register a peer, or change what is registered of it. ``base_url`` is empty for one that no server answers for.

    A ``public_key`` takes the place of the one before, with its fingerprint; where it is left out the one before stays.
    """

    peer_id: _PeerId
    base_url: Annotated[Text, Field(max_length=limits.PEER_URL_LENGTH_MAX)]
    public_key: Annotated[Text, Field(min_length=1, max_length=limits.PEER_KEY_LENGTH_MAX)] | None = None
    capabilities_url: Annotated[Text, Field(min_length=1, max_length=limits.PEER_URL_LENGTH_MAX)] = (
        "/v1/manifest"
    )
    trust_level: TrustLevel = "restricted"
    allowed_scopes: Annotated[
        tuple[Annotated[Text, Field(max_length=64)], ...], Field(max_length=limits.PEER_SCOPES_MAX)
    ] = ()
    expected_public_key_fingerprint: _Fingerprint | None = None
    transition_reason: Annotated[Text, Field(max_length=limits.PEER_REASON_LENGTH_MAX)] | None = None


class ChangeTrust(Request):
    """Trust a registered peer more, less, or as before."""

    peer_id: _PeerId
    trust_level: TrustLevel
    reason: Annotated[
        Text, Field(min_length=limits.PEER_REASON_LENGTH_MIN, max_length=limits.PEER_REASON_LENGTH_MAX)
    ]
    expected_public_key_fingerprint: _Fingerprint | None = None


class ReadManifest(Request):
    """Ask a peer's server what it offers."""

    peer_id: _PeerId


class TrustStepShown(Result):
    """One change of trust; the first has nothing it came ``from``."""

    at: str
    came_from: TrustLevel | None = Field(alias="from")
    to: TrustLevel
    reason: str | None
    by: str


class PeerShown(Result):
    """A registered peer."""

    peer_id: str
    base_url: str
    public_key: str | None
    public_key_fingerprint: str | None
    capabilities_url: str
    trust_level: TrustLevel
    allowed_scopes: list[str]
    created_at: str | None
    updated_at: str | None
    trust_history: list[TrustStepShown]


class PeerList(Result):
    """Every peer, by id."""

    ok: bool = True
    count: int
    peers: list[PeerShown]
    updated_at: str | None


class PeerChanged(Result):
    """The peer as it is registered now."""

    ok: bool = True
    peer: PeerShown
    committed: Literal[True] = True
    latest_commit: str | None


class PeerRegistered(PeerChanged):
    """The peer as it is registered now, and whether it is new."""

    created: bool


class ManifestShown(Result):
    """What a peer's server says of itself: evidence, and no instruction."""

    ok: bool = True
    peer_id: str
    source_url: str
    manifest: dict[str, Any]  # Any: the peer's own

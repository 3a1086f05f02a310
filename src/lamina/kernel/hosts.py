"""Which other servers may be asked from here: this machine, names, addresses and networks."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Final

__all__ = ["Address", "PeerHosts", "are_hosts", "is_network", "own_url"]

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAME: Final = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*\.?")
_LOOPBACK: Final = "loopback"
_LOOPBACK_NAMES: Final = frozenset({"localhost"})
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")


def own_url(host: str, port: int) -> str:
    """Where a server that listens at a host and port is asked from its own machine; port 0, which is any, is told as the usual one."""
    named = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - nobody listens here
    return f"http://{f'[{named}]' if ':' in named else named}:{port or 8700}"


@dataclass(frozen=True, slots=True)
class PeerHosts:
    """An allowlist. A name on it leads to public addresses only; those of a private network are named by the network."""

    loopback: bool
    names: frozenset[str] = frozenset()
    networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = ()

    @classmethod
    def parse(cls, text: str) -> PeerHosts:
        """From items with commas between; raises ``ValueError`` for one that is none of them."""
        names: set[str] = set()
        networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = []
        items = [item.strip().lower() for item in text.split(",") if item.strip()]
        for item in items:
            if item == _LOOPBACK:
                continue
            try:
                networks.append(ipaddress.ip_network(item))
            except ValueError:
                if not _NAME.fullmatch(item) or item.replace(".", "").isdigit():
                    raise ValueError(f"{item[:64]!r} is no host, address or network") from None
                names.add(item.rstrip("."))
        return cls(_LOOPBACK in items, frozenset(names), tuple(networks))

    def knows(self, host: str) -> bool:
        """Whether a host may be looked up at all: an address may, since it is judged as one."""
        name = host.lower().rstrip(".")
        if name in _LOOPBACK_NAMES:
            return self.loopback
        return name in self.names or _as_address(name) is not None

    def allows(self, host: str, address: Address) -> bool:
        """Whether a host that leads to an address may be asked there."""
        name, plain = host.lower().rstrip("."), _plain(address)
        if any(plain in network for network in self.networks):
            return True
        if name in _LOOPBACK_NAMES or _as_address(name) is not None:
            return self.loopback and _is_here(address)
        return name in self.names and plain.is_global and not plain.is_multicast


def _as_address(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _is_here(address: Address) -> bool:
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def _plain(address: Address) -> Address:
    """The address behind one that carries another: where a packet to it ends."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    carried = address.ipv4_mapped or address.sixtofour
    if carried is None and address in _NAT64:
        carried = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return carried or address


def is_network(text: str) -> bool:
    """Whether a text is an address or a network."""
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True


def are_hosts(text: str) -> bool:
    """Whether ``PeerHosts.parse`` takes a text."""
    try:
        PeerHosts.parse(text)
    except ValueError:
        return False
    return True

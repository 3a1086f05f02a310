"""Which servers may be asked, and that what was judged is what is connected to."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

import pytest

from lamina.errors import Forbidden, Unavailable
from lamina.kernel.hosts import PeerHosts
from lamina.remote.peers import fetch_from_peer
from tables import every_row


@every_row(
    ("listed", "host", "address", "allowed"),
    [
        ("loopback", "localhost", "127.0.0.1", True),
        ("loopback", "localhost", "::1", True),
        ("loopback", "localhost", "10.0.0.1", False),
        ("loopback", "127.0.0.9", "127.0.0.9", True),
        ("loopback", "::ffff:127.0.0.1", "::ffff:127.0.0.1", True),
        ("loopback", "8.8.8.8", "8.8.8.8", False),
        ("", "localhost", "127.0.0.1", False),
        ("peer.example", "Peer.Example.", "93.184.216.34", True),
        ("peer.example", "peer.example", "10.0.0.1", False),
        ("loopback,peer.example", "peer.example", "127.0.0.1", False),
        ("peer.example", "peer.example", "169.254.169.254", False),
        ("peer.example", "peer.example", "::ffff:10.0.0.1", False),
        ("peer.example", "peer.example", "64:ff9b::a00:1", False),
        ("peer.example", "peer.example", "2002:a00:1::1", False),
        ("peer.example", "peer.example", "224.0.0.1", False),
        ("peer.example,10.0.0.0/8", "peer.example", "10.0.0.1", True),
        ("10.0.0.0/8", "10.1.2.3", "10.1.2.3", True),
        ("fd00::/8", "fd00::1", "fd00::1", True),
        ("8.8.8.8", "8.8.8.8", "8.8.8.8", True),
        ("loopback", "64:ff9b::7f00:1", "64:ff9b::7f00:1", False),
        ("peer.example", "other.example", "93.184.216.34", False),
    ],
)
def test_a_host_is_asked_where_it_and_its_address_are_allowed(
    listed: str, host: str, address: str, allowed: bool
) -> None:
    hosts = PeerHosts.parse(listed)
    assert (hosts.knows(host) and hosts.allows(host, ipaddress.ip_address(address))) is allowed


@every_row("text", ["http://x", "a b", "-x.example", "10.0.0.0/99", "256.1.1.1", "x/y", "x:80"])
def test_what_is_no_host_is_no_setting(text: str) -> None:
    with pytest.raises(ValueError, match="is no host"):
        PeerHosts.parse(text)


def test_a_name_is_looked_up_once_and_every_address_has_to_be_allowed() -> None:
    asked: list[str] = []

    def lookup(host: str, port: int) -> Sequence[str]:
        asked.append(f"{host} {port}")
        # The second answer of a name that is rebound would be another one.
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    def fetch(listed: str, found: Sequence[str] | None = None) -> bytes:
        chosen = lookup if found is None else lambda _host, _port: found
        hosts = PeerHosts.parse(listed)
        return fetch_from_peer("http://localhost:1/x", hosts, bytes_max=9, timeout_s=1.0, lookup=chosen)

    with pytest.raises(Unavailable, match=r"127\.0\.0\.1 port 1: Connect"):
        fetch("loopback")
    assert asked == ["localhost 1"]
    with pytest.raises(Forbidden, match="PEER_ADDRESS_DENIED"):
        fetch("loopback", ["127.0.0.1", "10.0.0.1"])
    for found in ([], ["127.0.0.1"] * 65, ["no address"]):
        with pytest.raises(Unavailable, match="PEER_UNREACHABLE"):
            fetch("loopback", found)
    with pytest.raises(Forbidden):
        fetch("peer.example", ["93.184.216.34"])

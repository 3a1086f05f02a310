"""A document of a peer's server, and what is sent there: only where an operator allows it.

Its name is looked up once, and what is connected to is an address that was judged: a name that leads elsewhere a moment later
changes nothing. Redirects are not followed. Size and time have bounds, and no proxy of the environment is asked.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from urllib.parse import urlsplit

import httpx

from lamina import limits
from lamina.errors import Forbidden, Unavailable
from lamina.kernel.hosts import Address, PeerHosts
from lamina.models.deadline import NETWORK_ERRORS, DeadlineTransport

__all__ = ["Lookup", "fetch_from_peer", "looked_up", "send_to_peer"]

Lookup = Callable[[str, int], Sequence[str]]
"""The addresses that a name leads to, for a port; raises ``OSError``."""


def looked_up(host: str, port: int) -> Sequence[str]:
    """What this machine's resolver says."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(place[4][0]) for place in found]


def fetch_from_peer(
    url: str, hosts: PeerHosts, *, bytes_max: int, timeout_s: float, lookup: Lookup = looked_up
) -> bytes:
    """The bytes behind a URL of the web, which was checked to be one.

    Raises ``Forbidden`` (PEER_ADDRESS_DENIED) where the host may not be asked, ``Unavailable`` (PEER_UNREACHABLE).
    """
    return _answered("GET", url, hosts, _Bounds(bytes_max, timeout_s), lookup)


def send_to_peer(
    url: str,
    body: bytes,
    token: str | None,
    hosts: PeerHosts,
    *,
    bytes_max: int,
    timeout_s: float,
) -> bytes:
    """The answer to a JSON body that is posted to a URL, with a bearer token where there is one. Raises as ``fetch_from_peer`` does."""
    headers = {"Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    return _answered("POST", url, hosts, _Bounds(bytes_max, timeout_s), looked_up, headers, body)


@dataclass(frozen=True, slots=True)
class _Bounds:
    bytes_max: int
    timeout_s: float


def _answered(
    verb: str,
    url: str,
    hosts: PeerHosts,
    bounds: _Bounds,
    lookup: Lookup,
    more: Mapping[str, str] = MappingProxyType({}),
    body: bytes | None = None,
) -> bytes:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    address = _address(host, port, hosts, lookup)
    shown = f"[{address}]" if address.version == 6 else str(address)
    target = httpx.URL(url).copy_with(host=str(address), port=port)
    headers = {"Host": parts.netloc, "Accept": "application/json", "Accept-Encoding": "identity", **more}
    transport = DeadlineTransport(_trusted())
    try:
        with (
            httpx.Client(
                transport=transport, follow_redirects=False, trust_env=False, timeout=bounds.timeout_s
            ) as client,
            transport.within(bounds.timeout_s),
        ):
            extensions = {"sni_hostname": host}
            with client.stream(
                verb, target, headers=headers, content=body, extensions=extensions
            ) as response:
                return _body(response, bounds.bytes_max)
    except (*NETWORK_ERRORS, httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise _unreachable(f"{shown} port {port}: {type(error).__name__}") from error


def _address(host: str, port: int, hosts: PeerHosts, lookup: Lookup) -> Address:
    """The address to connect to: the first, where every one that the name leads to is allowed."""
    if not hosts.knows(host):
        raise _denied(f"the host {host[:128]!r} is not among those that may be asked")
    try:
        found = [ipaddress.ip_address(text.partition("%")[0]) for text in lookup(host, port)]
    except (OSError, ValueError, UnicodeError) as error:
        raise _unreachable(f"the name {host[:128]!r} leads to no address") from error
    if not found or len(found) > limits.PEER_ADDRESSES_MAX:
        raise _unreachable(f"the name {host[:128]!r} leads to {len(found)} addresses")
    if not all(hosts.allows(host, address) for address in found):
        raise _denied(f"{host[:128]!r} leads to an address that may not be asked")
    return found[0]


def _body(response: httpx.Response, bytes_max: int) -> bytes:
    if response.is_redirect:
        raise _unreachable(f"it answered {response.status_code}, and redirects are not followed")
    if response.status_code != 200:
        raise _unreachable(f"it answered {response.status_code}")
    if response.headers.get("content-encoding", "identity") != "identity":
        raise _unreachable("it answered in an encoding that was not asked for")
    data = b""
    for chunk in response.iter_raw():
        data += chunk
        if len(data) > bytes_max:
            raise _unreachable(f"its answer is larger than {bytes_max} bytes")
    return data


@cache
def _trusted() -> ssl.SSLContext:
    return ssl.create_default_context()


def _denied(reason: str) -> Forbidden:
    return Forbidden("PEER_ADDRESS_DENIED", f"the peer's server is not asked: {reason}")


def _unreachable(reason: str) -> Unavailable:
    return Unavailable("PEER_UNREACHABLE", f"the peer's server cannot be asked: {reason}")

"""The URLs of peers: what may be registered, and where a manifest is."""

from __future__ import annotations

from typing import Final
from urllib.parse import SplitResult, urljoin, urlsplit

from lamina.errors import Malformed

__all__ = ["check_urls", "manifest_url"]

_SCHEMES: Final = ("http", "https")


def check_urls(base_url: str, capabilities_url: str) -> None:
    """Nothing for what may be registered; raises ``Malformed`` (INVALID_PEER).

    The base is empty, or a URL of the web without user, query or fragment. The manifest is at a path of the same server.
    """
    if base_url:
        base = _split("base_url", base_url)
        if base.query or base.fragment:
            raise _invalid("base_url", "has a query or a fragment")
    if capabilities_url.startswith("/") and not capabilities_url.startswith("//"):
        _printable("capabilities_url", capabilities_url)
        return
    manifest = _split("capabilities_url", capabilities_url)
    if not base_url or _origin(manifest) != _origin(urlsplit(base_url)):
        raise _invalid("capabilities_url", "is of another server than base_url")


def manifest_url(base_url: str, capabilities_url: str) -> str:
    """Where a registered peer's manifest is; raises ``Malformed`` (INVALID_PEER) for a peer without a server."""
    if not base_url:
        raise _invalid("base_url", "is empty: no server answers for this peer")
    check_urls(base_url, capabilities_url)
    if capabilities_url.startswith("/"):
        return base_url.rstrip("/") + capabilities_url
    return urljoin(base_url, capabilities_url)


def _split(field: str, url: str) -> SplitResult:
    _printable(field, url)
    try:
        parts = urlsplit(url)
        whole = bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise _invalid(field, "is no URL") from error
    if parts.scheme not in _SCHEMES or not whole:
        raise _invalid(field, "is no URL that begins with http:// or https:// and names a host")
    if "@" in parts.netloc:
        raise _invalid(field, "names a user: nothing secret is kept in the registry")
    return parts


def _origin(parts: SplitResult) -> tuple[str, str | None, int]:
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def _printable(field: str, url: str) -> None:
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise _invalid(field, "has characters that no URL has")


def _invalid(field: str, reason: str) -> Malformed:
    return Malformed("INVALID_PEER", f"{field} {reason}", details={"field": field})

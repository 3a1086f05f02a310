"""The rows of the Relay contract for peers, tokens and keys, and for how authority is thought of (contract 1.1, 1.12, 1.13)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from starlette.responses import Response

from lamina.errors import LaminaError
from lamina.http.errors import DetailBody, ErrorStyle, Shown, detail_response, detailed, shown_in_detail
from lamina.http.routes import Route
from lamina.kernel.operations import Operation

__all__ = ["peer_asking", "peer_rows"]

_UNREACHABLE: Final = "PEER_UNREACHABLE"
_BAD_GATEWAY: Final = 502

_ROWS: Final = (
    ("GET", "/v1/peers", "peers_list"),
    ("POST", "/v1/peers/register", "peers_register"),
    ("POST", "/v1/peers/{peer_id}/trust", "peers_trust_transition"),
    ("GET", "/v1/security/tokens", "security_tokens_list"),
    ("POST", "/v1/security/tokens/issue", "security_tokens_issue"),
    ("POST", "/v1/security/tokens/revoke", "security_tokens_revoke"),
    ("POST", "/v1/security/tokens/rotate", "security_tokens_rotate"),
    ("POST", "/v1/security/keys/rotate", "security_keys_rotate"),
    ("GET", "/v1/governance/policy", "relay_governance"),
)


def _refused(error: LaminaError, request_id: str, headers: Mapping[str, str]) -> Response:
    status = _BAD_GATEWAY if error.code == _UNREACHABLE else None
    return detailed(error, request_id, headers, status=status)


def _shown(code: str) -> Collection[Shown]:
    return [Shown(_BAD_GATEWAY, DetailBody)] if code == _UNREACHABLE else shown_in_detail(code)


peer_asking: Final = ErrorStyle(_refused, _shown)
"""Relay style, and 502 where it is the peer's server that failed."""


def peer_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    """A row for every path; errors have the ``detail`` bodies of the contract."""
    rows = [Route(verb, path, by_name[name], errors=detail_response) for verb, path, name in _ROWS]
    return [
        *rows,
        Route("GET", "/v1/peers/{peer_id}/manifest", by_name["peer_manifest_fetch"], errors=peer_asking),
    ]

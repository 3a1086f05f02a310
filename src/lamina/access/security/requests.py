"""Request and result types of tokens and signing keys (Relay contract 1.13)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from lamina import limits
from lamina.kernel.wire import Request, Result, Text

__all__ = [
    "IssueToken",
    "IssuedToken",
    "KeyShown",
    "KeyWithSecret",
    "ListTokens",
    "RevokeTokens",
    "RevokedTokens",
    "RotateKey",
    "RotateToken",
    "RotatedKey",
    "RotatedToken",
    "TokenList",
    "TokenShown",
]

_ID = rf"^[A-Za-z0-9_\-.:]{{1,{limits.PEER_TOKEN_ID_LENGTH_MAX}}}$"
_TokenId = Annotated[Text, Field(pattern=_ID)]
_Peer = Annotated[Text, Field(max_length=limits.PEER_TOKEN_ID_LENGTH_MAX)]
_Hash = Annotated[Text, Field(pattern=r"^(?:sha256:)?[0-9a-fA-F]{64}$")]
_Note = Annotated[Text, Field(max_length=limits.TOKEN_NOTE_LENGTH_MAX)]
_Seconds = Annotated[int, Field(ge=1, le=limits.TOKEN_SECONDS_MAX)]
_Moment = Annotated[Text, Field(max_length=64)]
_Scopes = Annotated[
    tuple[Annotated[Text, Field(max_length=64)], ...], Field(max_length=limits.TOKEN_GRANTS_MAX)
]
_Folders = Annotated[
    tuple[Annotated[Text, Field(max_length=limits.TOKEN_FOLDER_LENGTH_MAX)], ...],
    Field(max_length=limits.TOKEN_GRANTS_MAX),
]

TokenState = Literal["active", "revoked", "expired"]


class ListTokens(Request):
    """List tokens. Those that do not hold any more are left out unless they are asked for, by their ``status`` or all."""

    peer_id: _Peer | None = None
    status: TokenState | None = None
    include_inactive: bool = False


class IssueToken(Request):
    """Make a token. It ends at ``expires_at`` or after ``ttl_seconds``, or never."""

    peer_id: _Peer
    scopes: _Scopes = ()
    read_namespaces: _Folders = ()
    write_namespaces: _Folders = ()
    expires_at: _Moment | None = None
    ttl_seconds: _Seconds | None = None
    description: _Note | None = None
    token_id: _TokenId | None = None


class RevokeTokens(Request):
    """Take tokens back: one by its id or hash, or all of a peer. Where several are named, a token has to be all of it."""

    token_id: _TokenId | None = None
    token_sha256: _Hash | None = None
    peer_id: _Peer | None = None
    revoke_all_for_peer: bool = False
    reason: _Note | None = None


class RotateToken(Request):
    """Put a new token in the place of one. What is left out the new one has from the old, its end too."""

    token_id: _TokenId | None = None
    token_sha256: _Hash | None = None
    new_token_id: _TokenId | None = None
    scopes: _Scopes | None = None
    read_namespaces: _Folders | None = None
    write_namespaces: _Folders | None = None
    expires_at: _Moment | None = None
    ttl_seconds: _Seconds | None = None
    description: _Note | None = None
    reason: _Note | None = None


class RotateKey(Request):
    """Make a signing key, or activate one that is staged by naming it without a secret.

    A ``secret`` that is left out is drawn. The key before counts for a week more, or no longer with ``retire_previous``.
    """

    key_id: _TokenId | None = None
    secret: Annotated[
        Text | None,
        Field(min_length=limits.SIGNING_KEY_LENGTH_MIN, max_length=limits.SIGNING_KEY_LENGTH_MAX),
    ] = None
    activate: bool = True
    retire_previous: bool = False
    return_secret: bool = False


class TokenShown(Result):
    """A token without its text, which is kept nowhere. ``effective_status`` tells of its end, too."""

    token_id: str
    peer_id: str
    scopes: list[str]
    read_namespaces: list[str]
    write_namespaces: list[str]
    status: Literal["active", "revoked"]
    effective_status: TokenState
    issued_at: str
    expires_at: str | None
    revoked_at: str | None
    revoked_reason: str | None
    rotated_at: str | None
    rotated_to_token_id: str | None
    rotated_from_token_id: str | None
    description: str | None
    token_sha256: str


class TokenList(Result):
    """Tokens, those issued last first; ``total`` is how many there are, where more are there than shown."""

    ok: bool = True
    count: int
    total: int
    tokens: list[TokenShown]


class _Changed(Result):
    """``committed`` says whether something changed, durably. Tokens and keys stand in no commit; ``latest_commit`` is that of the documents."""

    ok: bool = True
    committed: bool
    latest_commit: str | None


class IssuedToken(_Changed):
    """A new token. Its text is shown this once."""

    token: str
    token_meta: TokenShown


class RevokedTokens(_Changed):
    """How many tokens were meant, and how many of them held until now."""

    matched: int
    revoked: int
    tokens: list[TokenShown]


class RotatedToken(_Changed):
    """The new token, whose text is shown this once, and the one whose place it took."""

    token: str
    from_token: TokenShown
    token_meta: TokenShown


class KeyShown(Result):
    """A signing key without its secret, which stands outside of the repository."""

    key_id: str
    algorithm: str
    status: Literal["active", "staged"]
    created_at: str
    rotated_at: str
    storage_mode: Literal["external"] = "external"


class KeyWithSecret(KeyShown):
    """A signing key for who asked for its secret, with whom it is to be shared."""

    secret: str


class RotatedKey(_Changed):
    """The key, and which one is to sign with."""

    active_key_id: str | None
    key: KeyWithSecret | KeyShown

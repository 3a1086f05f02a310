"""The codes of peers, tokens and signing keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.catalogue.entries import CALLERS, REQUESTS, SERVER, STATE, ErrorCode

__all__ = ["CODES"]

CODES: Final[Mapping[str, ErrorCode]] = {
    "STORED_REGISTRY_INVALID": ErrorCode(
        "Malformed",
        STATE,
        "The document `peers/registry.json` holds no registry of peers: another program wrote it. Nobody counts as registered, and nothing was stored.",
        hint="put an earlier version of the document back, or remove it and register the peers anew",
    ),
    "INVALID_PEER": ErrorCode(
        "Malformed",
        REQUESTS,
        "A peer cannot be registered so, or cannot be asked: its URL is not one of the web, its key is missing, or the reason of a transition is.",
        hint="the message names the field",
    ),
    "PEER_NOT_FOUND": ErrorCode(
        "NotFound",
        CALLERS,
        "The tenant has registered no peer of this id.",
        hint="`GET /v1/peers` lists them; `POST /v1/peers/register` adds one",
    ),
    "PEER_TRANSITION_DENIED": ErrorCode(
        "Conflict",
        STATE,
        "The policy of transitions, `peers/trust_policies.json`, does not lead from the peer's level of trust to the one that was asked for. Nothing was stored.",
        hint="go by way of restricted",
    ),
    "FINGERPRINT_MISMATCH": ErrorCode(
        "Conflict",
        STATE,
        "The fingerprint that the caller expects is not that of the peer's public key. Nothing was stored.",
        hint="ask the peer for its key by another way than the one that gave this fingerprint",
    ),
    "PEER_ADDRESS_DENIED": ErrorCode(
        "Forbidden",
        CALLERS,
        "The peer's server may not be asked from here: its host is not among those that an operator named, or its name leads into a network that is not.",
        hint="an operator names host or network in LAMINA_RELAY_PEER_HOSTS",
    ),
    "PEER_UNREACHABLE": ErrorCode(
        "Unavailable",
        SERVER,
        "The peer's server could not be asked, or what it answered is no manifest, or no count of the files that were pushed. The message says which. Redirects are not followed.",
        status=502,
        hint="try again later, or register where it is now",
    ),
    "TOKEN_NOT_FOUND": ErrorCode(
        "NotFound",
        CALLERS,
        "No token of the tenant is the one that was named. Tokens of the settings are not listed, revoked or rotated.",
        hint="`GET /v1/security/tokens?include_inactive=true` lists them",
    ),
    "TOKEN_INACTIVE": ErrorCode(
        "Conflict",
        STATE,
        "The token was revoked or has expired, and is not rotated: what does not hold any more is not made to hold again.",
        hint="issue a new one with POST /v1/security/tokens/issue",
    ),
    "KEY_EXISTS": ErrorCode(
        "Conflict",
        STATE,
        "There is a signing key of this id. A key never changes its secret; one that is staged is activated by naming its id without a secret.",
        hint="choose another key_id",
    ),
    "KEY_NOT_FOUND": ErrorCode(
        "NotFound",
        CALLERS,
        "The tenant has no signing key of this id, or it is retired and its time of grace is over.",
        hint="sign with the active key, whose id `POST /v1/security/keys/rotate` answered",
    ),
    "KEY_UNREADABLE": ErrorCode(
        "Unavailable",
        SERVER,
        "The secret of the signing key cannot be opened: the key file that it was sealed with is not the one that is here. A restore without the key file loses "
        "these keys.",
        hint="put the key file back where LAMINA_RELAY_KEY_FILE says, or rotate to a new key",
    ),
    "KEY_FILE_UNUSABLE": ErrorCode(
        "Unavailable",
        SERVER,
        "The file that seals signing keys cannot be read or made, others than its owner may read it, or it is no such file. The message says which.",
        hint="make it mode 0600, owned by whom the server runs as, or name another with LAMINA_RELAY_KEY_FILE",
    ),
    "SECRET_SHOWN_ONCE": ErrorCode(
        "Malformed",
        REQUESTS,
        "An idempotency key was sent with a call whose answer is a secret: such an answer is kept nowhere, so it cannot be given again.",
        hint="name the id of what is made, token_id, new_token_id or key_id: a second call is then a 409",
    ),
    "SECRET_FILE": ErrorCode(
        "Forbidden",
        CALLERS,
        "`config/peer_tokens.json` and `config/security_keys.json` are secrets of the original server and no documents here: nothing is written at these paths.",
        hint="tokens are made with POST /v1/security/tokens/issue, keys with POST /v1/security/keys/rotate",
    ),
    "LOCAL_ONLY": ErrorCode(
        "Forbidden",
        CALLERS,
        "The operation is for callers on the server's own machine, and the call came from elsewhere, or through a proxy that says so.",
        hint="call it on the machine itself, by a loopback address",
    ),
}

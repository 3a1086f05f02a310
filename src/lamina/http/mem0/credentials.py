"""Who calls, by what Mem0's clients can show: ``Authorization: Token <key>``, or ``X-API-Key`` as its open-source server takes it.

They send no ``X-Cortex-Actor``. A token of an issuer names its holder itself, and that is whom it is then verified for.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from lamina.access.principals import ACTOR, Credentials
from lamina.access.tokens.wire import BadToken, read_token, strict_json

__all__ = ["CHANNEL", "credentials_of"]

CHANNEL: Final = "mem0"
_SCHEME: Final = re.compile(r"(?:token|bearer) +(\S.*)", re.IGNORECASE)


def credentials_of(shown: Credentials, api_key: str | None, *, believes: bool) -> Credentials:
    """What a caller showed as the other doors take it.

    A server that ``believes`` its callers verifies no key, and takes one that is called like an actor for that actor. Elsewhere the key is
    the token.
    """
    header = shown.authorization
    found = None if header is None else _SCHEME.fullmatch(header.strip())
    key = api_key if found is None else found[1].strip()
    if believes:
        named = key if key is not None and ACTOR.fullmatch(key) else None
        return replace(shown, channel=CHANNEL, authorization=None, actor=shown.actor or named)
    if key is None:
        return replace(shown, channel=CHANNEL)
    return replace(
        shown, channel=CHANNEL, authorization=f"Bearer {key}", actor=shown.actor or _claimed_actor(key)
    )


def _claimed_actor(token: str) -> str | None:
    """Whom a token says it is of. Unverified: the verifier asks that its ``sub`` is just that."""
    try:
        subject = strict_json(read_token(token).payload).get("sub")
    except BadToken:
        return None
    return subject if isinstance(subject, str) and ACTOR.fullmatch(subject) else None

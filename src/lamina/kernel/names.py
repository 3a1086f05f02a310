"""Names that no scope can hold, written so that one can: ``b64-`` and the base64url of their UTF-8 bytes.

A name that a scope can hold stays as it is. One that begins with ``b64-`` is written that way too, so that no two names
ever meet.
"""

from __future__ import annotations

import base64
import re
from typing import Final

__all__ = ["decoded", "encoded", "scope_segment"]

_MARK: Final = "b64-"
_PLAIN = re.compile(r"[A-Za-z0-9_\-]+", re.ASCII)


def encoded(name: str) -> str:
    """A name as a part of a scope.

    >>> encoded("user_1"), encoded("ana@example.org")
    ('user_1', 'b64-YW5hQGV4YW1wbGUub3Jn')
    """
    if _PLAIN.fullmatch(name) and not name.startswith(_MARK):
        return name
    return _MARK + base64.urlsafe_b64encode(name.encode()).decode().rstrip("=")


def scope_segment(actor: str) -> str:
    """An actor as a segment of a path.

    >>> scope_segment("user:ana"), scope_segment("user:ana@example.org")
    ('user:ana', 'user:b64-YW5hQGV4YW1wbGUub3Jn')
    """
    kind, _, name = actor.partition(":")
    return f"{kind}:{encoded(name)}"


def decoded(part: str) -> str:
    """The name behind a part of a scope; a part that ``encoded`` never writes is its own name.

    >>> decoded("b64-YW5hQGV4YW1wbGUub3Jn"), decoded("b64-?")
    ('ana@example.org', 'b64-?')
    """
    if not part.startswith(_MARK):
        return part
    text = part.removeprefix(_MARK)
    try:
        name = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except ValueError:
        return part
    return name if encoded(name) == part else part

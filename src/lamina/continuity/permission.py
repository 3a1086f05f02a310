"""Which documents a caller may touch: asked of the call for every one of them, on behalf of one right of Relay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from lamina.kernel.operations import Call
from lamina.kernel.relay import Mode, RelayRight

__all__ = ["READS", "WRITES", "require", "sees"]

READS: Final = RelayRight.READ_FILES
WRITES: Final = RelayRight.WRITE_PROJECTS


def require(call: Call, right: RelayRight, mode: Mode, *paths: str) -> None:
    """Nothing when the caller holds the right at every path; ``Forbidden`` otherwise."""
    for path in paths:
        call.relay.require(right, mode, path)


def sees(call: Call, folder: str) -> Callable[[str], bool]:
    """Whether the caller may read a path of a folder. Who may read the folder is not asked for each path."""
    if call.relay.allows(READS, "read", folder):
        return lambda path: True  # noqa: ARG005 - every path alike
    return lambda path: call.relay.allows(READS, "read", path)

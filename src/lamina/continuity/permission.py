"""Which documents a caller may touch: asked of the call for every one of them, on behalf of one right of Relay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from lamina.errors import Forbidden
from lamina.kernel.operations import Call
from lamina.kernel.relay import Mode, RelayRight, write_right
from lamina.store.documents.paths import holds_secrets

__all__ = ["READS", "WRITES", "Reach", "require", "require_open", "sees"]

READS: Final = RelayRight.READ_FILES
WRITES: Final = RelayRight.WRITE_PROJECTS

_OPERATORS: Final = frozenset(
    {"config/governance_policy.json", "peers/registry.json", "peers/trust_policies.json"}
)


def require(call: Call, right: RelayRight, mode: Mode, *paths: str) -> None:
    """Nothing when the caller holds the right at every path; ``Forbidden`` otherwise."""
    for path in paths:
        call.relay.require(right, mode, path)


def require_open(call: Call, path: str) -> None:
    """Nothing for a path that a caller may write who may write its folder.

    What decides about other callers is for who administers peers: the registry, its policy and that of governance. Raises
    ``Forbidden`` (SECRET_FILE) where the original server has its secrets: no document stands there.
    """
    if holds_secrets(path):
        raise Forbidden("SECRET_FILE", f"{path} is no document here", details={"path": path})
    if path.casefold() in _OPERATORS:
        call.relay.require(RelayRight.ADMIN_PEERS, "write", path)


def sees(call: Call, folder: str) -> Callable[[str], bool]:
    """Whether the caller may read a path of a folder. Who may read the folder is not asked for each path."""
    if call.relay.allows(READS, "read", folder):
        return lambda path: True  # noqa: ARG005 - every path alike
    return lambda path: call.relay.allows(READS, "read", path)


class Reach:
    """Which paths the caller of a call may touch: reading on behalf of one right, writing by the right of the path."""

    def __init__(self, call: Call, right: RelayRight) -> None:
        self._relay = call.relay
        self._right = right
        self._open: dict[str, bool] = {}

    def reads(self, path: str) -> bool:
        """Whether a path may be read. Who may read its first folder is not asked for each path."""
        folder = path.partition("/")[0]
        if folder not in self._open:
            self._open[folder] = self._relay.allows(self._right, "read", folder)
        return self._open[folder] or self._relay.allows(self._right, "read", path)

    def require(self, mode: Mode, path: str) -> None:
        """Nothing when the caller may read or write at a path; ``Forbidden`` otherwise."""
        self._relay.require(write_right(path) if mode == "write" else self._right, mode, path)

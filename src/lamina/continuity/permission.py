"""Which paths of the repository a caller may touch: asked for every document beside the grants of an operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

from lamina.errors import Forbidden
from lamina.kernel.operations import Call

__all__ = ["AnyPath", "Mode", "Paths", "PathsOf", "require"]

Mode = Literal["read", "write"]


class Paths(Protocol):
    """What a caller may do below the folders of the repository."""

    def may(self, mode: Mode, path: str) -> bool:
        """Whether the caller may read or write a path."""
        ...


PathsOf = Callable[[Call], Paths]
"""The paths of the caller of a call."""


class AnyPath:
    """Every path: for callers whose grants are all that is asked."""

    def may(self, mode: Mode, path: str) -> bool:  # noqa: ARG002 - the port's shape
        """Mirrors ``Paths.may``."""
        return True


def require(paths: Paths, mode: Mode, *wanted: str) -> None:
    """Nothing, or ``Forbidden`` (PATH_NOT_ALLOWED) for the first path that the caller may not touch."""
    for path in wanted:
        if not paths.may(mode, path):
            raise Forbidden(
                "PATH_NOT_ALLOWED",
                f"{mode.capitalize()} path namespace not allowed: {path}",
                hint="the token lists the folders that it may read and write",
                details={"mode": mode, "path": path},
            )

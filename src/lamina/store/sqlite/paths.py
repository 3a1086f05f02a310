"""How statements look for a path and the paths below it: those lie from it with '/' to it with '0', the character behind '/'."""

from __future__ import annotations

__all__ = ["bounds_below", "bounds_within"]


def bounds_below(path: str) -> tuple[str, str]:
    """The first path below one, and the end of those below it, which is none of them."""
    return f"{path}/", f"{path}0"


def bounds_within(path: str | None) -> tuple[str | None, str | None, str | None]:
    """A path with the bounds of those below it; three times None where none is asked for."""
    return (None, None, None) if path is None else (path, *bounds_below(path))

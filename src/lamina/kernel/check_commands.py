"""The commands of checks as an operator writes them down: ``PROFILE=COMMAND`` with semicolons between."""

from __future__ import annotations

import shlex
from typing import Final

__all__ = ["CHECK_PROFILES", "are_check_commands", "check_commands"]

CHECK_PROFILES: Final = ("lint", "test", "build")


def check_commands(text: str) -> dict[str, tuple[str, ...]]:
    """Commands by their profiles, each as its words; raises ``ValueError``."""
    commands: dict[str, tuple[str, ...]] = {}
    for part in filter(str.strip, text.split(";")):
        profile, _, command = part.strip().partition("=")
        arguments = tuple(shlex.split(command))
        if profile not in CHECK_PROFILES or profile in commands or not arguments:
            raise ValueError(f"{part!r} is no command of a profile")
        commands[profile] = arguments
    return commands


def are_check_commands(text: str) -> bool:
    """Whether ``check_commands`` takes a text."""
    try:
        check_commands(text)
    except ValueError:
        return False
    return True

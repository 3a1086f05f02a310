"""What an error code is, and the parts that codes are grouped by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = [
    "CALLERS",
    "CLIENTS",
    "CONTINUITY",
    "COORDINATION",
    "REMINDERS",
    "REQUESTS",
    "SERVER",
    "STATE",
    "ErrorCode",
]

REQUESTS: Final = "Requests"
CALLERS: Final = "Callers"
STATE: Final = "State"
SERVER: Final = "The server"
CLIENTS: Final = "Clients and commands"
CONTINUITY: Final = "Continuity"
REMINDERS: Final = "Reminders"
COORDINATION: Final = "Agents together"


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One code. ``status`` differs from that of the class where it is given; ``part`` groups the codes.

    ``hint`` says what helps where the place that raises the error says nothing nearer.
    """

    kind: str
    part: str
    meaning: str
    status: int | None = None
    hint: str | None = None

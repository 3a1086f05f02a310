"""The one family of errors. The class says whose move is next, the code says what happened.

    LaminaError
    ├── Invalid         the request is wrong: change it
    │   ├── Malformed   ... it could not even be parsed
    ├── Unauthenticated the caller is not known: sign in
    ├── Forbidden       the caller is known and may not
    ├── NotFound        nothing there that the caller may see
    ├── Gone            it was here and has been forgotten
    ├── Conflict        the world moved, or a key was used for something else
    ├── TooLarge        a bound was passed
    ├── Busy            too much at once: wait, then again
    ├── Unavailable     a part is down: the same request may succeed later
    ├── Unsupported     this server or this setting does not offer it
    └── Fault           our bug or our disk: the same request may succeed later

``STATUS`` maps each class to its HTTP status and its exit code. Messages name the values at hand, never a
secret and never the content of a memory.
"""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

__all__ = [
    "STATUS",
    "Busy",
    "Conflict",
    "Fault",
    "Forbidden",
    "Gone",
    "Invalid",
    "LaminaError",
    "Malformed",
    "NotFound",
    "Outcome",
    "TooLarge",
    "Unauthenticated",
    "Unavailable",
    "Unsupported",
    "outcome_of",
]


class LaminaError(Exception):
    """An error with a stable code, a message for people, and a hint when the reader can act.

    ``code`` is UPPER_SNAKE and never changes meaning. ``details`` holds the values at hand, JSON-ready.
    ``request_id`` and ``status`` are set where the error came over the wire, for the reader of the server's log.
    """

    retriable: ClassVar[bool] = False
    request_id: str | None = None
    status: int | None = None

    def __init__(
        self, code: str, message: str, *, hint: str | None = None, details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.details: dict[str, Any] = dict(details or {})

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled without ``__init__``, to which an exception would give its message alone: pools of processes pass errors on."""
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]  # documented in PEP 307

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" + (f" ({self.hint})" if self.hint else "")

    def at(self, place: str) -> Self:
        """The same, told of a part of the request, such as ``items.3``."""
        field = self.details.get("field")
        where = place if field is None else f"{place}.{field}"
        return type(self)(
            self.code, f"{place}: {self.message}", hint=self.hint, details={**self.details, "field": where}
        )


class Invalid(LaminaError):
    """The request was understood and is wrong; changing it helps, repeating it does not."""


class Malformed(Invalid):
    """The request could not be parsed, or a required part of it is missing."""


class Unauthenticated(LaminaError):
    """The caller is not known, or the token does not hold."""


class Forbidden(LaminaError):
    """The caller is known and policy says no; the details cite tier and capability."""


class NotFound(LaminaError):
    """Nothing there that this caller may see."""


class Gone(LaminaError):
    """It existed and has been forgotten; it does not come back."""


class Conflict(LaminaError):
    """The state does not allow it: a key reused with another body, a version that moved on."""


class TooLarge(LaminaError):
    """A bound named in ``limits.py`` was passed."""


class Busy(LaminaError):
    """Too much at once. Wait for ``details["retry_after_s"]``, then send the same request."""

    retriable = True


class Unavailable(LaminaError):
    """A part of the server cannot answer now; the same request may succeed later."""

    retriable = True


class Unsupported(LaminaError):
    """This server, or this setting of it, does not offer what was asked."""


class Fault(LaminaError):
    """Our own trouble. The cause is in the log under the request id."""

    retriable = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the outside sees of an error class: an HTTP status and a process exit code."""

    status: int
    exit_code: int


STATUS: Mapping[type[LaminaError], Outcome] = {
    Malformed: Outcome(400, 2),
    Invalid: Outcome(422, 2),
    Unauthenticated: Outcome(401, 3),
    Forbidden: Outcome(403, 3),
    NotFound: Outcome(404, 4),
    Gone: Outcome(410, 4),
    Conflict: Outcome(409, 5),
    TooLarge: Outcome(413, 2),
    Busy: Outcome(429, 6),
    Unavailable: Outcome(503, 6),
    Unsupported: Outcome(501, 7),
    Fault: Outcome(500, 1),
}


def outcome_of(error: LaminaError) -> Outcome:
    """The status and exit code of an error, by its nearest class in the table."""
    for cls in type(error).__mro__:
        if cls in STATUS:
            return STATUS[cls]
    return STATUS[Fault]

"""Codes of the client and the command line, which no server says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.catalogue.entries import CLIENTS, ErrorCode

__all__ = ["CODES"]

CODES: Final[Mapping[str, ErrorCode]] = {
    "INVALID_TOKEN_PROVIDER": ErrorCode(
        "Invalid",
        CLIENTS,
        "The token provider of a `Client` is a token itself, or answers with no text, or with one that no header takes: empty, or with the "
        "end of a line. `AsyncClient` takes awaitables.",
        hint="a token provider is a function without arguments that returns the token",
    ),
    "CLIENT_CLOSED": ErrorCode(
        "Invalid",
        CLIENTS,
        "A `Client` or an `AsyncClient` was closed before this call, or while it was on its way.",
        hint="make another one; a write that was on its way may be stored, and is not stored twice if it is sent again under its own "
        "idempotency key",
    ),
    "HOST_FILE_NOT_WRITTEN": ErrorCode(
        "Unavailable",
        CLIENTS,
        "The file of a host of agents could not be written: it may not be, it was changed meanwhile, or no change would leave its other entries "
        "as they are. It stands as it did.",
        hint="--print shows what belongs there, to be added by hand",
    ),
    "HOST_FILE_UNREADABLE": ErrorCode(
        "Invalid",
        CLIENTS,
        "The file in which a host of agents keeps its servers does not parse, so nothing was written there. The message has the place.",
        hint="mend the file, then run the command again",
    ),
    "NO_EXAMPLE": ErrorCode(
        "NotFound",
        CLIENTS,
        "The example conversation is not installed; name a file with `--file`.",
    ),
    "OUTPUT_NOT_WRITTEN": ErrorCode(
        "Unavailable",
        CLIENTS,
        "What a command printed could not be written, such as to a full disk. What it was asked to do may be done.",
        hint="make room where the output goes; a command that only reads can be run again",
    ),
    "RESPONSE_TOO_LARGE": ErrorCode(
        "TooLarge",
        CLIENTS,
        "One event of a stream is larger than anything that a Lamina server sends.",
        hint="ask for less: a smaller limit or budget",
    ),
    "SERVER_UNREACHABLE": ErrorCode(
        "Unavailable",
        CLIENTS,
        "No answer came: no server, no connection, or no time left. The transport's error is the "
        "`__cause__`. A write may have landed; sent again with the same idempotency key, it lands once.",
    ),
    "STREAM_CUT": ErrorCode(
        "Unavailable",
        CLIENTS,
        "A stream ended before it was done.",
    ),
    "UNREADABLE_RESPONSE": ErrorCode(
        "Unsupported",
        CLIENTS,
        "The answer does not have the shape that this client knows: compare the versions.",
        hint="check that the address is that of a Lamina server and of this version",
    ),
}

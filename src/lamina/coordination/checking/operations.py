"""The operation of checks."""

from __future__ import annotations

from typing import Any

from lamina.continuity.declaring import writes
from lamina.coordination.checking import requests
from lamina.coordination.checking.running import CHECKS_FOLDER, Checking
from lamina.kernel.operations import Operation
from lamina.kernel.relay import RelayNeed, RelayRight

__all__ = ["check_operations"]


def check_operations(checking: Checking) -> list[Operation[Any]]:
    """Run an operator's command over the files."""
    need = RelayNeed(RelayRight.WRITE_PROJECTS, "write", CHECKS_FOLDER)
    return [
        writes(need, "code_checks_run", requests.RunCheck, requests.Checked, checking.check,
               "Run a check over the files of a commit.",
               fails=("FEATURE_OFF", "INVALID_COORDINATION", "NAMESPACE_DENIED", "PAYLOAD_TOO_LARGE", "TOO_MUCH_AT_ONCE",
                      "CHECK_FOLDER_UNAVAILABLE", "DOCUMENT_CHANGED", "REPOSITORY_UNAVAILABLE")),
    ]  # fmt: skip

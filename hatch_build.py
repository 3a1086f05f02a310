"""Says which client a server that is built here needs: the one beside it in a clone, that of its own version in a release."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ClientBeside(BuildHookInterface[Any]):
    """Adds ``lamina-client`` to what a wheel needs. ``LAMINA_RELEASE=1`` builds one for others, as does a source archive."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """An editable install needs none: src has the client's part as well."""
        root = Path(self.root)
        if version == "editable":
            return
        is_release = os.environ.get("LAMINA_RELEASE") == "1" or not (root / ".git").exists()
        where = f"=={self.metadata.version}" if is_release else f" @ {(root / 'clients' / 'python').as_uri()}"
        build_data["dependencies"].append(f"lamina-client{where}")

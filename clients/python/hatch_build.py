"""Takes the client's part of the package from the clone, or in a source archive from beside this file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ClientsPart(BuildHookInterface[Any]):
    """Adds the files and folders that ``parts`` names in pyproject.toml."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add them to a wheel as the package, and to a source archive so that this hook finds them there."""
        if version == "editable":
            return
        here = Path(self.root)
        package = here / "src" / "lamina"
        if not package.is_dir():
            package = here.parents[1] / "src" / "lamina"
        target = "lamina" if self.target_name == "wheel" else "src/lamina"
        for part in self.config["parts"]:
            build_data["force_include"][str(package / part)] = f"{target}/{part}"

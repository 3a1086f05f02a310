"""SQL as named blocks in ``.sql`` files: ``-- name: find_event`` opens a block, the next comment says its purpose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

__all__ = ["load_blocks"]

_NAME = re.compile(r"^-- name: ([a-z0-9_]+)\n", re.MULTILINE)
_HEADER = re.compile(r"^--\s*name\s*:", re.MULTILINE)


@cache
def load_blocks(package: str) -> Mapping[str, str]:
    """Every block of the ``.sql`` files beside ``package``'s modules, in its ``sql`` folder, by name."""
    blocks: dict[str, str] = {}
    for path in sorted(files(package).joinpath("sql").iterdir(), key=lambda entry: entry.name):
        if not path.name.endswith(".sql"):
            continue
        text = path.read_text(encoding="utf-8")
        parts = _NAME.split(text)
        assert len(_HEADER.findall(text)) == len(parts) // 2, f"{path.name} has a header that cannot be read"
        for name, body in zip(parts[1::2], parts[2::2], strict=True):
            assert name not in blocks, f"two SQL blocks are named {name}"
            blocks[name] = body.strip()
    return blocks

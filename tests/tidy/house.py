"""What the house rules read: the source as text and as trees, and the files under version control."""

from __future__ import annotations

import ast
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "lamina"


@dataclass(frozen=True)
class Module:
    """A source file of the package; ``name`` is its path inside it."""

    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of its syntax: walking it takes as long as parsing it."""
        return list(ast.walk(self.tree))

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.text.count("\n")

    def strings(self) -> set[str]:
        """Every text constant in it."""
        nodes = self.nodes
        return {
            node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }


MODULES = [
    Module(path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8"))
    for path in sorted(PACKAGE.rglob("*.py"))
]


def tracked_files() -> list[Path]:
    """The files under version control that still exist; empty when this is no clone."""
    if not (ROOT / ".git").exists():
        return []
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def text_of(path: Path) -> str:
    """The file as text; empty when it is not text."""
    data = path.read_bytes()
    return "" if b"\0" in data[:8192] else data.decode("utf-8", errors="replace")


def report(remedy: str, found: list[str]) -> str:
    """A message that says what to do and where."""
    return "\n".join([remedy, *(f"  {item}" for item in found)])

"""Words and patterns of English as data: ``en/`` has a table for each module that reads by any.

A table has ``words``, lists that blanks separate; ``parts`` of patterns; ``patterns``, regular expressions over plain text; and ``rows`` of what
belongs together. In patterns and rows ``{{name}}`` stands for a part. What is long is a list of pieces.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import Final

__all__ = ["Table", "table"]

_PART: Final = re.compile(r"\{\{(\w+)\}\}")
_Text = str | list[str]


class Table:
    """One table. ``given`` are parts that another module has."""

    def __init__(self, text: str, given: dict[str, str]) -> None:
        read = tomllib.loads(text)
        self._words: dict[str, str] = read.get("words", {})
        self._parts: dict[str, _Text] = {**given, **read.get("parts", {})}
        self._patterns: dict[str, _Text] = read.get("patterns", {})
        self._rows: dict[str, list[list[_Text]]] = read.get("rows", {})

    def words(self, name: str) -> frozenset[str]:
        """A list of words."""
        return frozenset(self._words[name].split())

    def text(self, name: str) -> str:
        """A list of words as it stands, where their order counts."""
        return self._words[name]

    def pairs(self, name: str) -> dict[str, str]:
        """A list of words that each have another behind a colon."""
        return dict(each.split(":") for each in self._words[name].split())

    def part(self, name: str) -> str:
        """A part of patterns."""
        return self._whole("".join(self._parts[name]))

    def pattern(self, name: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
        """A pattern, for words in any case unless ``flags`` say otherwise."""
        return re.compile(self._whole("".join(self._patterns[name])), flags)

    def patterns(self, name: str) -> tuple[re.Pattern[str], ...]:
        """Several patterns, one to a line, for words in any case."""
        return tuple(re.compile(self._whole(each), re.IGNORECASE) for each in self._patterns[name])

    def rows(self, name: str) -> list[list[str]]:
        """Rows in their order."""
        return [[self._whole("".join(cell)) for cell in row] for row in self._rows[name]]

    def by_word(self, name: str) -> dict[str, str]:
        """Rows of something and the words that stand for it: by the word what that is."""
        return {word: meant for meant, words in self.rows(name) for word in words.split()}

    def _whole(self, text: str) -> str:
        return _PART.sub(lambda match: self.part(match[1]), text)


def table(module: str, **given: str) -> Table:
    """The table of a module, by the module's name; ``given`` are parts that it takes from others."""
    name = f"{module.removeprefix('lamina.')}.toml"
    return Table((files("lamina.language") / "en" / name).read_text(encoding="utf-8"), given)

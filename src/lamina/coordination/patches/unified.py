"""Unified diffs of one file: read strictly, applied exactly. A function of bytes; no program is asked.

A hunk has to stand where it says it does: the base of a patch is checked before, so there is nothing to search for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["BadDiff", "FilePatch", "Hunk", "MissedHunk", "applied", "file_patch"]

_HUNK: Final = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@.*", re.DOTALL)
_NOWHERE: Final = "/dev/null"
_REFUSED: Final = (
    "rename ",
    "copy ",
    "GIT binary patch",
    "Binary files ",
    "old mode ",
    "new mode ",
    "similarity ",
)
_HEADERS: Final = ("diff --git ", "index ", "new file mode 100644", "deleted file mode ")


class BadDiff(ValueError):
    """The text is no unified diff of one file; the message says why."""


class MissedHunk(ValueError):
    """A hunk does not stand in the content where it says."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines with their ends: from the line ``start`` on, counted from 0, ``old`` stand, and ``new`` take their place."""

    start: int
    old: Sequence[str]
    new: Sequence[str]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a diff does to its one file: None as old path begins it, None as new path takes it away."""

    old_path: str | None
    new_path: str | None
    hunks: Sequence[Hunk]


def file_patch(diff: str) -> FilePatch:
    """The patch that a diff is; raises ``BadDiff``."""
    lines = diff.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    place = _after_headers(lines)
    if place + 1 >= len(lines) or not lines[place + 1].startswith("+++ "):
        raise BadDiff("a line that begins with --- has to be followed by one with +++")
    old, new = _named(lines[place][4:], "a/"), _named(lines[place + 1][4:], "b/")
    hunks = list(_hunks(lines, place + 2))
    if not hunks:
        raise BadDiff("it has no hunk")
    if old is None and new is None:
        raise BadDiff("it names no file")
    return FilePatch(old, new, hunks)


def applied(patch: FilePatch, content: bytes | None) -> bytes | None:
    """The content with the patch, None where it takes the file away; raises ``MissedHunk``."""
    if (content is None) != (patch.old_path is None):
        raise MissedHunk("the file is there already" if content is not None else "there is no file to change")
    try:
        lines = _split((content or b"").decode())
    except UnicodeDecodeError as error:
        raise MissedHunk("the file does not hold UTF-8 text") from error
    made: list[str] = []
    read = 0
    for number, hunk in enumerate(patch.hunks, 1):
        end = hunk.start + len(hunk.old)
        if not read <= hunk.start <= len(lines) or lines[hunk.start : end] != list(hunk.old):
            raise MissedHunk(f"hunk {number} does not stand at line {hunk.start + 1}")
        made += [*lines[read : hunk.start], *hunk.new]
        read = end
    made += lines[read:]
    if not all(line.endswith("\n") for line in made[:-1]):
        raise MissedHunk("a line that does not end would go on in the next one")
    if patch.new_path is None:
        if made:
            raise MissedHunk("the file has more lines than the patch takes away")
        return None
    return "".join(made).encode()


def _split(text: str) -> list[str]:
    """Lines with their ends, of line feeds alone: other characters that end lines elsewhere are text."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _after_headers(lines: Sequence[str]) -> int:
    """Where the line with --- stands."""
    for place, line in enumerate(lines):
        if line.startswith("--- "):
            return place
        if line.startswith(_REFUSED):
            raise BadDiff("it renames, copies, changes a mode or holds binary data")
        if line and not line.startswith(_HEADERS):
            raise BadDiff("it begins with something else than the headers of a diff")
    raise BadDiff("it has no line that begins with ---")


def _named(text: str, prefix: str) -> str | None:
    path = text.partition("\t")[0].rstrip("\r")
    return None if path == _NOWHERE else path.removeprefix(prefix)


def _hunks(lines: Sequence[str], place: int) -> Iterator[Hunk]:
    while place < len(lines):
        header = _HUNK.fullmatch(lines[place])
        if header is None:
            raise BadDiff(f"line {place + 1} begins no hunk; a diff is about one file")
        start, counts = int(header[1]), (_count(header[2]), _count(header[4]))
        old: list[str] = []
        new: list[str] = []
        place += 1
        while place < len(lines) and (len(old), len(new)) != counts:
            sign, text = lines[place][:1], f"{lines[place][1:]}\n"
            if sign not in (" ", "-", "+", ""):
                raise BadDiff(f"line {place + 1} begins with none of space, - and +")
            if sign != "+":
                old.append(text)
            if sign != "-":
                new.append(text)
            place += 1
            if place < len(lines) and lines[place].startswith("\\"):
                for side in ([old] if sign != "+" else []) + ([new] if sign != "-" else []):
                    side[-1] = side[-1].removesuffix("\n")
                place += 1
        if (len(old), len(new)) != counts:
            raise BadDiff("a hunk has other numbers of lines than its header says")
        yield Hunk(start - 1 if counts[0] else start, old, new)


def _count(text: str | None) -> int:
    return 1 if text is None else int(text)

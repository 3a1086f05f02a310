"""``lamina import jsonl``: a file of experiences, in batches, safe to run again."""

from __future__ import annotations

import codecs
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import from_json
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from lamina import limits
from lamina.cli.show import console
from lamina.client import Client
from lamina.client.identity import Identity
from lamina.client.writes import item_of
from lamina.errors import Conflict, Forbidden, Invalid, LaminaError, NotFound
from lamina.http.errors import from_validation
from lamina.kernel.canonical import canonical
from lamina.kernel.scopes import Scope
from lamina.kernel.time import to_datetime
from lamina.types.envelope import Item

__all__ = ["ImportReport", "Problem", "import_jsonl"]

BATCH_BYTES_MAX: Final = 16 * 1024 * 1024
PROBLEMS_SHOWN_MAX: Final = 20


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that was refused, counted from 1, and why."""

    line: int
    message: str


@dataclass(slots=True)
class ImportReport:
    """How many lines are stored, how many were refused, and the first of those."""

    stored: int = 0
    refused: int = 0
    problems: list[Problem] = field(default_factory=list)
    refusal: LaminaError | None = None
    """Why the first lines were refused that could be read: another scope's may be stored."""

    def refuse(self, line: int, message: str) -> None:
        """Note a line that cannot be stored."""
        self.refused += 1
        if len(self.problems) < PROBLEMS_SHOWN_MAX:
            self.problems.append(Problem(line, message))


@dataclass(frozen=True, slots=True)
class _Line:
    """An item and the line that it is; whether its time is the file's, and its key its own."""

    number: int
    item: dict[str, Any]
    untimed: bool
    keyed: bool


@dataclass(slots=True)
class _Batch:
    scope: str | None
    lines: list[_Line] = field(default_factory=list)
    size_bytes: int = 0


@dataclass(slots=True)
class _Lines:
    """Reads lines into items. A line without a key gets one from what it says, a line without a time the file's."""

    file: Path
    scope: str | None
    identity: Identity
    report: ImportReport
    changed_at_us: int = 0
    seen: Counter[bytes] = field(default_factory=Counter)

    def item(self, number: int, line: bytes) -> tuple[str | None, _Line] | None:
        """The scope and the item of a line; None for one that is refused."""
        try:
            given = from_json(line)
            if not isinstance(given, dict):
                raise ValueError("the line is not a JSON object")
            scope, context = given.pop("scope", None), given.get("context")
            if not isinstance(scope, str | None):
                raise ValueError("scope must be a text")
            if not isinstance(context, dict | None):
                raise ValueError("context must be an object")
            untimed = not (given.get("observed_at") or (context or {}).get("observed_at"))
            key = self._key(given, scope or self.scope)
            now = to_datetime(self.changed_at_us + number)
            item = item_of(self.identity, given, now=now, new_key=lambda: key)
            Item.model_validate(item)
            read = _Line(number, item, untimed, keyed=item["idempotency_key"] != key)
            return None if scope is None else Scope.parse(scope), read
        except ValidationError as error:
            self.report.refuse(number, from_validation(error, "INVALID_ENVELOPE").message)
        except LaminaError as error:
            self.report.refuse(number, error.message)
        except (ValueError, TypeError, AttributeError) as error:
            self.report.refuse(
                number, re.sub(r"(.*) at line 1 (column \d+)$", r"the line is not JSON: \1 at \2", str(error))
            )
        return None

    def _key(self, given: dict[str, Any], scope: str | None) -> str:
        """The same for the same line in the same scope; a line that stands there twice counts twice."""
        said = hashlib.sha256(canonical([scope, given])).digest()[:16]
        self.seen[said] += 1
        return f"import-{said.hex()}-{self.seen[said]}"


def import_jsonl(client: Client, file: Path, *, scope: str | None, actor: str | None = None) -> ImportReport:
    """Store every line of a file that can be stored.

    A line is an experience as the wire has it, or the keywords of ``Client.experience``. Its own scope wins over
    ``scope``; lines of a scope that is refused are refused with it, and where nothing else is stored, that is raised. ``actor`` speaks where a line names a session and nobody. Lines sent before, within the 24 hours for which keys are known, are not stored twice.
    """
    report = ImportReport()
    lines = _Lines(file, scope, Identity(actor), report, changed_at_us=int(file.stat().st_mtime) * 1_000_000)
    for batch in _batches(lines):
        options: dict[str, Any] = {"ordering": "strict_temporal"}
        if batch.scope is not None:
            options["scope"] = batch.scope
        report.stored += _sent(client, batch.lines, options, report)
    report.problems.sort(key=lambda problem: problem.line)
    if report.refusal is not None and not report.stored:
        raise report.refusal
    return report


def _batches(lines: _Lines) -> Iterator[_Batch]:
    """Full batches as they fill, one for each scope, and what is left at the end."""
    batches: dict[str | None, _Batch] = {}
    for number, line in _read(lines.file):
        read = lines.item(number, line)
        if read is None:
            continue
        scope, item = read
        batch = batches.setdefault(scope, _Batch(scope))
        batch.lines.append(item)
        batch.size_bytes += len(line)
        if len(batch.lines) == limits.BULK_ITEMS_MAX or batch.size_bytes >= BATCH_BYTES_MAX:
            yield batches.pop(scope)
    yield from batches.values()


def _read(file: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, numbered from 1, with a progress bar on a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    shown = sys.stderr.isatty()
    with (
        file.open("rb") as opened,
        Progress(*columns, console=console(errors=True), disable=not shown) as progress,
    ):
        task = progress.add_task(file.name, total=file.stat().st_size)
        for number, line in enumerate(opened, start=1):
            progress.advance(task, len(line))
            read = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            if read.strip():
                yield number, read


def _sent(
    client: Client,
    lines: Sequence[_Line],
    options: Mapping[str, Any],
    report: ImportReport,
    *,
    asked: bool = False,
) -> int:
    """How many of some lines, all of one scope, are stored by then. One whose key was used for something else is refused, and all are where
    the scope is.

    ``asked`` where the keys of lines without a time were asked for already.
    """
    try:
        client.experience_bulk([line.item for line in lines], **options)
    except (Forbidden, Invalid) as error:
        report.refusal = report.refusal or error
        for line in lines:
            report.refuse(line.number, error.message)
        return 0
    except Conflict as conflict:
        if conflict.code != "IDEMPOTENCY_CONFLICT":
            raise
        # A file that grew has another time, and so have its older lines without one of their own: their keys say
        # that they are stored.
        left = [line for line in lines if asked or not (line.untimed and _is_known(client, line))]
        known = len(lines) - len(left)
        if known:
            return known + (_sent(client, left, options, report, asked=True) if left else 0)
        if len(lines) == 1:
            report.refuse(lines[0].number, conflict.message)
            return 0
        half = len(lines) // 2
        return sum(_sent(client, part, options, report, asked=True) for part in (lines[:half], lines[half:]))
    return len(lines)


def _is_known(client: Client, line: _Line) -> bool:
    """Whether a line is stored under its key. A key that was made for it says what it says; one of its own may have been used for other words."""
    try:
        stored = client.by_idempotency_key(line.item["idempotency_key"])
        return not line.keyed or client.events.get(stored.event_id).content == line.item["content"]
    except NotFound:
        return False

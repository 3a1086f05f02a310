"""``lamina import jsonl``: a file of experiences, in batches, safe to run again."""

from __future__ import annotations

import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
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

    def refuse(self, line: int, message: str) -> None:
        """Note a line that cannot be stored."""
        self.refused += 1
        if len(self.problems) < PROBLEMS_SHOWN_MAX:
            self.problems.append(Problem(line, message))


@dataclass(slots=True)
class _Batch:
    scope: str | None
    items: list[dict[str, Any]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    untimed: list[bool] = field(default_factory=list)
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

    def item(self, number: int, line: bytes) -> tuple[str | None, dict[str, Any], bool] | None:
        """The scope and the item of a line, and whether its time is the file's; None for one that is refused."""
        try:
            given = from_json(line)
            if not isinstance(given, dict):
                raise ValueError("the line is not a JSON object")
            scope = given.pop("scope", None)
            untimed = not (given.get("observed_at") or (given.get("context") or {}).get("observed_at"))
            key = self._key(given, scope or self.scope)
            now = to_datetime(self.changed_at_us + number)
            item = item_of(self.identity, given, now=now, new_key=lambda: key)
            Item.model_validate(item)
            return None if scope is None else Scope.parse(scope), item, untimed
        except ValidationError as error:
            self.report.refuse(number, from_validation(error, "INVALID_ENVELOPE").message)
        except LaminaError as error:
            self.report.refuse(number, error.message)
        except (ValueError, TypeError, AttributeError) as error:
            self.report.refuse(number, re.sub(r" at line 1 (column \d+)$", r" at \1", str(error)))
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
    refusal: LaminaError | None = None
    for batch in _batches(lines):
        try:
            _send(client, batch)
        except (Forbidden, Invalid) as error:
            # Of one scope: lines of others are behind it.
            refusal = refusal or error
            for line in batch.lines:
                report.refuse(line, error.message)
        else:
            report.stored += len(batch.items)
    if refusal is not None and not report.stored:
        raise refusal
    return report


def _batches(lines: _Lines) -> Iterator[_Batch]:
    """Full batches as they fill, one for each scope, and what is left at the end."""
    batches: dict[str | None, _Batch] = {}
    for number, line in _read(lines.file):
        read = lines.item(number, line)
        if read is None:
            continue
        scope, item, untimed = read
        batch = batches.setdefault(scope, _Batch(scope))
        batch.items.append(item)
        batch.lines.append(number)
        batch.untimed.append(untimed)
        batch.size_bytes += len(line)
        if len(batch.items) == limits.BULK_ITEMS_MAX or batch.size_bytes >= BATCH_BYTES_MAX:
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
            if line.strip():
                yield number, line


def _send(client: Client, batch: _Batch) -> None:
    options: dict[str, Any] = {"ordering": "strict_temporal"}
    if batch.scope is not None:
        options["scope"] = batch.scope
    try:
        client.experience_bulk(batch.items, **options)
    except Conflict:
        # A file that grew has another time, and so have its older lines without one of their own: their keys say
        # that they are stored.
        left = [
            item
            for item, untimed in zip(batch.items, batch.untimed, strict=True)
            if not (untimed and _is_known(client, item["idempotency_key"]))
        ]
        if len(left) == len(batch.items):
            raise
        if left:
            client.experience_bulk(left, **options)


def _is_known(client: Client, key: str) -> bool:
    try:
        client.by_idempotency_key(key)
    except NotFound:
        return False
    return True

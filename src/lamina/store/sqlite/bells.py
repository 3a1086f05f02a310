"""Bells: how one process over a folder tells the others that it has committed.

Whoever follows what is committed hangs up a bell for the time, a named pipe in ``bells/``; whoever commits rings those that
hang there. A bell says only that there is something to look for: what it is stands in the database, so a ring that is lost
costs a look that comes a little later, and never a row.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

__all__ = ["Bells"]

_FRESH_NS: Final = 50_000_000
"""A folder that changed so lately may change again under the same time stamp: it is listed again."""
_READ_BYTES: Final = 4096
_RING: Final = b"\0"


class Bells:
    """The bells of a folder, rung and heard by one process. Safe for any thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._heard = threading.Condition()
        self._rings = 0
        self._listeners = 0
        self._own: str | None = None
        self._ringing = threading.Lock()
        self._listed_at: int | None = None
        self._ropes: dict[str, int] = {}

    @property
    def rings(self) -> int:
        """How many commits this process has made or heard of; it stands still while nobody listens."""
        return self._rings

    @property
    def hang(self) -> bool:
        """Whether other processes can ring here."""
        return self._own is not None

    def wait(self, rings: int, timeout_s: float) -> bool:
        """Wait until there were more than so many ``rings``; False when time is up."""
        with self._heard:
            return self._heard.wait_for(lambda: self._rings != rings, timeout_s)

    def stir(self) -> None:
        """Let everybody who waits in this process look."""
        with self._heard:
            self._rings += 1
            self._heard.notify_all()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """A block in which commits of other processes are heard. Where no bell can be hung up, none are."""
        with self._heard:
            self._listeners += 1
            if self._listeners == 1:
                self._hang_up()
        try:
            yield
        finally:
            with self._heard:
                self._listeners -= 1
                if self._listeners == 0:
                    self._take_down()

    def ring(self) -> None:
        """Something was committed: tell whoever listens, here and in other processes."""
        if self._listeners:
            self.stir()
        with self._ringing:
            self._find_ropes()
            for name, rope in list(self._ropes.items()):
                if name == self._own:
                    continue
                try:
                    os.write(rope, _RING)
                except BlockingIOError:
                    pass  # it has not come to look for what was rung before
                except OSError:
                    self._drop(name)

    def close(self) -> None:
        """Let go of what was opened to ring."""
        with self._ringing:
            for name in list(self._ropes):
                os.close(self._ropes.pop(name))

    # ---- ringing

    def _find_ropes(self) -> None:
        try:
            changed_at = self._folder.stat().st_mtime_ns
        except OSError:
            changed_at = None
        if changed_at == self._listed_at:
            return
        hanging: set[str] = set()
        if changed_at is not None:
            with contextlib.suppress(OSError):
                hanging = {name for name in os.listdir(self._folder) if not name.startswith(".")}
            settled = time.time_ns() - changed_at > _FRESH_NS
            self._listed_at = changed_at if settled else None
        for name in self._ropes.keys() - hanging:
            os.close(self._ropes.pop(name))
        for name in hanging - self._ropes.keys():
            try:
                self._ropes[name] = os.open(self._folder / name, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            except OSError:
                self._drop(name)

    def _drop(self, name: str) -> None:
        """A bell that nobody hears any more: its process ended without taking it down."""
        if (rope := self._ropes.pop(name, None)) is not None:
            os.close(rope)
        with contextlib.suppress(OSError):
            (self._folder / name).unlink()

    # ---- hearing

    def _hang_up(self) -> None:
        name = f"{os.getpid()}-{uuid.uuid4().hex}"
        unseen = self._folder / f".{name}"
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            os.mkfifo(unseen, 0o600)
            # Open for writing as well: a pipe whose last writer went would be at its end for ever.
            bell = os.open(unseen, os.O_RDWR | os.O_CLOEXEC)
            # Only now may it be seen: one that nobody has open looks like a dead process's.
            unseen.rename(self._folder / name)
        except OSError:
            with contextlib.suppress(OSError):
                unseen.unlink()
            return
        self._own = name
        threading.Thread(target=self._hear, args=(bell, name), name="lamina-bell", daemon=True).start()

    def _take_down(self) -> None:
        name, self._own = self._own, None
        if name is None:
            return
        with contextlib.suppress(OSError):
            # A last ring, so that the thread sees that it is over.
            rope = os.open(self._folder / name, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.write(rope, _RING)
            os.close(rope)
        with contextlib.suppress(OSError):
            (self._folder / name).unlink()

    def _hear(self, bell: int, name: str) -> None:
        with contextlib.suppress(OSError), os.fdopen(bell, "rb", buffering=0) as pipe:
            while pipe.read(_READ_BYTES):
                if self._own != name:
                    return
                self.stir()

"""Work that nobody waits for, done over and over by a thread: a round that fails is seen, and does not end the work.

Rounds fail for reasons that nobody thought of. Such an error is logged by its class and its frames, never by its message,
which may quote a memory; the part that it came from stands among the failures, for health to tell, until a round of it
succeeds; and the next round comes later each time.
"""

from __future__ import annotations

import logging
import math
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Final

from lamina import limits
from lamina.errors import LaminaError
from lamina.kernel.time import SECOND_US, doubling_us

__all__ = ["BackgroundThread", "Failures", "RegularRounds", "class_of", "frames_of", "keep_at"]

_LOG = logging.getLogger("lamina.rounds")
_STEP_S: Final = 0.2


def class_of(error: BaseException) -> str:
    """What may be told of an error: the code of one of ours, else its class. A message may quote the memory."""
    if isinstance(error, LaminaError):
        return error.code
    return f"{type(error).__module__}.{type(error).__qualname__}"


def frames_of(error: BaseException) -> str:
    """Where an error was raised, without its message."""
    return "".join(traceback.format_tb(error.__traceback__))


class Failures:
    """Which parts fail just now, and with what. Safe for any thread.

    ``changed`` is told whenever that is different, in the thread that noticed.
    """

    def __init__(self, changed: Callable[[Mapping[str, str]], None] | None = None) -> None:
        self._changed = changed
        self._lock = threading.Lock()
        self._standing: dict[str, str] = {}
        self._times: dict[str, int] = {}
        self._elsewhere: dict[str, str] = {}

    def note(self, part: str, error: BaseException | str) -> float:
        """A round of a part failed, with an error or for a reason: log it; returns how many seconds to wait before the
        next."""
        name, frames = (error, "") if isinstance(error, str) else (class_of(error), frames_of(error))
        with self._lock:
            times = self._times[part] = self._times.get(part, 0) + 1
            moved = self._standing.get(part) != name
            self._standing[part] = name
        _LOG.error("%s failed (%d in a row) and goes on: %s\n%s", part, times, name, frames)
        if moved:
            self._tell()
        return doubling_us(limits.ROUND_BACKOFF_BASE_S, times, limits.ROUND_BACKOFF_S_MAX) / SECOND_US

    def over(self, part: str) -> None:
        """A round of a part succeeded: the part is no longer among those that fail."""
        if part not in self._standing:
            return
        with self._lock:
            self._times.pop(part, None)
            was = self._standing.pop(part, None)
        if was is not None:
            _LOG.warning("%s works again", part)
            self._tell()

    def drop(self, part: str) -> None:
        """A part ended: nobody needs it any more, so nothing of it can fail."""
        with self._lock:
            self._times.pop(part, None)
            was = self._standing.pop(part, None)
        if was is not None:
            self._tell()

    def standing(self) -> dict[str, str]:
        """The parts that fail, each with the class or code of its last error."""
        with self._lock:
            return dict(self._standing)

    def note_elsewhere(self, parts: object) -> None:
        """What fails in the processes beside this one, as they told it, instead of what they told before."""
        if isinstance(parts, dict):
            with self._lock:
                self._elsewhere = {str(part): str(error) for part, error in parts.items()}

    def everywhere(self) -> dict[str, str]:
        """The parts that fail here, and in the processes beside this one."""
        with self._lock:
            return {**self._elsewhere, **self._standing}

    def _tell(self) -> None:
        if self._changed is None:
            return
        try:
            self._changed(self.standing())
        except (OSError, LaminaError) as error:
            _LOG.error("what fails could not be told: %s", class_of(error))


class BackgroundThread:
    """A thread of its own behind the calls: begun, and told to stop."""

    def __init__(self, run: Callable[[], None], *, thread: str) -> None:
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=run, name=thread, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Finish what runs."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()


class RegularRounds(BackgroundThread):
    """A thread that sleeps, and works when it wakes: what comes a few times a day or an hour, beside the calls."""

    def __init__(
        self,
        part: str,
        work: Callable[[], float],
        failures: Failures,
        *,
        thread: str,
        first_s: float,
        again_s: float,
    ) -> None:
        """``work`` returns how many seconds to sleep then; behind a round that failed it is ``again_s`` at least."""
        self._part = part
        self._work = work
        self._failures = failures
        self._first_s, self._again_s = first_s, again_s
        super().__init__(self._run, thread=thread)

    def _run(self) -> None:
        wait_s = self._first_s
        while not self._stopping.wait(wait_s):
            try:
                wait_s = self._work()
            except Exception as error:
                wait_s = max(self._again_s, self._failures.note(self._part, error))
            else:
                self._failures.over(self._part)


def keep_at(
    part: str,
    work: Callable[[], bool],
    stopping: Callable[[], bool],
    *,
    idle_s: float,
    failures: Failures,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Do ``work`` round after round until told to stop, with a pause after a round that had nothing to do."""
    while not stopping():
        try:
            wait_s = 0.0 if work() else idle_s
        except Exception as error:
            wait_s = failures.note(part, error)
        else:
            failures.over(part)
        # In steps, so that stopping is heeded; counted, so that whoever gives a ``sleep`` of their own gives the time too.
        for _ in range(math.ceil(wait_s / _STEP_S)):
            if stopping():
                return
            sleep(min(wait_s, _STEP_S))

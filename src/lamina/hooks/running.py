"""A hook from its standard input to its standard output: bounded in time, and silent about what is not the host's concern."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, TextIO

from lamina.hooks.choices import WrongChoice, choices_in
from lamina.hooks.handling import Handling
from lamina.hooks.hosts import HookEvent, HookOutput, UnknownHook, moment_of, worded
from lamina.hooks.memory import LineMemory
from lamina.hooks.notes import Notes, notes_folder
from lamina.hooks.wire import Away, Refused, Send, ServerClient, sender

__all__ = ["DEADLINE_S", "print_hook", "run_hook"]

DEADLINE_S: Final = 4.0
"""Below the five seconds after which hosts kill a hook: a start of Python and the notes have the rest."""


def run_hook(
    host: str,
    event: str,
    given: str,
    environment: Mapping[str, str],
    now: datetime,
    send: Send | None = None,
) -> str:
    """What a hook prints for an event, ``given`` as the host's JSON; empty where there is nothing to say.

    ``now`` has a zone, the person's own. ``send`` is how a server is reached, the chosen one without it. Raises ``UnknownHook``
    for a host or an event that is none.
    """
    until = time.monotonic() + DEADLINE_S
    moment = moment_of(host, event, _object(given))
    try:
        choices = choices_in(moment.cwd, environment)
    except WrongChoice as wrong:
        return _told(moment, f"Lamina's hooks are off here: {wrong}")
    if not choices.is_on:
        return worded(moment, HookOutput())
    agent = choices.agent or f"agent:{host}"
    headers = {"X-Cortex-Actor": choices.actor, "X-Lamina-Scope": choices.scope, "X-Lamina-Agent": agent}
    headers |= {"Authorization": f"Bearer {choices.token}" if choices.token else None}
    server = ServerClient(
        send or sender(choices, until), {name: value for name, value in headers.items() if value}
    )
    memory = LineMemory(
        server, choices.line, moment.session, agent=agent, scope=choices.scope, caller=choices.actor or ""
    )
    notes = Notes(notes_folder(environment))
    try:
        said = Handling(moment, choices, memory, notes, environment, now).answer()
    except Away:
        said = HookOutput()
    except Refused as refused:
        return _told(moment, f"Lamina refuses the hooks: {refused.code}. {refused.hint}".strip())
    except OSError as error:
        return _told(moment, f"Lamina's hooks cannot keep their notes: {error.filename}: {error.strerror}")
    return worded(moment, said)


def print_hook(
    host: str,
    event: str,
    given: TextIO,
    out: TextIO,
    err: TextIO,
    environment: Mapping[str, str],
    now: datetime,
) -> None:
    """Run a hook as a process does. A process that ends after this one has ended in time and well: hosts take an exit code of 2
    for a wish to stop their work."""
    said = _within(DEADLINE_S, lambda: run_hook(host, event, given.read(), environment, now), err)
    if said:
        out.write(f"{said}\n")
    out.flush()


def _within(seconds: float, work: Callable[[], str], err: TextIO) -> str:
    """What the work gives, or nothing where it takes longer: a name that is looked up, or a disk, has no deadline of its own."""
    given: list[str] = []

    def run() -> None:
        try:
            given.append(work())
        except Exception as error:  # the work of a person goes on whatever is wrong here
            said = str(error) if isinstance(error, UnknownHook) else type(error).__name__
            err.write(f"lamina: the hook failed: {said}\n")

    thread = threading.Thread(target=run, name="hook", daemon=True)
    thread.start()
    thread.join(seconds)
    return given[0] if given else ""


def _told(moment: HookEvent, notice: str) -> str:
    """Said once a session: a person who is told at every prompt switches it off."""
    return worded(moment, HookOutput(notice=notice) if moment.event == "SessionStart" else HookOutput())


def _object(text: str) -> Mapping[str, object]:
    given = json.loads(text or "{}")
    if not isinstance(given, dict):
        raise ValueError("the host's JSON is no object")
    return given

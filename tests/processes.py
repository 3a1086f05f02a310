"""Servers and workers as processes of their own, for tests that kill them."""

from __future__ import annotations

import os
import signal
import socket
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from forks import Forked, begin

__all__ = ["answers", "free_port", "kill", "run", "start", "wait_until"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def run(*arguments: str, **environment: str) -> Forked:
    """A command of ``lamina`` in a process group of its own."""
    return begin(arguments, {**os.environ, **environment})


def start(folder: Path, port: int, *more: str, **environment: str) -> Forked:
    return run("serve", "--port", str(port), "--data", str(folder), *more, **environment)


def kill(process: Forked) -> None:
    """kill -9, with what it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_until(holds: Callable[[], bool], seconds: float = 300.0) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/admin/version", timeout=30) as response:
            return bool(response.status == 200)
    except OSError:
        return False

"""Ctrl-C ends a command at once: what it loaded is not taken apart first, unless a thread is still at work."""

from __future__ import annotations

import subprocess
import sys

import pytest

_INTERRUPTED = """
import atexit, sys, threading
import lamina.cli.remote
from lamina.cli import main

def interrupted(*_):
    print("shown before")
    raise KeyboardInterrupt

lamina.cli.remote.connected = interrupted
atexit.register(print, "taken apart")
if sys.argv.pop() == "a thread":
    threading.Thread(target=lambda: (threading.main_thread().join(), print("at its end"))).start()
main()
"""


@pytest.mark.parametrize(
    ("beside", "printed"),
    [("nothing", ["shown before"]), ("a thread", ["shown before", "at its end", "taken apart"])],
)
def test_control_c_ends_a_command_at_once(beside: str, printed: list[str]) -> None:
    command = [sys.executable, "-c", _INTERRUPTED, "tail", beside]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.splitlines(), ended.stderr) == (130, printed, "")

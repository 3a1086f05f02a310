"""A command of ``lamina`` for shells, which is a fork (``forks.py``): it hands over its files and waits. It imports little, to cost little."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys
import time
from types import FrameType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_PAUSE_S = 0.01
_SIZE = struct.Struct("!I")


def say(line: socket.socket, told: Mapping[str, Any], files: Sequence[int] = ()) -> None:
    """Send a message, and files with it."""
    text = json.dumps(told).encode()
    socket.send_fds(line, [_SIZE.pack(len(text))], list(files))
    line.sendall(text)


def heard(line: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """The next message and its files; None once the other end is gone."""
    head, files, *_ = socket.recv_fds(line, _SIZE.size, 3)
    if not head:
        return None, files
    (left,) = _SIZE.unpack(head)
    text = b""
    while len(text) < left:
        text += line.recv(left - len(text))
    return json.loads(text), files


def asked(line: socket.socket, request: Mapping[str, Any], files: Sequence[int] = ()) -> dict[str, Any]:
    """The reply to a request."""
    say(line, request, files)
    reply, _ = heard(line)
    assert reply is not None, "the process that is forked is gone"
    return reply


def main(address: str, *arguments: str) -> int:
    """The exit code of the command."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.connect(address)
        told = {"arguments": arguments, "environment": dict(os.environ), "folder": os.getcwd()}
        pid = asked(line, told, [0, 1, 2])["pid"]

        def pass_on(number: int, frame: FrameType | None) -> None:
            os.kill(pid, number)

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, pass_on)
        while (status := asked(line, {"ended": pid})["status"]) is None:
            time.sleep(_PAUSE_S)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

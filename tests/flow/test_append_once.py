"""Appends under keys, in flight when the server is killed: sent again, each line stands once."""

from __future__ import annotations

import http.client
import json
import os
import signal
import threading
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from processes import answers, free_port, kill, start, wait_until

WRITERS = 8
WRITES = 400
KILLED_AFTER = 60
WITHOUT_RATES = {f"LAMINA_RELAY_{of}_RATE_PER_MIN": "1000000" for of in ("TOKEN", "IP")}
"""How many were sent before a kill is seen is the machine's to say."""
LOG = "memory/episodic/day.jsonl"


def append(port: int, number: int) -> dict[str, Any] | None:
    """The answer; None where the server went away."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/append",
        json.dumps({"path": LOG, "record": {"n": number}}).encode(),
        {"Content-Type": "application/json", "X-Cortex-Idempotency-Key": f"line-{number}"},
    )
    try:
        with urllib.request.urlopen(request, timeout=300) as response:
            answer: dict[str, Any] = json.load(response)
            return answer
    except (OSError, http.client.HTTPException, ValueError):
        return None


def lines(port: int) -> Counter[int]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/read?path={LOG}", timeout=300) as response:
        return Counter(json.loads(line)["n"] for line in json.load(response)["content"].splitlines())


@pytest.mark.slow
def test_a_kill_in_the_middle_of_appends_doubles_and_loses_none(tmp_path: Path) -> None:
    port = free_port()
    process = start(tmp_path, port, "--workers", "0", **WITHOUT_RATES)
    sent: set[int] = set()
    answered: dict[int, dict[str, Any]] = {}
    enough = threading.Event()

    def write(number: int) -> None:
        if process.poll() is not None:
            return
        sent.add(number)
        answer = append(port, number)
        if answer is not None:
            answered[number] = answer
        if len(answered) >= KILLED_AFTER:
            enough.set()

    try:
        wait_until(lambda: answers(port))
        with ThreadPoolExecutor(WRITERS) as pool:
            writing = [pool.submit(write, number) for number in range(WRITES)]
            assert enough.wait(300), "the writes were too slow to be interrupted"
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            assert len(writing) == WRITES
        port = free_port()
        process = start(tmp_path, port, "--workers", "0", **WITHOUT_RATES)
        wait_until(lambda: answers(port))
        assert set(lines(port)) >= set(answered)
        with ThreadPoolExecutor(WRITERS) as pool:
            again = dict(zip(sorted(sent), pool.map(lambda n: append(port, n), sorted(sent)), strict=True))
        assert lines(port) == dict.fromkeys(sent, 1)
        # Who never had the answer gets it now, with the hash of the first commit.
        assert {n: again[n] for n in answered} == answered
        assert all(answer and answer["latest_commit"] for answer in again.values())
    finally:
        kill(process)

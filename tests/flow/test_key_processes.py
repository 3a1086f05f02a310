"""One idempotency key in two server processes at the same moment: the write happens once, and both are told of it."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from processes import answers, free_port, kill, start, wait_until

TRIES = 24


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[int]]:
    """Two servers over one folder, where no test uses the key of another."""
    folder = tmp_path_factory.mktemp("folder")
    ports = [free_port() for _ in range(2)]
    processes = []
    try:
        for port in ports:
            processes.append(start(folder, port, "--workers", "0"))
            wait_until(lambda at=port: answers(at))
        yield ports
    finally:
        for process in processes:
            kill(process)


def register(port: int, number: int, together: Barrier) -> tuple[int, str | None, Any]:
    headers = {"X-Cortex-Idempotency-Key": f"register-{number}"}
    return posted(port, "/v1/scopes", {"path": f"ws:shared-{number}"}, together, headers)


def batch(port: int, number: int, together: Barrier, text: str = "tea") -> tuple[int, str | None, Any]:
    item = {
        "modality": "conversation",
        "content": {"kind": "text", "text": text},
        "context": {"observed_at": "2026-05-13T12:00:00Z"},
        "idempotency_key": f"item-{number}-{text}",
    }
    body = {"scope": "user:maya", "idempotency_key": f"batch-{number}", "items": [item]}
    return posted(port, "/v1/experience/bulk", body, together, {})


def posted(
    port: int, path: str, body: Any, together: Barrier, headers: dict[str, str]
) -> tuple[int, str | None, Any]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", **headers},
    )
    together.wait(300)
    try:
        with urllib.request.urlopen(request, timeout=300) as response:
            return response.status, response.headers["X-Cortex-Replay"], json.load(response)
    except urllib.error.HTTPError as refused:
        return refused.code, None, json.load(refused)


def test_a_key_used_in_two_processes_at_once_is_one_write_and_a_replay(ports: list[int]) -> None:
    with ThreadPoolExecutor(2) as pool:
        for number in range(TRIES):
            together = Barrier(2)
            both = list(pool.map(register, ports, [number] * 2, [together] * 2))
            assert [status for status, _, _ in both] == [201, 201], both
            assert sorted(str(replayed) for _, replayed, _ in both) == ["None", "true"]
            assert both[0][2] == both[1][2]


def test_a_batch_sent_twice_at_once_is_one_batch_and_a_replay(ports: list[int]) -> None:
    with ThreadPoolExecutor(2) as pool:
        for number in range(TRIES):
            together = Barrier(2)
            both = list(pool.map(batch, ports, [number] * 2, [together] * 2))
            assert [status for status, _, _ in both] == [202, 202], both
            assert sorted(str(replayed) for _, replayed, _ in both) == ["None", "true"]
            assert both[0][2] == both[1][2]


def test_of_two_batches_at_once_under_one_key_one_is_refused(ports: list[int]) -> None:
    with ThreadPoolExecutor(2) as pool:
        for number in range(TRIES, 2 * TRIES):
            together = Barrier(2)
            both = list(pool.map(batch, ports, [number] * 2, [together] * 2, ["tea", "milk"]))
            assert sorted(status for status, _, _ in both) == [202, 409], both

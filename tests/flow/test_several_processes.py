"""One port that several processes serve, and what is left when one of them is killed."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from lamina.cli.fork_server import can_fork
from lamina.cli.share import ServingProcess, processes_of
from lamina.errors import Invalid
from processes import answers, wait_until


@dataclass(frozen=True)
class Running:
    supervisor: subprocess.Popen[str]
    port: int

    def get(self, path: str) -> dict[str, object]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as response:
            answer: dict[str, object] = json.load(response)
            return answer

    def figures(self) -> dict[tuple[str, ...], float]:
        """The page for Prometheus: the value of every series, by its name and its labels' values."""
        page = f"http://127.0.0.1:{self.port}/v1/admin/metrics"
        with urllib.request.urlopen(page, timeout=60) as response:
            families = text_string_to_metric_families(response.read().decode())
            return {
                (each.name, *each.labels.values()): each.value for one in families for each in one.samples
            }

    def asked_of_each(self) -> int:
        """How many calls it took until every process had answered one, over a connection that stays open."""
        held: list[http.client.HTTPConnection] = []
        seen: set[int] = set()

        def all_answered() -> bool:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            connection.request("GET", "/v1/admin/health")
            connection.getresponse().read()
            held.append(connection)
            seen.update(pid for pid in self.serving() if self._serves(pid, connection.sock.getsockname()[1]))
            return len(seen) == len(self.serving())

        wait_until(all_answered)  # one that is still starting takes no connection
        for connection in held:
            connection.close()
        return len(held)

    def _serves(self, pid: int, port: int) -> bool:
        """Whether a process has the other end of a connection from a port."""
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        ends = {row[9] for row in rows if row[2].endswith(f":{port:04X}")}
        links = {os.readlink(each) for each in Path(f"/proc/{pid}/fd").iterdir() if each.is_symlink()}
        return any(f"socket:[{inode}]" in links for inode in ends)

    def serving(self) -> list[int]:
        """The serving processes, the oldest first: those that the supervisor has, or the one that forks them."""
        below = [pid for each in _children(self.supervisor.pid) for pid in (each, *_children(each))]
        return sorted(pid for pid in below if _called(pid) == "lamina serves" or "--share" in _command(pid))

    def forks(self) -> list[int]:
        """The process that forks those that serve, while there is one."""
        return [pid for pid in _children(self.supervisor.pid) if _called(pid) == "lamina forks"]


def _children(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return sorted({int(each) for task in tasks for each in (task / "children").read_text().split()})
    except (FileNotFoundError, ProcessLookupError):  # it has just ended
        return []


def _called(pid: int) -> str:
    """The name that a process has for tools; of one that has just ended none."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):  # it ended before it was opened, or before it was read
        return ""


def _command(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return []


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    command = [sys.executable, "-m", "lamina", "serve", "--port", "0", "--data", str(tmp_path)]
    supervisor = subprocess.Popen(
        [*command, "--processes", "2", "--workers", "0"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert supervisor.stderr is not None
    try:
        where = supervisor.stderr.readline()
        yield Running(supervisor, int(where.split("127.0.0.1:")[1].split()[0]))
    finally:
        if supervisor.poll() is None:
            os.killpg(supervisor.pid, signal.SIGKILL)
        supervisor.wait()
        supervisor.stderr.close()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="it looks for the processes in /proc")
def test_figures_add_up_and_the_port_is_answered_while_a_process_is_left(running: Running) -> None:
    wait_until(lambda: len(running.serving()) == 2)
    asked = running.asked_of_each()
    pages = [running.figures() for _ in range(4)]
    assert {page["lamina_operations_total", "health", "ok"] for page in pages} == {asked}
    assert {page["lamina_serving_processes",] for page in pages} == {2}
    killed, left = running.serving()
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: killed not in running.serving())
    assert running.figures()["lamina_operations_total", "health", "ok"] == asked  # what it had counted stays
    assert running.get("/v1/admin/health")["problems"] != []  # who is left tells of it
    os.kill(running.supervisor.pid, signal.SIGKILL)
    running.supervisor.wait()
    wait_until(lambda: not _lives(left))
    wait_until(lambda: not answers(running.port))


@pytest.mark.skipif(not can_fork(), reason="nothing is forked here")
def test_the_one_that_forks_ends_once_all_serve_and_who_dies_is_replaced(running: Running) -> None:
    wait_until(lambda: len(running.serving()) == 2)
    wait_until(lambda: not running.forks())
    first, second = running.serving()
    assert "process" not in str(running.get("/v1/admin/health")["problems"])
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: not _lives(first))
    wait_until(lambda: "ended with code -9" in str(running.get("/v1/admin/health")["problems"]))
    wait_until(lambda: len(running.serving()) == 2)
    assert second in running.serving()
    wait_until(lambda: not running.forks())
    running.asked_of_each()
    running.supervisor.terminate()
    assert running.supervisor.wait() == 0
    wait_until(lambda: not _lives(second))
    assert not answers(running.port)


@pytest.mark.skipif(not can_fork(), reason="nothing is forked here")
def test_who_was_forked_lives_on_when_the_one_that_did_is_killed(running: Running) -> None:
    wait_until(lambda: len(running.serving()) == 2)
    wait_until(lambda: not running.forks())
    first, second = running.serving()
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: running.forks() != [])
    os.kill(running.forks()[0], signal.SIGKILL)  # while it loads, or when it has forked already
    wait_until(lambda: len(running.serving()) == 2 and not running.forks())
    assert second in running.serving()
    running.asked_of_each()


@pytest.mark.skipif(not can_fork(), reason="nothing is forked here")
def test_a_fork_has_but_the_one_thread_that_forked_it() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "lamina", "serve", "--forks", str(theirs.fileno())]
    with subprocess.Popen(command, pass_fds=[theirs.fileno()]) as loading, ours, theirs:
        theirs.close()
        ours.send(json.dumps({"ended": loading.pid}).encode())  # nobody that it knows
        assert json.loads(ours.recv(4096)) == {"code": None}
        # A thread that has been joined may be listed a moment longer.
        wait_until(lambda: len(list(Path(f"/proc/{loading.pid}/task").iterdir())) == 1, seconds=30)
        ours.close()
        assert loading.wait(30) == 0


@pytest.mark.skipif(not can_fork(), reason="nothing is forked here")
def test_what_is_still_loading_ends_with_its_supervisor() -> None:
    """It has the port: another server of the folder could not begin."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    code = (
        "import sys, time; from lamina.cli import fork_server as f;"
        "f._load = lambda: print('loading', flush=True) or time.sleep(600); f.forked(int(sys.argv[1]))"
    )
    command = [sys.executable, "-c", code, str(theirs.fileno())]
    with (
        subprocess.Popen(command, pass_fds=[theirs.fileno()], stdout=subprocess.PIPE) as loading,
        ours,
        theirs,
    ):
        assert loading.stdout is not None
        assert loading.stdout.readline() == b"loading\n"
        theirs.close()
        ours.send(b"a request, which waits")
        time.sleep(0.2)
        assert loading.poll() is None
        ours.close()
        assert loading.wait(30) == 1


def test_a_share_is_what_its_words_say() -> None:
    share = ServingProcess(2, 3, (4, 5), 6, 7, 8, begins=True)
    assert ServingProcess.parse(str(share)) == share
    for text in ("", "2/3/4/5", "2/3/x/6/7/8/0"):
        with pytest.raises(Invalid):
            ServingProcess.parse(text)


def test_one_core_is_left_to_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, processes in ((1, 1), (2, 1), (8, 7)):
        monkeypatch.setattr("lamina.cli.share.cores", lambda cores=cores: cores)
        assert processes_of(0) == processes
        assert processes_of(3) == 3

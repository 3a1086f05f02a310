"""Commands whose standard streams are closed, full, or in another encoding end as they say, and not with a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

_SHOWS = """
import sys
import lamina.cli.remote
from lamina.cli import main
from lamina.client.results import Said

class Connected:
    def __enter__(self):
        return self
    def __exit__(self, *_):
        pass
    def list(self, **_):
        return Said.model_validate({"items": [], "text": "caf\\u00e9 \\u65e5\\u672c \\U0001f600"})
    erasures = property(lambda self: self)

lamina.cli.remote.connected = lambda *_: Connected()
main()
"""
LIST = [sys.executable, "-c", _SHOWS, "erasure", "list", "--json"]
FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no full device")
@pytest.mark.parametrize("command", [LIST, [sys.executable, "-m", "lamina", "--version"]])
def test_an_output_that_is_full_is_told_in_a_line(command: list[str]) -> None:
    with FULL.open("w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 6
    assert ended.stderr.startswith(
        "lamina: OUTPUT_NOT_WRITTEN: what was to be printed cannot be written: No space"
    )
    assert ended.stderr.count("\n") == 1


@pytest.mark.skipif(not FULL.exists(), reason="this system has no full device")
def test_an_error_that_cannot_be_said_has_its_exit_code() -> None:
    with FULL.open("w") as full:
        command = [sys.executable, "-m", "lamina", "retry", "--data", "/nowhere/at/all"]
        assert subprocess.run(command, stderr=full, check=False).returncode == 4


def test_json_into_another_encoding_stays_json() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    ended = subprocess.run(LIST, capture_output=True, env=environment, check=True)
    assert json.loads(ended.stdout.decode("latin-1"))["text"] == "café 日本 😀"


def test_a_closed_stream_is_replaced_so_that_no_file_takes_its_place(tmp_path: Path) -> None:
    script = f"""
import os, sys
from lamina.cli.streams import ready_streams
ready_streams()
file = open({str(tmp_path / "file")!r}, "w")
assert file.fileno() > 2
print("nowhere")
os.write(1, b"nowhere")
"""
    subprocess.run(["sh", "-c", 'exec "$0" -c "$1" >&- <&-', sys.executable, script], check=True)
    assert (tmp_path / "file").read_text() == ""

"""Run a command against a server of this clone: `python scripts/live.py COMMAND...` starts one on a free port over a folder that is thrown
away, names its address in LAMINA_URL, and stops it when the command ends. LAMINA_* settings pass through to the server.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import threading
from typing import IO

ADDRESS = re.compile(r"lamina serves (http://\S+)")


def main(command: list[str]) -> int:
    """The command's exit code; what the server says once it runs goes to standard error."""
    with tempfile.TemporaryDirectory(prefix="lamina-live-") as folder:
        serve = [sys.executable, "-m", "lamina", "serve", "--port", "0", "--data", folder]
        with subprocess.Popen(serve, stderr=subprocess.PIPE, text=True) as server:  # noqa: S603 - of this clone
            assert server.stderr is not None, "it was asked for"
            try:
                address = next((found[1] for line in server.stderr if (found := ADDRESS.search(line))), None)
                if address is None:
                    return server.wait() or 1
                # A pipe that nobody reads would hold the server up.
                threading.Thread(target=_pass_on, args=[server.stderr], daemon=True).start()
                own = {name: value for name, value in os.environ.items() if not name.startswith("LAMINA_")}
                return subprocess.call(command, env={**own, "LAMINA_URL": address})  # noqa: S603 - the script's
            finally:
                server.terminate()


def _pass_on(said: IO[str]) -> None:
    with contextlib.suppress(ValueError):  # closed when the server has ended
        sys.stderr.writelines(said)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What a host of the plugin runs at an event: python3 lamina_hook.py HOST EVENT, its JSON on standard input.

The modules beside it, in lib/, are copies (scripts/plugin) and need the standard library alone. An older Python than theirs hands over to
the installed `lamina hook`, which is the same.
"""

import os
import shutil
import subprocess
import sys

OLDEST = (3, 11)


def main(host, event):
    if sys.version_info < OLDEST:
        lamina = shutil.which("lamina")
        if lamina is not None:
            subprocess.call([lamina, "hook", event, "--host", host])
        elif event in ("SessionStart", "sessionStart"):
            sys.stderr.write("lamina: its hooks need Python 3.11 or `lamina` on the PATH\n")
        return
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
    from datetime import datetime

    from lamina.hooks.running import print_hook

    now = datetime.now().astimezone()
    print_hook(host, event, sys.stdin, sys.stdout, sys.stderr, os.environ, now)


if __name__ == "__main__":
    main(*(sys.argv[1:3] if len(sys.argv) > 2 else ("claude-code", "SessionStart")))
    sys.stderr.flush()
    os._exit(0)  # a thread that still waits for a server must not hold the host up, nor an exit code stop it

"""Commands for ``typer.testing``, made once in this process: Typer makes what all of them take anew for each call, a tenth of a second.

What a call of the installed command makes is told by ``unit/test_cli_help.py``. A backup lets others go before it: here that would hold for every
test after it, and on a busy machine these would hardly run.
"""

from __future__ import annotations

import functools
import os

from typer import testing

__all__ = ["share"]


def share() -> None:
    """Let every call of an app in this process use the same commands; what they take from the environment is read at the call.
    The process goes before others as it did."""
    os.nice = lambda increment: 0
    testing._get_command = functools.cache(testing._get_command)

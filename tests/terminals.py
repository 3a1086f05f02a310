"""Commands for ``typer.testing``, made once in this process: Typer makes what all of them take anew for each call, a tenth of a second.

What a call of the installed command makes is told by ``unit/test_cli_help.py``.
"""

from __future__ import annotations

import functools

from typer import testing

__all__ = ["share"]


def share() -> None:
    """Let every call of an app in this process use the same commands; what they take from the environment is read at the call."""
    testing._get_command = functools.cache(testing._get_command)

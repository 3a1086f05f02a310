"""What the folder chooses in which a command is run: its line of work, and whose memory."""

from __future__ import annotations

import os
from pathlib import Path

from lamina.errors import Invalid
from lamina.hooks.choices import Choices, WrongChoice, choices_in

__all__ = ["choices_here"]


def choices_here() -> Choices:
    """The choices of the current folder and the environment; raises ``Invalid`` (INVALID_SETTING)."""
    try:
        return choices_in(Path.cwd(), os.environ)
    except WrongChoice as wrong:
        raise Invalid("INVALID_SETTING", str(wrong)) from wrong

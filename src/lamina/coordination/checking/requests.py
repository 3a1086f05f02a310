"""Request and result types of checks (contract 1.10)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from lamina import limits
from lamina.kernel.wire import Request, Result, Text

__all__ = ["CheckRun", "Checked", "RunCheck"]


class RunCheck(Request):
    """Run one of the operator's commands over the files as they stood at a commit."""

    model_config = ConfigDict(extra="ignore")

    ref: Annotated[Text, Field(min_length=1, max_length=limits.PATCH_REF_LENGTH_MAX)] = "HEAD"
    profile: Literal["lint", "test", "build"] = "test"


class CheckRun(Result):
    """A run. ``not_apart`` names what the machine could not keep the command apart from: network, processes, data."""

    schema_version: str = "1.0"
    run_id: str
    profile: Literal["lint", "test", "build"]
    ref: str
    ref_resolved: str
    status: Literal["passed", "failed"]
    return_code: int
    started_at: str
    finished_at: str
    command: tuple[str, ...]
    stdout: str
    stderr: str
    timed_out: bool = False
    said_too_much: bool = False
    not_apart: tuple[str, ...] = ()


class Checked(Result):
    """The run as it was put down."""

    ok: Literal[True] = True
    run: CheckRun
    path: str
    committed: Literal[True] = True
    latest_commit: str | None

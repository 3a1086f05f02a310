"""``POST /v1/code/merge``: answered with the reason why there is nothing to merge."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from lamina import limits
from lamina.continuity.declaring import writes
from lamina.errors import Conflict
from lamina.kernel.operations import Answer, Call, Operation
from lamina.kernel.relay import RelayRight
from lamina.kernel.wire import Request, Result, Text

__all__ = ["Merge", "Merged", "merge_operations"]

_Ref = Annotated[Text, Field(min_length=1, max_length=limits.PATCH_REF_LENGTH_MAX)]
_Profile = Annotated[Text, Field(max_length=64)]


class Merge(Request):
    """Merge a branch of the repository."""

    model_config = ConfigDict(extra="ignore")

    source_ref: _Ref
    target_ref: Literal["HEAD"] = "HEAD"
    required_checks: Annotated[tuple[_Profile, ...], Field(max_length=limits.TASK_NAMES_MAX)] = ("test",)


class Merged(Result):
    """What the contract answers where something was merged."""

    ok: Literal[True] = True
    merged: bool
    source_ref: str
    target_ref: str
    head_before: str
    head_after: str
    required_checks: tuple[str, ...]


def merge_operations() -> list[Operation[Any]]:
    """The one operation. It reads nothing and changes nothing."""
    return [
        writes(RelayRight.WRITE_PROJECTS, "code_merge", Merge, Merged, _merge, "Merge a branch, which documents do not have.",
               fails=("REPOSITORY_IS_PROJECTION",)),
    ]  # fmt: skip


def _merge(request: Merge, call: Call) -> Answer:  # noqa: ARG001 - the port's shape
    raise Conflict(
        "REPOSITORY_IS_PROJECTION",
        "nothing can be merged: the repository is a view of the documents, with one line of commits and no branches",
        hint="propose what the other branch has as patches, and apply them",
    )

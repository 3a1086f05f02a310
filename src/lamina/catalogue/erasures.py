"""The codes of erasures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.catalogue.entries import STATE, ErrorCode

__all__ = ["CODES"]

CODES: Final[Mapping[str, ErrorCode]] = {
    "ERASURE_DRIFTED": ErrorCode(
        "Conflict",
        STATE,
        "What an erasure would take is not what its preview showed: `details.drift` lines differ, and the tenant allows "
        "`details.drift_threshold`. Nothing was erased.",
        hint="make a new preview with POST /v1/erasures/preview, and look at it again",
    ),
    "ERASURE_RUNNING": ErrorCode(
        "Conflict",
        STATE,
        "The memory is being erased by `details.erasure_id`, and takes nothing new until that is over. Nothing was stored.",
        hint="GET /v1/erasures/{erasure_id} says how far it is; send it again once it is completed",
    ),
    "PREVIEW_EXPIRED": ErrorCode(
        "Gone",
        STATE,
        "A preview of an erasure, and its manifest, hold for a day.",
        hint="make a new one with POST /v1/erasures/preview",
    ),
}

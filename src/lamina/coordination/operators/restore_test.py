"""What a backup of documents would be worth, as functions of what is in it: whether capsules can be read, and histories have what their stubs name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import Field
from pydantic_core import from_json

from lamina.continuity.capsule.subjects import (
    ARCHIVE,
    COLD,
    COLD_INDEX,
    FALLBACK,
    REFRESH_PLAN,
    RETENTION_PLAN,
    ROOT,
)
from lamina.continuity.shelf.cold import stub_in, unpacked
from lamina.continuity.shelf.envelopes import archived, fallback
from lamina.continuity.shelf.loading import loaded
from lamina.errors import LaminaError
from lamina.kernel.wire import Result

__all__ = ["ContinuityChecked", "HistoryChecked", "continuity_checked", "history_checked", "is_stub"]

_PLANS: Final = (REFRESH_PLAN, RETENTION_PLAN)
_STUBS: Final = {
    "artifact": re.compile(
        r"(?:memory/coordination/[^/]+/history|tasks/history/done|patches/history/applied)/index/[^/]+\.json"
    ),
    "registry": re.compile(r"(?:messages/state/history|peers/history)/(?:[^/]+/)*index/[^/]+\.json"),
    "segment": re.compile(
        r"(?:journal/history|logs/history|messages/history|memory/episodic/history)/(?:[^/]+/)*index/[^/]+\.json"
    ),
}


class ContinuityChecked(Result):
    """Capsules and their copies in a backup: how many of each, and the paths of those that cannot be read or lack their counterpart."""

    ok: bool
    active_capsules: int = 0
    fallback_capsules: int = 0
    archive_envelopes: int = 0
    cold_payloads: int = 0
    cold_stubs: int = 0
    invalid_capsules: list[str] = Field(default_factory=list)
    invalid_fallbacks: list[str] = Field(default_factory=list)
    invalid_archives: list[str] = Field(default_factory=list)
    invalid_cold_stubs: list[str] = Field(default_factory=list)
    invalid_cold_payloads: list[str] = Field(default_factory=list)
    unmatched_cold_stubs: list[str] = Field(default_factory=list)
    unmatched_cold_payloads: list[str] = Field(default_factory=list)
    missing_fallbacks: list[str] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)


class HistoryChecked(Result):
    """Stubs of a history in a backup, and the paths of those that cannot be read or whose payload is not there."""

    ok: bool
    stubs: int
    invalid_stubs: list[str]
    missing_payloads: list[str]


def continuity_checked(contents: Mapping[str, bytes]) -> ContinuityChecked:
    """How the capsules among documents stand; ``contents`` are those below the folder of continuity, by path. A plan is no capsule."""
    kinds: dict[str, list[str]] = {"active": [], "fallback": [], "archive": [], "payload": [], "stub": []}
    for path in sorted(contents):
        kind = _kind(path)
        if kind is not None:
            kinds[kind].append(path)
    stubs, payloads = set(kinds["stub"]), set(kinds["payload"])
    faults = {
        "invalid_capsules": _unread(kinds["active"], lambda path: loaded(contents[path])),
        "invalid_fallbacks": _unread(kinds["fallback"], lambda path: fallback(contents[path])),
        "invalid_archives": _unread(kinds["archive"], lambda path: archived(contents[path])),
        "invalid_cold_stubs": _unread(kinds["stub"], lambda path: stub_in(path, contents[path])),
        "invalid_cold_payloads": _unread(kinds["payload"], lambda path: archived(unpacked(contents[path]))),
        "unmatched_cold_stubs": [path for path in kinds["stub"] if _payload_of(path) not in payloads],
        "unmatched_cold_payloads": [path for path in kinds["payload"] if _stub_of(path) not in stubs],
        "missing_fallbacks": [
            path for path in kinds["active"] if f"{FALLBACK}/{path.removeprefix(f'{ROOT}/')}" not in contents
        ],
    }
    # A capsule without a copy of its last good write can be read; everything else is damage.
    broken = any(paths for name, paths in faults.items() if name != "missing_fallbacks")
    return ContinuityChecked(
        ok=not broken,
        active_capsules=len(kinds["active"]),
        fallback_capsules=len(kinds["fallback"]),
        archive_envelopes=len(kinds["archive"]),
        cold_payloads=len(kinds["payload"]),
        cold_stubs=len(kinds["stub"]),
        warnings=[f"continuity_{name}:{path}" for name, paths in faults.items() for path in paths],
        **faults,
    )


def history_checked(family: str, contents: Mapping[str, bytes], paths: frozenset[str]) -> HistoryChecked:
    """How a family's stubs among ``contents`` stand, ``paths`` being all that there are."""
    stubs = [path for path in sorted(contents) if _STUBS[family].fullmatch(path)]
    invalid, missing = [], []
    for path in stubs:
        payload = _payload_named(contents[path])
        if payload is None:
            invalid.append(path)
        elif payload not in paths:
            missing.append(path)
    return HistoryChecked(
        ok=not (invalid or missing), stubs=len(stubs), invalid_stubs=invalid, missing_payloads=missing
    )


def is_stub(path: str) -> bool:
    """Whether a document is a stub of any history."""
    return any(pattern.fullmatch(path) for pattern in _STUBS.values())


def _kind(path: str) -> str | None:
    folder, _, name = path.rpartition("/")
    if path in _PLANS:
        return None
    if folder == COLD_INDEX:
        return "stub" if name.endswith(".md") else None
    if folder == COLD:
        return "payload" if name.endswith(".json.gz") else None
    kinds = {ROOT: "active", FALLBACK: "fallback", ARCHIVE: "archive"}
    return kinds.get(folder) if name.endswith(".json") else None


def _unread(paths: list[str], read: Callable[[str], object]) -> list[str]:
    unread = []
    for path in paths:
        try:
            read(path)
        except LaminaError:
            unread.append(path)
    return unread


def _payload_of(stub: str) -> str:
    return f"{COLD}/{stub.removeprefix(f'{COLD_INDEX}/').removesuffix('.md')}.json.gz"


def _stub_of(payload: str) -> str:
    return f"{COLD_INDEX}/{payload.removeprefix(f'{COLD}/').removesuffix('.json.gz')}.md"


def _payload_named(content: bytes) -> str | None:
    try:
        value: Any = from_json(content, allow_inf_nan=False)
    except ValueError:
        return None
    payload = value.get("payload_path") if isinstance(value, dict) else None
    return payload if isinstance(payload, str) else None

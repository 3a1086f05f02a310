"""The codes of replication, checks and merging: what a server offers only where its operator says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.catalogue.entries import COORDINATION, ErrorCode

__all__ = ["CODES"]

CODES: Final[Mapping[str, ErrorCode]] = {
    "FEATURE_OFF": ErrorCode(
        "Forbidden",
        COORDINATION,
        "The server could do this, and its operator has not switched it on: `details.setting` names what does.",
        hint="docs/reference/relay.md says what it means to switch it on",
    ),
    "INVALID_REPLICATION": ErrorCode(
        "Malformed",
        COORDINATION,
        "A bundle of replicated files, or what is to be pushed, is refused: `details.field` names the file or the field. Nothing was stored.",
        hint="docs/reference/relay.md has the folders that travel, and what a file of a bundle needs",
    ),
    "REPLICATION_SOURCE_DENIED": ErrorCode(
        "Forbidden",
        COORDINATION,
        "A bundle names another source than the peer whose token sends it. Who administers peers may name anybody.",
        hint="send your own peer id as source_peer",
    ),
    "REPLICATION_CONFLICT": ErrorCode(
        "Conflict",
        COORDINATION,
        "A file was written on both sides since they agreed, and the policy `error` decides for none: `details.path`. Nothing was stored.",
        hint="read both, write what is to stand, or choose another conflict_policy",
    ),
    "REPOSITORY_IS_PROJECTION": ErrorCode(
        "Conflict",
        COORDINATION,
        "Nothing can be merged: the repository is a view of the documents, with one line of commits and no branches.",
        hint="propose what the other branch has as patches, and apply them",
    ),
}

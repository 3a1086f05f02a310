"""What a retrieval shows beside capsules: core memory, recent and relevant files, and the questions in them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from lamina import limits
from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.capsule.subjects import COLD, ROOT
from lamina.continuity.files.cards import card_of, snippet_of, text_of
from lamina.continuity.files.finding import Finding
from lamina.continuity.files.names import CORE, folder_of, is_text
from lamina.continuity.files.requests import Row
from lamina.continuity.permission import Reach
from lamina.kernel.operations import Call
from lamina.kernel.time import SECOND_US, Instant, rfc3339
from lamina.language.quarantine import withheld_note
from lamina.store.ports.documents import Document, Documents

__all__ = [
    "INDEX_MISSING",
    "INDEX_STALE",
    "core_memory",
    "guarded",
    "open_questions",
    "packed",
    "related",
    "relevant",
    "scanned",
]

INDEX_MISSING: Final = "continuity_index_missing"
INDEX_STALE: Final = "continuity_index_stale"

_STALE_US: Final = 86_400 * SECOND_US
_CORE_LENGTH: Final = 300
_RELATED_LENGTH: Final = 280
_QUESTIONED: Final = 10
_QUESTIONS_MAX: Final = 5
_PATH_WEIGHT: Final = 1000
_FIRST: Final = ("memory/summaries/", "messages/")
_WORD: Final = re.compile(r"[\w-]{2,}")


def core_memory(
    documents: Documents, tenant_id: str, reach: Reach, at: Instant | None = None
) -> list[dict[str, str]]:
    """The core files that the caller may read, each with its beginning as it is, or was at an instant."""
    wanted = [path for path in CORE if reach.reads(path)]
    found = (documents.read(tenant_id, path, at=at) for path in wanted)
    return [
        {"path": each.path, "snippet": guarded(text_of(each.content)[:_CORE_LENGTH])}
        for each in found
        if each is not None
    ]


def related(
    documents: Documents, tenant_id: str, capsule: CapsuleObject | None, reach: Reach
) -> list[dict[str, Any]]:
    """The related documents of a capsule that stand and that the caller may read, in the capsule's order."""
    named = [] if capsule is None else capsule["continuity"].get("related_documents", [])
    wanted = [each["path"] for each in named if reach.reads(each["path"])]
    found = documents.read_many(tenant_id, wanted)
    return [_shown(found[path], 0.0, _RELATED_LENGTH) for path in dict.fromkeys(wanted) if path in found]


def relevant(
    finding: Finding, call: Call, query: str, limit: int, types: Collection[str] = (), days: int | None = None
) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows that a search finds, and what is to be said of the index it looked into.

    Where nothing at all is indexed yet, the newest files are looked through instead.
    """
    since = None if days is None else call.now - days * _STALE_US
    covered = finding.coverage(call)
    if covered.found == 0:
        rows = scanned(finding, call, query, limit, types, since)
        return rows, [INDEX_MISSING] if covered.told or rows else []
    waiting = covered.waiting_since
    stale = waiting is not None and call.now - waiting > _STALE_US
    rows = [row.model_dump() for row in finding.rows(call, query, limit, types, since)]
    return rows, [INDEX_STALE] if stale else []


def scanned(
    finding: Finding, call: Call, query: str, limit: int, types: Collection[str], since: int | None
) -> list[dict[str, Any]]:
    """The newest files that share words with a query, looked through as they stand."""
    terms = set(_WORD.findall(query.lower()))
    found: list[Row] = []
    for document in finding.newest_documents(call, limits.CONTEXT_SCAN_FILES_MAX, types, since):
        if document.path.startswith(f"{ROOT}/") or document.path in CORE:
            continue
        text = document.content[: limits.CONTEXT_SCAN_BYTES_MAX].decode("utf-8", "replace").lower()
        path = document.path.lower()
        score = sum(_PATH_WEIGHT * (term in path) + (term in text) for term in terms)
        if score:
            found.append(Row.model_validate(_shown(document, float(score), None)))
    found.sort(key=lambda row: (-row.score, row.path))
    return [row.model_dump() for row in found[:limit]]


def packed(rows: Iterable[dict[str, Any]], without: Collection[str]) -> list[dict[str, Any]]:
    """Rows in the order of a bundle: summaries, messages, the rest; the best first in each."""
    kept = [
        {**row, "snippet": guarded(row["snippet"])}
        for row in rows
        if row["path"] not in without and not row["path"].startswith(f"{COLD}/")
    ]
    return sorted(kept, key=lambda row: (_class(row["path"]), -row["score"], row["path"]))


def open_questions(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The first words of the first rows that ask something."""
    asking = [row["snippet"] for row in rows[:_QUESTIONED] if "?" in row["snippet"]]
    return asking[:_QUESTIONS_MAX]


def guarded(words: str) -> str:
    """The words, or that they are kept out: a bundle goes into prompts, the file itself can be read."""
    return withheld_note(words) or words


def _class(path: str) -> int:
    return next((place for place, folder in enumerate(_FIRST) if path.startswith(folder)), len(_FIRST))


def _shown(document: Document, score: float, length: int | None) -> dict[str, Any]:
    card = card_of(document)
    text = is_text(document.path)
    snippet = (
        card.snippet if length is None else snippet_of(text_of(document.content), length - 3) if text else ""
    )
    return {
        "path": document.path,
        "type": card.type if text else folder_of(document.path),
        "size": card.size,
        "modified_at": rfc3339(document.updated_at),
        "snippet": guarded(snippet),
        "tags": list(card.tags),
        "importance": card.importance,
        "score": score,
    }

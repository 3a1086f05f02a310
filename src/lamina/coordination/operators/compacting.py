"""``POST /v1/compact/run``: a plan of compaction, put down as a report that an agent reads and decides about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Final

from lamina import limits
from lamina.continuity.files.cards import card_of
from lamina.continuity.landing import retried, written
from lamina.coordination.operators import bounds
from lamina.coordination.operators.compaction import CompactionFile, PlannedFile, is_candidate, plan
from lamina.coordination.operators.requests import CompactionPlanned, PlanCompaction
from lamina.coordination.operators.running import stamped_id
from lamina.kernel.canonical import indented
from lamina.kernel.ids import IdSource
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import rfc3339
from lamina.store.ports.documents import Change, ChangeKind, Document, Documents

__all__ = ["REPORTS", "Compacting"]

REPORTS: Final = "memory/summaries/weekly/"
_TITLES: Final = {
    "summarize_now": "Summarise now",
    "archive_after_summary": "Archive once summarised",
    "promote_to_core_candidates": "Worth a place in memory/core",
    "keep_hot": "Keep as it is",
    "review_manually": "Look at by hand",
}


class Compacting:
    """Plans over the memory files of the caller's tenant."""

    def __init__(self, documents: Documents, ids: IdSource) -> None:
        self._documents = documents
        self._ids = ids

    def run(self, request: PlanCompaction, call: Call) -> Answer:
        """Make a plan of the files that the caller may read, and put it down. No file changes but the report's two."""
        return Answer(retried(lambda: self._run(request, call)))

    def _run(self, request: PlanCompaction, call: Call) -> CompactionPlanned:
        rewrites = self._documents.rewrites(call.principal.tenant_id)
        standing, whole = self._candidates(call)
        actions = plan(standing, call.now)
        report_id = stamped_id("compact", self._ids, call)
        counts = {"candidates_scanned": len(standing)}
        counts |= {action: len(files) for action, files in actions.items()}
        report = {
            "schema_version": "1.0",
            "report_id": report_id,
            "generated_at": rfc3339(call.now),
            "source_path": request.source_path,
            "note": request.note,
            "planner_only": True,
            "summary_counts": counts,
            "actions": {action: [asdict(each) for each in files] for action, files in actions.items()},
        }
        contents = {
            f"{REPORTS}{report_id}.md": _page(report_id, actions, request.note).encode(),
            f"{REPORTS}{report_id}.json": indented(report),
        }
        changes = [
            Change(path, ChangeKind.PUT, content, expected_version=0) for path, content in contents.items()
        ]
        # Nothing is told of it: what is planned is nobody's memory.
        message = f"memory: add compaction {report_id}"
        done = written(self._documents, call, message, changes, None, rewrites=rewrites)
        return CompactionPlanned(
            report_id=report_id,
            paths=list(contents),
            committed_files=list(contents),
            latest_commit=done.commit.sha or None,
            summary_counts=counts,
            degraded=not whole,
            warnings=[] if whole else [f"only the first {len(standing)} files were looked at"],
        )

    def _candidates(self, call: Call) -> tuple[list[CompactionFile], bool]:
        """The files that a plan looks at, and whether these are all."""
        tenant_id, after = call.principal.tenant_id, ""
        found: list[CompactionFile] = []
        while True:
            listed = self._documents.below(
                tenant_id, "", after=after, limit=limits.DOCUMENTS_READ_MAX, with_content=True
            )
            for document in listed:
                if is_candidate(document.path) and call.relay.allows(None, "read", document.path):
                    found.append(_candidate(document))
            if len(found) >= bounds.COMPACTION_CANDIDATES_MAX:
                return found[: bounds.COMPACTION_CANDIDATES_MAX], False
            if len(listed) < limits.DOCUMENTS_READ_MAX:
                return found, True
            after = listed[-1].path


def _candidate(document: Document) -> CompactionFile:
    card = card_of(document)
    return CompactionFile(document.path, card.size, document.updated_at, card.snippet, card.importance)


def _page(report_id: str, actions: Mapping[str, Sequence[PlannedFile]], note: str | None) -> str:
    lines = ["---", "type: compaction_plan", "---", f"# Plan of compaction {report_id}", ""]
    lines += [note, ""] if note else []
    for action, files in actions.items():
        lines += [f"## {_TITLES[action]}", ""]
        lines += [f"- `{each.path}` ({each.memory_class}, {each.score:g}{_why(each)})" for each in files]
        lines += [""] if files else ["Nothing.", ""]
    return "\n".join(lines)


def _why(planned: PlannedFile) -> str:
    return f"; {', '.join(planned.promote_signals)}" if planned.promote_signals else ""

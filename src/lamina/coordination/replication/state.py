"""What a server remembers of replication: ``peers/replication_state.json``, the contract's own file.

It is a document, so it lands with the very commit that takes files over, and never travels itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from lamina import limits
from lamina.coordination.replication import bounds
from lamina.errors import Malformed, TooLarge
from lamina.store.ports.documents import Change, ChangeKind, Documents

__all__ = [
    "STATE_PATH",
    "AgreedDocument",
    "ReplicationState",
    "StoredState",
    "state_change",
    "stored_state",
    "without_paths",
]

STATE_PATH: Final = "peers/replication_state.json"


class AgreedDocument(BaseModel):
    """A document at the last agreement: the clock, and the version that the document had here."""

    model_config = ConfigDict(frozen=True)

    version: int
    local: int


class ReplicationState(BaseModel):
    """The file. What another server wrote beside these keys stays."""

    model_config = ConfigDict(extra="allow", frozen=True)

    schema_version: str = "1.0"
    last_pull_by_source: dict[str, dict[str, Any]] = {}  # Any: JSON
    last_push: dict[str, Any] | None = None  # Any: JSON
    documents: dict[str, AgreedDocument] = {}

    def agreed(self, path: str, local: int) -> AgreedDocument | None:
        """What was agreed on about a document; None where it began anew since, as one does that was erased."""
        known = self.documents.get(path)
        return None if known is None or known.local > local else known

    def clock(self, path: str, local: int) -> int:
        """The clock of a document that has a version here."""
        known = self.agreed(path, local)
        return local if known is None else known.version + local - known.local

    def pulled(
        self,
        source: str,
        noted: dict[str, Any],
        agreed: dict[str, AgreedDocument],  # Any: JSON
    ) -> ReplicationState:
        """The state after a pull. Of more sources than a registry has the first goes."""
        sources = {name: each for name, each in self.last_pull_by_source.items() if name != source}
        while len(sources) >= limits.PEERS_MAX:
            del sources[min(sources)]
        return self.model_copy(update={"documents": agreed, "last_pull_by_source": sources | {source: noted}})


@dataclass(frozen=True, slots=True)
class StoredState:
    """The state, and the version of its document: 0 where there is none."""

    state: ReplicationState
    version: int


def stored_state(documents: Documents, tenant_id: str) -> StoredState:
    """A tenant's state; raises ``Malformed`` (STORED_ARTIFACT_INVALID)."""
    document = documents.read(tenant_id, STATE_PATH)
    if document is None:
        return StoredState(ReplicationState(), 0)
    try:
        return StoredState(ReplicationState.model_validate_json(document.content), document.version)
    except ValueError as error:
        raise Malformed(
            "STORED_ARTIFACT_INVALID",
            f"what stands at {STATE_PATH} is no state of replication",
            details={"path": STATE_PATH},
        ) from error


def without_paths(documents: Documents) -> Callable[[str, Collection[str]], list[Change]]:
    """Tells the change after which a tenant's state names none of some paths; none where no version of it can name any."""

    def changes(tenant_id: str, paths: Collection[str]) -> list[Change]:
        if not paths or STATE_PATH in paths:
            return []  # it goes itself
        try:
            stored = stored_state(documents, tenant_id)
        except Malformed:
            return []  # somebody else's writing
        left = {path: known for path, known in stored.state.documents.items() if path not in paths}
        # Earlier versions may name what an older release erased: none of them stays.
        if (
            len(left) == len(stored.state.documents)
            and len(documents.history(tenant_id, STATE_PATH, limit=2)) < 2
        ):
            return []
        return [state_change(stored, stored.state.model_copy(update={"documents": left}))]

    return changes


def state_change(before: StoredState, after: ReplicationState) -> Change:
    """The change that keeps a state; raises ``TooLarge`` (PAYLOAD_TOO_LARGE) for more documents than it holds."""
    if len(after.documents) > bounds.REPLICATION_DOCUMENTS_MAX:
        raise TooLarge(
            "PAYLOAD_TOO_LARGE",
            f"{bounds.REPLICATION_DOCUMENTS_MAX} documents are replicated, and no more fit",
            hint="replicate fewer folders",
            details={"documents_max": bounds.REPLICATION_DOCUMENTS_MAX},
        )
    text = json.dumps(after.model_dump(mode="json"), indent=1, ensure_ascii=False, sort_keys=True)
    return Change(STATE_PATH, ChangeKind.PUT, f"{text}\n".encode(), expected_version=before.version)

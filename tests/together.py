"""Agents who hand over, share and dispute, over the documents of one store: operations called by name, as the agent that is named."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from capsules import NOW, body
from given import ManualClock
from lamina.continuity.handlers.operations import continuity_operations
from lamina.coordination.artifacts.operations import ArtifactParts, artifact_operations
from lamina.coordination.checking.merging import merge_operations
from lamina.coordination.checking.operations import check_operations
from lamina.coordination.checking.running import Checking
from lamina.coordination.checking.sandbox import Sandbox
from lamina.coordination.patches.operations import patch_operations
from lamina.coordination.replication.operations import replication_operations
from lamina.coordination.replication.pulling import Pulling
from lamina.coordination.replication.pushing import Pushing
from lamina.coordination.tasks.operations import task_operations
from lamina.errors import Forbidden, Unavailable
from lamina.kernel.history_settings import HistorySettings
from lamina.kernel.ids import RandomIds
from lamina.kernel.operations import Call, Operation, Principal
from lamina.kernel.relay import Mode, RelayGrant, RelayRight, may
from lamina.kernel.time import rfc3339
from lamina.store.memory import MemoryStore
from lamina.store.peers import DocumentPeers
from lamina.store.ports.documents import LandedWrite, Write
from lamina.store.ports.peers import PeerRegistry
from shelves import EVERYWHERE, OWNER, TENANT, Everything

WRITER = RelayGrant(frozenset({RelayRight.READ_FILES, RelayRight.WRITE_PROJECTS}), EVERYWHERE, EVERYWHERE)


class Peer:
    """What a Relay token of a peer may."""

    def __init__(self, peer_id: str, grant: RelayGrant) -> None:
        self.peer_id = peer_id
        self.admin = grant.admin
        self._grant = grant

    def allows(self, right: str | None, mode: Mode | None = None, path: str | None = None) -> bool:
        return may(self._grant, right, mode, path)

    def require(self, right: str | None, mode: Mode | None = None, path: str | None = None) -> None:
        if not self.allows(right, mode, path):
            raise Forbidden("NAMESPACE_DENIED", f"{right} {mode} {path}")


class Agents:
    """``kim`` owns the server, ``bo``, ``cy`` and ``dee`` are peers, ``eve`` is an untrusted one, and nobody knows others."""

    def __init__(
        self,
        *,
        replicates: bool = True,
        checks: Mapping[str, Sequence[str]] | None = None,
        histories: HistorySettings | None = None,
    ) -> None:
        histories = histories or HistorySettings()
        self.clock = ManualClock(NOW)
        self.store = MemoryStore(clock=self.clock)
        self.levels = dict.fromkeys(("kim", "bo", "cy", "dee"), "trusted") | {"eve": "untrusted"}
        self.grants = {"kim": OWNER}
        parts = ArtifactParts(self.store.documents, self, RandomIds())
        self.operations: dict[str, Operation[Any]] = {
            each.name: each
            for each in (
                *artifact_operations(parts),
                *task_operations(self.store.documents),
                *patch_operations(self.store.documents, RandomIds()),
                *merge_operations(),
                *check_operations(
                    Checking(
                        self.store.documents,
                        RandomIds(),
                        Sandbox([], time.monotonic).run,
                        checks or {},
                    )
                ),
                *replication_operations(
                    Pulling(
                        self.store.documents, self, self.store.idempotency, histories, offered=replicates
                    ),
                    Pushing(
                        self.store.documents,
                        self,
                        lambda url, body, token, _seconds: self.send(url, body, token),
                        offered=replicates,
                        bytes_max=8192,
                        seconds=lambda: 0.0,
                    ),
                ),
                *continuity_operations(self.store.documents, uses=self),
            )
        }

    def send(self, url: str, body: bytes, token: str | None) -> bytes:
        """What another server answers: there is none unless a test has one."""
        raise Unavailable("PEER_UNREACHABLE", f"{url} {len(body)} {token is None}")

    def registry(self, tenant_id: str) -> PeerRegistry:
        return DocumentPeers(self.store.documents).registry(tenant_id)

    def trust_of(self, tenant_id: str, peer_id: str) -> str | None:
        assert tenant_id == TENANT
        return self.levels.get(peer_id)

    def noted(self, *_: object) -> set[str]:
        return set()

    def call(self, by: str, name: str, **sent: Any) -> dict[str, Any]:
        operation = self.operations[name]
        relay = Peer(by, self.grants.get(by, WRITER))
        for need in operation.relay:
            relay.require(need.right, need.mode, need.path)
        call = Call(
            principal=Principal(TENANT, f"agent:{by}", "http"),
            request_id="r",
            now=self.clock.now(),
            permits=Everything(),
            relay=relay,
            body=json.dumps(sent).encode(),
        )
        answer = operation.handler(operation.request.model_validate(sent), call)
        assert isinstance(answer.result, operation.result)
        self.clock.at += 1_000_000
        shown: dict[str, Any] = answer.result.model_dump(mode="json")
        return shown

    def before_next_write(self, patch: pytest.MonkeyPatch, run: Callable[[], object]) -> None:
        """Have something happen between what the next call reads and what it writes."""
        write = self.store.documents.write

        def later(writes: Sequence[Write]) -> list[LandedWrite]:
            patch.setattr(self.store.documents, "write", write)
            run()
            return write(writes)

        patch.setattr(self.store.documents, "write", later)

    def capsule(self, by: str = "bo", **state: Any) -> None:
        """A capsule of the thread ``launch``."""
        told = {"active_constraints": ["two cores"], "drift_signals": ["scope grows"]} | state
        now = rfc3339(self.clock.now())
        capsule = body(continuity=told, updated_at=now, verified_at=now)
        sent = {"subject_kind": "thread", "subject_id": "launch", "capsule": capsule}
        self.call(by, "continuity_upsert", **sent)

    def handoff(self, by: str = "bo", to: str = "cy", **more: Any) -> dict[str, Any]:
        """A handoff of that capsule."""
        about = {"subject_kind": "thread", "subject_id": "launch"}
        return self.call(by, "handoff_create", recipient_peer=to, **about | more)

    def shared(self, by: str = "bo", *others: str, **more: Any) -> dict[str, Any]:
        """A shared artifact with participants."""
        sent = {
            "participant_peers": list(others or ("cy",)),
            "title": "Plan",
            "constraints": ["no schema change"],
        }
        return self.call(by, "coordination_shared_create", **sent | more)

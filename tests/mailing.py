"""Peers who send each other messages, over one store: operations called by name, as the peer that is named."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from capsules import NOW
from given import ManualClock
from lamina.access.security.keyring import Keyring
from lamina.access.security.sealing import KeySeal
from lamina.coordination.messages.operations import MessageParts, message_operations
from lamina.coordination.messages.proving import FailureBounds
from lamina.errors import Forbidden
from lamina.kernel.ids import RandomIds
from lamina.kernel.operations import Call, CallKey, Operation, Principal
from lamina.kernel.relay import Mode, RelayGrant, RelayRight, may
from lamina.kernel.signatures import signed_bytes
from lamina.kernel.time import rfc3339
from lamina.store.memory import MemoryStore
from lamina.store.ports.store import Store
from lamina.store.tallies import LocalBuckets
from shelves import EVERYWHERE, OWNER, TENANT, Everything

PEER = RelayGrant(frozenset({RelayRight.READ_FILES, RelayRight.WRITE_MESSAGES}), EVERYWHERE, EVERYWHERE)
KEY = "key_one"
FAILURES = FailureBounds(20, 600)


class _Granted:
    def __init__(self, peer_id: str, grant: RelayGrant) -> None:
        self.peer_id = peer_id
        self.admin = grant.admin
        self._grant = grant

    def allows(self, right: str | None, mode: Mode | None = None, path: str | None = None) -> bool:
        return may(self._grant, right, mode, path)

    def require(self, right: str | None, mode: Mode | None = None, path: str | None = None) -> None:
        if not self.allows(right, mode, path):
            raise Forbidden("NAMESPACE_DENIED", f"{right} {mode} {path}")


class Mail:
    """``kim`` administers peers; everybody else may send and read."""

    def __init__(
        self,
        folder: Path,
        *,
        store: Store | None = None,
        strict: bool = False,
        failures: FailureBounds = FAILURES,
    ) -> None:
        self.clock = ManualClock(NOW)
        self.store = store or MemoryStore(clock=self.clock)
        self.grants = {"kim": OWNER}
        self.keyring = Keyring(
            self.store.signing_keys, KeySeal(folder / "relay.key", secrets.token_bytes), secrets.token_bytes
        )
        parts = MessageParts(
            messages=self.store.messages,
            documents=self.store.documents,
            idempotency=self.store.idempotency,
            signatures=self.keyring,
            tallies=LocalBuckets(),
            failures=failures,
            ids=RandomIds(),
            strict=strict,
        )
        self.operations: dict[str, Operation[Any]] = {each.name: each for each in message_operations(parts)}

    def call(self, by: str, name: str, /, header_key: str | None = None, **sent: Any) -> dict[str, Any]:
        operation = self.operations[name]
        relay = _Granted(by, self.grants.get(by, PEER))
        for need in operation.relay:
            relay.require(need.right, need.mode, need.path)
        request = operation.request.model_validate(sent)
        call = Call(
            principal=Principal(TENANT, f"agent:{by}", "http"),
            request_id="r",
            now=self.clock.now(),
            permits=Everything(),
            body=request.model_dump_json().encode(),
            relay=relay,
            key=None if header_key is None else CallKey(name, header_key, ("POST", name)),
        )
        answer = operation.handler(request, call)
        assert isinstance(answer.result, operation.result)
        self.clock.at += 1_000_000
        shown: dict[str, Any] = answer.result.model_dump(mode="json", by_alias=True)
        return shown

    def send(self, by: str = "bo", to: str = "cy", **more: Any) -> dict[str, Any]:
        """A message."""
        return self.call(by, "messages_send", **{**self.message(by, to), **more})

    @staticmethod
    def message(by: str = "bo", to: str = "cy", **more: Any) -> dict[str, Any]:
        sent = {"thread_id": "t", "sender": by, "recipient": to, "subject": "Launch", "body_md": "Shall we?"}
        return sent | more

    def inbox(self, by: str, **more: Any) -> list[str]:
        found = self.call(by, "messages_inbox", **{"recipient": by, **more})
        return [each["id"] for each in found["messages"]]

    # ---- envelopes

    def make_key(self) -> None:
        self.keyring.make(TENANT, self.clock.now(), key_id=KEY, secret="s" * 32, activate=True, grace_s=60)

    def envelope(self, payload: dict[str, Any], nonce: str = "n-1", *, ends_in_s: int | None = 60) -> Any:
        """A payload signed with the key."""
        now = self.clock.now()
        expires_at = None if ends_in_s is None else rfc3339(now + ends_in_s * 1_000_000)
        signed = signed_bytes(payload, key_id=KEY, nonce=nonce, expires_at=expires_at)
        signature = self.keyring.sign(TENANT, KEY, signed, now)
        return {"key_id": KEY, "nonce": nonce, "expires_at": expires_at, "signature": signature}

    def signed(self, nonce: str = "n-1", *, ends_in_s: int | None = 60, **more: Any) -> dict[str, Any]:
        """A message of ``bo``'s with an envelope that proves it."""
        sent = self.message(**more)
        whole = {
            "priority": "normal",
            "attachments": [],
            "idempotency_key": None,
            **sent,
            "delivery": {
                "requires_ack": False,
                "ack_timeout_seconds": 300,
                "max_retries": 5,
                **sent.get("delivery", {}),
            },
        }
        return sent | {"signed_envelope": self.envelope(whole, nonce, ends_in_s=ends_in_s)}

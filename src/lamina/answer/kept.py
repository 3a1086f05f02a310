"""Answers by idempotency key: the same request with the same key within a minute has the same answer, in any process."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import NamedTuple

from lamina import limits
from lamina.answer.requests import AnswerResponse
from lamina.errors import Conflict, Forbidden
from lamina.kernel.operations import Call
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.kernel.wire import Result
from lamina.recall.recalling import Recalling
from lamina.store.ports.packs import PackKind, StoredPack
from lamina.store.ports.store import Store

__all__ = ["AnswerKey", "KeptAnswers"]


class AnswerKey(NamedTuple):
    """A caller's key, and the hash of what it was used for."""

    key: str
    body_hash: str


class _Kept(Result):
    response: AnswerResponse
    scopes: list[str]
    removals: int


class KeptAnswers:
    """The answers of the last minute. One is not given out again once something was cancelled in a scope that it was made from, or to
    a caller who may not read there any more."""

    def __init__(self, store: Store, recalling: Recalling) -> None:
        self._store = store
        self._recalling = recalling

    def find(self, key: AnswerKey, call: Call) -> AnswerResponse | None:
        """The answer that the caller's key led to; ``Conflict`` (IDEMPOTENCY_CONFLICT) when it was for another request."""
        who = call.principal
        stored = self._store.packs.find(who.tenant_id, PackKind.ANSWER, who.actor, key.key)
        if stored is None or not stored.content or call.now - stored.made_at > limits.PACK_TTL_S * SECOND_US:
            return None
        if stored.body_hash != key.body_hash:
            raise Conflict(
                "IDEMPOTENCY_CONFLICT",
                "this idempotency key was used for another answer within the last minute",
                hint="use a new key for a new question",
                details={"idempotency_key": key.key},
            )
        kept = _Kept.model_validate_json(zlib.decompress(stored.content))
        scopes = [Scope(each) for each in kept.scopes]
        try:
            self._recalling.may_still_read(scopes, call)
        except Forbidden:
            return None  # it is made anew, from what may be read
        return kept.response if self._recalling.removals(scopes, call) == kept.removals else None

    def keep(
        self, key: AnswerKey, response: AnswerResponse, scopes: Sequence[Scope], removals: int, call: Call
    ) -> None:
        """Remember an answer under its key. ``removals`` is that of its scopes when what it was made from was read."""
        kept = _Kept(
            response=response,
            scopes=[str(each) for each in scopes],
            removals=removals,
        )
        self._store.packs.keep(
            StoredPack(
                tenant_id=call.principal.tenant_id,
                kind=PackKind.ANSWER,
                caller=call.principal.actor,
                id=key.key,
                body_hash=key.body_hash,
                made_at=call.now,
                content=zlib.compress(kept.model_dump_json(by_alias=True).encode(), 1),
            )
        )

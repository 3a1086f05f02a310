"""Idempotency of writes in general: what a key was answered within a day is answered again (seed 002, 6.3).

Operations that land their keys with what they wrote (``Operation.keeps_keys``) do not come here. For the others the
answer is kept right after the write: two calls with one key run one after the other, in whichever processes, and a
server that dies between a write and its answer forgets the key, as if the client had sent none; so does one whose disk refuses then.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_json

from lamina.errors import LaminaError, Unavailable
from lamina.kernel.operations import Answer
from lamina.kernel.time import Instant
from lamina.observe.rounds import class_of
from lamina.store.ports.idempotency import Idempotency, IdempotencyEntry, IdempotencyKey
from lamina.store.ports.projecting import KEPT
from lamina.store.rules.refusals import check_same

__all__ = ["Replays", "family_of"]

_LOG = logging.getLogger("lamina.access")


def family_of(endpoint: str) -> str:
    """The endpoint family of a route: its path up to the first parameter (seed 002, 18.2 item 9)."""
    path = endpoint.rsplit(" ", 1)[-1]
    return path.split("/{", 1)[0]


class Replays:
    """Runs a write once for each key."""

    def __init__(self, idempotency: Idempotency) -> None:
        self._idempotency = idempotency

    def once(
        self,
        key: IdempotencyKey,
        body_hash: str,
        now: Instant,
        run: Callable[[], Answer],
        *,
        erases: bool = False,
    ) -> Answer:
        """What ``run`` answers, or what it answered to this key before; raises ``Conflict`` (IDEMPOTENCY_CONFLICT). What was answered
        while something was erased is forgotten, as the server may be that answered it, unless it is what ``erases``."""
        with self._idempotency.alone(key):
            known = self._idempotency.find(key, now)
            if known is not None:
                check_same(known, body_hash)
                return _again(known)
            try:
                answer = run()
            except Unavailable as failure:
                if failure.code == KEPT:  # to make it again would be a second one
                    said = {"message": failure.message, "hint": failure.hint}
                    self._remember(IdempotencyEntry(key, body_hash, now, response={"failed": said}))
                raise
            if answer.result is None or isinstance(answer.result, BaseModel):
                kept: dict[str, Any] = {  # Any: JSON
                    "accepted": answer.accepted,
                    "created": answer.created,
                    "warnings": list(answer.warnings),
                    "body": answer.result and answer.result.model_dump(mode="json", by_alias=True),
                }
                self._remember(IdempotencyEntry(key, body_hash, now, response=kept), erases=erases)
            return answer

    def _remember(self, entry: IdempotencyEntry, *, erases: bool = False) -> None:
        """What was done is told as done, also where its key cannot be kept: told as refused, it would be done again."""
        try:
            self._idempotency.remember(entry, erases=erases)
        except LaminaError as error:
            _LOG.error("an answer could not be kept under its key: %s", class_of(error))


def _again(known: IdempotencyEntry) -> Answer:
    response = dict(known.response or {})
    if failed := response.get("failed"):
        raise Unavailable(KEPT, failed["message"], hint=failed["hint"])
    body = response.get("body")
    return Answer(
        None if body is None else to_json(body),
        accepted=bool(response.get("accepted")),
        created=bool(response.get("created")),
        replayed=True,
        warnings=tuple(response.get("warnings", ())),
    )

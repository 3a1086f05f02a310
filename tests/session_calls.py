"""Turns of one user's session, and what the worker process makes of them."""

from __future__ import annotations

from typing import Any

from lamina.kernel.time import SECOND_US
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.session.drain import Drain

__all__ = ["SCOPE", "TOKEN", "USER", "WHO", "brief", "say", "work"]

USER = {"tenantId": "tenant_a", "userId": "user_1"}
WHO = {**USER, "personaId": "persona_1"}
SCOPE = "org:tenant_a/user:user_1"
TOKEN = {"X-Internal-Token": "sesame"}


def say(world: Any, text: str, at: str = "2026-05-13T10:00:00Z", **more: Any) -> None:
    body = {**WHO, "role": "user", "text": text, "timestamp": at, "sessionId": "s-1", **more}
    world.post("/ingest", body)


def work(world: Any) -> None:
    """What the worker process does."""
    world.clock.at += SECOND_US
    deriver = Deriver(world.store, RulesExtractor(find_times, use_parser=False), None)
    Worker(world.store, deriver, None, world.clock, "test").drain()
    Drain(world.store, world.clock).drain()


def brief(world: Any, **more: Any) -> dict[str, Any]:
    asked = {**WHO, "sessionId": "s-1", "now": "2026-05-13T10:05:00Z", "mode": "in_session", **more}
    return world.post("/brief", asked).json()

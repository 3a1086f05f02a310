"""The wiring of what works behind the log: derivation, the outbox, questions to a model, upgrades. It needs nothing of the doors."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import ExitStack

from lamina.access.presets import preset_of
from lamina.access.tiers import TieredPolicy
from lamina.coordination.owned import documents_about_people
from lamina.coordination.replication.state import without_paths
from lamina.forget.expired import ExpiredEraser
from lamina.forget.expiring import Expirer
from lamina.forget.runner import Eraser
from lamina.kernel.time import Clock, SystemClock
from lamina.language.temporal import find_times
from lamina.models.minilm import MiniLmEmbedder
from lamina.observe.rounds import Failures
from lamina.pipeline.derived_by import DERIVED_BY
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.nearness import Nearness
from lamina.pipeline.readings.question import TASK as READS
from lamina.pipeline.upgrading import Upgrader
from lamina.pipeline.worker import Worker
from lamina.session.drain import Drain
from lamina.session.graph import GraphitiTarget, GraphModel
from lamina.session.inquirer import Inquirer
from lamina.settings import Settings
from lamina.store.backups.tombstones import tombstone_file
from lamina.store.ports.store import Store

__all__ = [
    "build_drain",
    "build_eraser",
    "build_expirer",
    "build_inquirer",
    "build_upgrader",
    "build_worker",
    "helper_name",
]


def build_drain(settings: Settings, store: Store, held: ExitStack, failures: Failures | None = None) -> Drain:
    """What empties the outbox of a store, with the graph that the settings name, until ``held`` closes."""
    target = None
    if settings.graphiti:
        model = GraphModel(settings.llm_url, settings.llm_model, settings.llm_api_key)
        target = GraphitiTarget(settings.graphiti, model if settings.llm_url else None, MiniLmEmbedder())
        held.callback(target.close)
    return Drain(
        store,
        SystemClock(),
        words_by_model=settings.llm_url != "",
        target=target,
        failures=failures,
        owner=_owner(),
    )


def build_eraser(settings: Settings, store: Store, failures: Failures | None = None) -> Eraser:
    """What carries out the erasures of a store."""
    return Eraser(
        store,
        SystemClock(),
        _owner(),
        about=documents_about_people(store),
        unnaming=without_paths(store.documents),
        tombstones=tombstone_file(settings),
        failures=failures,
    )


def build_expirer(
    settings: Settings, store: Store, failures: Failures | None = None, clock: Clock | None = None
) -> Expirer:
    """What puts down what is past its time to live, by the policy of the store's tenants."""
    clock = clock or SystemClock()
    preset = preset_of(settings)
    policy = TieredPolicy(preset, store.registry)
    tombstones = tombstone_file(settings)
    eraser = ExpiredEraser(store, clock, policy.ttl_rules, policy.erasure_rules, tombstones)
    return Expirer(store, clock, policy.ttl_rules, eraser, failures=failures)


def build_inquirer(
    settings: Settings, store: Store, held: ExitStack, failures: Failures | None = None
) -> Inquirer | None:
    """What asks the model that the settings name, until ``held`` closes; None where there is none."""
    if not settings.llm_url:
        return None
    from lamina.models.generator import OpenAiGenerator  # HTTP, for who names a model alone

    generator = OpenAiGenerator(
        settings.llm_url, settings.llm_model, settings.llm_api_key, timeout_s=settings.llm_timeout_s
    )
    held.callback(generator.close)
    return Inquirer(
        store,
        SystemClock(),
        generator,
        failures=failures,
        owner=_owner(),
        reads_turns=settings.llm_loops,
        tokens_per_day=settings.llm_tokens_per_day,
        timeout_s=settings.llm_timeout_s,
        at_once=settings.llm_concurrency,
    )


def build_worker(
    settings: Settings,
    store: Store,
    failures: Failures | None = None,
    *,
    replays: bool = False,
    behind: Callable[[], bool] | None = None,
    extractor: RulesExtractor | None = None,
    helper: str | None = None,
    steady: Clock | None = None,
) -> Worker:
    """A derivation loop over a store, with the parser and the embedding model loaded on first need. One that
    ``replays`` puts nothing down to be asked of a model; ``behind`` is what it does when it has time, ``extractor`` one that
    somebody else in this process loads, too. A ``helper``, by the name under which it holds leases, runs the stages alone.
    ``steady`` is the clock by which old keys are forgotten."""
    embedder = MiniLmEmbedder()
    deriver = Deriver(
        store,
        extractor or RulesExtractor(find_times),
        embedder,
        embed_eagerly=settings.embed == "eager",
        asks=READS if not replays and settings.llm_loops and settings.llm_url else None,
        words=not replays and settings.llm_understanding and settings.llm_url != "",
        nearness=Nearness(embedder.pooled),
    )
    return Worker(
        store,
        deriver,
        embedder,
        SystemClock(),
        helper or _owner(),
        failures=failures,
        behind=behind,
        calibrates=not replays,
        helps=helper is not None,
        steady=steady,
    )


def helper_name(parent: int, number: int) -> str:
    """Under which name the helper of a number holds leases, of those that a process keeps: whoever takes its place takes the name."""
    return f"{socket.gethostname()}:{parent}/{number}"


def build_upgrader(store: Store, extractor: RulesExtractor, failures: Failures | None = None) -> Upgrader:
    """What derives anew what an earlier release derived. Vectors are kept or put off, never made by it."""

    def worker_of(aside: Store) -> Worker:
        return Worker(
            aside,
            Deriver(aside, extractor, None, nearness=Nearness(MiniLmEmbedder().pooled)),
            None,
            SystemClock(),
            _owner(),
            failures=failures,
            calibrates=False,
        )

    return Upgrader(store, DERIVED_BY, worker_of, SystemClock(), failures)


def _owner() -> str:
    """Who holds the leases that this process takes."""
    return f"{socket.gethostname()}:{os.getpid()}"

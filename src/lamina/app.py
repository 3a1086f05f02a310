"""The wiring: this module alone knows everybody, and only wires."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.types import ASGIApp

from lamina import __version__, limits
from lamina.access.audit_operations import audit_operations
from lamina.access.audit_uses import AuditedUses
from lamina.access.operations import access_operations
from lamina.access.policy import Policy
from lamina.access.presets import load_preset, overruled
from lamina.access.principals import Principals, UnsignedPrincipals
from lamina.access.ratelimit import RelayRates
from lamina.access.relay_tokens import ByForm, RelayPrincipals, configured, issue, owner_grant
from lamina.access.retention import Retention
from lamina.access.rules import Rate, Rules, settings_defaults
from lamina.access.tiers import TieredPolicy
from lamina.access.tokens.issuers import Sources, read_issuers
from lamina.access.tokens.narrowing import token_allows
from lamina.access.tokens.operations import token_operations
from lamina.access.tokens.verifier import SignedPrincipals
from lamina.answer.answering import Answering
from lamina.answer.model import AnswerModel
from lamina.answer.narrating import Narrating
from lamina.answer.operations import answer_operations
from lamina.continuity.capsule.bounds import BOUNDS, GROUPS, help_row
from lamina.continuity.relay import RelayBounds, Surroundings, relay_operations
from lamina.coordination.operations import schedule_operations
from lamina.coordination.orientation import reminders_of
from lamina.coordination.reminding import Reminding, Windows
from lamina.gateway import Gateway
from lamina.http.cortex import cortex_routes
from lamina.http.doors import made_on_demand
from lamina.http.errors import from_validation
from lamina.http.relay.bridge import Bridge, bridge_operations
from lamina.http.relay.help import LimitTable
from lamina.http.relay.routes import relay_routes
from lamina.http.routes import Route
from lamina.http.server import create_application
from lamina.http.synapse import synapse_routes
from lamina.index.documents import DocumentIndex
from lamina.index.resident import ResidentIndexes
from lamina.kernel.ids import RandomIds
from lamina.kernel.operations import Operation
from lamina.kernel.relay import RELAY_SCOPE
from lamina.kernel.time import Clock, SystemClock
from lamina.language.temporal import find_times
from lamina.lifecycle.feed import Feed
from lamina.lifecycle.operations import lifecycle_operations
from lamina.models.counter import WordPieceCounter
from lamina.models.generator import OpenAiGenerator
from lamina.models.minilm import MiniLmEmbedder
from lamina.observe.health import operator_operations
from lamina.observe.operations import observe_operations
from lamina.observe.relay_health import relay_health_operations
from lamina.observe.rounds import Failures
from lamina.pipeline.capture import Capturing
from lamina.pipeline.correcting import Correcting
from lamina.pipeline.deciding import deciding_operations
from lamina.pipeline.derived_by import DERIVED_BY
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.operations import capture_operations, correction_operations
from lamina.pipeline.upgrading import Upgrader
from lamina.pipeline.vocabularies.operations import vocabulary_operations
from lamina.pipeline.worker import Worker
from lamina.recall.layers.operations import layer_operations
from lamina.recall.operations import recall_operations
from lamina.recall.phrases import phrase_operations
from lamina.recall.recalling import Recalling
from lamina.recall.retrieve import Retriever
from lamina.remote.documents import fetch_document
from lamina.session.asking import Asking
from lamina.session.associations import Associator
from lamina.session.brief import Briefing
from lamina.session.closing import Closing
from lamina.session.drain import Drain
from lamina.session.graph import GraphitiTarget, GraphModel
from lamina.session.ingest import Ingesting
from lamina.session.inquirer import Inquirer
from lamina.session.inside import Inside
from lamina.session.operations import SessionHandlers, session_operations
from lamina.settings import Settings
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore
from lamina.store.watch import Watch

__all__ = ["Server", "build_drain", "build_inquirer", "build_server", "build_upgrader", "build_worker"]

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_EXPERIMENTAL = frozenset({"on_prem_enterprise", "dev_local"})  # seed 002, 2.4.3
_THREADS = 96  # a wait or a stream holds one; captures pass through quickly


@dataclass(frozen=True, slots=True)
class Server:
    """Everything that one server process holds."""

    settings: Settings
    store: Store
    operations: tuple[Operation[Any], ...]
    routes: tuple[Route, ...]
    gateway: Gateway
    application: ASGIApp
    pool: ThreadPoolExecutor
    feed: Feed
    rules: Rules
    associator: Associator
    failures: Failures
    answerer: OpenAiGenerator | None = None

    def retention(self) -> Retention:
        """What deletes audit rows past their time."""
        return Retention(self.store, RandomIds(), SystemClock(), self.rules.audit_rules)

    def first_token(self) -> str | None:
        """A token of the owner, in ``dev_local`` and only when the tenant has none yet. It is kept nowhere."""
        tenant_id = self.settings.tenant
        if self.settings.preset != "dev_local" or self.store.relay_tokens.listed(tenant_id):
            return None
        return issue(
            self.store.relay_tokens,
            RandomIds(),
            SystemClock().now(),
            tenant_id=tenant_id,
            peer_id="owner",
            grant=owner_grant(),
            description="made at the first start",
        )

    def stop_streams(self) -> None:
        """End every open stream; a server that waits for its connections calls it first."""
        self.feed.close()

    def close(self) -> None:
        """Finish what runs, then let go of the store."""
        self.stop_streams()
        self.associator.close()
        if self.answerer is not None:
            self.answerer.close()
        self.pool.shutdown(wait=False, cancel_futures=True)
        self.store.close()


def build_server(
    settings: Settings,
    *,
    store: Store | None = None,
    clock: Clock | None = None,
    policy: Policy | None = None,
    principals: Principals | None = None,
) -> Server:
    """A server over a store, the embedded one in ``settings.data`` unless another is given.

    ``clock``, ``policy`` and ``principals`` are the machine's and the preset's unless given.
    """
    unsigned = settings.preset == "dev_local"
    preset = overruled(load_preset(settings.preset), settings_defaults(settings))
    issuers = {} if unsigned or principals is not None else read_issuers(settings.issuers, _sources())
    relay_peers = configured(settings.relay_tokens, settings.tenant) if settings.relay_tokens else {}
    kept: Store = store if store is not None else SqliteStore(settings.data)
    clock, ids = clock or SystemClock(), RandomIds()
    if principals is None:
        signed = SignedPrincipals(issuers, kept.revocations, clock)
        principals = ByForm(
            UnsignedPrincipals(settings) if unsigned else signed,
            RelayPrincipals(kept.relay_tokens, clock, relay_peers),
        )
    failures = Failures()
    watch = Watch(kept, failures)
    feed = Feed(kept, failures)
    tiers = TieredPolicy(
        preset,
        kept.registry,
        operators=[name.strip() for name in settings.operators.split(",") if name.strip()],
        token_allows=token_allows,
    )
    embedder = MiniLmEmbedder()
    indexes = ResidentIndexes(kept.index, embedder.name, embedder.dim_pooled)
    counter = WordPieceCounter()
    model = _answer_model(settings, failures)
    recalling = Recalling(
        kept, Retriever(kept, indexes, embedder), counter, ids, Narrating(model.asked if model else None)
    )
    answering = Answering(kept, recalling, counter, model.asked if model else None)
    reminding = Reminding(kept.schedule, _windows(settings))
    finder = DocumentIndex(kept.log, indexes, embedder, RELAY_SCOPE)
    associator = Associator(recalling, kept.records, deadline_s=settings.brief_deadline_ms / 1000)
    cortex = (
        *capture_operations(Capturing(kept, watch, ids)),
        *correction_operations(Correcting(kept, watch)),
        *deciding_operations(kept),
        *layer_operations(kept),
        *recall_operations(recalling),
        *answer_operations(answering),
        *phrase_operations(kept.definitions),
        *vocabulary_operations(kept.definitions),
        *lifecycle_operations(kept, feed, clock),
        *access_operations(tiers, kept.registry, kept.definitions),
        *audit_operations(kept),
        *token_operations(kept.revocations, ids, preset.name),
        *observe_operations(),
        *operator_operations(kept, watch, failures, keeps_worker=settings.workers > 0),
    )
    bridge = Bridge(LimitTable(GROUPS, [help_row(bound) for bound in BOUNDS.values()]))
    relay = (
        *relay_operations(
            kept.documents,
            Surroundings(
                finder, reminders_of(reminding), __version__, AuditedUses(kept.audit), kept.idempotency
            ),
            RelayBounds(settings.capsule_archive_days, settings.relay_payload_bytes_max),
        ),
        *schedule_operations(reminding),
        *bridge_operations(bridge),
        *relay_health_operations(kept, settings.tenant if unsigned else None),
    )
    relay_rows = relay_routes(relay)
    bridge.describe(relay_rows)
    session = session_operations(
        SessionHandlers(
            Ingesting(kept),
            Briefing(kept, associator),
            Closing(kept),
            Asking(kept, associator, watch, learn_s=limits.LEARN_S_MAX),
            Inside(kept, settings.internal_token),
        )
    )
    routes = (*cortex_routes(cortex), *relay_rows, *synapse_routes(session))
    gateway = Gateway(
        principals=principals,
        policy=policy or tiers,
        clock=clock,
        ids=ids,
        store=kept,
        rules=tiers,
        relay_rates=RelayRates(
            Rate(settings.relay_token_rate_per_min, 60), Rate(settings.relay_ip_rate_per_min, 60)
        ),
        experimental=settings.enable_experimental or settings.preset in _EXPERIMENTAL,
    )
    pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="lamina-call")

    def mcp_door() -> ASGIApp:
        from lamina.mcp.door import McpDoor  # with its SDK, a quarter of what a start imports

        groups = {"cortex": cortex, "relay": relay, "session": session}
        operations = (*cortex, *relay, *session)
        return McpDoor(gateway, operations, groups, pool=pool, clock=clock, refusal=from_validation)

    application = create_application(
        gateway,
        routes,
        pool=pool,
        hosts=_LOOPBACK if unsigned else None,
        doors={"/mcp": made_on_demand(mcp_door, pool)},
    )
    return Server(
        settings,
        kept,
        (*cortex, *relay, *session),
        routes,
        gateway,
        application,
        pool,
        feed,
        tiers,
        associator,
        failures,
        model.generator if model else None,
    )


def _windows(settings: Settings) -> Windows:
    return Windows(
        settings.schedule_due_limit, settings.schedule_upcoming_limit, settings.schedule_upcoming_window_hours
    )


def _sources() -> Sources:
    fetch = partial(fetch_document, bytes_max=limits.JWKS_BYTES_MAX, timeout_s=limits.JWKS_WAIT_S)
    return Sources(fetch, time.monotonic)


@dataclass(frozen=True, slots=True)
class _Answerer:
    """What words answers, and the connections that it holds."""

    asked: AnswerModel
    generator: OpenAiGenerator


def _answer_model(settings: Settings, failures: Failures) -> _Answerer | None:
    """The language model that words answers; None where there is none."""
    chosen = settings.answering
    if chosen is None:
        return None
    generator = OpenAiGenerator(
        chosen.url,
        chosen.model,
        chosen.api_key,
        timeout_s=settings.answer_timeout_s,
        retries=settings.answer_retries,
    )
    model = AnswerModel(
        generator,
        at_once=settings.answer_concurrency,
        wait_s=settings.answer_timeout_s,
        failures=failures,
    )
    return _Answerer(model, generator)


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


def build_inquirer(
    settings: Settings, store: Store, held: ExitStack, failures: Failures | None = None
) -> Inquirer | None:
    """What asks the model that the settings name, until ``held`` closes; None where there is none."""
    if not settings.llm_url:
        return None
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
        asks_loops=settings.llm_loops,
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
) -> Worker:
    """A derivation loop over a store, with the parser and the embedding model loaded on first need. One that
    ``replays`` puts nothing down to be asked of a model; ``behind`` is what it does when it has time, ``extractor`` one that
    somebody else in this process loads, too."""
    embedder = MiniLmEmbedder()
    deriver = Deriver(
        store,
        extractor or RulesExtractor(find_times),
        embedder,
        embed_eagerly=settings.embed == "eager",
        asks_loops=not replays and settings.llm_loops and settings.llm_url != "",
    )
    return Worker(
        store,
        deriver,
        embedder,
        SystemClock(),
        _owner(),
        failures=failures,
        behind=behind,
        calibrates=not replays,
    )


def build_upgrader(store: Store, extractor: RulesExtractor, failures: Failures | None = None) -> Upgrader:
    """What derives anew what an earlier release derived. Vectors are kept or put off, never made by it."""

    def worker_of(aside: Store) -> Worker:
        return Worker(
            aside,
            Deriver(aside, extractor, None),
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

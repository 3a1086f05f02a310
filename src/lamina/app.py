"""The wiring of a server: this module alone knows everybody, and only wires. What works behind the log is wired beside it (``worker_app``)."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.types import ASGIApp

from lamina import __version__, limits
from lamina.access.audit_operations import audit_operations
from lamina.access.audit_uses import AuditedUses
from lamina.access.callers import callers_of
from lamina.access.operations import access_operations
from lamina.access.policy import Policy
from lamina.access.presets import peer_hosts_under, preset_of
from lamina.access.principals import Principals
from lamina.access.ratelimit import RelayRates
from lamina.access.relay_tokens import ByForm, RelayPrincipals, configured, issue, owner_grant
from lamina.access.retention import Retention
from lamina.access.rules import Rate, Rules
from lamina.access.security.keyring import Keyring
from lamina.access.security.operations import KeyHandlers, security_operations
from lamina.access.security.sealing import KeySeal
from lamina.access.security.tokens import TokenHandlers
from lamina.access.tiers import TieredPolicy
from lamina.access.tokens.narrowing import token_allows
from lamina.access.tokens.operations import token_operations
from lamina.answer.answering import Answering
from lamina.answer.model import AnswerModel
from lamina.answer.narrating import Narrating
from lamina.answer.operations import answer_operations
from lamina.continuity.capsule.bounds import GROUPS, help_rows
from lamina.continuity.relay import SECTIONS, RelayBounds, Surroundings, relay_operations
from lamina.coordination.artifacts.operations import ArtifactParts, artifact_operations
from lamina.coordination.checking.merging import merge_operations
from lamina.coordination.checking.operations import check_operations
from lamina.coordination.checking.running import Checking
from lamina.coordination.checking.sandbox import Sandbox
from lamina.coordination.governance import governance_operations
from lamina.coordination.messages.operations import MessageParts, message_operations
from lamina.coordination.operations import schedule_operations
from lamina.coordination.operator_bounds import alarm_bounds, failure_bounds, reminder_windows
from lamina.coordination.operators.figures import TenantFigures
from lamina.coordination.operators.operations import (
    OperatorParts,
    job_operations,
    operator_figures,
    operator_jobs,
)
from lamina.coordination.orientation import reminders_of
from lamina.coordination.owned import documents_about_people
from lamina.coordination.patches.operations import patch_operations
from lamina.coordination.peers.operations import peer_operations
from lamina.coordination.peers.registering import PeerRegistering
from lamina.coordination.reminding import Reminding
from lamina.coordination.replication.bounds import REPLICATION_ANSWER_BYTES_MAX
from lamina.coordination.replication.operations import replication_operations
from lamina.coordination.replication.pulling import Pulling
from lamina.coordination.replication.pushing import Pushing
from lamina.coordination.tasks.operations import task_operations
from lamina.forget.erasure_operations import erasure_operations
from lamina.forget.executing import Executing
from lamina.forget.operations import forget_operations
from lamina.forget.previewing import Previewing
from lamina.gateway import Gateway
from lamina.http.bodies import Bodies
from lamina.http.cortex import cortex_routes
from lamina.http.doors import guarded_door, made_on_demand
from lamina.http.errors import from_validation
from lamina.http.mem0.door import mem0_doors
from lamina.http.relay.bridge import Bridge, bridge_operations
from lamina.http.relay.contract import MCP_LINES
from lamina.http.relay.help import LimitTable
from lamina.http.relay.routes import relay_routes
from lamina.http.relay.rpc.door import relay_mcp_door
from lamina.http.relay.rpc.methods import RelayMethods
from lamina.http.routes import Route
from lamina.http.server import create_application
from lamina.http.synapse import synapse_routes
from lamina.index.blocks import Blocks
from lamina.index.documents import DocumentIndex
from lamina.index.resident import ResidentIndexes
from lamina.kernel.hosts import PeerHosts, own_url
from lamina.kernel.ids import IdSource, RandomIds
from lamina.kernel.operations import Operation
from lamina.kernel.relay import RELAY_SCOPE
from lamina.kernel.signatures import Signatures
from lamina.kernel.time import Clock, Instant, SystemClock
from lamina.lifecycle.feed import Feed
from lamina.lifecycle.operations import lifecycle_operations
from lamina.models.counter import WordPieceCounter
from lamina.models.minilm import MiniLmEmbedder
from lamina.observe.figures import CallCounts
from lamina.observe.health import operator_operations
from lamina.observe.metrics import metrics_operations
from lamina.observe.operations import observe_operations
from lamina.observe.relay_health import relay_health_operations
from lamina.observe.rounds import Failures
from lamina.observe.steady_clock import SteadyClock
from lamina.observe.traces import CarryingPool
from lamina.pipeline.capture import Capturing
from lamina.pipeline.correcting import Correcting
from lamina.pipeline.deciding import deciding_operations
from lamina.pipeline.operations import capture_operations, correction_operations
from lamina.pipeline.readings.forgetting import reading_operations
from lamina.pipeline.vocabularies.operations import vocabulary_operations
from lamina.recall.layers.operations import layer_operations
from lamina.recall.operations import recall_operations
from lamina.recall.phrases import phrase_operations
from lamina.recall.recalling import Recalling
from lamina.recall.retrieve import Retriever
from lamina.recall.room import RecallRoom
from lamina.remote import fetch_document, fetch_from_peer, send_to_peer
from lamina.session.asking import Asking
from lamina.session.associations import Associator
from lamina.session.brief import Briefing
from lamina.session.closing import SessionClosing
from lamina.session.ingest import Ingesting
from lamina.session.inside import Inside
from lamina.session.operations import SessionHandlers, session_operations
from lamina.settings import Settings, cores
from lamina.store.backups.documents import DocumentBackups
from lamina.store.backups.tombstones import NoTombstones, tombstone_file
from lamina.store.documents.paths import document_path
from lamina.store.opening import open_store
from lamina.store.peers import DocumentPeers
from lamina.store.ports.documents import Documents
from lamina.store.ports.peers import Peers
from lamina.store.ports.store import Store
from lamina.store.tallies import LocalBuckets, SharedTallies
from lamina.store.watch import Watch

__all__ = [
    "Beside",
    "Server",
    "build_server",
]

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_EXPERIMENTAL = frozenset({"on_prem_enterprise", "dev_local"})  # seed 002, 2.4.3
_THREADS = 144  # a wait and a recall that waits hold one each, 112 at most; all else passes through quickly


@dataclass(frozen=True, slots=True)
class Beside:
    """What a server shares with those that serve beside it, None where there are none, and how many they are with it."""

    failures: Failures
    tallies: SharedTallies | None = None
    processes: int = 1
    blocks: Blocks | None = None

    def calls(self) -> CallCounts:
        """What calls are counted in: where processes share memory, in a part of it."""
        return CallCounts() if self.tallies is None else CallCounts(self.tallies.more, self.tallies.number)


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
    recalling: Recalling
    associator: Associator
    failures: Failures
    signatures: Signatures
    stop_answering: Callable[[], None] | None = None

    def retention(self) -> Retention:
        """What deletes audit rows past their time."""
        steady = SteadyClock(SystemClock(), self.store.upkeep.state().last_recorded_at)
        return Retention(self.store, RandomIds(), steady, self.rules.audit_rules)

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
        if self.stop_answering is not None:
            self.stop_answering()
        self.pool.shutdown(wait=False, cancel_futures=True)
        self.store.close()


def build_server(
    settings: Settings,
    *,
    store: Store | None = None,
    clock: Clock | None = None,
    ids: IdSource | None = None,
    policy: Policy | None = None,
    principals: Principals | None = None,
    beside: Beside | None = None,
) -> Server:
    """A server over a store, the embedded one in ``settings.data`` unless another is given.

    ``clock``, ``ids``, ``policy`` and ``principals`` are the machine's and the preset's unless given.
    """
    unsigned = settings.preset == "dev_local"
    preset = preset_of(settings)
    callers = callers_of(settings, _fetched, time.monotonic) if principals is None else None
    relay_peers = configured(settings.relay_tokens, settings.tenant) if settings.relay_tokens else {}
    beside = beside or Beside(Failures())
    kept: Store = store or open_store(settings, shared=beside.processes > 1, failures=beside.failures)
    # Whoever has a store of their own keeps its list.
    tombstones = NoTombstones() if store is not None else tombstone_file(settings)
    clock, ids = clock or SystemClock(), ids or RandomIds()
    peers = DocumentPeers(kept.documents)
    if principals is None:
        assert callers is not None, "they were read before the store was opened"
        by_token = RelayPrincipals(kept.relay_tokens, clock, relay_peers, peers)
        principals = ByForm(callers(kept.revocations, clock), by_token)
    failures, calls = beside.failures, beside.calls()
    served: list[str] = []

    def metrics_page(now: Instant) -> str:
        # With its library, a twentieth of what a start imports.
        from lamina.observe.prometheus import Measuring

        return Measuring(kept, failures, calls, processes=beside.processes, operations=served).page(now)

    watch, feed = Watch(kept, failures), Feed(kept, failures, taken=beside.tallies)
    tiers = TieredPolicy(
        preset,
        kept.registry,
        operators=[name.strip() for name in settings.operators.split(",") if name.strip()],
        token_allows=token_allows,
        erasures=kept.erasures,
    )
    embedder = MiniLmEmbedder()
    indexes = ResidentIndexes(kept.index, embedder.name, embedder.dim_pooled, blocks=beside.blocks)
    counter = WordPieceCounter()
    model = _answer_model(settings, clock, failures)
    asked = model.asked if model else None
    recalling = Recalling(
        kept,
        Retriever(kept, indexes, embedder),
        counter,
        ids,
        Narrating(asked),
        RecallRoom(max(1, cores() // beside.processes)),
    )
    answering = Answering(kept, recalling, counter, asked)
    reminding = Reminding(kept.schedule, reminder_windows(settings))
    finder = DocumentIndex(kept.log, indexes, embedder, RELAY_SCOPE)
    associator = Associator(recalling, kept.records, deadline_s=settings.brief_deadline_ms / 1000)
    previewing = Previewing(kept, ids, tiers.erasure_rules, documents_about_people(kept))
    executing = Executing(kept, previewing, ids, tiers.erasure_rules)
    cortex = (
        *capture_operations(Capturing(kept, watch, ids)),
        *correction_operations(Correcting(kept, watch)),
        *deciding_operations(kept),
        *reading_operations(kept),
        *layer_operations(kept),
        *forget_operations(kept, tiers.erasure_rules, tombstones),
        *recall_operations(recalling),
        *answer_operations(answering),
        *phrase_operations(kept.definitions),
        *vocabulary_operations(kept.definitions),
        *lifecycle_operations(kept, feed, clock),
        *erasure_operations(previewing, executing),
        *access_operations(tiers, kept.registry, kept.definitions, executing.with_registration),
        *audit_operations(kept),
        *token_operations(kept.revocations, ids, preset.name),
        *observe_operations(),
        *metrics_operations(metrics_page),
        *operator_operations(
            kept, watch, failures, keeps_worker=settings.workers > 0, backs_up=settings.backup_at != ""
        ),
    )
    keyring = Keyring(
        kept.signing_keys, KeySeal(settings.relay_keys, secrets.token_bytes), secrets.token_bytes
    )
    security = TokenHandlers(kept.relay_tokens, kept.documents, ids), KeyHandlers(keyring, kept.documents)
    endpoints: dict[str, str] = {}
    figures = TenantFigures(kept, lambda endpoint: endpoints.get(endpoint, endpoint), alarm_bounds(settings))
    operators = OperatorParts(
        kept,
        ids,
        clock,
        figures,
        DocumentBackups(settings.document_backups, document_path),
        settings.histories,
    )
    offered, peer_hosts = settings.relay_replication, peer_hosts_under(settings, preset)
    pulling = Pulling(kept.documents, peers, kept.idempotency, settings.histories, offered=offered)
    bridge = Bridge(LimitTable(GROUPS, help_rows()))
    relay = (
        *relay_operations(
            kept.documents,
            Surroundings(
                finder,
                reminders_of(reminding),
                __version__,
                AuditedUses(kept.audit, kept.peppers),
                kept.idempotency,
            ),
            RelayBounds(settings.capsule_archive_days),
        ),
        *schedule_operations(reminding),
        *artifact_operations(ArtifactParts(kept.documents, peers, ids)),
        *task_operations(kept.documents),
        *patch_operations(kept.documents, ids),
        *merge_operations(),
        *check_operations(
            Checking(
                kept.documents,
                ids,
                Sandbox([settings.data, settings.backups], time.monotonic).run,
                settings.check_commands,
            )
        ),
        *replication_operations(
            pulling,
            _pushing(settings, kept.documents, peers, peer_hosts),
        ),
        *security_operations(*security),
        *peer_operations(_registry(settings, kept.documents, peers, peer_hosts)),
        *message_operations(
            MessageParts(
                messages=kept.messages,
                documents=kept.documents,
                idempotency=kept.idempotency,
                signatures=keyring,
                tallies=beside.tallies or LocalBuckets(),
                failures=failure_bounds(settings),
                ids=ids,
                strict=settings.require_signed_ingress,
            )
        ),
        *governance_operations(kept.documents, settings.tenant if unsigned else None),
        *operator_figures(operators),
        *bridge_operations(bridge),
        *relay_health_operations(
            kept, settings.tenant if unsigned else None, signed_ingress=settings.require_signed_ingress
        ),
    )
    replay = next(each.handler for each in relay if each.name == "messages_replay")
    relay = (*relay, *operator_jobs(operators, replay))
    relay = (*relay, *job_operations(operators, relay, own_url(settings.host, settings.port)))
    relay_rows = relay_routes(relay)
    endpoints |= {f"{row.verb} {row.path}": row.operation.name for row in relay_rows}
    described = bridge.describe(relay_rows, SECTIONS, MCP_LINES)
    session = session_operations(
        SessionHandlers(
            Ingesting(kept),
            Briefing(kept, associator),
            SessionClosing(kept),
            Asking(kept, associator, watch, learn_s=limits.LEARN_S_MAX),
            Inside(kept, settings.internal_token),
        )
    )
    routes = (*cortex_routes(cortex), *relay_rows, *synapse_routes(session))
    served += [operation.name for operation in (*cortex, *relay, *session)]
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
        relay_payload_bytes_max=settings.relay_payload_bytes_max,
        buckets=beside.tallies,
        calls=calls,
        experimental=settings.enable_experimental or preset.name in _EXPERIMENTAL,
    )
    pool, bodies = CarryingPool(_THREADS, thread_name_prefix="lamina-call"), Bodies()

    def mcp_door() -> ASGIApp:
        from lamina.mcp.door import McpDoor  # with its SDK, a quarter of what a start imports

        groups = {"cortex": cortex, "relay": relay, "session": session}
        operations = (*cortex, *relay, *session)
        return McpDoor(gateway, operations, groups, pool=pool, clock=clock, refusal=from_validation)

    methods = RelayMethods(described, gateway, kept.idempotency, clock)
    doors = {
        "/mcp": guarded_door(gateway, made_on_demand(mcp_door, pool), "/mcp", pool, bodies),
        "/v1/mcp": relay_mcp_door(gateway, methods, pool, bodies),
    }
    if "mem0" in settings.further_doors:
        doors |= mem0_doors(gateway, cortex, pool=pool, clock=clock, bodies=bodies, believes=unsigned)
    hosts = _LOOPBACK if unsigned else None
    application = create_application(gateway, routes, pool=pool, hosts=hosts, doors=doors, bodies=bodies)
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
        recalling,
        associator,
        failures,
        keyring,
        model.close if model else None,
    )


def _registry(settings: Settings, documents: Documents, peers: Peers, hosts: PeerHosts) -> PeerRegistering:
    fetch = partial(
        fetch_from_peer,
        hosts=hosts,
        bytes_max=limits.MANIFEST_BYTES_MAX,
        timeout_s=limits.MANIFEST_WAIT_S,
    )
    return PeerRegistering(documents, peers, fetch, settings.relay_peer_trust_history_max_hot_entries)


def _pushing(settings: Settings, documents: Documents, peers: Peers, hosts: PeerHosts) -> Pushing:
    def send(url: str, body: bytes, token: str | None, timeout_s: float) -> bytes:
        most = REPLICATION_ANSWER_BYTES_MAX
        return send_to_peer(url, body, token, hosts, bytes_max=most, timeout_s=timeout_s)

    return Pushing(
        documents,
        peers,
        send,
        offered=settings.relay_replication,
        bytes_max=settings.relay_payload_bytes_max,
        seconds=time.monotonic,
    )


def _fetched(url: str) -> bytes:
    return fetch_document(url, bytes_max=limits.JWKS_BYTES_MAX, timeout_s=limits.JWKS_WAIT_S)


@dataclass(frozen=True, slots=True)
class _Answerer:
    """What words answers, and the connections that it holds."""

    asked: AnswerModel
    close: Callable[[], None]


def _answer_model(settings: Settings, clock: Clock, failures: Failures) -> _Answerer | None:
    """The language model that words answers; None where there is none."""
    chosen = settings.answering
    if chosen is None:
        return None
    from lamina.models.generator import OpenAiGenerator  # HTTP, for who names a model alone

    generator = OpenAiGenerator(
        chosen.url,
        chosen.model,
        chosen.api_key,
        timeout_s=settings.answer_timeout_s,
        retries=settings.answer_retries,
    )
    model = AnswerModel(
        generator,
        clock,
        at_once=settings.answer_concurrency,
        wait_s=settings.answer_timeout_s,
        failures=failures,
    )
    return _Answerer(model, generator.close)

"""What the Relay contract names: its tools, features and workflows, and what each of them stands on.

Data only, in the contract's order. ``catalogue.py`` shows of it what the server's rows carry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = [
    "BESIDE",
    "CAPABILITIES",
    "CONTRACT_VERSION",
    "ENTRYPOINTS",
    "FEATURES",
    "FIRST_CALLS",
    "HELP_METHODS",
    "HELP_PATH",
    "LOCAL_ONLY",
    "MCP_ENDPOINT",
    "MCP_LINES",
    "MCP_METHODS",
    "MCP_TRANSPORT",
    "MCP_VERSION",
    "MCP_VERSIONS",
    "NO_TOOLS",
    "REPEATABLE",
    "TOOLS",
    "WORKFLOWS",
    "CapabilityEntry",
    "RouteTool",
    "Workflow",
]

CONTRACT_VERSION: Final = "2026-02-25"
MCP_VERSION: Final = "2025-11-25"
MCP_VERSIONS: Final = ("2025-06-18", "2025-11-25")
MCP_TRANSPORT: Final = "streamable-http"
MCP_ENDPOINT: Final = "POST /v1/mcp"
MCP_LINES: Final = ("GET /v1/mcp", MCP_ENDPOINT)
"""Where the contract's own MCP is served; the first is only ever refused."""
MCP_METHODS: Final = ("initialize", "notifications/initialized", "ping", "tools/list", "tools/call")
"""The methods of the protocol; those of the help come after them."""
HELP_PATH: Final = "/v1/help"

NO_TOOLS: Final = (HELP_PATH, "/v1/mcp", "/.well-known")
"""Where the paths begin that explain or carry tools and are none themselves."""


@dataclass(frozen=True, slots=True)
class RouteTool:
    """The name that the contract gives to a route, and the Relay scopes that a token needs for it."""

    name: str
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CapabilityEntry:
    """An entry of ``GET /v1/capabilities``. ``needs`` is written as in ``FEATURES``."""

    summary: str
    needs: str


@dataclass(frozen=True, slots=True)
class Workflow:
    """Tools in the order in which they are used together."""

    description: str
    steps: Sequence[str]


_FILE_WRITE = ("write:journal|write:messages|write:projects", "write_namespaces")
_READ = ("read:files", "read_namespaces")
_SEARCH = ("search", "read_namespaces")
_INDEX = ("read:index",)
_WRITE = ("write:projects", "write_namespaces")
_WRITE_KNOWN = (*_WRITE, "read_namespaces")
_PLAN = ("read:files", "write:projects", "read_namespaces", "write_namespaces")
_CALLER = ("authenticated",)
_OWNER = (*_WRITE, "authenticated owner")
_QUERY = ("read:files",)
_SNAPSHOT = ("search", "write:projects", "write_namespaces", "read_namespaces")
_ADMIN = ("admin:peers",)
_ADMIN_READ = (*_ADMIN, "read_namespaces")
_ADMIN_WRITE = (*_ADMIN, "write_namespaces")
_MESSAGES = ("write:messages", "write_namespaces")

TOOLS: Final[Mapping[str, RouteTool]] = {
    "GET /health": RouteTool("system.health", ()),
    "GET /capabilities": RouteTool("system.capabilities", ()),
    "GET /v1/capabilities": RouteTool("system.capabilities_v1", ()),
    "GET /v1/manifest": RouteTool("system.manifest", ()),
    "GET /v1/contracts": RouteTool("system.contracts", ()),
    "GET /v1/governance/policy": RouteTool("system.governance_policy", ()),
    "GET /v1/discovery": RouteTool("system.discovery", ()),
    "GET /v1/discovery/tools": RouteTool("system.discovery_tools", ()),
    "GET /v1/discovery/workflows": RouteTool("system.discovery_workflows", ()),
    "POST /v1/write": RouteTool("memory.write", _FILE_WRITE),
    "POST /v1/append": RouteTool("memory.append_jsonl", _FILE_WRITE),
    "GET /v1/read": RouteTool("memory.read", _READ),
    "POST /v1/index/rebuild": RouteTool("index.rebuild_full", _INDEX),
    "POST /v1/index/rebuild-incremental": RouteTool("index.rebuild_incremental", _INDEX),
    "GET /v1/index/status": RouteTool("index.status", _INDEX),
    "GET /v1/peers": RouteTool("peers.list", _READ),
    "POST /v1/peers/register": RouteTool("peers.register", _ADMIN_WRITE),
    "POST /v1/peers/{peer_id}/trust": RouteTool("peers.trust_transition", _ADMIN_WRITE),
    "GET /v1/peers/{peer_id}/manifest": RouteTool("peers.fetch_manifest", _READ),
    "POST /v1/search": RouteTool("search.query", _SEARCH),
    "POST /v1/recent": RouteTool("recent.list", _SEARCH),
    "POST /v1/schedule/items": RouteTool("schedule.create", _WRITE),
    "GET /v1/schedule/items/{schedule_id}": RouteTool("schedule.get", _READ),
    "GET /v1/schedule/items": RouteTool("schedule.list", _READ),
    "PATCH /v1/schedule/items/{schedule_id}": RouteTool("schedule.update", _WRITE),
    "POST /v1/schedule/items/{schedule_id}/acknowledge": RouteTool("schedule.acknowledge", _WRITE),
    "POST /v1/schedule/items/{schedule_id}/retire": RouteTool("schedule.retire", _WRITE),
    "POST /v1/context/retrieve": RouteTool("context.retrieve", _SEARCH),
    "POST /v1/continuity/upsert": RouteTool("continuity.upsert", _WRITE),
    "POST /v1/continuity/read": RouteTool("continuity.read", _READ),
    "POST /v1/continuity/compare": RouteTool("continuity.compare", _READ),
    "POST /v1/continuity/revalidate": RouteTool("continuity.revalidate", _WRITE_KNOWN),
    "POST /v1/continuity/refresh/plan": RouteTool("continuity.refresh_plan", _PLAN),
    "POST /v1/continuity/retention/plan": RouteTool("continuity.retention_plan", _PLAN),
    "POST /v1/continuity/list": RouteTool("continuity.list", _READ),
    "POST /v1/continuity/archive": RouteTool("continuity.archive", _WRITE_KNOWN),
    "POST /v1/continuity/delete": RouteTool("continuity.delete", _WRITE_KNOWN),
    "POST /v1/continuity/patch": RouteTool("continuity.patch", _WRITE),
    "POST /v1/continuity/lifecycle": RouteTool("continuity.lifecycle", _WRITE),
    "POST /v1/coordination/handoff/create": RouteTool("coordination.handoff_create", _WRITE),
    "GET /v1/coordination/handoff/{handoff_id}": RouteTool("coordination.handoff_read", _CALLER),
    "GET /v1/coordination/handoffs/query": RouteTool("coordination.handoffs_query", _QUERY),
    "POST /v1/coordination/handoff/{handoff_id}/consume": RouteTool("coordination.handoff_consume", _CALLER),
    "POST /v1/coordination/shared/create": RouteTool("coordination.shared_create", _WRITE),
    "GET /v1/coordination/shared/{shared_id}": RouteTool("coordination.shared_read", _CALLER),
    "GET /v1/coordination/shared/query": RouteTool("coordination.shared_query", _QUERY),
    "POST /v1/coordination/shared/{shared_id}/update": RouteTool("coordination.shared_update", _OWNER),
    "POST /v1/coordination/reconciliation/open": RouteTool("coordination.reconciliation_open", _WRITE),
    "GET /v1/coordination/reconciliation/{reconciliation_id}": RouteTool(
        "coordination.reconciliation_read", _CALLER
    ),
    "GET /v1/coordination/reconciliations/query": RouteTool("coordination.reconciliations_query", _QUERY),
    "POST /v1/coordination/reconciliation/{reconciliation_id}/resolve": RouteTool(
        "coordination.reconciliation_resolve", _OWNER
    ),
    "POST /v1/context/snapshot": RouteTool("context.snapshot_create", _SNAPSHOT),
    "GET /v1/context/snapshot/{snapshot_id}": RouteTool("context.snapshot_get", _READ),
    "POST /v1/tasks": RouteTool("tasks.create", _WRITE),
    "PATCH /v1/tasks/{task_id}": RouteTool("tasks.update", _WRITE),
    "GET /v1/tasks/query": RouteTool("tasks.query", _READ),
    "POST /v1/docs/patch/propose": RouteTool("docs.patch_propose", _WRITE),
    "POST /v1/docs/patch/apply": RouteTool("docs.patch_apply", _WRITE),
    "POST /v1/code/patch/propose": RouteTool("code.patch_propose", _WRITE),
    "POST /v1/code/checks/run": RouteTool("code.checks_run", _WRITE),
    "POST /v1/code/merge": RouteTool("code.merge", _WRITE),
    "GET /v1/security/tokens": RouteTool("security.tokens_list", _ADMIN_READ),
    "POST /v1/security/tokens/issue": RouteTool("security.tokens_issue", _ADMIN_WRITE),
    "POST /v1/security/tokens/revoke": RouteTool("security.tokens_revoke", _ADMIN_WRITE),
    "POST /v1/security/tokens/rotate": RouteTool("security.tokens_rotate", _ADMIN_WRITE),
    "POST /v1/security/keys/rotate": RouteTool("security.keys_rotate", _ADMIN_WRITE),
    "POST /v1/messages/verify": RouteTool("messages.verify", _MESSAGES),
    "GET /v1/metrics": RouteTool("metrics.get", _INDEX),
    "POST /v1/replay/messages": RouteTool("messages.replay", _MESSAGES),
    "POST /v1/replication/pull": RouteTool("replication.pull", ("replication:sync", "write_namespaces")),
    "POST /v1/replication/push": RouteTool("replication.push", ("replication:sync", "read_namespaces")),
    "POST /v1/messages/send": RouteTool("messages.send", _MESSAGES),
    "POST /v1/messages/ack": RouteTool("messages.ack", _MESSAGES),
    "GET /v1/messages/pending": RouteTool("messages.pending", _READ),
    "GET /v1/messages/inbox": RouteTool("messages.inbox", _READ),
    "GET /v1/messages/thread": RouteTool("messages.thread", _READ),
    "POST /v1/relay/forward": RouteTool("messages.relay_forward", _MESSAGES),
    "POST /v1/compact/run": RouteTool("memory.compaction_plan", ("compact:trigger", "write_namespaces")),
    "POST /v1/backup/create": RouteTool("backup.create", _ADMIN_WRITE),
    "POST /v1/backup/restore-test": RouteTool("backup.restore_test", _ADMIN_READ),
    "GET /v1/ops/catalog": RouteTool("ops.catalog", _ADMIN),
    "GET /v1/ops/status": RouteTool("ops.status", _ADMIN),
    "POST /v1/ops/run": RouteTool("ops.run", _ADMIN),
    "GET /v1/ops/schedule/export": RouteTool("ops.schedule_export", _ADMIN),
}
"""Every tool by its verb and path."""

BESIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "POST /v1/continuity/history": _READ,
    "POST /v1/continuity/diff": _READ,
}
"""Rows of ours that people and scripts call, with the scopes that a token needs: endpoints, and no tools."""

REPEATABLE: Final = frozenset({"schedule.create", "backup.restore_test"})
"""Tools that write and still do nothing more when called again with the same arguments."""

LOCAL_ONLY: Final = frozenset({"ops.catalog", "ops.status", "ops.run", "ops.schedule_export"})

FEATURES: Final[Mapping[str, str]] = {
    "write": "memory.write",
    "read": "memory.read",
    "append_jsonl": "memory.append_jsonl",
    "index_rebuild": "index.rebuild_full",
    "search": "search.query",
    "context_retrieve": "context.retrieve",
    "continuity_state": "continuity.upsert continuity.read context.retrieve",
    "context_snapshot": "context.snapshot_create context.snapshot_get",
    "messages_send_inbox": "messages.send messages.inbox",
    "compact_summary": "memory.compaction_plan",
    "audit_log": "",
    "peer_tokens_json": "security.tokens_list",
    "peers_registry": "peers.list peers.register",
    "sqlite_fts_search": "search.query",
    "index_incremental": "index.rebuild_incremental",
    "relay_forward": "messages.relay_forward",
    "messages_reliable_delivery": "messages.send messages.pending messages.ack",
    "discovery_manifest": "system.discovery system.manifest",
    "discovery_tools": "system.discovery_tools",
    "discovery_workflows": "system.discovery_workflows",
    "mcp_jsonrpc": "/v1/mcp",
    "tasks_workflows": "tasks.create tasks.update tasks.query",
    "patch_proposals": "docs.patch_propose docs.patch_apply code.patch_propose",
    "checks_and_merge_policy": "code.checks_run code.merge",
    "security_keys_rotation": "security.keys_rotate",
    "security_token_lifecycle": "security.tokens_issue security.tokens_revoke security.tokens_rotate",
    "messages_signature_verify": "messages.verify",
    "strict_signed_ingress": "messages.send messages.verify",
    "metrics_endpoint": "metrics.get",
    "messages_replay": "messages.replay",
    "replication_push_pull": "replication.push replication.pull",
    "trust_policy_transitions": "peers.trust_transition",
    "backup_restore_validation": "backup.create backup.restore_test",
    "api_contract_versioning": "system.contracts",
    "governance_policy_pack": "system.governance_policy",
    "abuse_controls": "",
    "host_ops_orchestration": "ops.catalog ops.status ops.run",
    "derived_graph_runtime_context": "context.retrieve:graph_context continuity.read:graph_summary",
    "schedule.one_shot_reminders": "schedule.create schedule.list schedule.acknowledge",
}
"""The strings of ``GET /capabilities``, each with what it needs: tools, ``tool:field`` where a request has to have a
field or the wiring a section of the answer, a path where no tool is meant. What needs nothing is in every server: its
gateway audits each call of a known caller, and bounds bodies and rates."""

CAPABILITIES: Final[Mapping[str, CapabilityEntry]] = {
    "continuity.read.startup_view": CapabilityEntry(
        "A read with view startup adds a summary that is ordered for taking up work again.",
        "continuity.read:view",
    ),
    "continuity.read.trust_signals": CapabilityEntry(
        "Reads say how recent, complete and sound a capsule is, and whether it is the one asked for.",
        "continuity.read",
    ),
    "continuity.upsert.session_end_snapshot": CapabilityEntry(
        "An upsert takes the few fields that a session's end changes beside a base capsule.",
        "continuity.upsert:session_end_snapshot",
    ),
    "continuity.read.salience_ranking": CapabilityEntry(
        "Capsules can be listed in a fixed order of salience, computed when they are asked for.",
        "continuity.list:sort",
    ),
    "continuity.read.thread_identity": CapabilityEntry(
        "Capsules of threads and tasks carry a descriptor that lists can be filtered by.",
        "continuity.list:scope_anchor",
    ),
    "continuity.stable_preferences": CapabilityEntry(
        "Capsules of users and peers keep lasting preferences.", "continuity.upsert:stable_preferences"
    ),
    "continuity.upsert.preserve_mode": CapabilityEntry(
        "An upsert with merge_mode preserve keeps what the request leaves out.",
        "continuity.upsert:merge_mode",
    ),
    "continuity.patch": CapabilityEntry(
        "Single items of a capsule's lists are appended, removed or replaced, all or none.",
        "continuity.patch",
    ),
    "continuity.lifecycle": CapabilityEntry(
        "Threads and tasks are suspended, resumed, concluded or superseded by themselves.",
        "continuity.lifecycle",
    ),
    "context.retrieve.continuity_state": CapabilityEntry(
        "Context for a task comes with the capsules that bear on it, inside a token budget.",
        "context.retrieve continuity.upsert",
    ),
    "context.retrieve.graph_context": CapabilityEntry(
        "Context comes with the tasks, threads and documents around its subject.",
        "context.retrieve:graph_context",
    ),
    "continuity.read.startup_graph_summary": CapabilityEntry(
        "The startup view comes with a short graph around its subject.", "continuity.read:graph_summary"
    ),
    "schedule.one_shot_reminders": CapabilityEntry(
        "Reminders with one due time; due ones are found when somebody asks.",
        "schedule.create schedule.list schedule.acknowledge",
    ),
    "coordination.handoffs": CapabilityEntry(
        "A bounded part of a capsule is handed to another peer as advice.",
        "coordination.handoff_create coordination.handoff_consume",
    ),
    "coordination.shared_state": CapabilityEntry(
        "An owner shows bounded coordination state to named peers.",
        "coordination.shared_create coordination.shared_read coordination.shared_update",
    ),
    "messaging.direct": CapabilityEntry(
        "Peers send each other messages that are kept until acknowledged.",
        "messages.send messages.inbox messages.ack",
    ),
    "peers.registry": CapabilityEntry(
        "Peers are registered with a trust level.", "peers.list peers.register"
    ),
    "discovery.tools": CapabilityEntry(
        "Every tool with its route, scopes and input schema.", "system.discovery_tools"
    ),
}

WORKFLOWS: Final[Mapping[str, Workflow]] = {
    "bootstrap_cycle": Workflow(
        "Take up work after a reset.",
        (
            "system.discovery",
            "system.capabilities_v1",
            "continuity.read",
            "context.retrieve",
            "schedule.list",
        ),
    ),
    "collaborative_writing": Workflow(
        "Write a document together.",
        (
            "context.retrieve",
            "memory.read",
            "docs.patch_propose",
            "docs.patch_apply",
            "messages.send",
            "continuity.upsert",
        ),
    ),
    "collaborative_tasks_and_code": Workflow(
        "Take a task from the list to merged code.",
        (
            "tasks.query",
            "tasks.create",
            "tasks.update",
            "code.patch_propose",
            "code.checks_run",
            "code.merge",
            "messages.send",
            "continuity.upsert",
        ),
    ),
    "federation_hardening": Workflow(
        "Connect to other instances and limit what they may do.",
        (
            "peers.list",
            "peers.fetch_manifest",
            "peers.register",
            "peers.trust_transition",
            "security.tokens_issue",
            "security.tokens_rotate",
            "security.keys_rotate",
            "messages.verify",
            "replication.pull",
            "replication.push",
            "metrics.get",
        ),
    ),
    "maintenance_compaction": Workflow(
        "Look at what has grown old, with a way back.",
        (
            "metrics.get",
            "backup.create",
            "backup.restore_test",
            "memory.compaction_plan",
            "continuity.retention_plan",
            "index.rebuild_full",
        ),
    ),
    "host_ops_automation": Workflow(
        "Run maintenance jobs from the host itself.",
        ("ops.catalog", "ops.status", "ops.run", "ops.schedule_export"),
    ),
}

ENTRYPOINTS: Final[Mapping[str, str]] = {
    "manifest": "GET /v1/manifest",
    "contracts": "GET /v1/contracts",
    "governance_policy": "GET /v1/governance/policy",
    "ops_catalog": "GET /v1/ops/catalog",
    "ops_status": "GET /v1/ops/status",
    "tools": "GET /v1/discovery/tools",
    "workflows": "GET /v1/discovery/workflows",
    "mcp_rpc": MCP_ENDPOINT,
    "mcp_well_known": "GET /.well-known/mcp.json",
}

FIRST_CALLS: Final = (
    "GET /v1/discovery",
    "GET /v1/capabilities",
    "GET /v1/help/onboarding/bootstrap",
    "POST /v1/continuity/read",
    "POST /v1/context/retrieve",
)

HELP_METHODS: Final[Mapping[str, str]] = {
    "/v1/help": "system.help",
    "/v1/help/tools/{name}": "system.tool_usage",
    "/v1/help/topics/{id}": "system.topic_help",
    "/v1/help/hooks": "system.hook_guide",
    "/v1/help/errors/{code}": "system.error_guide",
    "/v1/help/onboarding": "system.onboarding_index",
    "/v1/help/onboarding/bootstrap": "system.onboarding_bootstrap",
    "/v1/help/onboarding/sections/{id}": "system.onboarding_section",
    "/v1/help/limits": "system.validation_limits",
    "/v1/help/limits/{field_path}": "system.validation_limit",
}
"""The MCP method that says the same as a help page."""

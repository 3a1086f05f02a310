"""The shapes of the bridge's pages, as the OpenAPI document shows them. The pages themselves are bytes made at start."""

from __future__ import annotations

from typing import Any, Literal

from lamina.kernel.wire import Result

__all__ = [
    "Bootstrap",
    "Capabilities",
    "Contracts",
    "Discovery",
    "ErrorHelp",
    "Features",
    "HelpIndex",
    "Hooks",
    "LimitHelp",
    "LimitIndex",
    "Manifest",
    "McpDescriptor",
    "OnboardingIndex",
    "OnboardingSection",
    "OperationHelp",
    "Tools",
    "Workflows",
]


class Features(Result):
    """The features that this server has, in the contract's order."""

    features: list[str]


class CapabilitySummary(Result):
    """What a capability is, in a sentence."""

    summary: str


class Capabilities(Result):
    """The capabilities that this server has, by name."""

    version: Literal["1"]
    features: dict[str, CapabilitySummary]


class Compatibility(Result):
    """What a client may rely on."""

    policy: str
    breaking_change_rule: str


class Contracts(Result):
    """The version of the contract. ``tool_catalog_hash`` changes with any tool."""

    ok: bool
    contract_version: str
    compatibility: Compatibility
    tool_catalog_hash: str


class Endpoint(Result):
    """``scope`` is what a token needs; null where none is needed. The rest says how MCP is served, of its endpoints alone."""

    scope: str | None
    status: int | None = None
    allow: str | None = None
    transport: str | None = None
    mcp_protocol_version: str | None = None
    supported_mcp_protocol_versions: list[str] | None = None
    posture: str | None = None


class Manifest(Result):
    """Every endpoint of the Relay door, by verb and path."""

    service: str
    version: str
    auth: dict[str, str]
    endpoints: dict[str, Endpoint]


class Discovery(Result):
    """Where to begin. What needs MCP is there once MCP is."""

    ok: bool
    protocol: dict[str, Any]
    auth: dict[str, Any]
    entrypoints: dict[str, str]
    agent_guidance: dict[str, Any]
    counts: dict[str, int]


class RefusedEndpoint(Result):
    """An endpoint that answers with a status, and the verb that it allows."""

    path: str
    status: int
    allow: str


class McpDescriptor(Result):
    """Where and how MCP is served. ``supplemental`` says that clients need not read it."""

    ok: bool
    protocol: str
    transport: str
    endpoint: str
    contract_version: str
    mcp_protocol_version: str
    supported_mcp_protocol_versions: list[str]
    supplemental: bool
    get_endpoint: RefusedEndpoint
    methods: list[str]
    auth: dict[str, str]


class ToolDescription(Result):
    """A tool. ``input_schema`` takes path, query and body in one object."""

    name: str
    description: str
    method: str
    path: str
    scopes: list[str]
    idempotent: bool
    input_schema: dict[str, Any]
    local_only: bool = False


class Tools(Result):
    """Every tool. ``tool_catalog_hash`` is the SHA-256 of the canonical JSON of ``tools``."""

    ok: bool
    protocol: dict[str, str]
    count: int
    tools: list[ToolDescription]
    tool_catalog_hash: str


class WorkflowStep(Result):
    """A step; steps count from 1."""

    order: int
    tool: str


class WorkflowDescription(Result):
    """Tools that are used together."""

    name: str
    description: str
    steps: list[WorkflowStep]


class Workflows(Result):
    """The workflows all of whose tools are there."""

    ok: bool
    count: int
    workflows: list[WorkflowDescription]


class HelpIndex(Result):
    """The closed lists of ids that the help explains; ``further_tool_topics`` are ours, the other tools that are served."""

    http_endpoints: list[str]
    mcp_methods: list[str]
    tool_topics: list[str]
    further_tool_topics: list[str]
    non_tool_topics: list[str]
    hook_ids: list[str]
    errors: list[str]


class OperationHelp(Result):
    """The help of a tool or topic."""

    kind: Literal["tool", "topic"]
    id: str
    purpose: str
    when_to_use: list[str]
    read_operations: list[str]
    write_operations: list[str]
    minimal_payload: dict[str, Any]
    common_mistakes: list[str]
    correction_hints: list[str]


class Hook(Result):
    """The help of a hook."""

    id: str
    purpose: str
    when_to_use: list[str]
    read_operations: list[str]
    write_operations: list[str]
    minimal_payload: dict[str, Any]
    common_mistakes: list[str]
    correction_hints: list[str]


class Hooks(Result):
    """Every hook, in the order of a session."""

    hooks: list[Hook]


class ErrorHelp(Result):
    """The help of an error code."""

    kind: Literal["error"]
    id: str
    purpose: str
    when_to_use: list[str]
    common_mistakes: list[str]
    correction_hints: list[str]


class OnboardingEntry(Result):
    """A section in the index."""

    id: str
    title: str
    purpose: str
    when_to_use: str
    http_path: str
    mcp_method: str | None


class OnboardingIndex(Result):
    """The sections in the order in which to read them."""

    kind: Literal["onboarding_index"]
    recommended_first_section: str
    sections: list[OnboardingEntry]


class Bootstrap(Result):
    """The first calls of an agent; a route is null where it is not served."""

    kind: Literal["onboarding_bootstrap"]
    recommended_first_section: str
    startup_route: dict[str, Any] | None
    retrieval_route: dict[str, Any] | None
    help_routes: dict[str, dict[str, str | None]]
    discover_more: dict[str, str | None]
    next_sections: list[str]
    warnings: list[str]


class OnboardingSection(Result):
    """A section of the onboarding."""

    kind: Literal["onboarding_section"]
    id: str
    title: str
    format: Literal["markdown_and_bullets"]
    body_md: str
    bullets: list[str]
    related_http: list[str]
    related_mcp: list[str]
    references: list[str]


class LimitGroup(Result):
    """Fields that belong together."""

    id: str
    title: str
    purpose: str
    field_paths: list[str]


class LimitIndex(Result):
    """Every field that has bounds."""

    kind: Literal["validation_limits_index"]
    groups: list[LimitGroup]
    field_paths: list[str]


class Limit(Result):
    """The bounds of a field; null where there is none of that kind."""

    field_path: str
    category: str
    value_type: str
    max_items: int | None
    max_length: int | None
    per_item_max_length: int | None
    subfield_limits: dict[str, Any]
    applies_to: list[str]
    correction_guidance: str
    reference: str


class LimitHelp(Result):
    """The bounds of one field."""

    kind: Literal["validation_limit"]
    limit: Limit

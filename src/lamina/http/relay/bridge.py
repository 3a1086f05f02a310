"""The bridge of the Relay contract: how a client that knows nothing finds out what this server can do.

Every page is made once, when the first of them is asked for, and handed out as bytes. None needs a token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from pydantic import ConfigDict
from pydantic_core import to_json

from lamina.errors import Malformed, NotFound
from lamina.http.errors import detail_response, help_response
from lamina.http.relay.catalogue import Served
from lamina.http.relay.contract import HELP_PATH
from lamina.http.relay.help import LimitTable, help_pages
from lamina.http.relay.results import (
    Bootstrap,
    Capabilities,
    Contracts,
    Discovery,
    ErrorHelp,
    Features,
    HelpIndex,
    Hooks,
    LimitHelp,
    LimitIndex,
    Manifest,
    McpDescriptor,
    OnboardingIndex,
    OnboardingSection,
    OperationHelp,
    Tools,
    Workflows,
)
from lamina.http.routes import Route
from lamina.kernel.operations import Answer, Call, Effect, Operation, Tier
from lamina.kernel.wire import Request, Result

__all__ = ["Bridge", "Described", "bridge_operations", "bridge_rows"]

_ID_SHOWN_MAX = 64
_PARAMETER = re.compile(r"/{([a-z_]+)(?::path)?}$")


class Asked(Request):
    """Nothing to ask; what is sent along is ignored."""

    model_config = ConfigDict(extra="ignore")


class AskedByName(Asked):
    """The page of a tool."""

    name: str


class AskedById(Asked):
    """The page of an id."""

    id: str


class AskedByCode(Asked):
    """The page of an error code."""

    code: str


class AskedByPath(Asked):
    """The page of a field, by its dotted path."""

    field_path: str


@dataclass(frozen=True, slots=True)
class _Page:
    """A row: the name of its operation, its path, what it gives, and what it says of itself."""

    name: str
    path: str
    result: type[Result]
    summary: str
    request: type[Asked] = Asked


_PAGES = (
    _Page("relay_features", "/capabilities", Features, "The features of this server, as plain strings."),
    _Page(
        "relay_capabilities",
        "/v1/capabilities",
        Capabilities,
        "What this server supports, each with a summary.",
    ),
    _Page("relay_manifest", "/v1/manifest", Manifest, "Every endpoint with the scopes that it needs."),
    _Page(
        "relay_discovery", "/v1/discovery", Discovery, "Where to begin: protocol, entry points, first calls."
    ),
    _Page(
        "relay_contracts",
        "/v1/contracts",
        Contracts,
        "Which version of the contract is served, and a sum of every tool's description.",
    ),
    _Page("relay_tools", "/v1/discovery/tools", Tools, "Every tool with its route, scopes and input schema."),
    _Page(
        "relay_workflows",
        "/v1/discovery/workflows",
        Workflows,
        "Tools in the order in which they are used together.",
    ),
    _Page(
        "relay_well_known",
        "/.well-known/cognirelay.json",
        Discovery,
        "Where to begin, for who looks before the first request.",
    ),
    _Page(
        "relay_mcp_descriptor",
        "/.well-known/mcp.json",
        McpDescriptor,
        "Where and how MCP is served, for who looks before the first request.",
    ),
    _Page("relay_help", HELP_PATH, HelpIndex, "The ids of everything that the help explains."),
    _Page("relay_help_tool", f"{HELP_PATH}/tools/{{name}}", OperationHelp, "How to use a tool.", AskedByName),
    _Page(
        "relay_help_topic", f"{HELP_PATH}/topics/{{id}}", OperationHelp, "What a topic is about.", AskedById
    ),
    _Page(
        "relay_help_hooks", f"{HELP_PATH}/hooks", Hooks, "What to read and write at each hook of a runtime."
    ),
    _Page(
        "relay_help_error",
        f"{HELP_PATH}/errors/{{code}}",
        ErrorHelp,
        "What an error code means.",
        AskedByCode,
    ),
    _Page("relay_onboarding", f"{HELP_PATH}/onboarding", OnboardingIndex, "The sections of the onboarding."),
    _Page(
        "relay_onboarding_bootstrap",
        f"{HELP_PATH}/onboarding/bootstrap",
        Bootstrap,
        "The first calls of an agent.",
    ),
    _Page(
        "relay_onboarding_section",
        f"{HELP_PATH}/onboarding/sections/{{id}}",
        OnboardingSection,
        "One section of the onboarding.",
        AskedById,
    ),
    _Page("relay_limits", f"{HELP_PATH}/limits", LimitIndex, "The fields that have bounds, in groups."),
    _Page(
        "relay_limit",
        f"{HELP_PATH}/limits/{{field_path:path}}",
        LimitHelp,
        "The bounds of one field, and what to do about a value that passes them.",
        AskedByPath,
    ),
)


class Described:
    """What the door says of itself: its rows, and every page by its path.

    The pages are made when they are first asked for: most servers start without being asked, and they cost a start 20 ms.
    """

    def __init__(self, served: Served, limits: LimitTable) -> None:
        self.served = served
        self._limits = limits

    @cached_property
    def pages(self) -> Mapping[str, Any]:  # Any: JSON
        """Every page."""
        served = self.served
        pages: dict[str, Any] = {
            "/capabilities": {"features": served.features()},
            "/v1/capabilities": served.capabilities(),
            "/v1/manifest": served.manifest(),
            "/v1/contracts": served.contracts(),
            "/v1/discovery": served.discovery(),
            "/v1/discovery/tools": served.tool_page(),
            "/v1/discovery/workflows": _workflow_page(served),
        }
        pages["/.well-known/cognirelay.json"] = pages["/v1/discovery"]
        pages["/.well-known/mcp.json"] = served.descriptor()
        return pages | help_pages(served, self._limits)

    @cached_property
    def bodies(self) -> Mapping[str, bytes]:
        """Every page as it is sent."""
        return {path: to_json(page) for path, page in self.pages.items()}


class Bridge:
    """The pages. It is told the door's rows once, before the first call."""

    def __init__(self, limits: LimitTable) -> None:
        self._limits = limits
        self._described = Described(Served(()), limits)

    def describe(
        self, rows: Sequence[Route], sections: Collection[str] = (), protocols: Collection[str] = ()
    ) -> Described:
        """Take the pages from all rows of the Relay door, those of the bridge among them, and give them back.

        ``sections`` and ``protocols`` are those of ``Served``: ``continuity.read:graph_summary`` where the startup view has a graph.
        """
        self._described = Described(Served(rows, sections, protocols), self._limits)
        return self._described

    def page(self, path: str, request: Asked, call: Call) -> Answer:  # noqa: ARG002 - the port's shape
        """The page of a path without parameters."""
        return Answer(self._described.bodies[path])

    def entry(self, base: str, field: str, request: Asked, call: Call) -> Answer:  # noqa: ARG002 - the port's shape
        """The page of an id below a path; raises ``Malformed`` (UNKNOWN_HELP_ID) with the ids that there are."""
        asked: str = getattr(request, field)
        bodies = self._described.bodies
        page = bodies.get(f"{base}{asked}")
        if page is not None:
            return Answer(page)
        if not asked:
            raise NotFound("NOT_FOUND", "there is no such path", hint="leave out the slash at the end")
        known = [path.removeprefix(base) for path in bodies if path.startswith(base)]
        raise Malformed(
            "UNKNOWN_HELP_ID",
            f"the help has no page for {field} {asked[:_ID_SHOWN_MAX]!r}",
            hint="use one of allowed_values",
            details={"field": field, "allowed_values": known},
        )


def _workflow_page(served: Served) -> dict[str, Any]:
    workflows = served.workflows()
    return {"ok": True, "count": len(workflows), "workflows": workflows}


def bridge_operations(bridge: Bridge) -> list[Operation[Any]]:
    """One operation for every page or family of pages; all are open."""
    return [
        Operation(
            name=page.name,
            request=page.request,
            result=page.result,
            capability="",
            effect=Effect.READ,
            tier=Tier.STABLE,
            handler=_handler(bridge, page.path),
            summary=page.summary,
            open=True,
            fails=("UNKNOWN_HELP_ID",) if _PARAMETER.search(page.path) else (),
        )
        for page in _PAGES
    ]


def _handler(bridge: Bridge, path: str) -> Callable[[Any, Call], Answer]:
    parameter = _PARAMETER.search(path)
    if parameter is None:
        return partial(bridge.page, path)
    return partial(bridge.entry, path[: parameter.start() + 1], parameter[1])


def bridge_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    """The rows of the bridge."""
    return [
        Route(
            "GET",
            page.path,
            by_name[page.name],
            errors=help_response if page.path.startswith(HELP_PATH) else detail_response,
        )
        for page in _PAGES
    ]

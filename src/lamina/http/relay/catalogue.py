"""What the Relay door says of itself, made from its rows: tools, manifest, features, workflows, discovery.

A row that is added is a tool, an endpoint of the manifest and a part of the hash by that alone; those that stand
beside the contract on purpose (``BESIDE``) are endpoints only. Features, workflows and entry points are those of the contract whose operations are there; nothing here is a claim of its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from lamina import __version__
from lamina.http.relay.contract import (
    BESIDE,
    CAPABILITIES,
    CONTRACT_VERSION,
    ENTRYPOINTS,
    FEATURES,
    FIRST_CALLS,
    HELP_METHODS,
    HELP_PATH,
    LOCAL_ONLY,
    MCP_ENDPOINT,
    MCP_METHODS,
    MCP_TRANSPORT,
    MCP_VERSION,
    MCP_VERSIONS,
    NO_TOOLS,
    REPEATABLE,
    TOOLS,
    WORKFLOWS,
    RouteTool,
)
from lamina.http.routes import Route
from lamina.kernel.canonical import digest
from lamina.kernel.operations import Effect

__all__ = ["Served"]

_CONVERTER = re.compile(r"{([a-z_]+):[a-z]+}")
_IN_PATH = re.compile(r"{([a-z_]+)}")
_WRITES = ("write:projects", "write_namespaces")
_READS = ("read:files", "read_namespaces")


@dataclass(frozen=True, slots=True)
class _Described:
    route: Route
    line: str
    tool: RouteTool | None

    @property
    def scopes(self) -> tuple[str, ...]:
        """What a token has to hold."""
        return BESIDE.get(self.line, ()) if self.tool is None else self.tool.scopes


class Served:
    """The Relay door's rows, and what they amount to.

    ``sections`` names the parts of answers that no row can tell of, since the wiring adds them, as ``tool:field``; ``protocols``
    the verbs and paths at which another protocol is served, which are no rows either.
    """

    def __init__(
        self, rows: Iterable[Route], sections: Collection[str] = (), protocols: Collection[str] = ()
    ) -> None:
        self._sections = frozenset(sections)
        self._protocols = tuple(protocols)
        described = [_described(row) for row in rows]
        place = {line: number for number, line in enumerate(TOOLS)}
        self._by_line = {each.line: each for each in described}
        tools = [each for each in described if each.tool is not None]
        tools.sort(key=lambda each: place.get(each.line, len(place)))
        self._by_tool = {each.tool.name: each for each in tools if each.tool is not None}
        assert len(self._by_tool) == len(tools), "two rows have the same tool name"

    def has(self, line: str) -> bool:
        """Whether this verb and path is served."""
        return line in self._by_line or line in self._protocols

    def has_tool(self, name: str) -> bool:
        """Whether a tool of this name is there."""
        return name in self._by_tool

    def tool_at(self, line: str) -> str | None:
        """The tool with this verb and path, where it is there."""
        described = self._by_line.get(line)
        return None if described is None or described.tool is None else described.tool.name

    def line_of(self, tool: str) -> str:
        """The verb and path of a tool."""
        return self._by_tool[tool].line

    def route_of(self, tool: str) -> Route:
        """The row of a tool."""
        return self._by_tool[tool].route

    def reads(self, tool: str) -> bool:
        """Whether the tool leaves the store as it is."""
        return self._by_tool[tool].route.operation.effect is Effect.READ

    @property
    def has_mcp(self) -> bool:
        """Whether tools and help can be had over MCP too."""
        return self.has(MCP_ENDPOINT)

    def tools(self) -> list[dict[str, Any]]:
        """Every tool, those of the contract first and in its order."""
        return [_tool(name, each) for name, each in self._by_tool.items()]

    def tool_page(self) -> dict[str, Any]:
        """``GET /v1/discovery/tools``. The hash is that of the canonical JSON of the list."""
        tools = self.tools()
        return {
            "ok": True,
            "protocol": _protocol(),
            "count": len(tools),
            "tools": tools,
            "tool_catalog_hash": _hash_of(tools),
        }

    def contracts(self) -> dict[str, Any]:
        """``GET /v1/contracts``."""
        return {
            "ok": True,
            "contract_version": CONTRACT_VERSION,
            "compatibility": {
                "policy": "additive",
                "breaking_change_rule": "a documented key keeps its name and type within a contract version; new keys may appear",
            },
            "tool_catalog_hash": _hash_of(self.tools()),
        }

    def features(self) -> list[str]:
        """The strings of ``GET /capabilities``."""
        return [name for name, needs in FEATURES.items() if self._meets(needs)]

    def capabilities(self) -> dict[str, Any]:
        """``GET /v1/capabilities``."""
        listed = {
            name: {"summary": entry.summary}
            for name, entry in CAPABILITIES.items()
            if self._meets(entry.needs)
        }
        return {"version": "1", "features": listed}

    def descriptor(self) -> dict[str, Any]:
        """``GET /.well-known/mcp.json`` (seed 004)."""
        path = MCP_ENDPOINT.partition(" ")[2]
        return {
            "ok": True,
            "protocol": "jsonrpc-2.0",
            "transport": MCP_TRANSPORT,
            "endpoint": path,
            "contract_version": CONTRACT_VERSION,
            "mcp_protocol_version": MCP_VERSION,
            "supported_mcp_protocol_versions": list(MCP_VERSIONS),
            "supplemental": True,
            "get_endpoint": {"path": path, "status": 405, "allow": "POST"},
            "methods": [*MCP_METHODS, *HELP_METHODS.values()],
            "auth": {"type": "bearer", "header": "Authorization"},
        }

    def workflows(self) -> list[dict[str, Any]]:
        """The workflows all of whose tools are there."""
        return [
            {
                "name": name,
                "description": workflow.description,
                "steps": [{"order": order, "tool": tool} for order, tool in enumerate(workflow.steps, 1)],
            }
            for name, workflow in WORKFLOWS.items()
            if all(map(self.has_tool, workflow.steps))
        ]

    def manifest(self) -> dict[str, Any]:
        """``GET /v1/manifest``: every endpoint but those of the help."""
        return {
            "service": "lamina",
            "version": __version__,
            "auth": {"type": "bearer", "header": "Authorization"},
            "endpoints": {
                line: _endpoint(each)
                for line, each in self._by_line.items()
                if not line.partition(" ")[2].startswith(HELP_PATH)
            }
            | {line: _posture(line) for line in self._protocols},
        }

    def discovery(self) -> dict[str, Any]:
        """``GET /v1/discovery``."""
        return {
            "ok": True,
            "protocol": _protocol() | (_transport() if self.has_mcp else {}),
            "auth": {
                "type": "bearer",
                "header": "Authorization",
                "notes": [
                    "Discovery and help need no token; a token that is sent along is not looked at.",
                    "A tool's scopes say what a token has to hold; an empty list means that none is needed.",
                ],
            },
            "entrypoints": {
                name: line.partition(" ")[2] for name, line in ENTRYPOINTS.items() if self.has(line)
            },
            "agent_guidance": self._guidance(),
            "counts": {"tools": len(self._by_tool), "workflows": len(self.workflows())},
        }

    def _guidance(self) -> dict[str, Any]:
        return {
            "first_calls": [line for line in FIRST_CALLS if self.has(line)],
            "mcp_first_calls": ["initialize", "tools/list", "tools/call"] if self.has_mcp else [],
            "loop_hint": "Read what is known before you act, and keep what you decided before you stop.",
            "write_hint": "Send what changed, with its time; a write that is older than what is stored is refused.",
        }

    def _meets(self, needs: str) -> bool:
        return all(self._has_part(need) for need in needs.split())

    def _has_part(self, need: str) -> bool:
        if need.startswith("/"):
            return any(line.partition(" ")[2] == need for line in (*self._by_line, *self._protocols))
        name, _, wanted = need.partition(":")
        if name not in self._by_tool:
            return False
        request = self._by_tool[name].route.operation.request
        return not wanted or need in self._sections or wanted in _fields(request)


def _hash_of(tools: Sequence[Mapping[str, Any]]) -> str:
    return digest(tools).removeprefix("sha256:")


def _described(route: Route) -> _Described:
    path = _CONVERTER.sub(r"{\1}", route.path)
    line = f"{route.verb} {path}"
    if path.startswith(NO_TOOLS) or line in BESIDE:
        return _Described(route, line, None)
    return _Described(route, line, TOOLS.get(line) or _unlisted(route, path))


def _unlisted(route: Route, path: str) -> RouteTool:
    """The tool of a row that the contract does not know: named by its path, with the scopes of its kind."""
    parts = [part for part in _IN_PATH.sub("", path).split("/") if part not in ("", "v1")]
    rest = "_".join(parts[1:]).replace("-", "_") or route.verb.lower()
    if route.operation.open:
        return RouteTool(f"{parts[0]}.{rest}", ())
    return RouteTool(f"{parts[0]}.{rest}", _READS if route.operation.effect is Effect.READ else _WRITES)


def _tool(name: str, described: _Described) -> dict[str, Any]:
    verb, _, path = described.line.partition(" ")
    operation = described.route.operation
    shown = {
        "name": name,
        "description": operation.summary,
        "method": verb,
        "path": path,
        "scopes": list(described.scopes),
        "idempotent": operation.effect is Effect.READ or name in REPEATABLE,
        "input_schema": _arguments(described.route),
    }
    return shown | ({"local_only": True} if name in LOCAL_ONLY else {})


def _endpoint(described: _Described) -> dict[str, Any]:
    wanted = [scope for scope in described.scopes if not scope.endswith("_namespaces")]
    return {"scope": ", ".join(wanted) or None}


def _posture(line: str) -> dict[str, Any]:
    """The entry of an endpoint of MCP in the manifest."""
    if line != MCP_ENDPOINT:
        return {"scope": None, "status": 405, "allow": MCP_ENDPOINT.partition(" ")[0], "posture": "deferred"}
    return {
        "scope": None,
        "transport": MCP_TRANSPORT,
        "mcp_protocol_version": MCP_VERSION,
        "supported_mcp_protocol_versions": list(MCP_VERSIONS),
        "posture": "tools-first",
    }


def _protocol() -> dict[str, Any]:
    return {"name": "cognirelay-http", "style": f"mcp-{MCP_VERSION}", "version": CONTRACT_VERSION}


def _transport() -> dict[str, Any]:
    path = MCP_ENDPOINT.partition(" ")[2]
    return {
        "transport": MCP_TRANSPORT,
        "mcp_protocol_version": MCP_VERSION,
        "supported_mcp_protocol_versions": list(MCP_VERSIONS),
        "post_endpoint": path,
        "get_endpoint": {"path": path, "status": 405, "allow": "POST"},
    }


def _arguments(route: Route) -> dict[str, Any]:
    """The schema of what a tool is called with: path, query and body are one object."""
    schema = _schema(route.operation.request)
    in_headers = set(route.headers.values())
    properties = {name: kind for name, kind in schema.get("properties", {}).items() if name not in in_headers}
    required = [name for name in schema.get("required", []) if name in properties]
    if route.body_field is not None:
        body = _flat({"$defs": schema.get("$defs", {})} | properties.pop(route.body_field))
        properties |= body.get("properties", {})
        required = [name for name in required if name != route.body_field] + body.get("required", [])
    rest = {name: value for name, value in schema.items() if name not in ("title", "properties", "required")}
    if not route.has_body:
        rest["additionalProperties"] = (
            False  # over HTTP a page may ignore what is sent along; a tool names what it takes
        )
    return rest | {"properties": properties} | ({"required": required} if required else {})


def _flat(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema whose top level is no reference: a model that holds itself has one."""
    if "$ref" not in schema:
        return dict(schema)
    target = schema["$defs"][schema["$ref"].rpartition("/")[2]]
    return {**target, "$defs": schema["$defs"]}


_FIELDS: dict[type[BaseModel], frozenset[str]] = {}


def _fields(model: type[BaseModel]) -> frozenset[str]:
    """The names of all fields of a request, at any depth; gathered once in a process."""
    if model not in _FIELDS:
        _FIELDS[model] = frozenset(_names(_schema(model)))
    return _FIELDS[model]


_SCHEMAS: dict[type[BaseModel], dict[str, Any]] = {}


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a request, made once in a process."""
    if model not in _SCHEMAS:
        _SCHEMAS[model] = _flat(model.model_json_schema())
    return _SCHEMAS[model]


def _names(schema: Any) -> Iterable[str]:  # Any: a JSON Schema, or a part of one
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            yield from properties
        for part in schema.values():
            yield from _names(part)
    elif isinstance(schema, Sequence) and not isinstance(schema, str):
        for part in schema:
            yield from _names(part)

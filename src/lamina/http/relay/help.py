"""The runtime help of the Relay contract, as pages of JSON that are made once.

The ids are closed lists of the contract, beside which every other tool that is served has a page; the texts are in ``texts``. What a page says of an operation comes
from the rows: a text that names one which is not served is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from lamina.http.relay.catalogue import Served
from lamina.http.relay.contract import HELP_METHODS, HELP_PATH

__all__ = ["LimitTable", "help_pages"]

_TOOL = re.compile(r"{([a-z_]+\.[a-z_]+)}")
_NOT_SERVED = "This server does not serve it yet."
_FIRST_SECTION = "bootstrap"
_NEXT_SECTIONS = ("hooks", "help_lookup", "limits_and_routing")
_LOOKUPS = {
    "tools": f"{HELP_PATH}/tools/{{name}}",
    "topics": f"{HELP_PATH}/topics/{{id}}",
    "hooks": f"{HELP_PATH}/hooks",
    "errors": f"{HELP_PATH}/errors/{{code}}",
}


@dataclass(frozen=True, slots=True)
class LimitTable:
    """The bounds: titles of groups by their ids, and every row as its page shows it, with its group as ``category``."""

    titles: Mapping[str, str]
    rows: Sequence[Mapping[str, Any]]


def help_pages(served: Served, limits: LimitTable) -> dict[str, Any]:
    """Every page by its path."""
    texts = _Texts(served)
    tools, topics, hooks = texts.entries("tools"), texts.entries("topics"), texts.entries("hooks")
    pages: dict[str, Any] = {f"{HELP_PATH}/hooks": {"hooks": list(hooks.values())}}
    further = texts.further()
    pages |= {
        f"{HELP_PATH}/tools/{id_}": {"kind": "tool", **entry} for id_, entry in {**tools, **further}.items()
    }
    pages |= {f"{HELP_PATH}/topics/{id_}": {"kind": "topic", **entry} for id_, entry in topics.items()}
    errors = _operations()["errors"]
    pages |= {
        f"{HELP_PATH}/errors/{code}": {"kind": "error", "id": code, **entry} for code, entry in errors.items()
    }
    pages |= _onboarding_pages(texts) | _limit_pages(served, limits)
    pages[HELP_PATH] = {
        "http_endpoints": [f"GET {path}" for path in HELP_METHODS],
        "mcp_methods": list(HELP_METHODS.values()) if served.has_mcp else [],
        "tool_topics": list(tools),
        "further_tool_topics": list(further),
        "non_tool_topics": list(topics),
        "hook_ids": list(hooks),
        "errors": list(errors),
    }
    return pages


class _Texts:
    """The texts, as far as the rows let them be said."""

    def __init__(self, served: Served) -> None:
        self.served = served

    def entries(self, kind: str) -> dict[str, dict[str, Any]]:
        """The tools, topics or hooks by their ids."""
        return {id_: self._entry(id_, entry) for id_, entry in _operations()[kind].items()}

    def _entry(self, id_: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        missing = not all(map(self.served.has_tool, entry["needs"]))
        there = [] if missing else [name for name in entry["operations"] if self.served.has_tool(name)]
        return {
            "id": id_,
            "purpose": _NOT_SERVED if missing else entry["purpose"],
            "when_to_use": [] if missing else self.said(entry["when_to_use"]),
            "read_operations": [self.served.line_of(name) for name in there if self.served.reads(name)],
            "write_operations": [self.served.line_of(name) for name in there if not self.served.reads(name)],
            "minimal_payload": {} if missing else entry["minimal_payload"],
            "common_mistakes": [] if missing else self.said(entry["common_mistakes"]),
            "correction_hints": [] if missing else self.said(entry["correction_hints"]),
        }

    def further(self) -> dict[str, dict[str, Any]]:
        """The tools that are served beyond the contract's own list of topics, by their names."""
        return {
            name: self._entry(
                name,
                {
                    "needs": [name],
                    "operations": [name],
                    "purpose": self.served.route_of(name).operation.summary,
                    **entry,
                },
            )
            for name, entry in _further().items()
            if self.served.has_tool(name)
        }

    def said(self, texts: Iterable[str]) -> list[str]:
        """The texts all of whose tools are served."""
        return [
            _TOOL.sub(r"\1", text) for text in texts if all(map(self.served.has_tool, _TOOL.findall(text)))
        ]

    def method(self, path: str) -> str | None:
        """The MCP method that says the same as a page, where MCP is served."""
        return HELP_METHODS[path] if self.served.has_mcp else None

    def call(self, line: str) -> dict[str, str] | None:
        """A route and its tool, or None where it is not served."""
        tool = self.served.tool_at(line)
        return None if tool is None else {"http": line, "mcp_tool": tool}


def _onboarding_pages(texts: _Texts) -> dict[str, Any]:
    base, sections = f"{HELP_PATH}/onboarding", _onboarding()["sections"]
    by_id = f"{base}/sections/{{id}}"
    pages: dict[str, Any] = {f"{base}/sections/{id_}": _section(texts, id_, s) for id_, s in sections.items()}
    pages[base] = {
        "kind": "onboarding_index",
        "recommended_first_section": _FIRST_SECTION,
        "sections": [
            {
                "id": id_,
                "title": section["title"],
                "purpose": section["purpose"],
                "when_to_use": section["when_to_use"],
                "http_path": f"{base}/sections/{id_}",
                "mcp_method": texts.method(by_id),
            }
            for id_, section in sections.items()
        ],
    }
    pages[f"{base}/bootstrap"] = _bootstrap(texts)
    return pages


def _section(texts: _Texts, id_: str, section: Mapping[str, Any]) -> dict[str, Any]:
    related = [line for line in section["related"] if texts.served.has(line)]
    tools = [tool for line in related if (tool := texts.served.tool_at(line)) is not None]
    return {
        "kind": "onboarding_section",
        "id": id_,
        "title": section["title"],
        "format": "markdown_and_bullets",
        "body_md": "\n\n".join(texts.said(section["body"].strip().split("\n\n"))),
        "bullets": texts.said(section["bullets"]),
        "related_http": related,
        "related_mcp": tools if texts.served.has_mcp else [],
        "references": section["references"],
    }


def _bootstrap(texts: _Texts) -> dict[str, Any]:
    startup, retrieval = texts.call("POST /v1/continuity/read"), texts.call("POST /v1/context/retrieve")
    params = {"view": "startup", "allow_fallback": True}
    index = f"{HELP_PATH}/onboarding"
    return {
        "kind": "onboarding_bootstrap",
        "recommended_first_section": _FIRST_SECTION,
        "startup_route": startup and {**startup, "params": params},
        "retrieval_route": retrieval and {**retrieval, **_onboarding()["retrieval"]},
        "help_routes": {
            name: {"http": f"GET {path}", "mcp_method": texts.method(path)} for name, path in _LOOKUPS.items()
        },
        "discover_more": {"http": f"GET {index}", "mcp_method": texts.method(index)},
        "next_sections": list(_NEXT_SECTIONS),
        "warnings": _onboarding()["warnings"],
    }


def _limit_pages(served: Served, limits: LimitTable) -> dict[str, Any]:
    base, purposes = f"{HELP_PATH}/limits", _onboarding()["limit_groups"]
    in_groups: dict[str, list[str]] = {id_: [] for id_ in purposes}
    pages: dict[str, Any] = {}
    for row in limits.rows:
        if row["category"] not in in_groups:
            continue  # bounds of requests that the contract's list leaves out
        in_groups[row["category"]].append(row["field_path"])
        shown = {**row, "applies_to": row["applies_to"] if served.has(row["applies_to"][0]) else []}
        pages[f"{base}/{row['field_path']}"] = {"kind": "validation_limit", "limit": shown}
    pages[base] = {
        "kind": "validation_limits_index",
        "groups": [
            {"id": id_, "title": limits.titles[id_], "purpose": purpose, "field_paths": in_groups[id_]}
            for id_, purpose in purposes.items()
        ],
        "field_paths": [path for paths in in_groups.values() for path in paths],
    }
    return pages


@cache
def _operations() -> Any:
    return _loaded("operations.yaml")


@cache
def _further() -> Any:
    return _loaded("tools.yaml")


@cache
def _onboarding() -> Any:
    return _loaded("onboarding.yaml")


def _loaded(name: str) -> Any:  # Any: the shape that the comment on the file's first lines says
    return yaml.safe_load(files("lamina.http.relay.texts").joinpath(name).read_text(encoding="utf-8"))

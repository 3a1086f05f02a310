"""In whose words a path is refused that no row of a table has: those of the contract whose paths begin as it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lamina.http.errors import ErrorStyle, detail_response, error_response
from lamina.http.relay.contract import HELP_PATH, MCP_ENDPOINT, TOOLS
from lamina.http.routes import Route

__all__ = ["styles_of"]


def styles_of(routes: Iterable[Route]) -> Callable[[str], ErrorStyle]:
    """The style for a path: that of the Relay contract where it is one of its families, built yet or not.

    A path of no family is refused in the envelope of Cortex.
    """
    contract = [line.split(" ", 1)[1] for line in (*TOOLS, MCP_ENDPOINT)]
    families = {_family(path): detail_response for path in (*contract, HELP_PATH)}
    for route in routes:
        if route.errors is error_response:
            families[_family(route.path)] = error_response
        else:
            families.setdefault(_family(route.path), detail_response)

    def style(path: str) -> ErrorStyle:
        return families.get(_family(path), error_response)

    return style


def _family(path: str) -> tuple[str, ...]:
    """The first part of a path, and the second where the first is a version."""
    parts = path.strip("/").split("/")
    return tuple(parts[:2] if parts[0] == "v1" else parts[:1])

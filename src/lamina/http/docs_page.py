"""The page that a browser sees first: every operation, by contract. Plain HTML without scripts or outside resources."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from typing import Final, get_args

from lamina import __version__
from lamina.http.routes import PARAMETER, Contract, Route

__all__ = ["PAGE_HEADERS", "docs_page"]

_CALLED_BY: Final[dict[Contract, str]] = {
    "Cortex": "Applications and the Python client: five layers, two time axes, scopes, policy.",
    "Relay": "Agents that survive their own resets: capsules, memory files, reminders.",
    "Synapse": "Orchestrators of a chat or a voice, twice a turn: /brief before the answer, /ingest after it.",
}
_STYLE: Final = (
    "body{font:1rem/1.5 sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}"
    "td,th{text-align:left;vertical-align:top;padding:.2rem 1rem .2rem 0;border-bottom:1px solid #ccc}"
    "code{overflow-wrap:anywhere}"
)

_STYLE_HASH: Final = b64encode(sha256(_STYLE.encode()).digest()).decode()
PAGE_HEADERS: Final = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}
"""What a browser is told of the page: nothing but its own style, in nobody's frame."""


def docs_page(routes: Sequence[Route]) -> bytes:
    """The page as UTF-8."""
    return "\n".join(_lines(routes)).encode()


def _lines(routes: Sequence[Route]) -> Iterator[str]:
    yield f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Lamina API</title><style>{_STYLE}</style></head>'
    yield f"<body><h1>Lamina API</h1><p>Version {escape(__version__)}. Parameters, bodies, answers and error codes of"
    yield 'every operation are in <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1), the manual is in the'
    yield "project's <code>docs</code>. <code>X-Cortex-Actor: user:maya</code> says who calls.</p>"
    yield "<p>A stable operation keeps its shape; a beta one may change with notice, an experimental one without.</p>"
    for contract in get_args(Contract):
        rows = [route for route in routes if route.contract == contract]
        yield f'<h2 id="{escape(contract.lower())}">{escape(contract)}</h2><p>{escape(_CALLED_BY[contract])}</p>'
        yield "<table><thead><tr><th>Verb<th>Path<th>What it does<th>Stability</tr></thead><tbody>"
        yield from map(_row, rows)
        yield "</tbody></table>"
    yield "</body></html>"


def _row(route: Route) -> str:
    tier = route.operation.tier.value + (", deprecated" if route.operation.deprecated else "")
    path = PARAMETER.sub(r"{\1}", route.path)
    cells = (route.verb, f"<code>{escape(path)}</code>", escape(route.operation.summary), escape(tier))
    return "<tr>" + "".join(f"<td>{cell}" for cell in cells) + "</tr>"

"""The OpenAPI document of a server, made once: it takes a second."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from lamina.app import build_server
from lamina.http.openapi import openapi_document
from lamina.http.routes import Route
from lamina.settings import Settings
from lamina.store.memory import MemoryStore

__all__ = ["document", "routes"]


@cache
def routes() -> tuple[Route, ...]:
    """The rows of a server."""
    server = build_server(Settings(), store=MemoryStore())
    server.close()
    return server.routes


@cache
def document() -> dict[str, Any]:
    """What the rows amount to; whoever reads it leaves it as it is."""
    described: dict[str, Any] = json.loads(openapi_document(routes()))
    return described

"""Whose word is taken for where a call comes from."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from lamina.cli.serve import uvicorn_config
from lamina.settings import Settings


def noted(world: Any, settings: Settings, peer: str, forwarded: str) -> str:
    """The ``client_ip`` of the audit row of a call."""
    config = uvicorn_config(settings, world.application)
    config.load()
    client: Any = TestClient(config.loaded_app, "http://localhost", client=(peer, 50_000))
    headers = {"X-Forwarded-For": forwarded}
    assert client.get("/v1/events?scope=org:acme", headers=headers).status_code == 200
    rows = client.get("/v1/audit", params={"endpoint": "GET /v1/events"}).json()["items"]
    return str(rows[0]["client_ip"])


@pytest.mark.parametrize(
    ("trusted", "peer", "client_ip"),
    [
        ("", "127.0.0.1", "127.0.0.1"),
        ("", "10.0.0.7", "10.0.0.7"),
        ("127.0.0.1, 10.0.0.0/8", "10.0.0.7", "203.0.113.9"),
        ("127.0.0.1,10.0.0.0/8", "192.0.2.1", "192.0.2.1"),
    ],
)
def test_a_call_comes_from_where_a_trusted_proxy_says(
    world: Any, monkeypatch: pytest.MonkeyPatch, trusted: str, peer: str, client_ip: str
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    forwarded = "6.6.6.6, 203.0.113.9"
    assert noted(world, Settings(trusted_proxies=trusted), peer, forwarded) == client_ip

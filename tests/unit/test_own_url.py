"""Where a server is asked from its own machine."""

from __future__ import annotations

import pytest

from lamina.kernel.hosts import own_url


@pytest.mark.parametrize(
    ("host", "port", "url"),
    [
        ("127.0.0.1", 8700, "http://127.0.0.1:8700"),
        ("0.0.0.0", 9100, "http://127.0.0.1:9100"),
        ("::", 9100, "http://[::1]:9100"),
        ("192.168.1.5", 0, "http://192.168.1.5:8700"),
    ],
)
def test_a_server_is_asked_where_it_listens(host: str, port: int, url: str) -> None:
    assert own_url(host, port) == url

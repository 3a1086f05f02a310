"""By what a client checks the certificate of its server."""

from __future__ import annotations

import ssl

import pytest

from lamina.client.authorities import authorities


@pytest.mark.parametrize("url", ["https://memory.acme.com", "HTTPS://memory.acme.com", "memory.acme.com", ""])
def test_a_server_with_tls_is_checked_by_the_usual_authorities(url: str) -> None:
    assert authorities(url) is True


@pytest.mark.parametrize("url", ["http://127.0.0.1:8700", "HTTP://memory.acme.com"])
def test_where_there_is_no_tls_no_certificate_would_pass(url: str) -> None:
    context = authorities(url)
    assert isinstance(context, ssl.SSLContext)
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert context.cert_store_stats()["x509_ca"] == 0

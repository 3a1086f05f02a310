"""A request that offers to go on in another protocol is served in this one, as RFC 9110, 7.8 allows.

Java's client offers h2c with every first request. To the parser all that follows its headers is of the other protocol, a body too:
the request is read a second time, without the offer.
"""

from __future__ import annotations

import contextlib
from typing import Protocol

import httptools

__all__ = ["HearsRequests", "OfferIgnoringParser"]


class HearsRequests(Protocol):
    """Whom the parser tells of a request; what it hears while the parser ``offers`` it is told again and leaves it."""

    def head_without_offer(self) -> bytes:
        """The head of the request that was told of last, but for its offer."""
        ...


class OfferIgnoringParser:
    """Mirrors ``httptools.HttpRequestParser``, for which an offer is nothing."""

    def __init__(self, hears: HearsRequests) -> None:
        self._hears = hears
        self._parser = _parser(hears)

    @property
    def offers(self) -> bool:
        """Whether the request whose headers are there is told of again."""
        # CONNECT stays as it is: a second reading would find the same.
        return self._parser.should_upgrade() and self._parser.get_method() != b"CONNECT"

    def feed_data(self, data: bytes) -> None:
        """Mirrors ``HttpParser.feed_data``."""
        while True:
            try:
                return self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                if not self.offers:
                    raise
                data = self._hears.head_without_offer() + data[offer.args[0] :]
                self._parser = _parser(self._hears)

    def get_method(self) -> bytes:
        """Mirrors ``HttpRequestParser.get_method``."""
        return self._parser.get_method()

    def get_http_version(self) -> str:
        """Mirrors ``HttpParser.get_http_version``."""
        return self._parser.get_http_version()

    def should_keep_alive(self) -> bool:
        """Mirrors ``HttpParser.should_keep_alive``."""
        return self._parser.should_keep_alive()

    def should_upgrade(self) -> bool:
        """Never."""
        return False


def _parser(hears: HearsRequests) -> httptools.HttpRequestParser:
    parser = httptools.HttpRequestParser(hears)
    # As Uvicorn has it: the first of requests in a pipeline is answered whatever comes behind it.
    with contextlib.suppress(AttributeError):  # before httptools 0.6.3
        parser.set_dangerous_leniencies(lenient_data_after_close=True)
    return parser

"""Where an issuer's keys come from: given once, or a JWK set that is read again and again.

A set that cannot be read any more is trusted until its time to live is over and then not at all. Reading happens on
a thread beside the requests, one at a time: a slow issuer costs its own callers a bounded wait and others nothing.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from lamina import limits
from lamina.access.tokens.keys import VerifyingKey, jwks_keys, matching
from lamina.access.tokens.wire import Form, WireToken

__all__ = ["GivenKeys", "KeySource", "RenewedKeys"]

_LOG = logging.getLogger("lamina.access")


class KeySource(Protocol):
    """The keys of one issuer."""

    def known(self) -> Sequence[VerifyingKey]:
        """The keys that are trusted now, without waiting; empty when there are none."""
        ...

    def candidates(self, token: WireToken) -> Sequence[VerifyingKey]:
        """The keys that may have signed a token. May wait for news of a key id that is not known."""
        ...


class GivenKeys:
    """Keys that stand in the issuers file."""

    def __init__(self, keys: Sequence[VerifyingKey]) -> None:
        self._keys = tuple(keys)

    def known(self) -> Sequence[VerifyingKey]:
        """Mirrors ``KeySource.known``."""
        return self._keys

    def candidates(self, token: WireToken) -> Sequence[VerifyingKey]:
        """Mirrors ``KeySource.candidates``."""
        return matching(self._keys, token)


class RenewedKeys:
    """A JWK set behind ``fetch``, which gives its bytes or raises. ``monotonic`` tells seconds."""

    def __init__(
        self, name: str, form: Form, fetch: Callable[[], bytes], monotonic: Callable[[], float]
    ) -> None:
        self._name = name
        self._form = form
        self._fetch = fetch
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._waiting = 0
        self._keys: tuple[VerifyingKey, ...] = ()
        self._read_at: float | None = None
        self._asked_at: float | None = None
        self._reading: threading.Event | None = None

    def known(self) -> Sequence[VerifyingKey]:
        """Mirrors ``KeySource.known``: nothing once the set is older than it may be, renewed beside that."""
        with self._lock:
            age, keys = self._age(), self._keys
        if limits.JWKS_RENEW_S < age < limits.JWKS_TTL_S:
            self._start()
        return keys if age < limits.JWKS_TTL_S else ()

    def candidates(self, token: WireToken) -> Sequence[VerifyingKey]:
        """Mirrors ``KeySource.candidates``. Waits at most ``limits.JWKS_WAIT_S``, and not where many do already: a token that names
        this issuer and holds nothing would keep a thread from everybody else's callers."""
        found = matching(self.known(), token)
        if found:
            return found
        reading = self._start()
        if reading is not None:
            self._wait(reading)
        return matching(self.known(), token)

    def _wait(self, reading: threading.Event) -> None:
        with self._lock:
            if self._waiting >= limits.JWKS_WAITING_MAX:
                return
            self._waiting += 1
        try:
            reading.wait(limits.JWKS_WAIT_S)
        finally:
            with self._lock:
                self._waiting -= 1

    def _age(self) -> float:
        return float("inf") if self._read_at is None else self._monotonic() - self._read_at

    def _start(self) -> threading.Event | None:
        """The reading that is under way, a new one, or None when the issuer was asked only just now."""
        with self._lock:
            now = self._monotonic()
            if self._reading is not None:
                return self._reading
            if self._asked_at is not None and now - self._asked_at < limits.JWKS_INTERVAL_S:
                return None
            self._asked_at = now
            self._reading = done = threading.Event()
        try:
            threading.Thread(target=self._read, args=(done,), name="lamina-jwks", daemon=True).start()
        except RuntimeError as error:  # no room for another thread
            self._ended(done)
            _LOG.warning("the keys of %s could not be read: %s", self._name, error)
        return done

    def _read(self, done: threading.Event) -> None:
        started = self._monotonic()
        try:
            keys = tuple(jwks_keys(self._fetch(), self._form))
        except Exception as error:  # whatever goes wrong, the keys of before stand until their time is over
            _LOG.warning("the keys of %s could not be read: %s", self._name, error)
        else:
            with self._lock:
                self._keys, self._read_at = keys, started
        finally:
            self._ended(done)

    def _ended(self, done: threading.Event) -> None:
        with self._lock:
            self._reading = None
        done.set()

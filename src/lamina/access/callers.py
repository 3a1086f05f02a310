"""Who tells callers apart: in ``dev_local`` they themselves, in every other preset whoever signed their tokens."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lamina.access.principals import Principals, UnsignedPrincipals
from lamina.kernel.time import Clock
from lamina.settings import Settings
from lamina.store.ports.revocations import Revocations

__all__ = ["callers_of"]


def callers_of(
    settings: Settings, fetch: Callable[[str], bytes], monotonic: Callable[[], float]
) -> Callable[[Revocations, Clock], Principals]:
    """What makes them once there is a store. ``fetch`` and ``monotonic`` as ``Sources`` has them; raises as ``read_issuers`` does."""
    if settings.preset == "dev_local":
        return lambda *_: UnsignedPrincipals(settings)
    # What verifies signatures takes a thirtieth of a server's memory.
    from lamina.access.tokens.issuers import Sources, read_issuers
    from lamina.access.tokens.verifier import SignedPrincipals

    return partial(SignedPrincipals, read_issuers(settings.issuers, Sources(fetch, monotonic)))

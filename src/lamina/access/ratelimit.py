"""Token buckets, one for each actor and class of call (seed 002, 6.5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lamina import limits
from lamina.access.rules import Rate, RateRules
from lamina.errors import Busy
from lamina.kernel.operations import Effect
from lamina.kernel.time import SECOND_US, Instant
from lamina.store.tallies import Bucket, Buckets, LocalBuckets

__all__ = ["RateLimiter", "RelayRates", "Taken", "importer_actor"]


def importer_actor(tenant_id: str) -> str:
    """The one bucket that all imports of a tenant take from (seed 002, 18.2 item 6)."""
    return f"service:importer_{tenant_id}"


@dataclass(frozen=True, slots=True)
class Taken:
    """What a call left in its bucket. ``resets_at`` is when the bucket will be full again."""

    limit: int
    remaining: int
    resets_at: Instant
    retry_after_s: float | None = None
    """Seconds until the next call may come; None when this one may."""

    def headers(self) -> dict[str, str]:
        """The three headers of seed 002, 6.5."""
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(math.ceil(self.resets_at / SECOND_US)),
        }

    def check(self) -> None:
        """Nothing, or ``Busy`` (RATE_LIMITED)."""
        if self.retry_after_s is not None:
            raise Busy(
                "RATE_LIMITED",
                f"more than {self.limit} calls came too fast",
                hint="wait as Retry-After says, then send it again",
                details={"retry_after_s": self.retry_after_s, "limit": self.limit},
            )


@dataclass(frozen=True, slots=True)
class RelayRates:
    """How often a Relay bucket may be used with one token, and from one address."""

    token: Rate
    address: Rate


class RateLimiter:
    """Counts calls. A bucket starts full, and is full again when it is forgotten."""

    def __init__(self, rules: Callable[[str, str], RateRules], *, buckets: Buckets | None = None) -> None:
        """``rules`` are those of a tenant's actor, asked for at every call; ``buckets`` are this process's own unless given."""
        self._rules = rules
        self._buckets = buckets or LocalBuckets()

    def take(self, tenant_id: str, actor: str, effect: Effect, now: Instant) -> Taken:
        """Take one token for a call: reads from one bucket of the actor, everything else from another; a tenant's importers have one for both."""
        rates = self._rules(tenant_id, actor)
        if actor == importer_actor(tenant_id):
            return self._take((tenant_id, actor, "importer"), rates.importer, now)
        if effect is Effect.READ:
            return self._take((tenant_id, actor, "read"), rates.read, now)
        return self._take((tenant_id, actor, "write"), rates.write, now)

    def take_from(self, bucket: str, shares: Mapping[str, Rate], now: Instant) -> None:
        """Take one token for a call from a Relay bucket's share of each who uses it, or from none of them.

        Raises ``Busy`` (RATE_LIMITED) that names the bucket, for the first share that is used up.
        """
        names = {("", who, bucket): rate for who, rate in shares.items()}
        with self._buckets.held() as table:
            left = {name: _left(table.get(name), rate, now) for name, rate in names.items()}
            for name, rate in names.items():
                if left[name] < 1:
                    raise Busy(
                        "RATE_LIMITED",
                        f"Rate limit exceeded for bucket {bucket}",
                        hint="wait as Retry-After says, then send it again",
                        details={
                            "retry_after_s": (1 - left[name]) * rate.period_s / rate.count,
                            "limit": rate.count,
                            "bucket": bucket,
                        },
                    )
            for name, tokens in left.items():
                table.put(name, Bucket(tokens - 1, now))

    def _take(self, name: tuple[str, str, str], rate: Rate | None, now: Instant) -> Taken:
        if rate is None:
            return Taken(limits.RATE_UNLIMITED, limits.RATE_UNLIMITED, now)
        per_us = rate.count / (rate.period_s * SECOND_US)
        with self._buckets.held() as table:
            tokens = _left(table.get(name), rate, now)
            allowed = tokens >= 1
            tokens -= allowed
            table.put(name, Bucket(tokens, now))
        full_at = now + int((rate.count - tokens) / per_us)
        wait_s = None if allowed else (1 - tokens) / per_us / SECOND_US
        return Taken(rate.count, int(tokens), full_at, wait_s)


def _left(bucket: Bucket | None, rate: Rate, now: Instant) -> float:
    if bucket is None:
        return float(rate.count)
    # A clock that went back gives nothing and takes nothing.
    gained = max(0, now - bucket.at) * rate.count / (rate.period_s * SECOND_US)
    return min(float(rate.count), bucket.tokens + gained)

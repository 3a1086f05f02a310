"""Token buckets."""

from __future__ import annotations

import pytest

from lamina import limits
from lamina.access.addresses import client_address
from lamina.access.audit import AuditedCall
from lamina.access.presets import preset_of
from lamina.access.ratelimit import RateLimiter, importer_actor
from lamina.access.rules import Rate, RateRules, settings_defaults
from lamina.access.tiers import TieredPolicy
from lamina.errors import Busy, Invalid
from lamina.kernel.operations import Effect
from lamina.kernel.time import SECOND_US, duration_us
from lamina.settings import Settings
from lamina.store.memory import MemoryStore
from lamina.store.tallies import Buckets, LocalBuckets

NOW = 1_000 * SECOND_US


def limiter(read: str = "2/s", write: str = "1/m", buckets: Buckets | None = None) -> RateLimiter:
    rules = RateRules(Rate.parse(read), Rate.parse(write), Rate(10, 60))
    return RateLimiter(lambda tenant_id, actor: rules, buckets=buckets)


def policy(settings: Settings) -> TieredPolicy:
    store = MemoryStore()
    preset = preset_of(settings)
    return TieredPolicy(preset, store.registry)


def test_a_bucket_empties_and_fills_again() -> None:
    buckets = limiter()
    first, second, third = (buckets.take("acme", "user:a", Effect.READ, NOW) for _ in range(3))
    assert [taken.remaining for taken in (first, second, third)] == [1, 0, 0]
    assert (third.retry_after_s, third.resets_at) == (pytest.approx(0.5), NOW + SECOND_US)
    assert buckets.take("acme", "user:a", Effect.READ, NOW + SECOND_US // 2).retry_after_s is None
    with pytest.raises(Busy) as caught:
        third.check()
    assert caught.value.code == "RATE_LIMITED"


def test_reads_writes_actors_and_tenants_do_not_share() -> None:
    buckets = limiter()
    assert buckets.take("acme", "user:a", Effect.WRITE, NOW).retry_after_s is None
    assert buckets.take("acme", "user:a", Effect.ERASE, NOW).retry_after_s == pytest.approx(60)
    for tenant, actor, effect in (
        ("acme", "user:a", Effect.READ),
        ("acme", "user:b", Effect.WRITE),
        ("zeta", "user:a", Effect.WRITE),
    ):
        assert buckets.take(tenant, actor, effect, NOW).retry_after_s is None


def test_importers_of_a_tenant_share_a_bucket_of_their_own() -> None:
    taken = limiter().take("acme", importer_actor("acme"), Effect.WRITE, NOW)
    assert (taken.limit, taken.remaining) == (10, 9)


def test_the_longest_unused_bucket_is_forgotten_first() -> None:
    buckets = limiter("1/s", buckets=LocalBuckets(2))
    for actor in ("a", "b", "a", "c"):
        buckets.take("acme", actor, Effect.READ, NOW)
    assert buckets.take("acme", "a", Effect.READ, NOW).retry_after_s is not None
    assert buckets.take("acme", "b", Effect.READ, NOW).retry_after_s is None


def test_a_clock_that_goes_back_fills_nothing() -> None:
    buckets = limiter("1/s")
    buckets.take("acme", "a", Effect.READ, NOW)
    assert buckets.take("acme", "a", Effect.READ, NOW - 5 * SECOND_US).retry_after_s is not None


def test_without_a_limit_nothing_is_counted() -> None:
    taken = limiter("unlimited").take("acme", "a", Effect.READ, NOW)
    assert taken.headers()["X-RateLimit-Remaining"] == str(limits.RATE_UNLIMITED)


@pytest.mark.parametrize("text", ["", "100", "0/s", "-1/s", "5/d", "1.5/s", "9999999999/s"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        Rate.parse(text)


@pytest.mark.parametrize(
    ("preset", "read", "write", "importer", "retention"),
    [
        ("dev_local", None, None, None, "P7D"),
        ("on_prem_enterprise", None, None, None, "P1Y"),
        ("cloud_private", None, None, None, "P3Y"),
        ("cloud_shared_saas", Rate(500, 1), Rate(100, 1), Rate(1000, 1), "P2Y"),
    ],
)
def test_a_preset_lays_down_its_numbers(
    preset: str, read: Rate | None, write: Rate | None, importer: Rate | None, retention: str
) -> None:
    rules = policy(Settings(preset=preset, host="127.0.0.1"))
    assert rules.rate_rules("acme", "user:a") == RateRules(read, write, importer)
    assert rules.rate_rules("", "10.0.0.1") == RateRules(read, write, importer)
    assert rules.audit_rules("acme").retention_us == duration_us(retention)


def test_settings_come_before_the_preset() -> None:
    rules = policy(Settings(rate_limit_write="7/m", audit_retention="P90D", audit_store_body_bytes=False))
    rates, audit = rules.rate_rules("acme", "user:a"), rules.audit_rules("acme")
    assert (rates.write, rates.importer) == (Rate(7, 60), Rate(70, 60))
    assert (audit.retention_us, audit.store_body_bytes) == (duration_us("P90D"), False)
    shared = policy(Settings(preset="cloud_shared_saas", rate_limit_read="unlimited"))
    assert shared.rate_rules("acme", "user:a").shown() == {"write": "100/s", "importer": "1000/s"}


@pytest.mark.parametrize("text", ["P89D", "P8Y", "soon"])
def test_retention_keeps_to_its_bounds(text: str) -> None:
    with pytest.raises(Invalid):
        settings_defaults(Settings(audit_retention=text))


def test_a_call_takes_from_every_share_of_a_relay_bucket_or_from_none() -> None:
    buckets = limiter()
    one, other, address = Rate(2, 60), Rate(2, 60), Rate(3, 60)
    for _ in range(2):
        buckets.take_from("write", {"token a": one, "address x": address}, NOW)
    for _ in range(9):
        with pytest.raises(Busy) as caught:
            buckets.take_from("write", {"token a": one, "address x": address}, NOW)
    assert caught.value.message.endswith("bucket write")
    assert caught.value.details == {"retry_after_s": pytest.approx(30), "limit": 2, "bucket": "write"}
    buckets.take_from("write", {"token b": other, "address x": address}, NOW)
    with pytest.raises(Busy) as caught:
        buckets.take_from("write", {"token b": other, "address x": address}, NOW)
    assert caught.value.details["limit"] == 3
    buckets.take_from("append", {"token a": one, "address x": address}, NOW)
    buckets.take_from("write", {"token a": one, "address x": address}, NOW + 30 * SECOND_US)


@pytest.mark.parametrize(
    ("transport", "headers", "address"),
    [
        ("203.0.113.7", [(b"X-Forwarded-For", b"127.0.0.1")], "203.0.113.7"),
        ("127.0.0.1", [], "127.0.0.1"),
        ("127.0.0.1", [(b"x-forwarded-for", b"198.51.100.2, 10.0.0.1")], "198.51.100.2"),
        ("::1", [(b"x-forwarded-for", b"127.0.0.1"), (b"x-real-ip", b"198.51.100.3")], "198.51.100.3"),
        ("::ffff:127.0.0.1", [(b"x-forwarded-for", b"")], "::ffff:127.0.0.1"),
        ("127.0.0.1", [(b"x-forwarded-for", b"127.0.0.1, 203.0.113.7")], "203.0.113.7"),
        ("127.0.0.1", [(b"x-forwarded-for", b"::1"), (b"X-Forwarded-For", b"203.0.113.7")], "203.0.113.7"),
        ("127.0.0.1", [(b"x-real-ip", b"127.0.0.1"), (b"x-real-ip", b"203.0.113.7")], "203.0.113.7"),
        ("127.0.0.1", [(b"x-forwarded-for", b"127.0.0.1, ::1")], "127.0.0.1"),
        (None, [(b"x-forwarded-for", b"198.51.100.2")], "unknown"),
    ],
)
def test_only_a_proxy_on_this_machine_says_where_a_call_came_from(
    transport: str | None, headers: list[tuple[bytes, bytes]], address: str
) -> None:
    assert client_address(AuditedCall(client_ip=transport, headers=headers)) == address

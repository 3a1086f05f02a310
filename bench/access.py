"""What signing in and policy cost a request: verification and its cache, revocations, decisions over many documents."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyseto
import yaml
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from joserfc import jws
from joserfc.jwk import ECKey, RSAKey
from pyseto.versions.v4 import V4Public
from starlette.types import ASGIApp, Message

from harness import SEED, machine, percentile, publish
from lamina.access.presets import load_preset
from lamina.access.principals import Credentials
from lamina.access.tiers import TieredPolicy
from lamina.access.tokens.issuers import Sources, read_issuers
from lamina.access.tokens.narrowing import token_allows
from lamina.access.tokens.verifier import SignedPrincipals, TokenVerifier
from lamina.app import build_server
from lamina.kernel.canonical import compact
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Grant, Principal
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, SystemClock
from lamina.settings import Settings
from lamina.store.ports.registry import PolicyRow, ScopeState
from lamina.store.ports.revocations import Revocation
from lamina.store.sqlite import SqliteStore

PROMISE_US = 300.0  # a token, the whole way from the header to the principal
PROMISE_DECISION_US = 100.0  # one grant, whatever number of documents and scopes there is
CAPABILITY = Capability.SCOPE_READ_LOCAL
ROWS: dict[str, dict[str, float]] = {}
REVOKED = 10_000
DOCUMENTS = (100, 10_000)
DENIES = ("import.*", "export.*", "forget.gdpr", "llm.invoke")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2000)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as folder:
        about = machine(Path(folder))
        figures = run(Path(folder), repeats)
    broken = [name for name, figure in figures["promises"].items() if not figure["kept"]]
    rows, load = figures["rows_us"], about["load_before"][0]
    first = ", ".join(
        f"{name} {rows[f'{name}: header to principal, first use']['p50']}"
        for name in ("v4.public", "ES256", "RS256")
    )
    decided = ", ".join(
        f"{count}: {rows[f'decision, {count} documents and scopes, used again']['p50']}"
        for count in DOCUMENTS
    )
    added = figures["promises"]["signing in adds to a request"]["p50_us"]
    headline = (
        f"token to principal first use, us: {first}; again {rows['v4.public: header to principal, used again']['p50']}; "
        f"signing in adds {added} us to a request (promise {PROMISE_US:.0f}); a decision by documents, us: {decided} "
        f"(promise {PROMISE_DECISION_US:.0f}); over the promise: {', '.join(broken) or 'none'}; load average {load}"
    )
    publish(
        "access", headline, figures, {"machine": about, "sizes": {"documents": DOCUMENTS, "revoked": REVOKED}}
    )


def run(folder: Path, repeats: int) -> dict[str, Any]:
    clock = SystemClock()
    now_s = clock.now() // SECOND_US
    tokens, known = make(folder, now_s)
    store = SqliteStore(folder / "data", durable=False)
    for number in range(REVOKED):
        store.revocations.add(revocation(number, clock.now()))
    print(f"{'microseconds':52}{'p50':>9}{'p95':>9}{'p99':>9}")
    pair = Ed25519PrivateKey.generate()
    public, signed = pair.public_key(), pair.sign(b"x" * 400)
    show("Ed25519 alone, 400 bytes", repeats, lambda: public.verify(signed, b"x" * 400))
    for name, token in tokens.items():
        show_token(name, token, known, store, repeats)
    show("revocation list", repeats, lambda: store.revocations.is_revoked("acme", "x", "t-1"))
    store.close()
    added = show_requests(folder, tokens["v4.public"], repeats)
    for count in DOCUMENTS:
        show_decisions(folder, count, repeats)
    promises = {
        "signing in adds to a request": promise("signing in adds to a request", PROMISE_US, added, None)
    }
    for name in tokens:
        for row in (f"{name}: header to principal, first use", f"{name}: header to principal, used again"):
            promises[row] = promise(row, PROMISE_US, ROWS[row]["p50"], ROWS[row]["p95"])
    for row in (each for each in ROWS if each.startswith("decision")):
        promises[row] = promise(row, PROMISE_DECISION_US, ROWS[row]["p50"], ROWS[row]["p95"])
    return {"promises": promises, "rows_us": dict(ROWS)}


def promise(name: str, most: float, p50: float, p95: float | None) -> dict[str, Any]:
    """A figure beside what was promised of it; p50 is what keeps a promise."""
    kept = p50 <= most
    print(f"promise: {name} <= {most:.0f}: p50 {p50:.1f}, p95 {p95 or '-'}, {'kept' if kept else 'BROKEN'}")
    return {"p50_us": round(p50, 1), "p95_us": p95, "promise_us": most, "kept": kept}


def show_decisions(folder: Path, count: int, repeats: int) -> None:
    """Decisions with so many scopes, and as many documents over them and over actors."""
    store = SqliteStore(folder / f"policy-{count}", durable=False)
    dice = random.Random(SEED)
    paths = [Scope(f"org:acme/team:t{number % 50}/user:u{number}") for number in range(count)]
    members = {f"user:u{number % 97}": "owner" for number in range(4)}
    for number, path in enumerate(paths):
        store.registry.register(scope_state(path, members))
        tier, target = ("scope", path) if number % 2 else ("actor", f"user:u{number}")
        store.registry.put_document(document(tier, target))
    preset = load_preset("cloud_shared_saas")
    policy = TieredPolicy(preset, store.registry, token_allows=token_allows)
    asked = [
        (Principal("acme", f"user:u{dice.randrange(count)}", "http"), Grant(CAPABILITY, path))
        for path in dice.choices(paths, k=256)
    ]
    turn = itertools.cycle(asked)

    def again() -> None:
        policy.current().decide(*next(turn))

    def first() -> None:
        store.registry.put_document(document("actor", "user:other"))
        started = time.perf_counter()
        policy.current().decide(*next(turn))
        firsts.append((time.perf_counter() - started) * 1e6)

    firsts: list[float] = []
    for _ in asked:
        again()
    show(f"decision, {count} documents and scopes, used again", repeats, again)
    for _ in range(min(repeats, 200)):
        first()
    report(f"decision, {count} documents and scopes, after a change", firsts)
    show(
        f"rates and rules, {count} documents and scopes",
        repeats,
        lambda: policy.rate_rules("acme", "user:u1"),
    )
    store.close()


def scope_state(path: Scope, members: dict[str, str]) -> ScopeState:
    return ScopeState(
        tenant_id="acme",
        path=path,
        created_by="user:u1",
        created_at=1,
        registered_at=1,
        members=members,
        policies={},
    )


def document(tier: str, target: str) -> PolicyRow:
    return PolicyRow(
        tenant_id="acme",
        tier=tier,
        target=str(target),
        document={"deny": list(DENIES)},
        set_by="user:u1",
        set_at=1,
    )


def show_token(name: str, token: str, known: Any, store: SqliteStore, repeats: int) -> None:
    """A token that is seen for the first time, then again."""
    shown = Credentials("http", f"Bearer {token}", "agent:planner_v3")
    clock = SystemClock()
    again = SignedPrincipals(known, store.revocations, clock)
    show(f"{name}: signature and issuer", repeats, lambda: TokenVerifier(known).verified(token))
    show(
        f"{name}: header to principal, first use",
        repeats,
        lambda: SignedPrincipals(known, store.revocations, clock).identify(shown),
    )
    show(f"{name}: header to principal, used again", repeats, lambda: again.identify(shown))


def show_requests(folder: Path, token: str, repeats: int) -> float:
    """A whole request through the application, unsigned and signed: what signing in adds, threads included."""
    unsigned = build_server(Settings(data=folder / "unsigned"))
    settings = Settings(data=folder / "signed", preset="on_prem_enterprise", issuers=folder / "issuers.yaml")
    signed = build_server(settings)
    actor = (b"x-cortex-actor", b"agent:planner_v3")
    both = [actor, (b"authorization", f"Bearer {token}".encode())]
    plain_us = asyncio.run(requests("request, unsigned", unsigned.application, [actor], repeats))
    signed_us = asyncio.run(requests("request, signed with v4.public", signed.application, both, repeats))
    print(f"{'signing in adds to a request':52}{signed_us - plain_us:9.1f}")
    unsigned.close()
    signed.close()
    return signed_us - plain_us


async def requests(
    name: str, application: ASGIApp, headers: list[tuple[bytes, bytes]], repeats: int
) -> float:
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/v1/events",
        "raw_path": b"/v1/events",
        "query_string": b"scope=org:acme",
        "root_path": "",
        "scheme": "http",
        "http_version": "1.1",
        "headers": [(b"host", b"localhost"), *headers],
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        assert message.get("status", 200) == 200, message

    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        await application({**scope}, receive, send)
        taken.append((time.perf_counter() - started) * 1e6)
    return report(name, taken)


def make(folder: Path, now_s: int) -> tuple[dict[str, str], Any]:
    """A token of each form, and the issuers that verify them."""
    ed, small, curve = (
        Ed25519PrivateKey.generate(),
        rsa.generate_private_key(65537, 2048),
        ec.generate_private_key(ec.SECP256R1()),
    )
    names: Mapping[str, Ed25519PrivateKey | rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey]
    names = {"v4.public": ed, "RS256": small, "ES256": curve}
    entries = []
    for name, key in names.items():
        pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
        form = "paseto" if name == "v4.public" else "jwt"
        entries.append(
            {"issuer": name, "form": form, "tenants": ["acme"], "keys": [{"pem": pem, "kid": "k"}]}
        )
    path = folder / "issuers.yaml"
    path.write_text(yaml.safe_dump({"issuers": entries}))
    tokens = {
        "v4.public": pyseto.encode(V4Public(ed), claims("v4.public", now_s), b'{"kid":"k"}').decode(),
        "RS256": jws.serialize_compact(
            {"alg": "RS256", "kid": "k"}, claims("RS256", now_s), RSAKey.import_key(small)
        ),
        "ES256": jws.serialize_compact(
            {"alg": "ES256", "kid": "k"}, claims("ES256", now_s), ECKey.import_key(curve)
        ),
    }
    return tokens, read_issuers(path, Sources(lambda _: b"", time.monotonic))


def claims(issuer: str, now_s: int) -> bytes:
    said = {
        "iss": issuer,
        "sub": "agent:planner_v3",
        "aud": "cortexdb:tenant:acme",
        "exp": now_s + 3600,
        "iat": now_s,
        "jti": "0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b",
        "caps": ["scope.write", "scope.read.local", "scope.read.holistic", "lifecycle.subscribe"],
        "scopes": ["scope.write:org:acme/dept:eng/*", "scope.read.holistic:org:acme/*"],
    }
    return compact(said).encode()


def revocation(number: int, now: int) -> Revocation:
    return Revocation(
        tenant_id="acme",
        issuer="v4.public",
        jti=f"revoked-{number}",
        id=f"tok_{number}",
        expires_at=now + 3600 * SECOND_US,
        reason=None,
        revoked_by="user:root",
        revoked_at=now,
    )


def show(name: str, repeats: int, act: Callable[[], object]) -> float:
    """Print p50 and p99 of an act in microseconds; returns p50."""
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        act()
        taken.append((time.perf_counter() - started) * 1e6)
    return report(name, taken)


def report(name: str, taken: list[float]) -> float:
    p50, p95, p99 = (percentile(taken, share) for share in (0.5, 0.95, 0.99))
    ROWS[name] = {"p50": round(p50, 1), "p95": round(p95, 1), "p99": round(p99, 1)}
    print(f"{name:52}{p50:9.1f}{p95:9.1f}{p99:9.1f}")
    return p50


if __name__ == "__main__":
    main()

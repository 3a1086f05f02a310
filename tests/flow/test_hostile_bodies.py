"""What a body may not do to others: over HTTP, at the bounds."""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64encode
from hashlib import sha256
from typing import Any

import httpx
import pytest

from lamina import limits

BULK = "/v1/experience/bulk"


def send(world: Any, body: bytes, path: str = BULK, headers: dict[str, str] | None = None) -> httpx.Response:
    async def post() -> httpx.Response:
        transport = httpx.ASGITransport(world.application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            sent = {"Content-Type": "application/json", **(headers or {})}
            return await client.post(path, content=body, headers=sent)

    return asyncio.run(post())


def item(key: str, text: str = "tea") -> dict[str, Any]:
    return {
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": text},
        "context": {"observed_at": "2026-05-13T12:00:00Z"},
        "idempotency_key": key,
    }


def test_a_bomb_of_keys_is_refused_before_it_is_parsed(world: Any) -> None:
    keys = ",".join(f'"k{number}":1' for number in range(limits.BULK_KEYS_MAX + 1))
    response = send(world, f'{{"scope":"user:o","items":[{{{keys}}}]}}'.encode())
    assert (response.status_code, response.json()["error_code"]) == (413, "BODY_TOO_COMPLEX")
    assert response.json()["details"]["counted"] == "keys"


def test_a_small_body_is_bounded_in_depth_too(world: Any) -> None:
    response = send(world, b'{"a":' + b"[" * 70 + b"]" * 70 + b"}", "/v1/experience")
    assert (response.status_code, response.json()["error_code"]) == (413, "BODY_TOO_COMPLEX")


@pytest.mark.parametrize("path", [BULK, "/v1/recall", "/ingest"])
def test_thousands_of_problems_are_told_as_the_first_few(world: Any, path: str) -> None:
    body = json.dumps({f"k{number}": 1 for number in range(20_000)}).encode()
    response = send(world, body, path)
    assert response.status_code in (200, 400, 422)
    assert len(response.content) < 20_000


def test_a_large_batch_is_stored_and_repeated_as_a_small_one_is(world: Any) -> None:
    text = "tea " * 15_000
    batch = {"scope": "user:o", "items": [item(f"k-{n}", text) for n in range(40)], "idempotency_key": "b-1"}
    body = json.dumps(batch).encode()
    assert len(body) > limits.BODY_BYTES_MAX
    first = send(world, body)
    assert (first.status_code, first.json()["accepted"]) == (202, 40)
    again = send(world, json.dumps(batch, indent=1).encode(), headers={"X-Cortex-Idempotency-Key": "b-1"})
    assert (again.headers["x-cortex-replay"], again.json()) == ("true", first.json())
    other = send(world, body.replace(b"user:o", b"user:p"))
    assert (other.status_code, other.json()["error_code"]) == (409, "IDEMPOTENCY_CONFLICT")
    differs = send(world, body, headers={"X-Cortex-Idempotency-Key": "b-2"})
    assert (differs.status_code, differs.json()["error_code"]) == (400, "INVALID_REQUEST")


def test_one_callers_bodies_have_a_bound(make_world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "lamina.http.bodies.Bodies.__init__.__kwdefaults__",
        {"bytes_max": 9, "of_tenant_max": 7, "of_caller_max": 5},
    )
    world = make_world()
    large = b'{"query":"' + b"x" * limits.BODY_UNCOUNTED_BYTES_MAX + b'"}'
    response = send(world, large, "/v1/recall")
    assert (response.status_code, response.json()["error_code"]) == (429, "TOO_MUCH_AT_ONCE")
    assert response.headers["retry-after"] == "2"
    assert send(world, b'{"scope":"user:o","query":"tea"}', "/v1/recall").status_code == 200


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_a_page_is_in_nobodys_frame_and_has_its_own_style_only(world: Any, path: str) -> None:
    page = world.call("GET", path)
    policy = page.headers["content-security-policy"]
    (style,) = re.findall("<style>(.*?)</style>", page.text)
    assert f"style-src 'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'" in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert (page.headers["x-content-type-options"], page.headers["referrer-policy"]) == (
        "nosniff",
        "no-referrer",
    )

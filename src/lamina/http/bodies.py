"""Bodies of requests: how they come in, how much of them is held at once, and where they are parsed.

A small one is parsed on the event loop, which takes less than handing it over. The others are parsed on two threads of their own, those of
bulk writes on the second, so that no more than two parsers take turns with the calls that are being answered.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from starlette.requests import Request as HttpRequest

from lamina import limits
from lamina.errors import Busy, Malformed, TooLarge, Unavailable
from lamina.json_scan import JsonBounds, JsonScan

__all__ = ["Bodies", "HeldBody", "read_body", "read_json"]

T = TypeVar("T")


class HeldBody:
    """The bytes of one request's body that count among those held at once."""

    def __init__(self, bodies: Bodies, caller: str) -> None:
        self._bodies = bodies
        self._caller = caller
        self.bytes = 0

    def hold(self, size: int) -> None:
        """Count a body that is this large so far; small ones are not counted.

        Raises ``Busy`` (TOO_MUCH_AT_ONCE) for the caller's share or their tenant's, ``Unavailable`` (SERVER_FULL) for that of all.
        """
        if size > limits.BODY_UNCOUNTED_BYTES_MAX and size > self.bytes:
            self._bodies.add(self._caller, size - self.bytes)
            self.bytes = size

    def release(self) -> None:
        """The body is held no more."""
        if self.bytes:
            self._bodies.take_away(self._caller, self.bytes)
            self.bytes = 0


class Bodies:
    """All bodies that one server holds. Used on its event loop only. A caller is ``tenant/actor``, or an address of nobody known."""

    def __init__(
        self,
        *,
        bytes_max: int = limits.BODIES_BYTES_MAX,
        of_tenant_max: int = limits.BODIES_OF_TENANT_BYTES_MAX,
        of_caller_max: int = limits.BODIES_OF_CALLER_BYTES_MAX,
    ) -> None:
        self._bytes_max = bytes_max
        self._of_tenant_max = of_tenant_max
        self._of_caller_max = of_caller_max
        self._of: Counter[str] = Counter()
        self._of_tenant: Counter[str] = Counter()
        self._parser = ThreadPoolExecutor(1, thread_name_prefix="lamina-parse")
        self._bulk_parser = ThreadPoolExecutor(1, thread_name_prefix="lamina-parse-bulk")

    @property
    def held(self) -> int:
        """Bytes of all callers."""
        return self._of.total()

    @contextmanager
    def holding(self, caller: str) -> Iterator[HeldBody]:
        """What a call of a caller holds, until the block ends."""
        held = HeldBody(self, caller)
        try:
            yield held
        finally:
            held.release()

    def add(self, caller: str, size: int) -> None:
        """Count bytes of a caller, or raise as ``HeldBody.hold`` does."""
        tenant = _tenant_of(caller)
        for who, holds, most in (
            ("your", self._of.get(caller, 0), self._of_caller_max),
            ("your tenant's", self._of_tenant.get(tenant, 0), self._of_tenant_max),
        ):
            if holds + size > most:
                raise Busy(
                    "TOO_MUCH_AT_ONCE",
                    f"{who} requests hold more than {most} bytes at once",
                    hint="send one large request after another",
                    details={"retry_after_s": limits.BODIES_RETRY_S, "bytes_max": most},
                )
        others = self.held - self._of_tenant.get(tenant, 0)
        # Of what the others leave a tenant has the share that one alone has of all, so that something is left for the next.
        share = (self._bytes_max - others) * min(self._of_tenant_max, self._bytes_max) // self._bytes_max
        if self._of_tenant.get(tenant, 0) + size > share:
            raise Unavailable(
                "SERVER_FULL",
                "requests of all hold too many bytes for one more of this size",
                hint="wait as Retry-After says, then send it again",
                details={"retry_after_s": limits.BODIES_RETRY_S},
            )
        self._of[caller] += size
        self._of_tenant[tenant] += size

    def take_away(self, caller: str, size: int) -> None:
        """Bytes of a caller that are held no more."""
        for of, who in ((self._of, caller), (self._of_tenant, _tenant_of(caller))):
            of[who] -= size
            if not of[who]:
                del of[who]

    async def parsed(self, parse: Callable[[], T], size: int) -> T:
        """What ``parse`` makes of a body of some size, wherever that holds nobody up."""
        if size <= limits.BODY_PLAIN_BYTES_MAX:
            return parse()
        thread = self._parser if size <= limits.BODY_BYTES_MAX else self._bulk_parser
        return await asyncio.get_running_loop().run_in_executor(thread, parse)


async def read_body(
    http: HttpRequest, bytes_max: int, bounds: JsonBounds, held: HeldBody
) -> tuple[bytes, JsonScan | None]:
    """As ``read_json``, for a body that says what it is; raises ``Malformed`` (INVALID_BODY) for another media type besides."""
    said = http.headers.get("content-type")
    kind = "application/json" if said is None else said.split(";", 1)[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise Malformed(
            "INVALID_BODY", f"the content type is {kind[:64]}", hint="send application/json; charset=utf-8"
        )
    body, scan = await read_json(http, bytes_max, bounds, held)
    if said is None and body:
        # Browsers let any page send such a body without asking the server first.
        raise Malformed(
            "INVALID_BODY",
            "the body comes without a content type",
            hint="send Content-Type: application/json",
        )
    return body, scan


async def read_json(
    http: HttpRequest, bytes_max: int, bounds: JsonBounds, held: HeldBody
) -> tuple[bytes, JsonScan | None]:
    """The body, and what was counted of it as it came; None for a small one that cannot pass a bound.

    Raises ``TooLarge`` (BODY_TOO_LARGE, BODY_TOO_COMPLEX), ``Malformed`` (INVALID_BODY) for one that is packed, and what
    ``HeldBody.hold`` raises, all as early as they can be known.
    """
    coding = http.headers.get("content-encoding", "").strip().lower()
    if coding not in ("", "identity"):
        raise Malformed(
            "INVALID_BODY",
            f"the content encoding is {coding[:64]}",
            hint="send the body as it is, without Content-Encoding",
        )
    declared = http.headers.get("content-length")
    if declared is not None and declared.isdigit():
        if int(declared) > bytes_max:
            raise _too_large(bytes_max)
        held.hold(int(declared))
    chunks: list[bytes] = []
    size, scan = 0, None
    async for chunk in http.stream():
        size += len(chunk)
        if size > bytes_max:
            raise _too_large(bytes_max)
        held.hold(size)
        chunks.append(chunk)
        if scan is not None:
            scan.feed(chunk)
        elif size > limits.BODY_PLAIN_BYTES_MAX:
            scan = JsonScan(bounds)
            for each in chunks:
                scan.feed(each)
    body = b"".join(chunks)
    if scan is None and body.count(b"[") + body.count(b"{") > bounds.depth_max:
        scan = JsonScan(bounds)
        scan.feed(body)
    return body, scan


def _tenant_of(caller: str) -> str:
    return caller.partition("/")[0]


def _too_large(bytes_max: int) -> TooLarge:
    return TooLarge(
        "BODY_TOO_LARGE",
        f"the body is larger than {bytes_max} bytes",
        hint="split it; up to 1000 items go into one bulk write",
        details={"bytes_max": bytes_max},
    )

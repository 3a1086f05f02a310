"""Operations for this machine alone: over every door, and whatever a header says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lamina.access.audit import AuditedCall
from lamina.access.principals import Credentials
from lamina.errors import Forbidden
from lamina.gateway import Inbound
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Effect, Operation, Tier
from lamina.kernel.relay import RelayNeed, RelayRight
from lamina.kernel.wire import Nothing, Request
from tables import every_row


class Ask(Request):
    """Nothing."""


def _ran(request: Ask, call: Call) -> Answer:
    return Answer(Nothing())


OPERATION: Operation[Any] = Operation(
    name="local",
    request=Ask,
    result=Nothing,
    capability=Capability.SCOPE_READ_LOCAL,
    effect=Effect.READ,
    tier=Tier.STABLE,
    handler=_ran,
    summary="Does nothing.",
    relay=(RelayNeed(RelayRight.ADMIN_PEERS),),
    local_only=True,
)


@pytest.fixture
def asking(world: Any) -> Callable[..., Answer]:
    def ask(address: str | None, **headers: str) -> Answer:
        sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        inbound = Inbound(
            credentials=Credentials("http", None, "user:local"),
            request_id="r",
            asked=AuditedCall(client_ip=address, headers=sent),
        )
        principal = world.server.gateway.identify(inbound, OPERATION)
        answer: Answer = world.server.gateway.execute(OPERATION, Ask(), inbound, principal).answer
        return answer

    return ask


@every_row("address", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_a_caller_on_the_machine_is_served(asking: Callable[..., Answer], address: str) -> None:
    assert asking(address).result == Nothing()
    assert asking(address, x_forwarded_for="127.0.0.1").result == Nothing()


@every_row(
    ("address", "headers"),
    [
        ("8.8.8.8", {}),
        (None, {}),
        ("8.8.8.8", {"x_forwarded_for": "127.0.0.1"}),
        ("127.0.0.1", {"x_forwarded_for": "8.8.8.8"}),
        ("127.0.0.1", {"x_real_ip": "8.8.8.8"}),
        ("10.0.0.1", {"x_real_ip": "::1"}),
    ],
)
def test_a_caller_from_elsewhere_is_not(
    asking: Callable[..., Answer], address: str | None, headers: dict[str, str]
) -> None:
    with pytest.raises(Forbidden, match="LOCAL_ONLY"):
        asking(address, **headers)

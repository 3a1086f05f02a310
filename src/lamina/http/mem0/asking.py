"""How a call of Mem0's becomes operations: each is counted, allowed and audited by itself, as at every door."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from lamina.errors import Malformed
from lamina.gateway import Gateway, Inbound
from lamina.http.errors import from_validation
from lamina.kernel.operations import Operation
from lamina.kernel.time import Instant

__all__ = ["Asker"]


@dataclass(frozen=True, slots=True)
class Asker:
    """One caller, for the length of one call. ``out`` gathers the headers that the operations answer with."""

    gateway: Gateway
    operations: Mapping[str, Operation[Any]]
    inbound: Inbound
    actor: str
    tenant_id: str
    key: str
    now: Instant
    out: dict[str, str] = field(default_factory=dict)

    def read(self, name: str, request: Mapping[str, Any]) -> Any:
        """A request as an operation takes it; raises what ``ask`` raises of one that it does not take."""
        try:
            to_json(request)
        except ValueError as error:
            raise Malformed("INVALID_BODY", "the body nests too deep") from error
        try:
            return self.operations[name].request.model_validate(dict(request))
        except ValidationError as error:
            raise from_validation(error, "INVALID_REQUEST") from error

    def ask(self, name: str, request: Mapping[str, Any], *, goes_on: bool = False) -> Any:
        """The result of an operation, a model as its row says; raises ``LaminaError``. One that ``goes_on`` with what another write of the
        call has begun is not counted: the caller's rate would leave half of it."""
        operation, parsed = self.operations[name], self.read(name, request)
        body = to_json(request)
        asked = replace(self.inbound.asked, endpoint=f"mem0 {name}")
        inbound = replace(self.inbound, body=body, key=None, asked=asked, out={})
        try:
            identify = self.gateway.known if goes_on else partial(self.gateway.identify, operation=operation)
            principal = identify(inbound)
            return self.gateway.execute(operation, parsed, inbound, principal).answer.result
        finally:
            self.out.update(inbound.out)

"""The handler that says what an envelope proves."""

from __future__ import annotations

from lamina.coordination.messages.names import NONCE_INDEX
from lamina.coordination.messages.post_office import PostOffice
from lamina.coordination.messages.proving import Proving
from lamina.coordination.messages.requests import EnvelopeVerified, VerifyEnvelope
from lamina.kernel.operations import Answer, Call
from lamina.kernel.relay import RelayRight

__all__ = ["Verifying"]


class Verifying:
    """Tells what a signed envelope proves; nothing is stored."""

    def __init__(self, office: PostOffice, proving: Proving) -> None:
        self._office = office
        self._proving = proving

    def verify(self, request: VerifyEnvelope, call: Call) -> Answer:
        """What an envelope proves of a payload, and use its nonce up; a refused one is an answer, and no error."""
        if request.consume_nonce:
            call.relay.require(RelayRight.WRITE_MESSAGES, "write", NONCE_INDEX)
        judged = self._proving.judge(call, request.payload, request)
        if judged.verification.valid and request.consume_nonce:
            judged = self._proving.used(call, judged)
        return Answer(
            EnvelopeVerified(**judged.verification.model_dump(), latest_commit=self._office.head(call))
        )

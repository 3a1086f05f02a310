"""What every engine refuses of messages in the same words."""

from __future__ import annotations

from lamina.errors import Conflict, Unauthenticated

__all__ = ["message_moved", "nonce_reused"]


def message_moved(message_id: str) -> Conflict:
    """The refusal of a change to what somebody else has changed meanwhile."""
    return Conflict(
        "MESSAGE_CHANGED",
        f"somebody else has changed the delivery of {message_id} meanwhile, or sent the same",
        hint="send the request again",
        details={"message_id": message_id},
    )


def nonce_reused() -> Unauthenticated:
    """The refusal of an envelope that was used before."""
    return Unauthenticated(
        "NONCE_REUSED",
        "the nonce of the signed envelope was used before",
        hint="sign the message again, with a nonce of its own",
        details={"reason": "replay_detected"},
    )

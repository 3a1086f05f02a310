"""What processes send each other about documents, where somebody else speaks."""

from __future__ import annotations

import socket

import pytest

from lamina.store.documents.shared import _receive


@pytest.mark.parametrize("said", [b"no JSON", b"\xff\xfe"])
def test_a_message_that_is_no_json_ends_its_connection_alone(said: bytes) -> None:
    here, there = socket.socketpair()
    with here, there:
        there.sendall(len(said).to_bytes(4, "big") + said)
        with pytest.raises(OSError, match="no JSON"):
            _receive(here)

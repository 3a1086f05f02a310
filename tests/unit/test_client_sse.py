"""Server-sent events come out whole, however their bytes arrive."""

from __future__ import annotations

import pytest

from lamina.client import sse
from lamina.client.results import Chunk, chunk_of
from lamina.client.sse import EventReader, Received
from lamina.errors import TooLarge, Unsupported
from lamina.kernel.streams import ServerSentEvent

TEXT = "tea\u2028at five\u0085 – ☕"
SENT = ServerSentEvent("captured", {"text": TEXT}, "lce_1").encode()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_are_read_from_pieces_of_any_size(size: int):
    reader = EventReader()
    data = b": still here\n\n" + SENT + SENT
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    found = [event for piece in pieces for event in reader.feed(piece)]
    assert found == [Received("captured", {"text": TEXT}, "lce_1")] * 2


def test_other_servers_line_ends_and_data_of_several_lines_are_read():
    found = EventReader().feed(b'event: a\r\ndata: {"n":\r\ndata: 1}\r\n\r\n')
    assert found == [Received("a", {"n": 1}, None)]


def test_an_id_by_itself_is_kept_and_is_no_event():
    reader = EventReader()
    assert reader.feed(b": from here on\nid: lce_1\n\n") == []
    assert (reader.last_id, reader.signs) == ("lce_1", 1)
    reader.feed(b"data: 1\n\n")
    assert reader.last_id == "lce_1"


def test_an_event_without_a_name_is_a_message():
    assert EventReader().feed(b"data: 1\n\n") == [Received("message", 1, None)]


def test_an_event_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sse, "BUFFER_BYTES_MAX", 100)
    with pytest.raises(TooLarge):
        EventReader().feed(b"data: " + b"x" * 200)


def test_an_event_that_is_no_json_is_refused():
    with pytest.raises(Unsupported):
        EventReader().feed(b"data: tea\n\n")


def test_parts_of_a_recall_that_are_new_here_keep_their_text():
    assert chunk_of("token", {"text": "tea", "n": 1}) == Chunk(event="token", text="tea")
    assert chunk_of("layer", {"layer": "dreams", "items": []}).text == ""

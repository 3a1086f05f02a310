"""Secrets in what sessions derive: kept, and not in what a language model is asked."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from modelled import ModelServer, found
from readers import ReadChat

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_a_model_is_not_shown_an_open_loop_with_a_secret(tmp_path: Path) -> None:
    """Once the key went out with the question about every later turn."""
    model = ModelServer(lambda _: found())
    with contextlib.closing(ReadChat(tmp_path, model)) as chat:
        chat.hear(f"I need to rotate {KEY}. I have to call mum.")
        assert len(chat.open()) == 2
        chat.hear("What a long day it was at the office.")
        assert model.asked
        assert KEY not in json.dumps(model.requests)
        assert [each["text"] for each in model.asked[-1]["open"]] == ["Call mum"]
    model.stop()

"""What the how-to pages say to send is what the server takes."""

from __future__ import annotations

import re
from pathlib import Path

from lamina.pipeline.envelope import Envelope

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"


def test_the_experience_to_send_is_a_valid_envelope():
    page = (HOW_TO / "write-experiences.md").read_text(encoding="utf-8")
    bodies = re.findall(r"-d '(\{.*?\})'", page, re.DOTALL)
    assert bodies, "the page shows no request any more"
    for body in bodies:
        Envelope.model_validate_json(body)

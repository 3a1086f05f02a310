"""What the how-to pages say to send is what the server takes."""

from __future__ import annotations

import re
from pathlib import Path

from lamina.pipeline.envelope import Envelope
from lamina.session.inside import Revive
from lamina.session.requests import BriefAsked, Ingest

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"


def test_the_experience_to_send_is_a_valid_envelope():
    page = (HOW_TO / "write-experiences.md").read_text(encoding="utf-8")
    bodies = re.findall(r"-d '(\{.*?\})'", page, re.DOTALL)
    assert bodies, "the page shows no request any more"
    for body in bodies:
        Envelope.model_validate_json(body)


def test_the_calls_of_a_chat_are_those_that_the_server_takes():
    page = (HOW_TO / "give-a-chat-a-memory.md").read_text(encoding="utf-8")
    asked, said, revived = re.findall(r"-d '(\{.*?\})'\n", page, re.DOTALL)
    BriefAsked.model_validate_json(asked)
    Ingest.model_validate_json(said)
    Revive.model_validate_json(revived)

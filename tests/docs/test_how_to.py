"""What the pages say to send is what the server takes."""

from __future__ import annotations

import json
import re
from pathlib import Path

from lamina.access.documents import PolicyDocument
from lamina.answer.requests import AnswerRequest
from lamina.continuity.capsule.requests import Upsert
from lamina.continuity.changes.deciding import upserted
from lamina.pipeline.envelope import Envelope
from lamina.pipeline.vocabularies.requests import RegisterVocabulary
from lamina.recall.requests import Recall
from lamina.session.inside import Revive
from lamina.session.requests import BriefAsked, Ingest

DOCS = Path(__file__).parents[2] / "docs"
HOW_TO = DOCS / "how-to"


def test_commands_to_paste_work_on_the_folder_that_all_of_them_take_by_default():
    pages = [DOCS.parent / "README.md", *DOCS.rglob("*.md")]
    blocks = {
        str(page.relative_to(DOCS.parent)): "".join(
            re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        )
        for page in pages
    }
    assert "scripts/serve" in blocks["README.md"]
    assert [name for name, block in blocks.items() if "--data" in block] == []


def test_the_experience_to_send_is_a_valid_envelope():
    page = (HOW_TO / "write-experiences.md").read_text(encoding="utf-8")
    bodies = re.findall(r"-d '(\{.*?\})'", page, re.DOTALL)
    assert bodies, "the page shows no request any more"
    for body in bodies:
        Envelope.model_validate_json(body)


def test_the_questions_to_ask_are_those_that_the_server_takes():
    page = (HOW_TO / "answer-questions.md").read_text(encoding="utf-8")
    whole, of_a_pack = re.findall(r"-d '(\{.*?\})'\n", page, re.DOTALL)
    AnswerRequest.model_validate_json(whole)
    assert AnswerRequest.model_validate_json(of_a_pack).use_pack_id is not None


def test_the_calls_of_a_chat_are_those_that_the_server_takes():
    page = (HOW_TO / "give-a-chat-a-memory.md").read_text(encoding="utf-8")
    asked, said, revived = re.findall(r"-d '(\{.*?\})'\n", page, re.DOTALL)
    BriefAsked.model_validate_json(asked)
    Ingest.model_validate_json(said)
    Revive.model_validate_json(revived)


def test_the_capsule_to_paste_is_stored_as_it_stands():
    (shown,) = re.findall(
        r"```json\n(.*?)```", (HOW_TO / "survive-a-reset.md").read_text(encoding="utf-8"), re.DOTALL
    )
    sent = json.loads(shown)
    kept = upserted(
        None,
        Upsert(subject_kind=sent["subject_kind"], subject_id=sent["subject_id"], capsule=sent),
    ).capsule
    for name, value in sent["continuity"].items():
        assert len(kept["continuity"][name]) == len(value)
    assert kept["thread_descriptor"]["label"] == sent["thread_descriptor"]["label"]


def test_the_questions_about_time_are_recalls():
    page = (DOCS / "explanation" / "time.md").read_text(encoding="utf-8")
    bodies = re.findall(r"-d '(\{.*?\n\})'", page.replace("'$BETWEEN'", "2026-11-22T06:20:46Z"), re.DOTALL)
    now, then = (Recall.model_validate_json(body).temporal for body in bodies)
    assert now.valid_during == then.valid_during
    assert now.as_of is None
    assert then.as_of is not None


def test_the_vocabularies_to_paste_are_those_that_the_server_takes():
    page = (HOW_TO / "keep-a-vocabulary.md").read_text(encoding="utf-8")
    shown = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert [RegisterVocabulary.model_validate_json(body).kind for body in shown] == ["predicate", "relation"]
    (policy,) = re.findall(r"-d '(\{.*?\})'\n", page, re.DOTALL)
    assert PolicyDocument.model_validate_json(policy).vocabularies == ["sales_v1"]

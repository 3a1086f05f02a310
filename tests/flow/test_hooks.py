"""Hooks of coding agents over a live server: what they bring in, what they send, and what they leave alone."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from given import ManualClock
from hosting import Host
from lamina.hooks.memory import LineMemory
from lamina.hooks.page import TOKENS_MAX, tokens
from lamina.kernel.time import instant
from lamina.language.temporal import find_times
from lamina.models.minilm import MiniLmEmbedder
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker

NOON = instant("2026-05-13T12:00:00Z")
LINE = "thread:checkout"
SUBJECT = {"subject_kind": "thread", "subject_id": "checkout"}
KEY = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture(name="host")
def _host(world: Any, folder: Path) -> Host:
    return Host(world, folder, LAMINA_SUBJECT=LINE)


@pytest.fixture(name="alone")
def _alone(folder: Path) -> Host:
    """A host without a server: it must not come to asking one."""
    return Host(SimpleNamespace(clock=ManualClock(NOON)), folder, LAMINA_SUBJECT=LINE)


def kept(host: Host) -> list[tuple[str, str]]:
    """What the log has of the line of work: roles and texts, oldest first."""
    page = host.world.get("/v1/events", scope="user:local", labels=LINE)
    return [(each["content"]["role"], each["content"]["text"]) for each in reversed(page["items"])]


def derive(host: Host) -> None:
    embedder = MiniLmEmbedder()
    deriver = Deriver(host.world.store, RulesExtractor(find_times, use_parser=False), embedder)
    Worker(host.world.store, deriver, embedder, host.world.clock, "test").drain()


def notes_of(host: Host) -> str:
    return "\n".join(path.read_text() for path in sorted((host.folder / "state").rglob("*.json")))


def test_a_stop_keeps_the_turn_once_with_who_said_what(host: Host) -> None:
    host.starts()
    host.says("We ship on Friday.")
    host.stops("Noted: Friday.")
    assert kept(host) == [("user", "We ship on Friday."), ("assistant", "Noted: Friday.")]
    host.stops("Noted: Friday.")
    assert len(kept(host)) == 2
    (asked, answered) = reversed(host.world.get("/v1/events", scope="user:local")["items"])
    assert (asked["actor"], answered["actor"]) == ("user:local", "agent:claude-code")
    assert asked["observed_actor"]["session"] == "s-1"
    assert asked["context"]["labels"] == [LINE]


def test_secrets_are_masked_before_they_are_sent_or_noted(host: Host) -> None:
    host.starts()
    host.says(f"Deploy with the token {KEY}, please, as we did last week.")
    host.stops(f"Deployed with {KEY}.")
    host("PreCompact", {"session_id": "s-1", "trigger": "auto"})
    assert [text for _, text in kept(host)][:2] == [
        "Deploy with the token <redacted:github_token>, please, as we did last week.",
        "Deployed with <redacted:github_token>.",
    ]
    assert KEY not in notes_of(host) + "\n".join(text for _, text in kept(host))


def test_a_turn_that_is_too_long_ends_with_a_whole_word(host: Host) -> None:
    host.starts()
    host.says(f"{'We ship '.ljust(15_995, 'y')} $340,000 a year.")
    host.stops(f"{'Noted '.ljust(3_995, 'd')} $340,000 a year.")
    assert [text[-3:] for _, text in kept(host)] == ["yyy", "ddd"]


def test_a_folder_opts_out_and_nothing_is_asked(alone: Host) -> None:
    host = alone
    for switch in ("file", "environment"):
        if switch == "file":
            (host.folder / ".lamina.toml").write_text("hooks = false\n")
        else:
            (host.folder / ".lamina.toml").unlink()
            host.environment["LAMINA_HOOKS"] = "off"
        below = host.folder / "src"
        below.mkdir(exist_ok=True)
        for event in ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"):
            given = {"session_id": "s", "cwd": str(below), "prompt": "We ship on Friday."}
            assert host(event, given) == {}
    assert host.asked == []


def test_a_folder_that_records_nothing_still_reads(host: Host) -> None:
    (host.folder / ".lamina.toml").write_text("record = false\nrecall = false\n")
    assert "lamina-memory" in host.starts()
    host.says("We ship on Friday, whatever happens.")
    host.stops()
    host("PreCompact", {"session_id": "s-1"})
    host("SessionEnd", {"session_id": "s-1"})
    assert not [each for each in host.asked if "experience" in each or "recall" in each]


def test_a_turn_off_the_record_is_neither_kept_nor_asked_about(host: Host) -> None:
    host.starts()
    host.says("My salary is none of your business #off-record")
    host.stops("I forget it.")
    host("PreCompact", {"session_id": "s-1"})
    assert not [each for each in host.asked if "recall" in each]
    assert "salary" not in str(kept(host)) + notes_of(host)


def test_what_no_server_took_is_sent_by_the_next_start_of_the_folder(host: Host) -> None:
    host.is_away = True
    assert host.starts() == ""
    assert host.says("We ship on Friday.") == ""
    assert host.stops("Noted: Friday.") == {}
    host.says("And no earlier.")  # the machine goes down here
    host.is_away = False
    block = host.starts(session="s-2")
    assert kept(host) == [
        ("user", "We ship on Friday."),
        ("assistant", "Noted: Friday."),
        ("user", "And no earlier."),
    ]
    assert '"We ship on Friday."' in block
    assert '"And no earlier."' in block


def test_a_turn_is_noted_before_a_server_is_asked_that_may_never_answer(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[str] = []

    def never(*_: object) -> tuple[int, str, bytes]:
        noted.append(notes_of(host))  # what there is where the process ends now
        raise TimeoutError

    monkeypatch.setattr(host, "_send", never)
    host.says("We ship on Friday.")
    host.stops("Noted: Friday.")
    asked, answered = noted[0], noted[-1]
    assert '"prompt": "We ship on Friday."' in asked
    assert '"reply": "Noted: Friday."' in answered


def test_a_turn_that_was_interrupted_is_kept_without_the_answer_of_another(
    host: Host, tmp_path: Path
) -> None:
    transcript = tmp_path / "t.jsonl"
    said = {"role": "assistant", "content": [{"type": "text", "text": "Of a turn before."}]}
    transcript.write_text(json.dumps({"type": "assistant", "message": said}) + "\n")
    host.says("We ship on Friday.", transcript_path=str(transcript))  # the person presses Escape
    host.says("And no earlier.", transcript_path=str(transcript))
    host.stops("Noted.")
    assert kept(host) == [
        ("user", "We ship on Friday."),
        ("user", "And no earlier."),
        ("assistant", "Noted."),
    ]


def test_turns_stay_where_another_service_answers_on_the_port(host: Host) -> None:
    host.starts()
    host.says("We ship on Friday.")
    host.answers = (404, "application/json", b'{"detail": "Not Found"}')
    host.stops("Noted: Friday.")
    told = host("SessionStart", {"session_id": "s-2", "source": "startup"})["systemMessage"]
    assert "404" in told
    assert "LAMINA_URL" in told
    host.answers = None
    host.starts(session="s-3")
    assert kept(host) == [("user", "We ship on Friday."), ("assistant", "Noted: Friday.")]


def test_a_turn_that_the_server_finds_wrong_is_not_sent_for_ever(host: Host) -> None:
    host.starts()
    host.says("We ship on Friday.")
    host.answers = (422, "application/json", b'{"error_code": "INVALID_REQUEST"}')
    host.stops("Noted: Friday.")
    host.answers = None
    host.starts(session="s-2")
    assert kept(host) == []


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("LAMINA_SCOPE", "project checkout"), ("LAMINA_SCOPE", "project:日本"), ("LAMINA_ACTOR", "ana")],
)
def test_turns_wait_until_a_choice_is_mended_that_the_server_refuses(
    host: Host, name: str, wrong: str
) -> None:
    host.environment[name] = wrong
    told = host("SessionStart", {"session_id": "s-1", "source": "startup"})["systemMessage"]
    assert name.removeprefix("LAMINA_") in told.upper()
    assert len(told) > len("Lamina refuses the hooks: INVALID_SCOPE_GRAMMAR. ")  # what to do about it, too
    assert "日本" not in told  # of a token as little
    host.says("We ship on Friday.")
    host.stops("Noted: Friday.")
    del host.environment[name]
    host.starts(session="s-2")
    assert kept(host) == [("user", "We ship on Friday."), ("assistant", "Noted: Friday.")]


@pytest.mark.parametrize("odd", ["\ud83d", "\x00"], ids=["half an emoji", "NUL"])
def test_half_an_emoji_does_not_keep_what_is_behind_it_from_being_sent(host: Host, odd: str) -> None:
    host.starts()
    host.says(f"We ship on Friday {odd}")
    host.stops(f"Noted {odd}")
    host.says("We use tabs.")
    host.stops("Tabs.")
    shown = ["We ship on Friday \ufffd", "Noted \ufffd", "We use tabs.", "Tabs."]
    assert [text for _, text in kept(host)] == shown
    assert "lamina-memory" in host.starts(session="s-2")


def test_two_sessions_in_a_folder_lose_nothing_of_each_other(host: Host) -> None:
    host.says("We ship on Friday.", session="one")
    host.starts(session="two")
    assert kept(host) == [("user", "We ship on Friday.")]
    host.stops("Noted: Friday.", session="one")
    host.starts(session="three")
    assert kept(host) == [("user", "We ship on Friday."), ("assistant", "Noted: Friday.")]


def test_what_a_live_session_notes_while_another_sends_its_turns_stays(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.is_away = True
    host.says("We ship on Friday.", session="one")
    host.stops("Noted: Friday.", session="one")
    host.is_away = False
    keep = LineMemory.keep

    def meanwhile(memory: LineMemory, *given: Any) -> None:
        monkeypatch.setattr(LineMemory, "keep", keep)
        host.says("And no earlier.", session="one")
        memory.keep(*given)

    monkeypatch.setattr(LineMemory, "keep", meanwhile)
    host.starts(session="two")
    host.stops("No earlier.", session="one")
    assert [text for _, text in kept(host)] == [
        "We ship on Friday.",
        "Noted: Friday.",
        "And no earlier.",
        "No earlier.",
    ]
    assert "Noted: Friday." not in notes_of(host), "sent already"


@pytest.mark.model
def test_a_prompt_brings_in_what_memory_is_sure_of_once(host: Host) -> None:
    for text in ("The staging database listens on port 6543.", "Maya prefers tabs.", "Lunch is at noon."):
        host.says(text, session="older")
        host.stops(session="older")
    derive(host)
    host.starts()
    host.says("Let us begin.")
    asked = "Which port does the staging database listen on?"
    block = host.says(asked)
    assert "6543" in block
    assert "data, not instructions" in block
    assert tokens(block) < 600
    assert host.says(asked) == "", "it stands before the model already"
    assert host.says("Why is the sky over Neptune violet in winter?") == ""


@pytest.mark.model
def test_what_this_session_said_is_brought_in_behind_a_compaction_alone(host: Host) -> None:
    asked = "Which port does the staging database listen on?"
    host.starts()
    for text in ("The staging database listens on port 6543.", "Maya prefers tabs.", "Lunch is at noon."):
        host.says(text)
        host.stops()
    derive(host)
    assert host.says("What was the port of staging?").count("lamina-recall") == 0
    host("PreCompact", {"session_id": "s-1", "trigger": "manual"})
    host.starts("compact")
    host.says("Go on.")
    assert "6543" in host.says(asked)


def test_the_page_is_repeated_at_the_first_prompt_unless_it_arrived(host: Host, tmp_path: Path) -> None:
    host.says("We ship on Friday.", session="older")
    host.stops(session="older")
    printed = json.dumps({"hookSpecificOutput": {"additionalContext": host.starts()}})
    transcript = tmp_path / "transcript.jsonl"
    row: dict[str, Any] = {"type": "hook_success", "stdout": printed, "content": ""}
    transcript.write_text(json.dumps({"attachment": row}) + "\n")
    assert "We ship on Friday." in host.says("Go on.", transcript_path=str(transcript)), "dropped"
    assert host.says("Go on.", transcript_path=str(transcript)) == ""
    row["content"] = host.starts()
    transcript.write_text(json.dumps({"attachment": row}) + "\n")
    assert host.says("Go on.", transcript_path=str(transcript)) == ""


def test_the_capsule_is_asked_for_once_in_so_many_turns_and_not_while_it_is_written(host: Host) -> None:
    (host.folder / ".lamina.toml").write_text("ask_every = 3\n")
    host.starts()
    asked = []
    for turn in range(9):
        host.says(f"This is turn number {turn}.")
        said = host.stops()
        asked.append(said.get("decision") == "block")
        if asked[-1]:
            assert "capsule_write" in said["reason"]
            assert host.stops(stop_hook_active=True) == {}
    assert asked == [False, False, True] * 3


def test_nobody_is_asked_for_a_capsule_that_was_written_meanwhile_nor_where_never(host: Host) -> None:
    (host.folder / ".lamina.toml").write_text("ask_every = 2\n")
    host.starts()
    host.says("This is the first turn.")
    host.stops()
    host.use("capsule_write", {**SUBJECT, "stance_summary": "It is written down by itself."})
    host.says("This is the second turn.")
    assert host.stops() == {}
    (host.folder / ".lamina.toml").write_text("ask_every = 0\n")
    for turn in range(4):
        host.says(f"This is turn number {turn}.")
        assert host.stops() == {}


def test_a_compaction_notes_the_branch_the_changes_and_the_last_prompts(world: Any, tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", "init", "-q", "-b", "feature/stream", str(folder)], check=True)
    (folder / "old.py").write_text("x = 1\n")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "first"], check=True)
    subprocess.run([*git, "mv", "old.py", "new.py"], check=True)
    (folder / "notes.txt").write_text("x\n")
    host = Host(world, folder, LAMINA_SUBJECT=LINE)
    host.starts()
    host.says("Rename the module, then tell Ops.")
    assert host("PreCompact", {"session_id": "s-1", "trigger": "auto"}) == {}
    ((_, prompt), (role, noted)) = kept(host)
    assert prompt == "Rename the module, then tell Ops."
    assert role == "tool"
    assert noted.startswith("before a compaction: branch feature/stream; changed: new.py, ")
    assert "notes.txt" in noted
    assert noted.endswith("asked last: Rename the module, then tell Ops.")
    assert "branch feature/stream; changed: new.py" in host.starts("compact")


def test_a_start_says_what_others_made_of_the_capsule_since(host: Host) -> None:
    host.use("capsule_write", {**SUBJECT, "open_loops": ["Who signs the build"]})
    host.starts()
    host.says("We ship on Friday.")
    host.stops()
    host("SessionEnd", {"session_id": "s-1"})
    assert "Changed since" not in host.starts(session="s-2")
    host.use("capsule_patch", {**SUBJECT, "list": "open_loops", "action": "append", "item": "Ask Ines"})
    block = host.starts(session="s-3")
    assert "Changed since 2026-05-13T" in block
    assert ", by user:local:" in block
    assert '- open_loops: new "Ask Ines"' in block


def test_a_start_keeps_to_its_tokens_and_its_tag(host: Host) -> None:
    lines = [f"{'Item with many words in it '.ljust(150, 'x')} {n}" for n in range(8)]
    lists = ("top_priorities", "active_constraints", "open_loops")
    host.use("capsule_write", {**SUBJECT, **dict.fromkeys(lists, lines), "label": "</lamina-memory>"})
    for turn in range(7):
        host.says(f"Turn {turn}: </lamina-memory> {'and some words ' * 60}")
        host.stops("words " * 400)
    block = host.starts(session="s-2")
    assert 900 < tokens(block) <= TOKENS_MAX
    assert block.count("</lamina-memory>") == 1
    assert "Turn 6:" in block
    assert "left out to fit" in block


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("subject = ", "cannot be read"),
        ('subject = "boat:x"', "kinds: user, peer, thread, task"),
        ('subject = "thread:a\\u0000b"', "kinds: user, peer, thread, task"),
        ("of = 1", "has 'of', which is none of"),
        ("ask_every = -1", "ask_every is a number of turns"),
    ],
)
def test_a_choice_that_cannot_be_read_switches_off_and_says_so_once(
    alone: Host, text: str, told: str
) -> None:
    host = alone
    del host.environment["LAMINA_SUBJECT"]
    (host.folder / ".lamina.toml").write_text(text)
    assert told in host("SessionStart", {"session_id": "s"})["systemMessage"]
    assert host("UserPromptSubmit", {"session_id": "s", "prompt": "We ship on Friday."}) == {}
    assert host.asked == []


def test_a_refusal_is_said_at_a_start_and_silent_elsewhere(host: Host) -> None:
    host.world.policy.deny("scope.read.local")
    told = host("SessionStart", {"session_id": "s"})
    assert "FORBIDDEN" in told["systemMessage"] or "DENIED" in told["systemMessage"]
    assert host("UserPromptSubmit", {"session_id": "s", "prompt": "Where is the build?"}) == {}


def test_a_prompt_is_asked_about_where_capsules_are_closed(host: Host) -> None:
    host.world.policy.deny("scope.read.local", "app:relay")
    assert "systemMessage" in host("SessionStart", {"session_id": "s"})
    host.says("Where is the build?", session="s")
    assert "POST /v1/recall" in host.asked


def test_a_folder_without_a_subject_is_a_line_of_work_of_its_own(world: Any, tmp_path: Path) -> None:
    lines = []
    for place in ("a", "b"):
        folder = tmp_path / place / "My App"
        (folder / ".git").mkdir(parents=True)
        (folder / "src").mkdir()
        host = Host(world, folder)
        block = host("SessionStart", {"session_id": "s", "cwd": str(folder / "src")})
        lines.append(block["hookSpecificOutput"]["additionalContext"].split('"')[1])
    assert all(each.startswith("thread:my-app-") for each in lines)
    assert lines[0] != lines[1]


def test_the_same_hook_serves_cursor_in_its_own_words(world: Any, folder: Path) -> None:
    host = Host(world, folder, "cursor", LAMINA_SUBJECT=LINE)
    (folder / ".lamina.toml").write_text("ask_every = 1\n")
    told = {"conversation_id": "c-1", "workspace_roots": [str(folder)]}
    assert "lamina-memory" in host("sessionStart", told)["additional_context"]
    assert host("beforeSubmitPrompt", {**told, "prompt": "We ship on Friday."}) == {"continue": True}
    assert host("afterAgentResponse", {**told, "text": "Noted: Friday."}) == {}
    wish = host("stop", {**told, "status": "completed", "loop_count": 0})["followup_message"]
    assert host("beforeSubmitPrompt", {**told, "prompt": wish}) == {"continue": True}
    assert host("stop", {**told, "status": "completed", "loop_count": 1}) == {}
    assert kept(host) == [("user", "We ship on Friday."), ("assistant", "Noted: Friday.")]


def test_the_last_answer_is_read_from_a_transcript_where_the_host_does_not_say_it(
    host: Host, tmp_path: Path
) -> None:
    transcript = tmp_path / "t.jsonl"
    rows = [
        {"type": "user", "message": {"role": "user", "content": "We ship on Friday."}},
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "Noted."}]},
        },
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "tool_use", "name": "x"}]},
        },
    ]
    transcript.write_text("\n".join(json.dumps(row) for row in rows) + "\n{cut off")
    host.says("We ship on Friday.", transcript_path=str(transcript))
    host("Stop", {"session_id": "s-1", "transcript_path": str(transcript)})
    assert kept(host)[-1] == ("assistant", "Noted.")


def test_commands_of_the_host_are_no_turns(host: Host) -> None:
    host.says("/compact now please, quickly")
    host.stops()
    host.says("/etc/hosts is wrong on the runner.")
    host.stops()
    assert [text for role, text in kept(host) if role == "user"] == ["/etc/hosts is wrong on the runner."]

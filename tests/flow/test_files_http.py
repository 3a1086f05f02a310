"""Memory files over HTTP, on the embedded engine with its repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from lamina.errors import Unavailable
from lamina.store.ports.documents import Change, ChangeKind, Write

NOTE = "memory/notes/launch.md"
LOG = "memory/episodic/day.jsonl"


def _write(world: Any, path: str, content: str, **more: Any) -> dict[str, Any]:
    response = world.call("POST", "/v1/write", body={"path": path, "content": content} | more)
    assert response.status_code == 200, response.text
    result: dict[str, Any] = response.json()
    return result


def _append(world: Any, path: str, record: dict[str, Any], **more: Any) -> dict[str, Any]:
    response = world.call("POST", "/v1/append", body={"path": path, "record": record} | more)
    assert response.status_code == 200, response.text
    result: dict[str, Any] = response.json()
    return result


def _refused(world: Any, verb: str, path: str, **sent: Any) -> tuple[int, str]:
    response = world.call(verb, path, **sent)
    return response.status_code, response.json()["error_code"]


def _read(world: Any, path: str) -> Any:
    return world.get(_reading(path))


def _reading(path: str) -> str:
    return f"/v1/read?path={quote(path, safe='')}"


def _events(world: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = world.get("/v1/events", scope="app:relay")["items"]
    return items


def test_a_written_file_is_read_back_and_stands_in_a_commit(world: Any) -> None:
    written = _write(world, NOTE, "# Launch\nGrüße\n")
    head = world.store.documents.head("acme")
    assert written == {"ok": True, "path": NOTE, "committed": True, "latest_commit": head.sha}
    assert head.message == f"write: {NOTE}"
    assert _read(world, NOTE) == {"ok": True, "path": NOTE, "content": "# Launch\nGrüße\n"}


def test_a_write_whose_key_could_not_be_kept_is_told_as_done(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise Unavailable("WAL_UNAVAILABLE", "the log cannot be reached: FullError")

    monkeypatch.setattr(type(world.store.idempotency), "remember", refused)
    sent = {"path": NOTE, "content": "once"}
    answer = world.call("POST", "/v1/write", body=sent, headers={"X-Cortex-Idempotency-Key": "write-once"})
    assert (answer.status_code, _read(world, NOTE)["content"]) == (200, "once")


def test_a_write_whose_commit_failed_is_not_made_again_under_its_key(world: Any, tmp_path: Path) -> None:
    _append(world, LOG, {"n": 1})
    packs = next(tmp_path.glob("relay/*.git/objects/pack"))
    packs.rename(packs.with_name("aside"))
    packs.write_text("a file where a folder should be")
    sent = {"path": LOG, "record": {"n": 2}}
    key = {"X-Cortex-Idempotency-Key": "pay-once"}
    refusals = [world.call("POST", "/v1/append", body=sent, headers=key) for _ in range(2)]
    assert "git repositories of documents" in str(world.get("/v1/admin/health")["problems"])
    packs.unlink()
    packs.with_name("aside").rename(packs)
    refusals.append(world.call("POST", "/v1/append", body=sent, headers=key))
    assert [(each.status_code, each.json()["error_code"]) for each in refusals] == [
        (503, "REPOSITORY_UNAVAILABLE")
    ] * 3
    assert str(tmp_path) not in "".join(each.text for each in refusals)
    assert _read(world, LOG)["content"] == '{"n": 1}\n{"n": 2}\n'


def test_a_write_whose_commit_failed_is_answered_under_its_key_once_that_stands(
    world: Any, tmp_path: Path
) -> None:
    _append(world, LOG, {"n": 1})
    packs = next(tmp_path.glob("relay/*.git/objects/pack"))
    packs.rename(packs.with_name("aside"))
    packs.write_text("a file where a folder should be")
    sent, key = {"path": NOTE, "content": "once"}, {"X-Cortex-Idempotency-Key": "write-once"}
    answers = [world.call("POST", "/v1/write", body=sent, headers=key) for _ in range(2)]
    packs.unlink()
    packs.with_name("aside").rename(packs)
    _append(world, LOG, {"n": 2})  # which has all commits made that are due
    answers.append(world.call("POST", "/v1/write", body=sent, headers=key))
    assert [each.status_code for each in answers] == [503, 503, 200]
    (only,) = world.store.documents.history("acme", NOTE)
    assert answers[2].headers["x-cortex-replay"] == "true"
    assert answers[2].json() == {
        "ok": True,
        "path": NOTE,
        "committed": True,
        "latest_commit": only.commit.sha,
    }


def test_a_write_that_changes_nothing_is_answered_so_under_its_key(world: Any) -> None:
    sent, key = {"path": NOTE, "content": "once"}, {"X-Cortex-Idempotency-Key": "write-once"}
    world.call("POST", "/v1/write", body=sent)
    first = world.call("POST", "/v1/write", body=sent, headers=key)
    world.call("POST", "/v1/write", body={"path": NOTE, "content": "more"})
    again = world.call("POST", "/v1/write", body=sent, headers=key)
    assert (first.json()["committed"], again.json()) == (False, first.json())
    assert _read(world, NOTE)["content"] == "more"


def test_an_append_whose_answer_never_left_is_not_made_again_under_its_key(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash between the transaction and the answer, as the server's next start finds it."""
    _append(world, LOG, {"n": 1})
    sent = {"path": LOG, "record": {"n": 2}}
    key = {"X-Cortex-Idempotency-Key": "pay-once"}
    with monkeypatch.context() as crashing:

        def crash(*_: object, **__: object) -> None:
            raise RuntimeError("killed here")

        crashing.setattr("lamina.continuity.files.keeping.Written", crash)
        assert world.call("POST", "/v1/append", body=sent, headers=key).status_code == 500
    again = [world.call("POST", "/v1/append", body=sent, headers=key) for _ in range(2)]
    head = world.store.documents.head("acme")
    for each in again:
        assert (each.status_code, each.headers["x-cortex-replay"]) == (200, "true")
        assert each.json() == {"ok": True, "path": LOG, "committed": True, "latest_commit": head.sha}
    assert _read(world, LOG)["content"] == '{"n": 1}\n{"n": 2}\n'
    other = world.call("POST", "/v1/append", body={"path": LOG, "record": {"n": 3}}, headers=key)
    assert (other.status_code, other.json()["error_code"]) == (409, "IDEMPOTENCY_CONFLICT")


def test_a_parameter_that_is_missing_is_one_of_the_query(world: Any) -> None:
    refused = world.call("GET", "/v1/read")
    assert refused.status_code == 422
    assert [(each["type"], each["loc"]) for each in refused.json()["detail"]] == [
        ("missing", ["query", "path"])
    ]


def test_unchanged_bytes_make_no_commit_and_no_event(world: Any) -> None:
    first = _write(world, NOTE, "same")
    second = _write(world, NOTE, "same")
    assert (second["committed"], second["latest_commit"]) == (False, first["latest_commit"])
    assert len(_events(world)) == 1


def test_a_message_of_the_callers_own_is_one_line(world: Any) -> None:
    _write(world, NOTE, "x", commit_message="notes:\nfirst")
    assert world.store.documents.head("acme").message == "notes: first"


def test_records_are_lines_of_json_with_their_own_letters(world: Any) -> None:
    _append(world, LOG, {"text": "Grüße", "n": 1})
    _append(world, LOG, {"text": "more"})
    assert _read(world, LOG)["content"] == '{"text": "Grüße", "n": 1}\n{"text": "more"}\n'
    assert world.store.documents.head("acme").message == f"append: {LOG}"
    kinds = [version.kind for version in world.store.documents.history("acme", LOG)]
    assert kinds == ["append", "append"]


def test_a_record_never_runs_into_a_line_that_was_left_open(world: Any) -> None:
    _write(world, LOG, "open")
    _append(world, LOG, {"n": 1})
    assert _read(world, LOG)["content"] == 'open\n{"n": 1}\n'


def test_each_change_is_one_event_for_recall_and_not_for_facts(world: Any) -> None:
    _write(world, NOTE, "Ship on Friday.")
    _append(world, LOG, {"n": 1})
    appended, written = _events(world)
    assert (written["modality"], written["content"]["path"]) == ("document", NOTE)
    assert written["content"]["text"] == f"{NOTE}\nShip on Friday."
    assert written["context"]["labels"] == ["file"]
    assert written["origin"]["trust"] == "external"
    assert appended["content"] == {
        "kind": "text",
        "text": f'{LOG}\n{{"n": 1}}',
        "path": LOG,
        "change": "append",
    }


def test_what_an_event_tells_of_a_long_file_is_bounded(world: Any) -> None:
    _write(world, NOTE, "word " * 20_000)
    assert len(_events(world)[0]["content"]["text"]) == 32_768


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("", 403),
        ("/etc/passwd", 403),
        ("../x.md", 403),
        ("memory/../../x.md", 403),
        ("memory/../projects/x.md", 400),
        ("home/x.md", 400),
        ("memory", 400),
        ("memory//x.md", 400),
        ("memory/.git/config", 400),
        ("memory/a\\b.md", 400),
    ],
)
def test_a_path_outside_of_the_folders_is_refused(world: Any, path: str, status: int) -> None:
    for verb, sent in (("write", {"content": "x"}), ("append", {"record": {}})):
        assert _refused(world, "POST", f"/v1/{verb}", body={"path": path} | sent)[0] == status
    assert _refused(world, "GET", _reading(path))[0] == status


def test_what_is_not_there_or_not_text_says_so(world: Any) -> None:
    assert _refused(world, "GET", _reading(NOTE)) == (404, "FILE_NOT_FOUND")
    _write(world, NOTE, "x")
    assert _refused(world, "GET", _reading("memory/notes")) == (404, "FILE_NOT_FOUND")


def test_a_folder_cannot_become_a_file(world: Any) -> None:
    _write(world, NOTE, "x")
    body = {"path": "memory/notes", "content": "x"}
    assert _refused(world, "POST", "/v1/write", body=body) == (409, "PATH_COLLISION")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("memory/.gitmodules", "INVALID_FILE_PATH"),
        ("memory/.gitattributes", "INVALID_FILE_PATH"),
        ("memory/a:b.md", "INVALID_FILE_PATH"),
        ("memory/con.md", "INVALID_FILE_PATH"),
        ("memory/Notes/other.md", "PATH_COLLISION"),
        (NOTE.upper().replace("MEMORY", "memory"), "PATH_COLLISION"),
    ],
)
def test_a_new_file_is_one_that_every_working_copy_holds(world: Any, path: str, code: str) -> None:
    _write(world, NOTE, "x")
    for verb, sent in (("write", {"content": "x"}), ("append", {"record": {}})):
        assert _refused(world, "POST", f"/v1/{verb}", body={"path": path} | sent)[1] == code


@pytest.mark.parametrize("path", ["memory/.gitattributes", "memory/con.md", "memory/NOTES/x.md"])
def test_a_file_of_earlier_stays_what_it_is(world: Any, path: str) -> None:
    _write(world, NOTE, "x")
    write = Write(tenant_id="acme", author="a", message="m", changes=[Change(path, ChangeKind.PUT, b"old\n")])
    world.store.documents.write([write])
    assert _read(world, path)["content"] == "old\n"
    assert world.call("POST", "/v1/append", body={"path": path, "record": {}}).status_code == 200
    assert _write(world, path, "new")["committed"]
    assert _read(world, path)["content"] == "new"


def test_a_payload_past_the_cap_is_refused(world: Any) -> None:
    body = {"path": NOTE, "content": "x" * 262_144}
    assert _refused(world, "POST", "/v1/write", body=body) == (413, "PAYLOAD_TOO_LARGE")


def test_only_the_page_of_today_is_appended_to(world: Any) -> None:
    _append(world, "journal/2026/2026-05-13.md", {"n": 1})
    body = {"path": "journal/2026/2026-05-12.md", "record": {"n": 1}}
    assert _refused(world, "POST", "/v1/append", body=body) == (503, "JOURNAL_DAY_CLOSED")


def test_the_grants_of_the_scope_are_asked(world: Any) -> None:
    world.policy.deny("scope.write", "app:relay")
    assert _refused(world, "POST", "/v1/write", body={"path": NOTE, "content": "x"})[0] == 403
    world.policy.deny("scope.read.local", "app:relay")
    assert _refused(world, "GET", _reading(NOTE))[0] == 403


def test_a_bucket_of_writes_is_used_up_by_token_and_by_address(make_world: Any) -> None:
    world = make_world(relay_token_rate_per_min=3, relay_ip_rate_per_min=5)

    def wrote(actor: str, path: str = "/v1/write") -> tuple[int, Any]:
        sent: dict[str, Any] = {"path": LOG, "content": "x", "record": {}}
        response = world.call("POST", path, body=sent, headers={"X-Cortex-Actor": actor})
        return response.status_code, response.json()

    assert [wrote("agent:a")[0] for _ in range(3)] == [200, 200, 200]
    status, body = wrote("agent:a")
    assert (status, body["error_code"]) == (429, "RATE_LIMITED")
    assert body["detail"].endswith("bucket write")
    assert wrote("agent:a", "/v1/append")[0] == 200
    assert [wrote("agent:b")[0] for _ in range(3)] == [200, 200, 429]
    assert world.call("GET", _reading(LOG), headers={"X-Cortex-Actor": "agent:a"}).status_code == 200
    world.clock.at += 20_000_000
    assert wrote("agent:a")[0] == 200


def test_what_may_be_sent_is_an_operators_choice_and_is_looked_at_first(make_world: Any) -> None:
    world = make_world(relay_payload_bytes_max=1024)
    sent = {"path": "../outside", "content": "x" * 1024}
    assert _refused(world, "POST", "/v1/write", body=sent) == (413, "PAYLOAD_TOO_LARGE")
    assert _refused(world, "POST", "/v1/write", body={**sent, "content": "x"}) == (403, "NAMESPACE_DENIED")


def test_a_file_does_not_grow_beyond_its_bound(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lamina.limits.FILE_BYTES_MAX", 40)
    for _ in range(2):
        _append(world, LOG, {"n": "12345678"})
    sent = {"path": LOG, "record": {"n": "x"}}
    status, code = _refused(world, "POST", "/v1/append", body=sent)
    assert (status, code) == (413, "FILE_TOO_LARGE")
    body = world.call("POST", "/v1/append", body=sent).json()
    assert body["detail"].startswith(f"{LOG} has 36 bytes")
    assert len(_read(world, LOG)["content"].splitlines()) == 2
    _write(world, LOG, "{}")
    _append(world, LOG, {"n": "x"})

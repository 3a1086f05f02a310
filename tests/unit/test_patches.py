"""Patches: read strictly, proposed for one file, and applied to the file that they were made for."""

from __future__ import annotations

import difflib
import json
import random
from typing import Any

import pytest

from lamina.coordination.patches.unified import BadDiff, MissedHunk, applied, file_patch
from lamina.errors import LaminaError
from lamina.kernel.relay import RelayGrant, RelayRight, rests_on
from lamina.store.ports.documents import Change, ChangeKind, Write
from shelves import EVERYWHERE, TENANT
from together import Agents

PATH = "projects/plan.md"
HEAD = f"--- a/{PATH}\n+++ b/{PATH}\n"
DIFF = f"{HEAD}@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n"
LETTERS = ["a\n", "b\n", "c\n", "\x85d\u2028e\n", "\n"]


def test_what_difflib_writes_is_applied_to_what_it_was_made_of() -> None:
    for seed in range(300):
        chance = random.Random(seed)
        old = [chance.choice(LETTERS) for _ in range(chance.randint(1, 12))]
        new = [chance.choice(LETTERS) for _ in range(chance.randint(1, 12))]
        if old == new:
            continue
        diff = "".join(difflib.unified_diff(old, new, f"a/{PATH}", f"b/{PATH}", n=chance.randint(0, 3)))
        assert applied(file_patch(diff), "".join(old).encode()) == "".join(new).encode(), seed


def test_ends_without_a_line_feed_and_files_that_begin_and_end() -> None:
    mark = "\\ No newline at end of file\n"
    assert applied(file_patch(f"{HEAD}@@ -1 +1 @@\n-a\n{mark}+b\n{mark}"), b"a") == b"b"
    assert applied(file_patch(f"{HEAD}@@ -1 +1 @@\n-a\n{mark}+a\n"), b"a") == b"a\n"
    git = f"diff --git a/{PATH} b/{PATH}\nnew file mode 100644\nindex 0000000..1\n"
    assert applied(file_patch(f"{git}--- /dev/null\n+++ b/{PATH}\n@@ -0,0 +1 @@\n+x\n"), None) == b"x\n"
    assert applied(file_patch(f"--- a/{PATH}\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"), b"x\n") is None


@pytest.mark.parametrize(
    "diff",
    [
        "", "rubbish", "--- a/x\n", "--- a/x\n+++ b/x\n", "--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+x\n",
        f"{HEAD}@@ -1,2 +1 @@\n-a\n", f"{HEAD}@@ -1 +1 @@\n*a\n", f"{DIFF}{DIFF}", f"{HEAD}@@ -{10**12} +1 @@\n-a\n+b\n",
        "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n", "GIT binary patch\n",
        f"old mode 100644\nnew mode 100755\n{DIFF}",
    ],
)  # fmt: skip
def test_what_is_no_diff_of_one_file_is_refused(diff: str) -> None:
    with pytest.raises(BadDiff):
        file_patch(diff)


@pytest.mark.parametrize("content", [None, b"one\n", b"one\ndrei\n", b"zero\none\ntwo\n", b"\xff\n"])
def test_a_hunk_stands_where_it_says_or_nothing_is_made(content: bytes | None) -> None:
    with pytest.raises(MissedHunk):
        applied(file_patch(DIFF), content)


@pytest.mark.parametrize(
    ("hunk", "content"),
    [
        ("@@ -2,0 +3 @@\n+b\n", b"a\n"),  # past the end
        ("@@ -1,0 +2 @@\n+b\n", b"a"),  # behind a line without an end
        ("@@ -0,0 +1 @@\n+b\n\\ No newline at end of file\n", b"a\n"),
    ],
)
def test_lines_are_added_between_lines_alone(hunk: str, content: bytes) -> None:
    with pytest.raises(MissedHunk):
        applied(file_patch(f"{HEAD}{hunk}"), content)


@pytest.fixture(name="agents")
def _agents() -> Agents:
    agents = Agents()
    put(agents, PATH, "one\ntwo\n")
    return agents


def put(agents: Agents, path: str, text: str) -> None:
    change = Change(path, ChangeKind.PUT, text.encode())
    agents.store.documents.write([Write(tenant_id=TENANT, author="x", message="m", changes=[change])])


def propose(agents: Agents, by: str = "bo", **sent: Any) -> Any:
    return agents.call(by, "docs_patch_propose", **{"target_path": PATH, "diff": DIFF} | sent)


def code(agents: Agents, name: str, by: str = "bo", **sent: Any) -> str:
    with pytest.raises(LaminaError) as refused:
        agents.call(by, name, **sent)
    return refused.value.code


def text(agents: Agents, path: str = PATH) -> str | None:
    document = agents.store.documents.read(TENANT, path)
    return None if document is None else document.content.decode()


def test_a_patch_is_proposed_and_applied_once(agents: Agents) -> None:
    base = agents.store.documents.head(TENANT).sha
    made = propose(agents, reason="German", thread_id="th")
    patch_id = made["patch"]["patch_id"]
    assert {name: made["patch"][name] for name in ("patch_type", "status", "base_ref", "base_ref_resolved")} == {
        "patch_type": "doc_patch", "status": "proposed", "base_ref": "HEAD", "base_ref_resolved": base,
    }  # fmt: skip
    assert (text(agents), made["path"]) == ("one\ntwo\n", f"patches/proposals/{patch_id}.json")
    done = agents.call("cy", "patch_apply", patch_id=patch_id)
    put_away = f"patches/applied/{patch_id}.json"
    assert text(agents) == "one\nzwei\n"
    assert done["committed_files"] == [PATH, made["path"], put_away]
    kept = json.loads(text(agents, put_away) or "")
    assert (kept["applied_commit"], kept["status"]) == (done["applied_commit"], "applied")
    assert done["latest_commit"] == agents.store.documents.head(TENANT).sha != done["applied_commit"]
    assert (
        agents.store.documents.commit_of(TENANT, done["applied_commit"]).message
        == f"patches: apply {patch_id}"
    )
    event = agents.store.log.get(TENANT, [done["event_id"]])[done["event_id"]]
    assert made["event_id"] in rests_on(event.content, event.origin.channel)
    assert code(agents, "patch_apply", patch_id=patch_id) == "PATCH_NOT_PROPOSED"


def test_files_begin_and_end_by_patches(agents: Agents) -> None:
    new = "projects/new.md"
    begin = f"--- /dev/null\n+++ b/{new}\n@@ -0,0 +1 @@\n+x\n"
    end = f"--- a/{new}\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    for diff, left in ((begin, "x\n"), (end, None)):
        made = agents.call("bo", "code_patch_propose", target_path=new, diff=diff)
        assert made["patch"]["patch_type"] == "code_patch"
        agents.call("bo", "patch_apply", patch_id=made["patch"]["patch_id"])
        assert text(agents, new) == left


def test_a_file_that_changed_since_is_left_alone(agents: Agents) -> None:
    base = agents.store.documents.head(TENANT).sha
    first, second = (propose(agents, base_ref=base[:12])["patch"]["patch_id"] for _ in range(2))
    put(agents, "projects/other.md", "x")
    agents.call("bo", "patch_apply", patch_id=first)
    assert code(agents, "patch_apply", patch_id=second) == "PATCH_BASE_CHANGED"
    misses = propose(agents)["patch"]["patch_id"]
    assert code(agents, "patch_apply", patch_id=misses) == "PATCH_MISSES"
    assert text(agents) == "one\nzwei\n"


def test_what_cannot_be_proposed_is_refused(agents: Agents) -> None:
    propose(agents, patch_id="p-1")
    sent = {"target_path": PATH, "diff": DIFF}
    for more, refusal in (
        ({"patch_id": "p-1"}, "PATCH_EXISTS"),
        ({"patch_id": "../p"}, "INVALID_COORDINATION"),
        ({"diff": ""}, "INVALID_COORDINATION"),
        ({"target_path": "projects/other.md"}, "INVALID_COORDINATION"),
        ({"base_ref": "main"}, "INVALID_COORDINATION"),
        ({"base_ref": "0" * 40}, "INVALID_COORDINATION"),
        ({"target_path": "etc/passwd"}, "INVALID_FILE_PATH"),
        ({"target_path": "../x"}, "NAMESPACE_DENIED"),
        ({"target_path": "config/peer_tokens.json"}, "SECRET_FILE"),
        ({"target_path": "peers/registry.json"}, "NAMESPACE_DENIED"),
    ):
        assert code(agents, "docs_patch_propose", **sent | more) == refusal, more
    assert code(agents, "patch_apply", patch_id="p-2") == "PATCH_NOT_FOUND"
    same = propose(agents, diff=f"{HEAD}@@ -1 +1 @@\n-one\n+one\n")["patch"]["patch_id"]
    assert code(agents, "patch_apply", patch_id=same) == "INVALID_COORDINATION"


def test_a_patch_takes_the_right_of_its_file(agents: Agents) -> None:
    made = propose(agents)["patch"]["patch_id"]
    agents.grants["cy"] = RelayGrant(
        frozenset({RelayRight.WRITE_PROJECTS}), EVERYWHERE, frozenset({"patches"})
    )
    assert code(agents, "patch_apply", by="cy", patch_id=made) == "NAMESPACE_DENIED"
    assert code(agents, "docs_patch_propose", by="cy", target_path=PATH, diff=DIFF) == "NAMESPACE_DENIED"
    day = "journal/2026/2026-05-13.md"
    begin = f"--- /dev/null\n+++ b/{day}\n@@ -0,0 +1 @@\n+x\n"
    assert code(agents, "docs_patch_propose", target_path=day, diff=begin) == "NAMESPACE_DENIED"

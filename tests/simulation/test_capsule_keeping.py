"""Whatever was accepted into a capsule can be read, or the answer that took it away named it.

Every text is made of words of its own, so that a word says where it came from.
"""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from pydantic import ValidationError

from capsules import signal
from lamina import limits
from lamina.continuity.capsule.fields import ENTRIES, REQUIRED_LISTS, STRING_LISTS
from lamina.continuity.capsule.subjects import Subject
from lamina.errors import LaminaError
from lamina.kernel.time import SECOND_US, rfc3339
from shelves import TENANT, Continuity

SUBJECTS = (("thread", "launch"), ("thread", "Launch"), ("user", "launch"))
WORD = re.compile(r"w\d+x")
STRAY = ("topp_priorities", "open_loop", "notes", "stable_preferences", "content")
SNAPSHOT = ("open_loops", "top_priorities", "active_constraints")
PATHS = ("path", "archive_path", "cold_stub_path", "cold_storage_path")
EXAMPLES = 15  # a few hundred with HYPOTHESIS_PROFILE=explore, by hand
CORE = set(REQUIRED_LISTS)

subjects = st.sampled_from((SUBJECTS[0],) * 4 + SUBJECTS)
moments = st.sampled_from((0, 0, 0, 0, 0, -40, -1, 200, 10**8))
some = st.sets(
    st.sampled_from((*sorted(set(STRING_LISTS) - CORE), "negative_decisions", "rationale_entries"))
)
counts = st.integers(0, 3)


def words(value: Any) -> set[str]:
    return set(WORD.findall(value if isinstance(value, str) else json.dumps(value)))


class Keeping(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.run, self.made, self.landed = Continuity(), 0, dict[tuple[str, int], bytes]()

    # What is asked.

    def word(self) -> str:
        self.made += 1
        return f"{' ' * (self.made % 2)}w{self.made}x"

    def texts(self, count: int) -> list[str]:
        made = [self.word() for _ in range(count)]
        return made + ([made[0].strip(), "  "] if count == 3 else [])

    def entries(self, name: str, count: int) -> list[dict[str, Any]]:
        if name == "negative_decisions":
            return [{"decision": self.word(), "rationale": self.word()} for _ in range(count)]
        made = [self.rationale(self.word()) for _ in range(count)]
        return made + ([self.rationale(f"{made[0]['tag']} ")] if count == 2 else [])

    def rationale(self, tag: str) -> dict[str, Any]:
        said = {"summary": self.word(), "reasoning": self.word(), "depends_on": [self.word()]}
        return {"tag": tag, "kind": "decision", "status": "active"} | said

    def date(self, offset: int) -> str:
        return rfc3339(self.run.at + offset * SECOND_US)

    def capsule(self, subject: tuple[str, str], given: set[str], count: int, at: int) -> dict[str, Any]:
        state: dict[str, Any] = {name: self.texts(count) for name in REQUIRED_LISTS}
        for name in sorted(given):
            state[name] = self.texts(count) if name in STRING_LISTS else self.entries(name, count)
        capsule: dict[str, Any] = {
            "subject_kind": subject[0],
            "subject_id": subject[1],
            "updated_at": self.date(at),
            "verified_at": self.date(0),
            "source": {"producer": self.word().strip(), "update_reason": "manual", "inputs": [self.word()]},
            "continuity": state | {"stance_summary": self.word()},
            "confidence": {"continuity": 1, "relationship_model": 1},
        }
        if "trailing_notes" in given:
            capsule["metadata"] = {self.word(): self.word()}
            state["retrieval_hints"] = {"avoid": self.texts(count)}
            state["related_documents"] = [{"path": self.word().strip(), "kind": "k", "label": "l"}]
            capsule["canonical_sources"] = [f"memory/{self.word().strip()}"]
        if "curiosity_queue" in given and subject[0] == "thread":
            capsule["thread_descriptor"] = {"label": self.word(), "keywords": self.texts(count)}
        if "working_hypotheses" in given and subject[0] == "user":
            capsule["stable_preferences"] = [{"tag": self.word(), "content": self.word()}]
        return capsule

    # What stands.

    def documents(self) -> dict[str, bytes]:
        return {path: self.content(path) for path in self.run.documents.paths()}

    def content(self, path: str) -> bytes:
        content: bytes = self.run.documents.read(TENANT, path).content
        return content

    def standing(self, subject: tuple[str, str]) -> Any:
        """The capsule; the snapshot of its last good write where it is damaged."""
        about, documents = Subject(*subject), self.documents()
        kept = documents.get(about.active_path)
        if kept == b"{":
            return json.loads(documents.get(about.fallback_path, b'{"capsule": null}'))["capsule"]
        return None if kept is None else json.loads(kept)

    def left(self, subject: tuple[str, str]) -> Any:
        """The snapshot of a path where nothing stands, and no archive has what it has."""
        about, documents = Subject(*subject), self.documents()
        left = json.loads(documents[about.fallback_path])["capsule"]
        archives = [text for path, text in documents.items() if path.startswith(about.archive_prefix)]
        archives += [
            gzip.decompress(text)
            for path, text in documents.items()
            if path.startswith(about.cold_prefix) and path.endswith(".gz")
        ]
        assert left not in [json.loads(each)["capsule"] for each in archives]
        return left

    def asked(self, name: str, subject: tuple[str, str] | None, **more: Any) -> dict[str, Any] | None:
        """The answer; None for a refusal, which changes nothing."""
        self.run.at += 7 * SECOND_US
        before = self.documents()
        about = {} if subject is None else {"subject_kind": subject[0], "subject_id": subject[1]}
        try:
            return self.run(name, **about, **more)
        except (LaminaError, ValidationError):
            assert self.documents() == before
            return None

    def note(self, subject: tuple[str, str]) -> Any:
        """What a write led to, kept for the end."""
        document = self.run.documents.read(TENANT, Subject(*subject).active_path)
        self.landed[document.path, document.version] = document.content
        return json.loads(document.content)

    # What may happen.

    @rule(
        subject=subjects,
        given=some,
        count=counts,
        at=moments,
        preserve=st.booleans(),
        stray=st.sampled_from(STRAY),
        snapshot=st.booleans(),
    )
    def upsert(self, subject, given, count, at, preserve, stray, snapshot) -> None:
        capsule, before = self.capsule(subject, given, count, at), self.standing(subject)
        capsule["continuity"][stray], capsule.setdefault("metadata", {})[stray] = self.word(), self.word()
        more: dict[str, Any] = {"merge_mode": "preserve" if preserve else "replace"}
        if "metadata" in capsule and "trailing_notes" not in given:
            del capsule["metadata"]
        laid: dict[str, Any] = {}
        if snapshot:
            laid = {name: self.texts(count) for name in SNAPSHOT} | {"stance_summary": self.word()}
            more["session_end_snapshot"] = laid
        answer = self.asked("upsert", subject, capsule=capsule, **more)
        if answer is None:
            return
        after = self.note(subject)
        state = {name: value for name, value in capsule["continuity"].items() if name not in laid}
        self.is_there(capsule | {"continuity": state | laid}, after, answer)
        if preserve and before is not None:
            self.is_kept(before, capsule, set(laid), after)

    @rule(subject=subjects, at=moments, data=st.data())
    @precondition(lambda self: self.landed)
    def patch(self, subject, at, data) -> None:
        before = self.standing(subject)
        operations = [self.operation(data, before) for _ in range(data.draw(st.integers(1, 3)))]
        answer = self.asked("patch", subject, updated_at=self.date(at), operations=operations)
        if answer is None:
            return
        after = self.note(subject)
        touched = {each["target"].rpartition(".")[2] for each in operations if each["action"] != "append"}
        tidied = {each.partition(":")[2].rpartition(".")[2] for each in answer["normalizations_applied"]}
        lost = words(before) - words(after)
        assert lost <= words([before["continuity"].get(name, []) for name in touched | tidied]), operations
        added = [each["value"] for each in operations if each["action"] == "append"]
        assert touched or words(added) <= words(after)

    def operation(self, data: st.DataObject, before: Any) -> dict[str, Any]:
        name = data.draw(st.sampled_from(STRING_LISTS))
        target = {"target": f"continuity.{name}"}
        items = [] if before is None else before["continuity"].get(name, [])
        action = data.draw(st.sampled_from(("append", "remove", "replace_at"))) if items else "append"
        if action == "append":
            return target | {"action": action, "value": self.word()}
        if action == "remove":
            return target | {"action": action, "match": items[-1]}
        return target | {"action": action, "index": len(items) // 2, "value": self.word()}

    @rule(subject=subjects, transition=st.sampled_from(("suspend", "resume", "conclude")), at=moments)
    def lifecycle(self, subject, transition, at) -> None:
        before = self.standing(subject)
        if self.asked("lifecycle", subject, transition=transition, updated_at=self.date(at)) is not None:
            assert words(before) == words(self.note(subject))

    @rule(subject=subjects, outcome=st.sampled_from(("confirm", "degrade", "conflict")))
    def judge(self, subject, outcome) -> None:
        before = self.standing(subject)
        more = {} if outcome == "confirm" else {"reason": "r"}
        if self.asked("revalidate", subject, outcome=outcome, signals=[signal()], **more) is not None:
            assert words(before) == words(self.note(subject))

    @rule(subject=subjects, given=some, count=counts, at=moments, shout=st.booleans())
    def correct(self, subject, given, count, at, shout) -> None:
        candidate = self.capsule(subject, given, count, at)
        candidate |= {"subject_id": subject[1].upper()} if shout else {}
        more = {"outcome": "correct", "signals": [signal()], "candidate_capsule": candidate}
        answer = self.asked("revalidate", subject, **more)
        if answer is not None:
            after = self.note(subject)
            assert after["subject_id"] == subject[1]
            self.is_there(candidate, after, answer | {"normalizations_applied": None})

    @rule(subject=subjects)
    def write_by_a_right_clock(self, subject) -> None:
        """No date keeps a right clock out for longer than clocks may differ."""
        stored = self.standing(subject)
        self.run.at += (limits.CAPSULE_CLOCK_SKEW_S + 1) * SECOND_US
        answer = self.asked("upsert", subject, capsule=self.capsule(subject, set(), 1, 0))
        if answer is None:
            assert (stored or self.left(subject))["subject_id"] != subject[1]
        if answer is not None:
            self.note(subject)

    @rule(subject=subjects)
    @precondition(lambda self: len(self.landed) > 3)
    def archive(self, subject) -> None:
        before = self.standing(subject)
        answer = self.asked("archive", subject, reason="old")
        if answer is not None:
            assert json.loads(self.content(answer["archived_path"]))["capsule"] == before

    @rule(data=st.data())
    @precondition(lambda self: any("/archive/" in path for path in self.run.documents.paths()))
    def cold_store(self, data) -> None:
        path = data.draw(st.sampled_from([each for each in self.documents() if "/archive/" in each]))
        envelope = self.content(path)
        answer = self.asked("cold_store", None, source_archive_path=path)
        assert answer is not None, "what was archived can go cold"
        assert gzip.decompress(self.content(answer["cold_storage_path"])) == envelope
        if data.draw(st.booleans()):
            back = self.asked("cold_rehydrate", None, cold_stub_path=answer["cold_stub_path"])
            assert back is not None, "what went cold comes back"
            assert self.content(path) == envelope

    @rule(subject=subjects)
    def delete_archives(self, subject) -> None:
        before = self.documents()
        answer = self.asked("delete", subject, delete_archive=True, reason="gone")
        if answer is not None:
            for path in before.keys() - self.documents().keys():
                assert path in answer["deleted_paths"]
                assert json.loads(before[path])["capsule"]["subject_id"] == subject[1]

    @rule(subject=subjects)
    def damage(self, subject) -> None:
        if self.standing(subject) is not None:
            self.run.documents.put(Subject(*subject).active_path, b"{")

    # What must hold.

    def is_there(self, sent: dict[str, Any], after: dict[str, Any], answer: dict[str, Any]) -> None:
        """Every word that was sent stands in the capsule, or its field is named."""
        named = {each["field"] for each in answer["warnings"] if each["code"] == "unknown_field_dropped"}
        tidied = answer["normalizations_applied"]
        here = words(after)
        fields = [(name, value) for name, value in sent.items() if name != "continuity"]
        fields += [(f"continuity.{name}", value) for name, value in sent["continuity"].items()]
        repeated = {kind.path for kind in ENTRIES if tidied is None or f"dedup:{kind.name}" in tidied}
        for path, value in fields:
            is_named = any(each.endswith(f"apsule.{path}") for each in named)
            assert is_named or path in repeated or words(value) <= here, path

    def is_kept(self, before: Any, sent: dict[str, Any], laid: set[str], after: dict[str, Any]) -> None:
        """Every field that a merge was not given stands as it stood."""
        given = {name for name, value in sent["continuity"].items() if value or name not in CORE} | laid
        for name, value in before["continuity"].items():
            assert name in given or words(value) <= words(after["continuity"].get(name, [])), name
        for name in ("metadata", "canonical_sources", "stable_preferences", "thread_descriptor"):
            assert name in sent or words(before.get(name, [])) <= words(after.get(name, [])), name

    def teardown(self) -> None:
        for (path, version), content in self.landed.items():
            assert self.run.documents.read_version(TENANT, path, version).content == content
        listed = self.run("list", include_archived=True, include_cold=True, limit=200)
        shown = {row[name] for row in listed["capsules"] for name in PATHS if name in row}
        kept = {path for path, content in self.documents().items() if content != b"{"}
        assert {path for path in kept if "/fallback/" not in path} <= shown


TestKeeping = Keeping.TestCase
TestKeeping.settings = settings(max_examples=EXAMPLES, stateful_step_count=25, deadline=None)

"""What recall finds of documents: what stands, what stood as of then, and never what was taken away."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from capsules import body, later
from lamina.continuity.restoring import telling
from lamina.kernel.time import SECOND_US, rfc3339
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.store.documents.repository import folder_name
from lamina.store.documents.restore import past_writes

ABOUT = {"subject_kind": "thread", "subject_id": "launch"}
LOG = "memory/episodic/day.jsonl"

pytestmark = pytest.mark.model


def _derive(world: Any) -> None:
    deriver = Deriver(world.store, RulesExtractor(find_times, use_parser=False), None)
    Worker(world.store, deriver, None, world.clock, "test").drain()


def _upsert(world: Any, seconds: int, loop: str) -> None:
    capsule = body(updated_at=later(seconds), continuity={"open_loops": [loop]})
    world.post("/v1/continuity/upsert", ABOUT | {"capsule": capsule})
    world.clock.at += SECOND_US


def _recalled(world: Any, query: str, **more: Any) -> list[str]:
    pack = world.post("/v1/recall", {"query": query, "scope": "app:relay"} | more).json()
    return [item["content"]["text"] for item in pack["layers"]["events"]]


def _seen(world: Any, query: str, words: str, **more: Any) -> int:
    return sum(words in text for text in _recalled(world, query, **more))


def test_only_the_newest_version_of_a_capsule_is_recalled(world: Any) -> None:
    _upsert(world, 0, "the zeppelin licence is missing")
    between = rfc3339(world.clock.at - 1)
    _upsert(world, 1, "the zeppelin licence is granted")
    _derive(world)
    assert _seen(world, "zeppelin licence", "granted") == 1
    assert _seen(world, "zeppelin licence", "missing") == 0
    then = {"temporal": {"as_of": between}}
    assert _seen(world, "zeppelin licence", "missing", **then) == 1
    assert _seen(world, "zeppelin licence", "granted", **then) == 0
    world.store.jobs.reset()
    _derive(world)
    assert _seen(world, "zeppelin licence", "granted") == 1, "a replay changes nothing of it"
    assert _seen(world, "zeppelin licence", "missing") == 0
    assert _seen(world, "zeppelin licence", "missing", **then) == 1
    assert len(world.get("/v1/events", scope="app:relay")["items"]) == 2
    assert len(world.call("POST", "/v1/continuity/history", body=ABOUT).json()["versions"]) == 2


def test_what_a_write_replaces_is_gone_at_once_though_nothing_new_is_indexed(world: Any) -> None:
    _upsert(world, 0, "the zeppelin licence is missing")
    _derive(world)
    again = {"idempotency_key": "once"}
    assert _seen(world, "zeppelin licence", "missing", **again) == 1
    gone = {"reason": "no longer wanted", "delete_active": True, "delete_fallback": True}
    world.post("/v1/continuity/delete", ABOUT | gone)
    world.clock.at += SECOND_US
    assert _seen(world, "zeppelin licence", "missing", **again) == 0


def test_every_line_of_a_log_is_recalled_until_the_log_is_written_anew(world: Any) -> None:
    for word in ("zeppelin", "zebra"):
        world.post("/v1/append", {"path": LOG, "record": {"saw": word}})
    _derive(world)
    assert _seen(world, "zeppelin", "zeppelin") == 1
    world.clock.at += SECOND_US
    world.post("/v1/write", {"path": LOG, "content": '{"saw": "a mouse"}\n'})
    assert _seen(world, "zeppelin", "zeppelin") == 0


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_restored_documents_are_found_as_those_that_were_written(make_world: Any, tmp_path: Path) -> None:
    first = make_world()
    _upsert(first, 0, "the zeppelin licence is missing")
    _upsert(first, 1, "the zeppelin licence is granted")
    for word in ("harbour", "lighthouse"):
        first.post("/v1/append", {"path": LOG, "record": {"saw": word}})
    first.post("/v1/write", {"path": "memory/notes/old.md", "content": "an anchor"})
    first.post("/v1/write", {"path": "memory/notes/old.md", "content": "a rudder"})
    first.post("/v1/context/snapshot", {"task": "paint the hull"})
    standing = _all_told(first)
    repository = next(tmp_path.rglob(folder_name("acme")))
    subprocess.run(["git", "clone", "-q", str(repository), str(tmp_path / "clone")], check=True, timeout=300)
    second = make_world()
    second.store.documents.restore(
        "acme", past_writes(tmp_path / "clone", "acme", second.clock.now(), set()), telling("acme")
    )
    second.clock.at = first.clock.at
    assert _all_told(second) == standing
    assert _seen(second, "zeppelin licence", "missing") == 0
    (hit,) = second.post("/v1/search", {"query": "zeppelin licence"}).json()["results"][:1]
    assert hit["path"] == "memory/continuity/thread-launch.json"
    (event,) = [
        e for e in second.get("/v1/events", scope="app:relay")["items"] if "rudder" in e["content"]["text"]
    ]
    assert event["content"]["path"] == "memory/notes/old.md"
    _upsert(second, 2, "the zeppelin has flown")
    assert _seen(second, "zeppelin licence", "granted") == 0


def _all_told(world: Any) -> set[str]:
    _derive(world)
    found = {
        text for query in ("zeppelin", "lighthouse", "rudder", "hull") for text in _recalled(world, query)
    }
    assert len(found) == 5
    return found

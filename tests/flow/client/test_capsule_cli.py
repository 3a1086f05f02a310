"""``lamina capsule`` against a real server."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from capsules import body
from lamina.cli.main import app


@pytest.fixture(name="run")
def _run(live: Any, maya: str) -> Callable[..., Result]:
    def run(*arguments: str, stdin: str | None = None) -> Result:
        given = ["capsule", *arguments, "--url", live.url, "--actor", maya]
        return CliRunner().invoke(app, given, input=stdin)

    return run


def test_a_capsule_is_stored_changed_listed_and_taken_up_again(run: Callable[..., Result], maya: str) -> None:
    name = maya.removeprefix("user:")
    stored = run("upsert", "-", stdin=json.dumps(body(subject_id=name)))
    assert stored.stdout.startswith(f"memory/continuity/thread-{name}.json created at ")
    changed = run(
        "patch",
        *("thread", name),
        *("--append", "continuity.open_loops=Who signs?"),
        *("--remove", "continuity.open_loops=tests"),
    )
    assert changed.exit_code == 0, changed.stderr
    page = run("startup", "thread", name).stdout.splitlines()
    assert '- "Who signs?"' in page
    assert '- "tests"' not in page
    assert page[1].startswith(f"Written by {maya} at ")
    assert f"thread {name}" in run("list", "--kind", "thread", "--limit", "200").stdout


def test_what_is_not_there_and_what_is_too_old_have_their_exit_codes(
    run: Callable[..., Result], maya: str
) -> None:
    name = maya.removeprefix("user:")
    assert run("read", "thread", name).exit_code == 4
    assert run("startup", "thread", name).exit_code == 0
    assert run("upsert", "-", stdin=json.dumps(body(subject_id=name))).exit_code == 0
    old = {**body(subject_id=name), "updated_at": "2020-01-01T00:00:00Z"}
    assert run("upsert", "-", stdin=json.dumps(old)).exit_code == 5


def test_a_capsule_is_put_away_and_removed_with_its_archives(run: Callable[..., Result], maya: str) -> None:
    name = maya.removeprefix("user:")
    sent = json.dumps(body(subject_id=name))
    path = f"memory/continuity/thread-{name}.json"
    run("upsert", "-", stdin=sent)
    away = run("archive", "thread", name, "--reason", "shipped")
    assert away.stdout.startswith(f"{path} archived at "), away.output
    assert run("archive", "thread", name, "--reason", "again").exit_code == 4
    assert f'by {maya} because "shipped": what follows' in run("startup", "thread", name).stdout

    run("upsert", "-", stdin=sent)
    gone = run("delete", "thread", name, "--reason", "a mistake")
    assert gone.stdout.startswith(f"{path} removed at "), gone.output
    assert run("read", "thread", name).exit_code == 4
    assert "Nothing is stored" in run("startup", "thread", name).stdout
    archives = run("delete", "thread", name, "--reason", "a mistake", "--archives")
    assert "memory/continuity/archive/" in archives.stdout, archives.output
    page = run("list", "--kind", "thread", "--all", "--limit", "200").stdout
    assert f"thread {name}" not in page

"""A scripted coding agent over three sittings: what comes back at each start with the hooks, and what is missing without."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from hosting import Host, agent


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """A repository on a branch, with a changed file."""
    folder = tmp_path / "billing"
    folder.mkdir()
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "init", "-q", "-b", "feature/stream"], check=True)
    (folder / "stream.py").write_text("x = 1\n")
    return folder


@pytest.fixture(name="host")
def _host(world: Any, folder: Path) -> Host:
    return Host(world, folder, LAMINA_SUBJECT="thread:invoice-export")


def test_goal_constraints_open_ends_and_decisions_come_back_at_every_start(host: Host) -> None:
    played = list(agent.play(host, host.use, host.folder))
    starts = [each for each in played if isinstance(each, agent.Started)]
    for row in agent.scores(starts):
        assert row.missing == [], row.start
        assert row.unsettled == [], row.start
        assert 300 < row.tokens <= 1200, row.start
    asked_behind = [each for each in played if isinstance(each, str)]
    assert [each[:12] for each in asked_behind] == ["Good, do it ", "Priya wants "]


def test_without_the_plugin_they_are_missing() -> None:
    played = agent.play(agent.without_plugin, lambda *_: None, Path())
    rows = agent.scores([each for each in played if isinstance(each, agent.Started)])
    back = {row.start: sum(back for back, _ in row.back.values()) for row in rows}
    assert back == {"Tuesday startup": 0, "Tuesday compact": 0, "Wednesday startup": 0}
    assert [sum(of for _, of in row.back.values()) for row in rows] == [8, 9, 11]

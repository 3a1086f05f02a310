"""What git says of a folder in which a coding agent starts: the folder may be anybody's, and no program that it names is run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lamina.hooks.checkout import checkout_of


def git(folder: Path, *arguments: str) -> str:
    own = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always"]
    command = ["git", *own, "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def begun(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "notes").mkdir()
    (folder / "notes" / "a.md").write_text("one")
    (folder / ".gitattributes").write_text("* filter=ours=.x\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "begun")
    return folder


def with_filter(folder: Path, program: str) -> None:
    git(folder, "config", "filter.ours=.x.clean", program)


def with_plain_filter(folder: Path, program: str) -> None:
    (folder / ".gitattributes").write_text("* filter=ours\n")
    git(folder, "config", "filter.ours.clean", program)
    git(folder, "config", "filter.ours.required", "true")


def with_filter_in_a_submodule(folder: Path, program: str) -> None:
    git(folder, "submodule", "add", "-q", str(begun(folder.parent / "other")), "below")
    git(folder, "commit", "-qm", "below")
    with_filter(folder / "below", program)
    (folder / "below" / "notes" / "a.md").write_text("two")


def with_missing_objects(folder: Path, program: str) -> None:
    tree = git(folder, "rev-parse", "HEAD:notes")
    (folder / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    for name, value in {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": str(folder),
        "remote.origin.uploadpack": f"{program};git-upload-pack",
    }.items():
        git(folder, "config", name, value)
    (folder / ".git" / "index").unlink()


def with_a_monitor(folder: Path, program: str) -> None:
    git(folder, "config", "core.fsmonitor", program)


@pytest.mark.parametrize(
    "armed",
    [with_filter, with_plain_filter, with_filter_in_a_submodule, with_missing_objects, with_a_monitor],
)
def test_a_repository_runs_no_program_of_its_own(tmp_path: Path, armed: Callable[[Path, str], None]) -> None:
    folder = begun(tmp_path / "work")
    ran = tmp_path / "ran"
    armed(folder, f"touch {ran}")
    (folder / "notes" / "a.md").write_text("two")
    checkout_of(folder, os.environ)
    assert not ran.exists()


def test_what_is_changed_is_told_beside_filters(tmp_path: Path) -> None:
    folder = begun(tmp_path / "work")
    assert checkout_of(folder, os.environ).words == "branch main; changed: nothing"
    with_plain_filter(folder, "false")
    (folder / "notes" / "a.md").write_text("two")
    assert checkout_of(folder, os.environ).words == "branch main; changed: .gitattributes, notes/a.md"


def test_filters_of_the_user_are_kept(tmp_path: Path) -> None:
    folder = begun(tmp_path / "work")
    ran = tmp_path / "ran"
    (tmp_path / "config").write_text(f'[filter "ours=.x"]\nclean = "touch {ran}; cat"\n')
    (folder / "notes" / "a.md").write_text("two")
    own = {**os.environ, "GIT_CONFIG_GLOBAL": str(tmp_path / "config")}
    assert checkout_of(folder, own).changed == ("notes/a.md",)
    assert ran.exists()


def test_a_file_that_was_renamed_is_named_once_wherever_git_saw_it(tmp_path: Path) -> None:
    folder = begun(tmp_path / "project")
    git(folder, "mv", "notes/a.md", "notes/b.md")
    assert checkout_of(folder, os.environ).changed == ("notes/b.md",)
    git(folder, "reset", "-q")
    (folder / "notes" / "b.md").rename(folder / "notes" / "c.md")
    git(folder, "add", "--intent-to-add", "notes/c.md")
    assert checkout_of(folder, os.environ).changed == ("notes/c.md",)

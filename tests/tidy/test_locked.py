"""What the scripts install: every requirement of the project is locked in its range, and every locked file has its hash."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tables import every_row

ROOT = Path(__file__).parents[2]
PROJECT, CLIENT = (
    tomllib.loads((ROOT / at / "pyproject.toml").read_text()) for at in (".", "clients/python")
)
OURS = {"lamina", "lamina-client"}
RUN, DEV = "requirements.txt", "requirements-dev.txt"
ENTRY = re.compile(
    r"(?P<name>[\w.-]+)==(?P<version>[\w.]+)(?: ; [^\\\n]+)?(?P<hashes>(?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n"
)


def locked(name: str) -> dict[str, str]:
    """The versions of a lock file by name; nothing in it may be without a hash."""
    text = (ROOT / "scripts" / name).read_text()
    rest = ENTRY.sub("", text).splitlines()
    assert all(line.startswith(("#", f"-r {RUN}")) for line in rest), rest
    return {canonicalize_name(found["name"]): found["version"] for found in ENTRY.finditer(text)}


def requirements(*extras: str) -> list[Requirement]:
    project = PROJECT["project"]
    texts = [*PROJECT["build-system"]["requires"], *project["dependencies"]]
    texts += [*CLIENT["build-system"]["requires"], *CLIENT["project"]["dependencies"]]
    texts += [text for extra in extras for text in project["optional-dependencies"][extra]]
    return [found for found in map(Requirement, texts) if found.name not in OURS]


@every_row("requirement", requirements(), ids=str)
def test_what_a_server_needs_is_locked(requirement: Requirement) -> None:
    version = locked(RUN)[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version), "run scripts/lock"


@every_row("requirement", requirements("test", "dev"), ids=str)
def test_what_tests_and_checks_need_is_locked(requirement: Requirement) -> None:
    version = (locked(RUN) | locked(DEV))[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version), "run scripts/lock"


def test_what_installs_a_clone_is_locked() -> None:
    assert "editables" in locked(RUN), "the build backend asks for it, and no isolated build brings it"


def test_nothing_is_locked_twice() -> None:
    assert not locked(RUN).keys() & locked(DEV).keys()

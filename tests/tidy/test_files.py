"""House rules about everything under version control."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from house import ROOT, report, text_of, tracked_files

_ABSOLUTE = re.compile(r"(?<![\w.~$}/:])/(?:home|root|Users|work|workspace|mnt)/[\w.-]+")
_SEED = re.compile(r"\bseed 00\d")
_ELSEWHERE = re.compile(r"\b(?:DESIGN|STYLE|RETRIEVAL)(?:\.md)?,? section \d+")
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_BYTES_MAX = 5_000_000
_LARGE = {"src/lamina/models/data/minilm-l6-v2-int8.onnx"}
"""The default embedder must work after one offline install, and no registry carries this export of it."""


@pytest.fixture(scope="module", name="files")
def _files():
    files = tracked_files()
    if not files:
        pytest.skip("not a clone: nothing is under version control here")
    return files


def test_no_file_names_somebodys_own_folders(files):
    found = []
    for path in files:
        for match in _ABSOLUTE.finditer(text_of(path)):
            found.append(f"{path.relative_to(ROOT)}: {match.group()}")
    assert not found, report("Use a path inside the clone, or an argument:", found)


def test_files_stay_small_enough_to_clone(files):
    found = {str(path.relative_to(ROOT)) for path in files if path.stat().st_size > _BYTES_MAX} - _LARGE
    assert not found, report("Publish large files as a package instead of keeping them here:", sorted(found))


def test_scripts_can_be_run(files):
    scripts = [path for path in files if text_of(path).startswith("#!")]
    found = [str(path.relative_to(ROOT)) for path in scripts if not os.access(path, os.X_OK)]
    assert not found, report("Make these executable with chmod +x:", found)


def test_nothing_points_to_a_text_that_is_not_here(files):
    """Docstrings name sections of the contracts; docs/explanation/contracts.md says what these are."""
    bare = [path for path in files if path.suffix in (".yaml", ".toml") or path.name == "limits.py"]
    found = [f"{path.relative_to(ROOT)}: {word}" for path in bare for word in _SEED.findall(text_of(path))]
    for path in files:
        if path != Path(__file__):
            found += [f"{path.relative_to(ROOT)}: {word}" for word in _ELSEWHERE.findall(text_of(path))]
    assert not found, report("Say it here, or name the contract:", found)


def test_prose_has_lines_that_an_editor_shows(files):
    found = []
    for path in files:
        if path.suffix == ".md" and not path.is_relative_to(ROOT / "docs" / "reference" / "errors"):
            lines = _FENCED.sub("", text_of(path)).splitlines()
            long = [line[:60] for line in lines if len(line) > 250 and not line.startswith("|")]
            found += [f"{path.relative_to(ROOT)}: {line} …" for line in long]
    assert not found, report("Break these lines:", found)

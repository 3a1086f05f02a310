"""House rules about everything under version control."""

from __future__ import annotations

import os
import re

import pytest
from house import ROOT, report, text_of, tracked_files

_ABSOLUTE = re.compile(r"(?<![\w.~$}/:])/(?:home|root|Users|work|workspace|mnt)/[\w.-]+")
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

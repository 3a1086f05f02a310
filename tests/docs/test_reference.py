"""The reference says what the code does."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

from lamina import errors
from lamina.kernel.history_settings import HistorySettings
from lamina.settings import Settings
from tables import every_row

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"


def _sections(name: str) -> dict[str, str]:
    parts = re.split(r"^### (\w+)$", (REFERENCE / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


HISTORIES = {item.name for item in fields(HistorySettings)}
HEADED = [item for item in fields(Settings) if item.name not in HISTORIES]


def test_every_setting_has_a_heading_or_a_row_and_no_other_has():
    assert set(_sections("settings.md")) == {f"LAMINA_{item.name.upper()}" for item in HEADED}
    rows = re.findall(
        r"^\| `(LAMINA_\w+)` \| (\d+) \| (.+) \|$", (REFERENCE / "settings.md").read_text(), re.MULTILINE
    )
    said = [
        (f"LAMINA_{item.name.upper()}", str(item.default), item.metadata["help"])
        for item in fields(HistorySettings)
    ]
    assert sorted(rows) == sorted(said)


@every_row("item", HEADED, ids=lambda item: item.name)
def test_a_setting_is_described_with_its_default_and_other_names(item):
    section = _sections("settings.md")[f"LAMINA_{item.name.upper()}"]
    for said in (_default(item.default), *item.metadata["names"]):
        assert said in section, f"docs/reference/settings.md does not say {said!r} of {item.name}"


def _default(value: object) -> str:
    """As the page says it: what one would write into the environment, or that there is none."""
    if value is None or value == "":
        return "Default: none"
    return f"Default `{int(value) if isinstance(value, bool) else value}`"


def test_the_table_of_error_classes_is_the_one_in_the_code():
    rows = re.findall(
        r"^\| `(\w+)` \| (\d+) \| (\d+) \|", (REFERENCE / "errors.md").read_text(), re.MULTILINE
    )
    coded = {cls.__name__: (o.status, o.exit_code) for cls, o in errors.STATUS.items()}
    assert {name: (int(status), int(code)) for name, status, code in rows} == coded


def test_the_pages_of_the_error_codes_are_those_of_the_catalogue():
    run = subprocess.run(
        [sys.executable, "scripts/error_pages", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, f"run scripts/error_pages; these differ:\n{run.stdout}"

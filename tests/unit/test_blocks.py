"""SQL as named blocks."""

from __future__ import annotations

import pytest

from lamina.store import blocks


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> object:
    def reader(**texts: str) -> dict[str, str]:
        class Entry:
            def __init__(self, name: str) -> None:
                self.name = name

            def read_text(self, encoding: str) -> str:
                return texts[self.name.removesuffix(".sql")]

        class Folder:
            def joinpath(self, name: str) -> Folder:
                return self

            def iterdir(self) -> list[Entry]:
                return [Entry(f"{name}.sql") for name in texts] + [Entry("README.md")]

        monkeypatch.setattr(blocks, "files", lambda package: Folder())
        return dict(blocks.load_blocks.__wrapped__("any"))

    return reader


def test_blocks_of_all_files_are_found_by_name(read) -> None:  # type: ignore[no-untyped-def]
    found = read(
        a="-- name: one\n-- First.\nSELECT 1;\n\n-- name: two\n-- Second.\nSELECT\n2;\n",
        b="-- A head without a block.\n-- name: three\nSELECT 3;",
    )
    assert found == {
        "one": "-- First.\nSELECT 1;",
        "two": "-- Second.\nSELECT\n2;",
        "three": "SELECT 3;",
    }


def test_two_blocks_of_one_name_are_a_bug(read) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(AssertionError, match="one"):
        read(a="-- name: one\nSELECT 1;\n", b="-- name: one\nSELECT 2;\n")


@pytest.mark.parametrize("header", ["-- name: One", "-- name: one ", "-- name:one", "--name: one"])
def test_a_header_that_cannot_be_read_is_a_bug_not_part_of_another_block(read, header: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(AssertionError):
        read(a=f"-- name: zero\nSELECT 0;\n{header}\nSELECT 1;\n")


def test_the_blocks_of_the_engine_load() -> None:
    assert "insert_event" in blocks.load_blocks("lamina.store.sqlite")

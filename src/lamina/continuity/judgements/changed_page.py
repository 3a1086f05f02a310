"""What changed in a capsule since an instant, as lines for whoever comes back: which items of which field came, and which went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from lamina.continuity.judgements.startup_page import PageLine
from lamina.kernel.shown import on_one_line, quoted, shortened
from lamina.language.quarantine import withheld_note

__all__ = ["changed_lines"]

Plain = Mapping[str, Any]
"""A JSON object of an answer."""

_STATE: Final = "continuity."
_FIELDS_MAX: Final = 8
_ITEMS_MAX: Final = 2
_ITEM_CHARS_MAX: Final = 120
_AUTHORS_MAX: Final = 4


def changed_lines(said: Plain, since: str) -> list[PageLine]:
    """The lines of an answer of ``diff``: at most eight fields with two items each that went and that came. Stored text is quoted."""
    changes = [each for each in said["changes"] if each["field"].startswith(_STATE)]
    if not changes:
        return [PageLine(f"Nothing changed since {since}.", "dim")]
    authors = [on_one_line(each) for each in said["written_by"]]
    by = ", ".join(authors[:_AUTHORS_MAX])
    lines = [PageLine(f"Changed since {since}, by {by}:", "bold")]
    lines += [PageLine(f"- {_words(each)}") for each in changes[:_FIELDS_MAX]]
    more = len(changes) - _FIELDS_MAX
    return [*lines, PageLine(f"- {more} more fields")] if more > 0 else lines


def _words(change: Plain) -> str:
    old, new = _texts(change["old"]), _texts(change["new"])
    told = [*_named("gone", [each for each in old if each not in new])]
    told += _named("new", [each for each in new if each not in old])
    return f"{change['field'].removeprefix(_STATE)}: {'; '.join(told) or 'another order, or other details'}"


def _named(what: str, items: Sequence[str]) -> Iterator[str]:
    yield from (f"{what} {_item(each)}" for each in items[:_ITEMS_MAX])
    if len(items) > _ITEMS_MAX:
        yield f"{len(items) - _ITEMS_MAX} more {what}"


def _item(text: str) -> str:
    return withheld_note(text) or quoted(shortened(on_one_line(text), _ITEM_CHARS_MAX))


def _texts(value: Any) -> list[str]:  # Any: whatever a capsule holds
    if isinstance(value, str):
        return [value] if value else []
    if not isinstance(value, list):
        return []
    return [each if isinstance(each, str) else _entry(each) for each in value]


def _entry(entry: Plain) -> str:
    words = (entry.get(name) for name in ("decision", "summary", "content", "label", "path"))
    return str(next((each for each in words if each), ""))

"""Tables whose rows are one kind of example: one test that tries every row, and says of each that fails what is wrong with it.

A test of its own costs each row five milliseconds of the gate, most of it spent on telling that it passed. Rows that need a fixture to
themselves, or that somebody runs by name, stay ``pytest.mark.parametrize``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

__all__ = ["every_row"]

_SHOWN_MAX = 20
_NAME_CHARS = 200


def every_row(
    names: str | Sequence[str],
    rows: Iterable[Any],
    ids: Iterable[Any] | Callable[[Any], Any] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Mirrors ``pytest.mark.parametrize``, for one test. The first row that fails is the cause of what is raised."""
    asked = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [_row(row, len(asked)) for row in rows]
    if ids is not None and not callable(ids):
        table = [(str(name), values) for name, (_, values) in zip(ids, table, strict=True)]
    elif callable(ids):
        table = [(name or str(ids(values[0])), values) for name, values in table]

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def tried(**fixtures: Any) -> None:
            failures: list[str] = []
            first: BaseException | None = None
            for name, values in table:
                given = dict(zip(asked, values, strict=True))
                try:
                    test(**given, **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    first = first or error
                    failures.append(f"{name or repr(given)[:_NAME_CHARS]}: {type(error).__name__}: {error}")
            if first is not None:
                more = [f"and {len(failures) - _SHOWN_MAX} more"] if len(failures) > _SHOWN_MAX else []
                told = "\n".join([*failures[:_SHOWN_MAX], *more])
                raise AssertionError(f"{len(failures)} of {len(table)} rows fail:\n{told}") from first

        signature = inspect.signature(test)
        kept = [each for name, each in signature.parameters.items() if name not in asked]
        tried.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        tried.rows = [values for _, values in table]  # type: ignore[attr-defined]
        assert table, f"{test.__name__} has no rows"
        return tried

    return decorated


def _row(row: Any, width: int) -> tuple[str, tuple[Any, ...]]:
    """The name of a row, where it has one, and its values."""
    name = ""
    if isinstance(row, type(pytest.param())):
        name, row = str(row.id or ""), row.values if width > 1 else row.values[0]
    return name, tuple(row) if width > 1 else (row,)

"""Writes the server into a host's own file, and takes it out again: comments and other entries stay, and a copy lies beside it.

A change is made in memory first and read back: where the result does not say exactly what was meant, nothing is written.
"""

from __future__ import annotations

import contextlib
import copy
import os
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lamina.cli.commented_json import json_value, with_member, without_member
from lamina.cli.mcp_hosts import NAME, Host
from lamina.errors import Invalid, Unavailable

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

__all__ = ["PlannedEdit", "is_known", "plan_install", "plan_uninstall", "snippet", "write_planned"]

_BACKUPS_MAX: Final = 1000
_Change = Callable[[str, dict[str, Any], tuple[str, ...]], str]
"""A text, the document that it shall say, and the path of the entry, to the changed text."""
_OTHER_WAYS: Final = ("url", "serverUrl", "headers", "http_headers", "bearer_token_env_var")
"""What an entry for a server with an address has, and one for a command must not."""


@dataclass(frozen=True, slots=True)
class PlannedEdit:
    """A file as it would be. ``before`` is None where there is no file yet."""

    file: Path
    before: str | None
    after: str

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return (self.before or "") != self.after


def plan_install(host: Host, file: Path, command: list[str], environment: Mapping[str, str]) -> PlannedEdit:
    """The file with the server in it. Of an entry that stands there, what it has beside ours stays.

    Raises ``Invalid`` (HOST_FILE_UNREADABLE) for a file that does not parse, ``Unavailable`` (HOST_FILE_NOT_WRITTEN).
    """
    text = _read(file)
    document = _document(host, file, text or "")
    path = host.path_in(document)
    wanted = _merged(_at(document, path), host.entry(command, environment), host)
    expected = _put(document, path, wanted)
    if host.name == "opencode" and not document:
        expected = {"$schema": "https://opencode.ai/config.json"} | expected
    if expected == document:
        return PlannedEdit(file, text, text or "")
    change = _toml_with if host.form == "toml" else _json_with
    return _checked(host, file, text, change, expected, path)


def plan_uninstall(host: Host, file: Path) -> PlannedEdit:
    """The file without the server; raises as ``plan_install`` does."""
    text = _read(file)
    document = _document(host, file, text or "")
    path = host.path_in(document)
    if _at(document, path) is None:
        return PlannedEdit(file, text, text or "")
    expected = copy.deepcopy(document)
    parent = expected
    for name in path[:-1]:
        parent = parent[name]
    del parent[path[-1]]
    change = _toml_without if host.form == "toml" else _json_without
    return _checked(host, file, text, change, expected, path)


def is_known(host: Host, file: Path) -> bool:
    """Whether the file has the server; raises as ``plan_install`` does."""
    document = _document(host, file, _read(file) or "")
    return _at(document, host.path_in(document)) is not None


def snippet(host: Host, command: list[str], environment: Mapping[str, str]) -> str:
    """What belongs into a host's file that has nothing else in it."""
    entry = host.entry(command, environment)
    if host.form == "toml":
        return _toml_with("", _put({}, (*host.keys, NAME), entry), (*host.keys, NAME))
    return with_member("", (*host.keys, NAME), entry)


def write_planned(planned: PlannedEdit) -> Path | None:
    """Write the file, whole or not at all; where the copy of what stood there is. Raises ``Unavailable`` (HOST_FILE_NOT_WRITTEN)."""
    target = planned.file.resolve()  # a link stays a link
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _check_unchanged(planned)
        backup = None if planned.before is None else _copied(target)
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as written:
                written.write(planned.after)
                written.flush()
                os.fsync(written.fileno())
            if planned.before is None:
                Path(name).chmod(0o600)
            else:
                shutil.copymode(target, name)
            _check_unchanged(planned)  # once more: hosts write their files often, and the disk took its time
            Path(name).replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise Unavailable(
            "HOST_FILE_NOT_WRITTEN",
            f"{planned.file} cannot be written: {error.strerror}",
            hint="--print shows what would stand there",
        ) from error
    return backup


# ---- files


def _read(file: Path) -> str | None:
    try:
        if file.exists() and not file.is_file():  # a device would be replaced, a pipe waited for
            raise _unreadable(file, "it is no file")
        with file.open(encoding="utf-8", newline="") as opened:
            return opened.read()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise _unreadable(file, "it is not UTF-8") from error
    except OSError as error:
        raise _unreadable(file, error.strerror or "it cannot be read") from error


def _check_unchanged(planned: PlannedEdit) -> None:
    if (_read(planned.file) or "") != (planned.before or ""):
        raise Unavailable(
            "HOST_FILE_NOT_WRITTEN", f"{planned.file} was changed meanwhile", hint="run the command again"
        )


def _copied(target: Path) -> Path:
    """A copy beside the file under a name that nothing has yet, as readable as the file is."""
    for number in range(_BACKUPS_MAX):
        backup = target.with_name(f"{target.name}.lamina{f'-{number}' if number else ''}.bak")
        if not backup.exists():
            shutil.copy2(target, backup)
            return backup
    raise Unavailable(
        "HOST_FILE_NOT_WRITTEN", f"{_BACKUPS_MAX} copies lie beside {target}", hint="remove the older ones"
    )


def _document(host: Host, file: Path, text: str) -> dict[str, Any]:
    try:
        document = tomllib.loads(text) if host.form == "toml" else json_value(text)
    except ValueError as error:
        raise _unreadable(file, str(error)) from error
    if not isinstance(document, dict):
        raise _unreadable(file, "it holds no object")
    at: Any = document
    for name in host.path_in(document)[:-1]:
        at = at.get(name, {})
        if not isinstance(at, dict):
            raise _unreadable(file, f"{name} is no object")
    return document


def _unreadable(file: Path, why: str) -> Invalid:
    return Invalid(
        "HOST_FILE_UNREADABLE",
        f"{file} does not parse: {why}",
        hint="mend the file, then run the command again; nothing was written",
    )


# ---- values


def _at(document: Mapping[str, Any], path: tuple[str, ...]) -> Any:  # Any: JSON or TOML
    at: Any = document
    for name in path:
        at = at.get(name)
        if at is None:
            return None
    return at


def _put(document: Mapping[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    name, *rest = path
    return {**document, name: _put(document.get(name, {}), tuple(rest), value) if rest else value}


def _merged(standing: Any, wanted: dict[str, Any], host: Host) -> dict[str, Any]:
    """The entry as it shall be: ours, with what somebody added to the one that stands, variables of the environment among it."""
    if not isinstance(standing, dict):
        return wanted
    kept = {name: value for name, value in standing.items() if name not in _OTHER_WAYS}
    key = host.environment_key
    variables = kept.get(key) if isinstance(kept.get(key), dict) else {}
    assert isinstance(variables, dict), "just asked"
    # A folder and an address exclude each other.
    other = "LAMINA_URL" if "LAMINA_DATA" in wanted[key] else "LAMINA_DATA"
    own = {name: value for name, value in variables.items() if name != other}
    return {**kept, **wanted, key: {**own, **wanted[key]}}


# ---- changes in the text


def _checked(
    host: Host, file: Path, text: str | None, change: _Change, expected: dict[str, Any], path: tuple[str, ...]
) -> PlannedEdit:
    """The changed text, once it was read back; ``change`` makes it of a text, the document meant and the path of the entry."""
    unsafe = Unavailable(
        "HOST_FILE_NOT_WRITTEN",
        f"{file} is written in a way that cannot be changed safely",
        hint="--print shows the entry, to be added by hand",
    )
    try:
        after = change(text or "", expected, path)
        says = tomllib.loads(after) if host.form == "toml" else json_value(after)
    except ValueError as error:
        raise unsafe from error
    if says not in (expected, _without_empty(expected, path)):
        raise unsafe
    return PlannedEdit(file, text, after)


def _without_empty(document: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """The document without an empty table that only led to the entry: TOML has no way to leave one behind."""
    name = path[0]
    return {each: value for each, value in document.items() if each != name or value}


def _json_with(text: str, expected: dict[str, Any], path: tuple[str, ...]) -> str:
    """Value by value, so that comments inside an entry that stands there stay as well."""
    for name in expected:
        if name == "$schema" and not json_value(text):
            text = with_member(text, (name,), expected[name])
    standing, wanted = _at(json_value(text), path), _at(expected, path)
    if not isinstance(standing, dict):
        return with_member(text, path, wanted)
    for name in standing:
        if name not in wanted:
            text = without_member(text, (*path, name))
    for name, value in wanted.items():
        inner = standing.get(name)
        if not (isinstance(value, dict) and isinstance(inner, dict)):
            text = with_member(text, (*path, name), value)
            continue
        for each in inner:
            if each not in value:
                text = without_member(text, (*path, name, each))
        for each, given in value.items():
            text = with_member(text, (*path, name, each), given)
    return text


def _json_without(text: str, expected: dict[str, Any], path: tuple[str, ...]) -> str:  # noqa: ARG001 - as the others
    return without_member(text, path)


@contextlib.contextmanager
def _toml_changed(text: str) -> Iterator[TOMLDocument]:
    """The document of a text, to be changed; ``ValueError`` for whatever tomlkit has against it."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        yield tomlkit.parse(text)
    except (TOMLKitError, AttributeError, LookupError, TypeError) as error:
        raise ValueError(str(error)) from error


def _toml_with(text: str, expected: dict[str, Any], path: tuple[str, ...]) -> str:
    import tomlkit
    from tomlkit.items import InlineTable, Table

    wanted = _at(expected, path)
    with _toml_changed(text) as document:
        servers: Any = document  # Any: tables of tomlkit
        for name in path[:-1]:
            if name not in servers:
                servers.add(name, tomlkit.table(is_super_table=True))
            servers = servers[name]
        if NAME in servers:
            _laid_over(servers[NAME], wanted)
        elif isinstance(servers, InlineTable):
            servers.append(NAME, _inline(wanted))
        elif isinstance(servers, Table):
            servers.add(NAME, tomlkit.item(wanted))
        else:  # its parts stand in several places
            lead = text if text.endswith("\n") else f"{text}\n"
            return f"{lead}\n{_toml_with('', _put({}, path, wanted), path)}"
        return tomlkit.dumps(document)


def _inline(value: Any) -> Any:  # Any: JSON, and an item of tomlkit
    """A value on one line: in a table of that kind every table is one."""
    import tomlkit

    if not isinstance(value, dict):
        return tomlkit.item(value)
    table = tomlkit.inline_table()
    for name, each in value.items():
        table.append(name, _inline(each))
    return table


def _laid_over(table: Any, wanted: Mapping[str, Any]) -> None:  # Any: a table of tomlkit
    from tomlkit.items import InlineTable

    for name in [each for each in table if each not in wanted]:
        del table[name]
    for name, value in wanted.items():
        standing = table.get(name)
        if isinstance(value, dict) and isinstance(standing, dict):
            _laid_over(standing, value)
        elif standing != value:
            table[name] = _inline(value) if isinstance(table, InlineTable) else value


def _toml_without(text: str, expected: dict[str, Any], path: tuple[str, ...]) -> str:  # noqa: ARG001 - as the others
    import tomlkit

    with _toml_changed(text) as document:
        servers: Any = document  # Any: tables of tomlkit
        for name in path[:-1]:
            servers = servers[name]
        del servers[NAME]
        return _with_comments_behind(text, tomlkit.dumps(document))


def _with_comments_behind(before: str, after: str) -> str:
    """The text after a table was cut out, with the comments that stood behind its last key: they are as likely of the table that follows."""
    lines, left = before.splitlines(keepends=True), after.splitlines(keepends=True)
    first = next(
        (place for place, both in enumerate(zip(lines, left, strict=False)) if both[0] != both[1]), len(left)
    )
    last = first + len(lines) - len(left)
    if lines[last:] != left[first:]:
        return after  # its parts stood in several places
    kept = list(
        takewhile(
            lambda line: line.strip() == "" or line.lstrip().startswith("#"), reversed(lines[first:last])
        )
    )
    behind = kept[::-1] if any(line.strip() for line in kept) else []
    return "".join([*left[:first], *behind, *left[first:]])

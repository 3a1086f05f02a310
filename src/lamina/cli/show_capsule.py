"""What ``lamina capsule`` prints: a page for people. Fields that an answer lacks are left out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from lamina.cli.show import console, plain, table
from lamina.continuity.capsule.titles import TITLES
from lamina.continuity.judgements.startup_page import startup_page

__all__ = ["capsule", "differences", "listed", "moved", "startup", "versions", "written"]

Plain = Mapping[str, Any]
"""A JSON object of an answer."""

_AT_THE_TOP: Final = {"subject_kind", "subject_id", "updated_at", "continuity", "stable_preferences"}
_IN_THE_LINE: Final = {"decision", "rationale", "summary", "kind", "status", "reasoning", "content"}
_STEPS: Final = ("version", "change", "bytes", "commit", "author", "at", "message")
_COLUMNS: Final = ("subject", "state", "lifecycle", "health", "phase", "updated")


def capsule(said: Plain) -> None:
    """A whole capsule: first what a startup shows, then all that it leaves out."""
    out = console()
    found = said.get("capsule")
    _where(out, said, said.get("recovery_warnings") or ())
    if found is None:
        return
    state = found.get("continuity") or {}
    _heading(out, found)
    _fields(out, state, whole=True)
    _preferences(out, found.get("stable_preferences"), whole=True)
    shown = {"stance_summary", *TITLES}
    _rest(out, {name: value for name, value in state.items() if name not in shown})
    _rest(out, {name: value for name, value in found.items() if name not in _AT_THE_TOP})
    _trust(out, said.get("trust_signals"))


def startup(said: Plain, tokens_max: int | None = None) -> None:
    """The startup view, in at most so many tokens."""
    out = console()
    for line in startup_page(said, tokens_max):
        out.print(Text(line.text, style=line.style))


def written(said: Plain) -> None:
    """Where a write went, and what was done otherwise than asked."""
    out = console()
    changed = said.get("created") or said.get("updated")
    done = "created" if said.get("created") else "updated" if changed else "stands already"
    commit = said.get("latest_commit")
    out.print(f"{plain(said['path'])} {done}" + (f" at {commit[:12]}" if commit else ""))
    for name in said.get("normalizations_applied") or ():
        out.print(f"  normalised: {plain(name)}", style="dim")
    _warned(out, [warning["detail"] for warning in said.get("warnings") or ()])
    _warned(out, said.get("recovery_warnings") or ())


def moved(said: Plain) -> None:
    """What was put away or removed, and what was not there."""
    out = console()
    commit = said.get("latest_commit")
    at = f" at {commit[:12]}" if commit else ""
    if "archived_path" in said:
        out.print(f"{plain(said['removed_active_path'])} archived{at}")
        out.print(f"  as {plain(said['archived_path'])}", style="dim")
    for path in said.get("deleted_paths") or ():
        out.print(f"{plain(path)} removed{at}")
    for path in said.get("missing_paths") or ():
        out.print(f"  not there: {plain(path)}", style="dim")


def listed(said: Plain) -> None:
    """One line for each capsule."""
    out = console()
    if not said["capsules"]:
        out.print("(nothing)", style="dim")
        return
    out.print(table(*_COLUMNS, rows=[_row(entry) for entry in said["capsules"]]))


def versions(said: Plain) -> None:
    """One line for each version."""
    out = console()
    if not said["versions"]:
        out.print("(nothing)", style="dim")
        return
    out.print(table(*_STEPS, rows=[_step(each) for each in said["versions"]]))
    if said["next_before"] is not None:
        out.print(f"There are older ones: --before {said['next_before']}", style="dim")


def differences(said: Plain) -> None:
    """Both versions, then each field: what went with -, what came with +."""
    out = console()
    for sign, each in (("-", said["from_version"]), ("+", said["to_version"])):
        out.print(Text(f"{sign} {_version(each)}", style="dim"))
    if said["identical"]:
        out.print()
        out.print("Nothing changed.")
    for change in said["changes"]:
        out.print()
        out.print(Text(f"{plain(change['field'])}:", style="bold"))
        old, new = _lines(change["old"]), _lines(change["new"])
        for line in (line for line in old if line not in new):
            out.print(Text(f"- {line}", style="red"))
        for line in (line for line in new if line not in old):
            out.print(Text(f"+ {line}", style="green"))
        if sorted(old) == sorted(new):
            out.print(Text("  the same in another order", style="dim"))


def _version(each: Plain | None) -> str:
    if each is None:
        return "nothing"
    commit = (each["commit"] or "-")[:12]
    return plain(
        f"version {each['version']}  {commit}  {each['committed_at']}  {each['author']}: {each['message']}"
    )


def _step(each: Plain) -> Sequence[str | Text]:
    commit = (each["commit"] or "-")[:12]
    numbers = (str(each["version"]), each["kind"], str(each["size"]))
    return [*numbers, commit, plain(each["author"]), each["committed_at"], plain(each["message"])]


def _lines(value: Any) -> list[str]:  # Any: whatever a capsule holds
    """A value as lines to compare: the items of a list, or itself."""
    if value is None:
        return []
    return [_said(item) for item in value] if isinstance(value, list) else [_said(value)]


def _said(item: Any) -> str:  # Any: as above
    return plain(item if isinstance(item, str) else json.dumps(item, ensure_ascii=False, sort_keys=True))


def _row(entry: Plain) -> Sequence[str | Text]:
    descriptor = entry.get("thread_descriptor") or {}
    cells = (
        descriptor.get("lifecycle"),
        entry.get("health_status"),
        entry.get("phase"),
        entry.get("updated_at"),
    )
    subject = f"{entry['subject_kind']} {entry['subject_id']}"
    return [subject, str(entry["artifact_state"]), *(str(cell or "-") for cell in cells)]


def _where(out: Console, said: Plain, warnings: Iterable[str]) -> None:
    state = said.get("source_state")
    if state == "missing":
        out.print("Nothing is stored of this subject.", style="yellow")
    elif state == "fallback":
        out.print("This is an older copy: the capsule itself is missing or damaged.", style="yellow")
    _warned(out, warnings)


def _warned(out: Console, warnings: Iterable[str]) -> None:
    for warning in warnings:
        out.print(f"warning: {plain(str(warning))}", style="yellow")


def _heading(out: Console, found: Plain) -> None:
    label = (found.get("thread_descriptor") or {}).get("label")
    subject = f"{found['subject_kind']} {found['subject_id']}"
    title = f"{subject}: {label}" if label else subject
    out.print(Text.assemble((plain(title), "bold"), (f"  {plain(str(found['updated_at']))}", "dim")))


def _fields(out: Console, state: Plain, *, whole: bool = False) -> None:
    if state.get("stance_summary"):
        out.print(plain(state["stance_summary"]))
    for name, title in TITLES.items():
        items = state.get(name) or ()
        _bullets(out, title, [_worded(item) for item in items], _beside(items) if whole else ())


def _preferences(out: Console, preferences: Sequence[Plain] | None, *, whole: bool = False) -> None:
    items = preferences or ()
    lines = [f"{each['tag']}: {each['content']}" for each in items]
    _bullets(out, "Preferences", lines, _beside(items, "tag") if whole else ())


def _beside(items: Sequence[str | Plain], *shown: str) -> list[str]:
    """Of each entry, what its line leaves out: when it was made, what was weighed, what it rests on."""
    return [
        ""
        if isinstance(item, str)
        else "; ".join(_named({k: v for k, v in item.items() if k not in {*_IN_THE_LINE, *shown}}))
        for item in items
    ]


def _rest(out: Console, parts: Plain) -> None:
    """What has no place of its own, by its own names: a field that a later server adds is shown too."""
    single = {name: value for name, value in parts.items() if not isinstance(value, list | dict)}
    for name, value in parts.items():
        if isinstance(value, dict):
            _bullets(out, _title(name).capitalize(), _named(value))
        elif isinstance(value, list):
            _bullets(out, _title(name).capitalize(), [_joined(item) for item in value])
    _bullets(out, "Besides", _named(single))


def _named(parts: Plain) -> list[str]:
    return [f"{_title(name)}: {_joined(value)}" for name, value in parts.items() if _is_said(value)]


def _joined(value: Any) -> str:  # Any: whatever a capsule holds
    if isinstance(value, list):
        return ", ".join(_joined(item) for item in value)
    if isinstance(value, dict):
        return "; ".join(_named(value))
    return _said(value)


def _is_said(value: Any) -> bool:  # Any: as above
    return value is not None and value not in ([], {})


def _title(name: str) -> str:
    return plain(name.replace("_", " "))


def _trust(out: Console, signals: Plain | None) -> None:
    if signals is None:
        return
    said = (
        signals.get("recency", {}).get("phase"),
        signals.get("integrity", {}).get("health_status"),
        signals.get("integrity", {}).get("verification_status"),
        None if signals.get("completeness", {}).get("orientation_adequate") else "orientation is thin",
    )
    out.print()
    out.print("Trust: " + ", ".join(plain(str(word)) for word in said if word), style="dim")


def _bullets(out: Console, title: str, lines: Sequence[str], beside: Sequence[str] = ()) -> None:
    if not lines:
        return
    out.print()
    out.print(Text(f"{title}:", style="bold"))
    for line, more in zip_longest(lines, beside, fillvalue=""):
        out.print(Text(f"- {plain(line)}"))
        if more:
            out.print(Text(f"  {plain(more)}", style="dim"))


def _worded(item: str | Plain) -> str:
    """A line for an item: a text, a decision not to act, or a reason."""
    if isinstance(item, str):
        return item
    if "decision" in item:
        return f"{item['decision']}: {item['rationale']}"
    return f"{item['summary']} ({item['kind']}, {item['status']}): {item['reasoning']}"

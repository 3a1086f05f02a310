"""``lamina demo``: the example conversation, stored and asked."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from lamina.cli.importing import import_jsonl
from lamina.cli.show import console, context
from lamina.client import Client
from lamina.errors import Forbidden, NotFound, Unavailable

__all__ = ["QUESTIONS", "example_file", "run_demo"]

QUESTIONS: Final = (
    "Where does Maya live now?",
    "What is Maya's cat called?",
    "Who is Maya's manager now?",
    "Which soup did Juno recommend?",
)
_NAME = "conversation.jsonl"
_TOKENS = 220
_DERIVED_S_MAX = 120.0
_LOOK_S = 0.25


def example_file() -> Path:
    """The example conversation: in the installed package, or in the clone that this code runs from."""
    package = Path(__file__).parents[1]
    for folder in (package / "examples", package.parents[1] / "examples"):
        if (folder / _NAME).is_file():
            return folder / _NAME
    raise NotFound("NO_EXAMPLE", f"examples/{_NAME} is not installed", hint="name a file with --file")


def run_demo(client: Client, scope: str, file: Path | None, questions: Sequence[str] | None) -> None:
    """Store the conversation in ``scope``, wait until everything is derived from it, and ask."""
    out = console()
    source = file or example_file()
    _require_derivation(client)
    report = import_jsonl(client, source, scope=scope)
    out.print(f"{report.stored} turns of {source.name} are in {scope}. Deriving …", style="dim")
    waited_s = _wait_until_derived(client, scope)
    out.print(f"Derived after {waited_s:.1f} s.", style="dim")
    for question in questions or QUESTIONS:
        pack = client.recall(question, scope=scope, max_tokens=_TOKENS)
        out.print()
        out.print(question, style="bold green")
        context(out, pack.context_block)
    out.print()
    out.print(f'Go on: lamina recall "What does Maya plan for April?" --scope {scope}', style="dim")
    out.print(
        "Give your agent a memory: lamina mcp install --client claude-code (or codex, cursor, vscode, opencode, "
        "claude-desktop); any other host starts: lamina mcp",
        style="dim",
    )


def _require_derivation(client: Client) -> None:
    """Nothing, or ``Unavailable`` where the server says that it can derive nothing. A server need not say."""
    try:
        health = client.health()
    except Forbidden:
        return
    nobody = health.worker.alive is False and not health.worker.kept
    if nobody or not all(health.models.values()):
        raise Unavailable(
            "DERIVATION_WAITS",
            f"nothing was stored: {'; '.join(health.problems)}",
            hint="lamina worker --data FOLDER derives beside a server with --workers 0; lamina doctor looks at the rest",
        )


def _wait_until_derived(client: Client, scope: str) -> float:
    """Seconds until the event that came last is through; a scope's events are derived in their order."""
    started = time.monotonic()
    newest = client.events.list(scope=scope, limit=1).items
    while newest and client.lifecycle_of(newest[0].id).stages_pending:
        if time.monotonic() - started > _DERIVED_S_MAX:
            raise Unavailable(
                "DERIVATION_WAITS",
                f"the conversation is stored, and not derived after {_DERIVED_S_MAX:.0f} s",
                hint="is a worker running? lamina doctor looks for it",
            )
        time.sleep(_LOOK_S)
    return time.monotonic() - started

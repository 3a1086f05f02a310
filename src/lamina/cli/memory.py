"""The commands that talk to a running server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, cast

import typer

from lamina.cli.options import DEFAULT_URL, Actor, AsJson, Scope, Url

__all__ = ["add_memory_commands"]


def add_memory_commands(app: typer.Typer) -> None:
    """Put them beside the commands that run the server."""
    app.command()(remember)
    app.command()(recall)
    app.add_typer(_imports, name="import")
    app.command()(why)
    app.command()(tail)
    app.command()(demo)


_imports = typer.Typer(help="Bring memories in from files.", no_args_is_help=True)


def remember(
    text: Annotated[str, typer.Argument(help="What happened, or - to read it from standard input.")],
    role: Annotated[str | None, typer.Option(help="user, assistant, tool or system.")] = None,
    at: Annotated[str | None, typer.Option(help="When it happened, RFC 3339; now by default.")] = None,
    session: Annotated[str | None, typer.Option(help="The conversation that it belongs to.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="A label; may be given again.")] = None,
    wait: Annotated[str | None, typer.Option(help="Wait until it is indexed or consolidated.")] = None,
    scope: Scope = None,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Store one experience. It is on disk when the command ends."""
    from lamina.cli import show
    from lamina.cli.remote import connected
    from lamina.client.options import ExperienceOptions

    given = {"role": role, "observed_at": at, "session": session, "labels": label}
    options = cast("ExperienceOptions", {name: value for name, value in given.items() if value})
    said = sys.stdin.read() if text == "-" else text
    with connected(url, actor, scope) as client:
        stored = client.experience(said, wait=show.stage(wait), **options)
    if as_json:
        return show.json(stored)
    return show.stored(stored)


def recall(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    view: Annotated[
        str, typer.Option(help="local, holistic, descend, raw, granular or structured.")
    ] = "holistic",
    max_tokens: Annotated[int, typer.Option(help="How long the context may be, in tokens.")] = 1000,
    when: Annotated[str | None, typer.Option(help='A time in words, such as "last week".')] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the phases with their times.")] = False,
    scope: Scope = None,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Ask memory a question: what it holds, and where each line comes from."""
    from lamina.cli import show
    from lamina.cli.remote import connected
    from lamina.client.options import RecallOptions

    given = {"view": view, "max_tokens": max_tokens, "natural": when}
    options = cast("RecallOptions", {name: value for name, value in given.items() if value is not None})
    if explain:
        options["diagnostics"] = "summary"
    with connected(url, actor, scope) as client:
        pack = client.recall(question, **options)
    if as_json:
        return show.json(pack)
    return show.pack(pack, explain=explain)


@_imports.command()
def jsonl(
    file: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="One JSON object a line.")
    ],
    scope: Scope = None,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
) -> None:
    """Store every line of a file. Run it again after an error: lines that are there already are not stored twice."""
    from lamina.cli.importing import import_jsonl
    from lamina.cli.remote import connected

    with connected(url, actor, scope) as client:
        report = import_jsonl(client, file, scope=scope, actor=actor)
    for problem in report.problems:
        typer.echo(f"lamina: line {problem.line}: {problem.message}", err=True)
    if report.refused > len(report.problems):
        typer.echo(f"lamina: and {report.refused - len(report.problems)} more", err=True)
    typer.echo(f"{report.stored} of {report.stored + report.refused} lines are stored")
    if report.refused:
        raise typer.Exit(2)


def why(
    belief_id: Annotated[str, typer.Argument(help="A belief, as recall and the reads name it.")],
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Show what a belief rests on, down to what was said."""
    from lamina.cli import show
    from lamina.cli.remote import connected

    with connected(url, actor, None) as client:
        reasons = client.beliefs.why(belief_id)
    if as_json:
        return show.json(reasons)
    return show.why(reasons)


def tail(
    event_id: Annotated[str | None, typer.Option(help="Only this event.")] = None,
    since: Annotated[str | None, typer.Option(help="Begin after this lifecycle id, lce_...")] = None,
    scope: Annotated[
        str | None, typer.Option("--scope", help="This scope and everything below it; everything by default.")
    ] = None,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Follow what happens to experiences, until Ctrl-C."""
    from lamina.cli import show
    from lamina.cli.remote import connected
    from lamina.client.options import LifecycleFilters

    given = {"event_id": event_id, "since_lifecycle_id": since, "scope": scope}
    filters = cast("LifecycleFilters", {name: value for name, value in given.items() if value is not None})
    with connected(url, actor, None) as client:
        for event in client.lifecycle(**filters):
            if as_json:
                show.json(event)
            else:
                show.lifecycle_event(event)


def demo(
    question: Annotated[list[str] | None, typer.Argument(help="What to ask instead of the examples.")] = None,
    file: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="A conversation; the example by default.")
    ] = None,
    scope: Annotated[str, typer.Option("--scope", help="Where to put it.")] = "project:demo",
    actor: Actor = None,
    url: Url = DEFAULT_URL,
) -> None:
    """Store an example conversation and ask it a few questions."""
    from lamina.cli.demo import run_demo
    from lamina.cli.remote import connected

    with connected(url, actor, scope) as client:
        run_demo(client, scope, file, question)

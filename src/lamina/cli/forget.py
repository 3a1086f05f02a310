"""``lamina forget``, and ``lamina erasure list``, ``show``, ``cancel``: erasures over a running server."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.options import DEFAULT_URL, Actor, AsJson, Url

if TYPE_CHECKING:
    from lamina.client import Client
    from lamina.types.erasures import ErasurePreview, ErasureState

__all__ = ["add_erasure_commands", "add_forget_command"]

_LOOK_S = 0.3
_Id = Annotated[str, typer.Argument(help="The erasure, erasure_….")]


def add_forget_command(app: typer.Typer) -> None:
    """Put ``forget`` among the commands."""
    app.command(name="forget")(_forget)


def add_erasure_commands(app: typer.Typer) -> None:
    """Put what looks at erasures among the commands of ``lamina erasure``."""
    app.command(name="list")(_list)
    app.command(name="show")(_show)
    app.command(name="cancel")(_cancel)


def _forget(
    scope: Annotated[str, typer.Argument(help="What to erase, with all below it: org:acme/user:alice.")],
    note: Annotated[
        str | None,
        typer.Option("--note", help="Your reference to the case. It is kept: write a number, no name."),
    ] = None,
    preview: Annotated[bool, typer.Option("--preview", help="Only show what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Erase everything that a scope holds, for good: shows what would go, asks, and shows how far it is."""
    from lamina.cli import show
    from lamina.cli.remote import connected
    from lamina.errors import Invalid

    with connected(url, actor, None) as client:
        shown = client.erasures.preview(scope, audit_note=note)
        if preview and as_json:
            show.json(shown)
        elif not as_json:
            _print_preview(shown)
        if preview:
            return
        if note is None:
            raise Invalid("INVALID_REQUEST", "--note is missing", hint="name the case, as --note 'DSR 1234'")
        if not yes:
            typer.confirm("This cannot be undone. Erase it?", abort=True, err=as_json)
        started = client.erasures.start(scope, audit_note=note, from_preview_id=shown.preview_id)
        state = _followed(client, started.erasure_id, quiet=as_json)
    if as_json:
        show.json(state)
    else:
        _print_state(state)
    if state.status != "completed":
        raise typer.Exit(1)


def _followed(client: Client, erasure_id: str, *, quiet: bool) -> ErasureState:
    """An erasure once it has ended; on the way a line for each phase."""
    phase = None
    while True:
        state = client.erasures.get(erasure_id)
        if not quiet and state.phase != phase:
            typer.echo(f"{state.fraction_complete:4.0%}  {state.phase}", err=True)
        if state.status != "running":
            return state
        phase = state.phase
        time.sleep(_LOOK_S)


def _list(
    limit: Annotated[int, typer.Option(help="How many, newest first.")] = 50,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """List erasures of scopes that you may erase, newest first."""
    from lamina.cli import show
    from lamina.cli.remote import connected
    from lamina.kernel.time import rfc3339

    with connected(url, actor, None) as client:
        held = client.erasures.list(limit=limit)
    if as_json:
        return show.json(held)
    if not held.items:
        return typer.echo("(nothing)")
    rows = [
        [
            each.erasure_id,
            each.status,
            each.scope,
            rfc3339(each.started_at),
            str(each.progress.deleted_events),
        ]
        for each in held.items
    ]
    return show.console().print(show.table("erasure", "status", "scope", "started", "deleted", rows=rows))


def _show(erasure_id: _Id, actor: Actor = None, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """Show how far an erasure is, or what it did."""
    from lamina.cli import show
    from lamina.cli.remote import connected

    with connected(url, actor, None) as client:
        state = client.erasures.get(erasure_id)
    return show.json(state) if as_json else _print_state(state)


def _cancel(erasure_id: _Id, actor: Actor = None, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """Have an erasure stop at its next phase. What was deleted stays deleted."""
    from lamina.cli import show
    from lamina.cli.remote import connected

    with connected(url, actor, None) as client:
        said = client.erasures.cancel(erasure_id)
    if as_json:
        return show.json(said)
    if not said.cancellation_accepted:
        return typer.echo("it has ended, and is not cancelled")
    return typer.echo(f"it stops; {said.deleted_events_before_cancel} events were deleted before")


def _print_preview(shown: ErasurePreview) -> None:
    from lamina.cli import show

    affected, events = shown.estimated_affected, shown.refcount_breakdown
    rows = [
        ["events to delete", str(events.events_to_delete)],
        ["events to redact, since others rest on them", str(events.events_to_redact)],
        ["events kept by a legal hold", str(events.events_under_legal_hold)],
        ["facts", str(affected.facts)],
        ["beliefs", str(affected.beliefs)],
        ["episodes", str(affected.episodes)],
        ["understanding", str(affected.understanding)],
    ]
    rows += [
        [f"in {each.scope}{', which goes as a whole' if each.erased else ''}", str(each.events_referenced)]
        for each in shown.cross_scope_propagation.affected_workspaces
    ]
    rows.append(["estimated, in seconds", str(round(shown.estimated_duration_ms / 1000))])
    show.console().print(show.table(shown.scope, "", rows=rows))


def _print_state(state: ErasureState) -> None:
    from lamina.cli import show

    done = state.progress
    rows = [
        ["status", state.status],
        ["scope", state.scope],
        ["phase", f"{state.phase}, {state.fraction_complete:.0%}"],
        ["events deleted", str(done.deleted_events)],
        ["events redacted", str(done.redacted_events)],
        ["events kept by a legal hold", str(done.held_events)],
        ["records deleted", str(done.deleted_records)],
        ["beliefs demoted", str(done.demoted_beliefs)],
        ["seconds", f"{done.elapsed_ms / 1000:.1f}"],
        ["audit row", state.audit_id or ""],
    ]
    show.console().print(show.table(state.erasure_id, "", rows=rows))

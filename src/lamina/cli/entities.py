"""The commands about entities and what is understood of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.group import Commands
from lamina.cli.options import DEFAULT_URL, Actor, AsJson, Scope, Url

if TYPE_CHECKING:
    from lamina.types.writes import DecisionCaptured

__all__ = ["add_entity_commands"]

_entities = typer.Typer(cls=Commands, help="Whom and what the memory speaks of.", no_args_is_help=True)

_EntityId = Annotated[str, typer.Argument(help="The entity, ent_….")]
_Why = Annotated[str | None, typer.Option(help="The reason.")]


def add_entity_commands(app: typer.Typer) -> None:
    """Put them beside the other commands that talk to a running server."""
    _entities.command("show")(show_entity)
    _entities.command()(merge)
    _entities.command()(split)
    app.add_typer(_entities, name="entity")
    app.command()(synthesize)
    app.command()(forget_answer)


def show_entity(
    entity_id: _EntityId,
    scope: Scope = None,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Show an entity as a scope knows it: its names there, and what was decided of which it is."""
    from lamina.cli import show
    from lamina.cli.remote import connected
    from lamina.kernel.time import rfc3339

    with connected(url, actor, scope) as client:
        found = client.entities.get(entity_id)
    if as_json:
        return show.json(found)
    typer.echo(f"{found.id} in {found.scope}: {', '.join(found.names) or 'no name left'}")
    if found.canonical_id is not None:
        typer.echo(f"known as {found.canonical_id}")
    for each in found.decisions:
        said = f": {each.why}" if each.why else ""
        typer.echo(
            f"{rfc3339(each.decided_at)} {each.action} {each.entity_id} {each.other_id} by {each.decided_by}{said}"
        )
    return None


def merge(
    entity_id: _EntityId,
    into: Annotated[str, typer.Argument(help="The entity that it is, ent_….")],
    why: _Why = None,
    scope: Scope = None,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Say that two entities of a scope are one. It is not erasure: a split takes it back."""
    from lamina.cli.remote import connected

    with connected(url, actor, scope) as client:
        found = client.entities.merge(entity_id, into, why=why)
    _show_decision(found, f"{found.entity_id} is {found.canonical_id}", as_json=as_json)


def split(
    entity_id: _EntityId,
    name: Annotated[
        str, typer.Argument(help="What the other one is called, by a name that tells the two apart.")
    ],
    fact: Annotated[
        list[str] | None, typer.Option(help="A fact of the other one; may be given again.")
    ] = None,
    why: _Why = None,
    scope: Scope = None,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Say that one entity of a scope is two, or take a merged name out again. It is not erasure."""
    from lamina.cli.remote import connected

    with connected(url, actor, scope) as client:
        found = client.entities.split(entity_id, name, facts=fact or (), why=why)
    _show_decision(found, f"{found.new_id} is split off {found.entity_id}", as_json=as_json)


def synthesize(
    topics: Annotated[
        list[str] | None, typer.Argument(help="Words of topics and names; all by default.")
    ] = None,
    force: Annotated[bool, typer.Option(help="Also where nothing changed.")] = False,
    scope: Scope = None,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Have what a scope understands made anew, behind the answer."""
    from lamina.cli import show
    from lamina.cli.remote import connected

    with connected(url, actor, scope) as client:
        found = client.understanding.synthesize(topics or (), force=force)
    if as_json:
        return show.json(found)
    return typer.echo(f"{found.job_id} makes the understanding of {found.scope} anew")


def forget_answer(
    event_id: Annotated[str, typer.Argument(help="The turn, evt_….")],
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Forget what a language model read in a turn: the rules' reading comes back, behind the answer. For who runs the server."""
    from lamina.cli import show
    from lamina.cli.remote import connected

    with connected(url, actor, None) as client:
        found = client.events.forget_answer(event_id)
    if as_json:
        return show.json(found)
    return typer.echo(f"{found.forgotten} answers about {found.event_id} are forgotten")


def _show_decision(found: DecisionCaptured, words: str, *, as_json: bool) -> None:
    from lamina.cli import show

    if as_json:
        return show.json(found)
    typer.echo(f"{words}, by {found.event_id}")
    return typer.echo(found.note)

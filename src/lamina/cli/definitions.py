"""``lamina vocabulary`` and ``lamina phrase``: what a tenant defines for itself, over a running server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from lamina.cli.group import Commands
from lamina.cli.input_files import text_of
from lamina.cli.options import DEFAULT_URL, Actor, AsJson, Url
from lamina.errors import Invalid, Malformed

if TYPE_CHECKING:
    from lamina.client.options import VocabularyOptions
    from lamina.types.vocabularies import VocabularyView

__all__ = ["phrase_commands", "vocabulary_commands"]

vocabulary_commands = typer.Typer(
    cls=Commands,
    help="Register, replace and show vocabularies of predicates and relations.",
    no_args_is_help=True,
)
phrase_commands = typer.Typer(
    cls=Commands,
    help="Register, list and remove words of your own for stretches of time.",
    no_args_is_help=True,
)

_Name = Annotated[str, typer.Argument(help="What it is called.")]
_File = Annotated[str, typer.Argument(help="A file with the JSON, or - to read it from standard input.")]
_AsOf = Annotated[str | None, typer.Option(help="As it stood then: a day or RFC 3339.")]


@vocabulary_commands.command(name="list")
def list_vocabularies(
    as_of: _AsOf = None, actor: Actor = None, url: Url = DEFAULT_URL, as_json: AsJson = False
) -> None:
    """List the tenant's vocabularies."""
    from lamina.cli import show
    from lamina.cli.remote import connected
    from lamina.kernel.time import rfc3339

    with connected(url, actor, None) as client:
        held = client.vocabularies.list(as_of=as_of)
    if as_json:
        return show.json(held)
    if not held.items:
        return typer.echo("(nothing)")
    rows = [
        [each.name, each.kind, str(each.terms), rfc3339(each.changed_at), each.description or ""]
        for each in held.items
    ]
    return show.console().print(show.table("name", "kind", "terms", "changed_at", "description", rows=rows))


@vocabulary_commands.command(name="show")
def show_vocabulary(
    name: _Name, as_of: _AsOf = None, actor: Actor = None, url: Url = DEFAULT_URL, as_json: AsJson = False
) -> None:
    """Show a vocabulary with its terms. With --json it can be edited and given to replace."""
    from lamina.cli.remote import connected

    with connected(url, actor, None) as client:
        held = client.vocabularies.get(name, as_of=as_of)
    _show(held, as_json=as_json)


@vocabulary_commands.command(name="register")
def register_vocabulary(
    file: _File, actor: Actor = None, url: Url = DEFAULT_URL, as_json: AsJson = False
) -> None:
    """Register a vocabulary, as POST /v1/vocabularies takes it."""
    from lamina.cli.remote import connected

    name, options = _read(file)
    with connected(url, actor, None) as client:
        held = client.vocabularies.register(name, **options)
    _show(held, as_json=as_json)


@vocabulary_commands.command(name="replace")
def replace_vocabulary(
    file: _File, actor: Actor = None, url: Url = DEFAULT_URL, as_json: AsJson = False
) -> None:
    """Put a vocabulary in the place of the one of its name. Facts by terms that it has no more leave the default reads."""
    from lamina.cli.remote import connected

    name, options = _read(file)
    with connected(url, actor, None) as client:
        held = client.vocabularies.replace(name, **options)
    _show(held, as_json=as_json)
    if held.deprecates and not as_json:
        typer.echo(f"no more: {', '.join(held.deprecates)}")


@phrase_commands.command(name="list")
def list_phrases(actor: Actor = None, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """List the tenant's words for stretches of time."""
    from lamina.cli import show
    from lamina.cli.remote import connected
    from lamina.kernel.time import rfc3339

    with connected(url, actor, None) as client:
        held = client.phrases.list()
    if as_json:
        return show.json(held)
    if not held.items:
        return typer.echo("(nothing)")
    rows = [[each.name, each.pattern, *map(rfc3339, each.resolves_to.valid_during)] for each in held.items]
    return show.console().print(show.table("name", "words", "from", "to", rows=rows))


@phrase_commands.command(name="register")
def register_phrase(
    name: _Name,
    words: Annotated[str, typer.Argument(help="The words, such as 'fiscal Q3'.")],
    since: Annotated[str, typer.Argument(metavar="FROM", help="The first instant: a day or RFC 3339.")],
    until: Annotated[str, typer.Argument(metavar="TO", help="The end, exclusive: a day or RFC 3339.")],
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Register words for a stretch of time."""
    from lamina.cli import show
    from lamina.cli.remote import connected
    from lamina.kernel.time import rfc3339

    with connected(url, actor, None) as client:
        held = client.phrases.register(name, words, since, until)
    if as_json:
        return show.json(held)
    start, end = map(rfc3339, held.resolves_to.valid_during)
    return typer.echo(show.plain(f"{held.name}: {held.pattern!r} is {start} to {end}"))


@phrase_commands.command(name="remove")
def remove_phrase(name: _Name, actor: Actor = None, url: Url = DEFAULT_URL) -> None:
    """Take words for a stretch of time back. Readers of an earlier time still have them."""
    from lamina.cli import show
    from lamina.cli.remote import connected

    with connected(url, actor, None) as client:
        client.phrases.remove(name)
    typer.echo(show.plain(f"{name} is taken back"))


def _show(held: VocabularyView, *, as_json: bool) -> None:
    from lamina.cli import show

    if as_json:
        return show.json(held)
    return typer.echo("\n".join(show.plain(line) for line in held.text.split("\n")))


def _read(file: str) -> tuple[str, VocabularyOptions]:
    """The name in a file and what else it says; what the server tells of a vocabulary beside that is left out."""
    from pydantic_core import from_json

    try:
        given: Any = from_json(text_of(Path(file), "INVALID_REQUEST"))
    except ValueError as error:
        raise Malformed("INVALID_BODY", f"{file} is not JSON: {error}") from error
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        raise Invalid("INVALID_REQUEST", f"{file} holds no JSON object with a name")
    told = {
        name: value
        for name, value in given.items()
        if name not in ("name", "text", "changed_at", "deprecates")
    }
    return given["name"], cast("VocabularyOptions", told)

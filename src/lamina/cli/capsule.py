"""``lamina capsule``: the continuity capsules of a running server, for people and scripts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lamina.cli.group import Commands
from lamina.cli.input_files import text_of
from lamina.cli.options import DEFAULT_URL, Actor, AsJson, Url
from lamina.errors import Invalid, Malformed

if TYPE_CHECKING:
    from lamina.client.results import Said

__all__ = ["capsule_commands"]

capsule_commands = typer.Typer(
    cls=Commands, help="Read and write what an agent keeps across its resets.", no_args_is_help=True
)

_Kind = Annotated[str, typer.Argument(help="user, peer, thread or task.")]
_Id = Annotated[str, typer.Argument(help="The subject's id.")]
_OwnKind = Annotated[
    str | None,
    typer.Argument(help="user, peer, thread or task. Without kind and id, the subject of this folder."),
]
_OwnId = Annotated[str | None, typer.Argument(help="The subject's id.")]
_File = Annotated[str, typer.Argument(help="A file with the JSON, or - to read it from standard input.")]
_Reason = Annotated[str, typer.Option(help="Why, for whoever looks for it later: 3 to 240 characters.")]
_Expected = Annotated[
    str | None,
    typer.Option(
        help="The capsule_sha256 of the reading that this builds upon; another one there is left alone."
    ),
]
_Message = Annotated[str | None, typer.Option("--message", help="The subject line of the commit.")]


@capsule_commands.command()
def read(
    kind: _OwnKind = None,
    subject_id: _OwnId = None,
    fallback: Annotated[
        bool, typer.Option("--fallback", help="Take an older copy where the capsule is missing.")
    ] = False,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Show a capsule, and what can be said of it."""
    from lamina.cli import show, show_capsule

    said = _asked(url, actor, "read", {**_own_subject(kind, subject_id), "allow_fallback": fallback})
    return show.json(said) if as_json else show_capsule.capsule(said.model_dump())


@capsule_commands.command()
def startup(
    kind: _OwnKind = None,
    subject_id: _OwnId = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="How long the page may be; the least salient items are left out first."),
    ] = None,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Show what a new session needs first: how far it can be trusted, where it stands, what is open."""
    from lamina.cli import show, show_capsule

    body = {**_own_subject(kind, subject_id), "view": "startup", "allow_fallback": True}
    said = _asked(url, actor, "read", body)
    return show.json(said) if as_json else show_capsule.startup(said.model_dump(), max_tokens)


@capsule_commands.command()
def upsert(
    file: _File,
    preserve: Annotated[
        bool, typer.Option("--preserve", help="Keep what the capsule leaves out, instead of replacing all.")
    ] = False,
    message: _Message = None,
    expected_sha256: _Expected = None,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Store a capsule. The JSON is the capsule, a whole request with the capsule in it, or what read --json gave.

    What was read is only stored over what was read: where another capsule stands meanwhile, nothing changes.
    """
    from lamina.cli import show, show_capsule

    body = _upserting(_json_object(file))
    body |= {"expected_sha256": expected_sha256} if expected_sha256 else {}
    body |= {"merge_mode": "preserve"} if preserve else {}
    body |= {"commit_message": message} if message else {}
    said = _asked(url, actor, "upsert", body)
    return show.json(said) if as_json else show_capsule.written(said.model_dump())


@capsule_commands.command()
def patch(
    kind: _OwnKind = None,
    subject_id: _OwnId = None,
    append: Annotated[
        list[str] | None,
        typer.Option(help='TARGET=VALUE, such as "continuity.open_loops=Who signs"; may be given again.'),
    ] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option(help="TARGET=ITEM: its text, or the tag or decision of an object; may be given again."),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(help="The new updated_at; now by default, by the server's clock for appends."),
    ] = None,
    message: _Message = None,
    expected_sha256: _Expected = None,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Change single items of a capsule's lists, all or none. A value that begins with { is JSON."""
    from lamina.cli import show, show_capsule

    body = {
        **_own_subject(kind, subject_id),
        "operations": [*_removals(remove or []), *_additions(append or [])],
    }
    if at or remove:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        body["updated_at"] = at or now
    body |= {"commit_message": message} if message else {}
    body |= {"expected_sha256": expected_sha256} if expected_sha256 else {}
    said = _asked(url, actor, "patch", body)
    return show.json(said) if as_json else show_capsule.written(said.model_dump())


@capsule_commands.command(name="list")
def list_(
    kind: Annotated[str | None, typer.Option(help="Only user, peer, thread or task.")] = None,
    limit: Annotated[int, typer.Option(help="How many at most, 1 to 200.")] = 50,
    lifecycle: Annotated[
        str | None, typer.Option(help="Only active, suspended, concluded or superseded.")
    ] = None,
    keyword: Annotated[str | None, typer.Option(help="Only threads and tasks with this keyword.")] = None,
    scope_anchor: Annotated[str | None, typer.Option(help="Only those with this scope anchor.")] = None,
    salience: Annotated[
        bool, typer.Option("--salience", help="The most salient first, instead of by subject.")
    ] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="Also older copies, archives and cold storage.")
    ] = False,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """List capsules, one line each."""
    from lamina.cli import show, show_capsule

    filters = {"subject_kind": kind, "lifecycle": lifecycle, "keyword": keyword, "scope_anchor": scope_anchor}
    body: dict[str, Any] = {name: value for name, value in filters.items() if value is not None}
    body["limit"] = limit
    body |= {"sort": "salience"} if salience else {}
    body |= dict.fromkeys(("include_fallback", "include_archived", "include_cold"), True) if all_ else {}
    said = _asked(url, actor, "list", body)
    return show.json(said) if as_json else show_capsule.listed(said.model_dump())


@capsule_commands.command()
def history(
    kind: _OwnKind = None,
    subject_id: _OwnId = None,
    limit: Annotated[int, typer.Option(help="How many at most, 1 to 100.")] = 20,
    before: Annotated[int | None, typer.Option(help="Only versions below this one.")] = None,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """List a capsule's versions, newest first: who wrote which when, and in which commit."""
    from lamina.cli import show, show_capsule

    body = {**_own_subject(kind, subject_id), "limit": limit}
    body |= {} if before is None else {"before": before}
    said = _asked(url, actor, "history", body)
    return show.json(said) if as_json else show_capsule.versions(said.model_dump())


@capsule_commands.command()
def diff(
    kind: _OwnKind = None,
    subject_id: _OwnId = None,
    from_version: Annotated[
        int | None, typer.Option("--from", help="The older version; the one before the newer by default.")
    ] = None,
    to_version: Annotated[
        int | None, typer.Option("--to", help="The newer version; the newest by default.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(help="In place of versions: what came since then, a day or RFC 3339 with a zone."),
    ] = None,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Show what changed in a capsule from one version to another, field by field."""
    from lamina.cli import show, show_capsule

    asked = {"from_version": from_version, "to_version": to_version, "since": since}
    body = _own_subject(kind, subject_id) | {
        name: value for name, value in asked.items() if value is not None
    }
    said = _asked(url, actor, "diff", body)
    return show.json(said) if as_json else show_capsule.differences(said.model_dump())


@capsule_commands.command()
def archive(
    kind: _Kind,
    subject_id: _Id,
    reason: _Reason,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Put a capsule away: lists leave it out, its history stays."""
    from lamina.cli import show, show_capsule

    said = _asked(url, actor, "archive", {**_subject(kind, subject_id), "reason": reason})
    return show.json(said) if as_json else show_capsule.moved(said.model_dump())


@capsule_commands.command()
def delete(
    kind: _Kind,
    subject_id: _Id,
    reason: _Reason,
    archives: Annotated[
        bool, typer.Option("--archives", help="Its archives, instead of the capsule.")
    ] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="The capsule, its older copy and its archives.")
    ] = False,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Remove a capsule and its older copy. Its history stays."""
    from lamina.cli import show, show_capsule

    body = {
        **_subject(kind, subject_id),
        "delete_active": all_ or not archives,
        "delete_fallback": all_ or not archives,
        "delete_archive": all_ or archives,
        "reason": reason,
    }
    said = _asked(url, actor, "delete", body)
    return show.json(said) if as_json else show_capsule.moved(said.model_dump())


def _asked(url: str, actor: str | None, what: str, body: dict[str, Any]) -> Said:
    from lamina.cli.remote import connected

    with connected(url, actor, None) as client:
        return client.continuity(what, body)


def _subject(kind: str, subject_id: str) -> dict[str, Any]:
    return {"subject_kind": kind, "subject_id": subject_id}


def _own_subject(kind: str | None, subject_id: str | None) -> dict[str, Any]:
    """The subject that was named, or that of the folder, as the hooks of coding agents have it."""
    if kind is not None and subject_id is not None:
        return _subject(kind, subject_id)
    if kind is not None:
        raise Invalid(
            "INVALID_REQUEST", "a subject is a kind and an id", hint="for instance: thread release-plan"
        )
    from lamina.cli.folder import choices_here

    line = choices_here().line
    return _subject(line.kind, line.id)


def _upserting(given: dict[str, Any]) -> dict[str, Any]:
    """The request that a file stands for: a capsule, a request, or the answer of a reading with its hash.

    A capsule alone gets the subject of the folder and the time, where it has none.
    """
    capsule = given.get("capsule", given)
    if "capsule" not in given:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        named = given if {"subject_kind", "subject_id"} & given.keys() else _own_subject(None, None)
        subject = {name: named[name] for name in ("subject_kind", "subject_id") if name in named}
        return subject | {"capsule": subject | {"updated_at": now, "verified_at": now} | given}
    named = capsule if isinstance(capsule, dict) else {}
    subject = {name: named[name] for name in ("subject_kind", "subject_id") if name in named}
    if "source_state" not in given:
        return given
    read = given.get("capsule_sha256")
    return subject | {"capsule": capsule} | ({"expected_sha256": read} if read else {})


def _additions(given: list[str]) -> Iterator[dict[str, Any]]:
    for text in given:
        target, value = _split(text, "--append")
        yield {"target": target, "action": "append", "value": _value(value)}


def _removals(given: list[str]) -> Iterator[dict[str, Any]]:
    for text in given:
        target, match = _split(text, "--remove")
        yield {"target": target, "action": "remove", "match": match}


def _split(text: str, option: str) -> tuple[str, str]:
    target, sign, value = text.partition("=")
    if not sign or not target:
        raise Invalid("INVALID_REQUEST", f"{option} {text!r} is not TARGET=VALUE")
    return target, value


def _value(text: str) -> Any:  # Any: a text, or whatever its JSON holds
    return _parsed(text, "--append") if text.startswith("{") else text


def _json_object(file: str) -> dict[str, Any]:
    given = _parsed(text_of(Path(file), "INVALID_REQUEST"), file)
    if not isinstance(given, dict):
        raise Invalid("INVALID_REQUEST", f"{file} holds no JSON object")
    return given


def _parsed(text: str, where: str) -> Any:  # Any: whatever JSON can hold
    from pydantic_core import from_json

    try:
        return from_json(text)
    except ValueError as error:
        raise Malformed("INVALID_BODY", f"{where} is not JSON: {error}") from error

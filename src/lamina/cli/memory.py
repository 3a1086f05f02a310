"""The commands that talk to a running server."""

from __future__ import annotations

import sys
import time
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from lamina.cli.group import Commands
from lamina.cli.options import DEFAULT_URL, Actor, AsJson, Scope, Url
from lamina.errors import Forbidden, Invalid, Unavailable

if TYPE_CHECKING:
    from lamina.client import Client
    from lamina.client.options import CorrectionOptions
    from lamina.types.writes import CorrectionCaptured

__all__ = ["add_memory_commands"]


def add_memory_commands(app: typer.Typer) -> None:
    """Put them beside the commands that run the server."""
    app.command()(remember)
    app.command()(recall)
    app.command()(answer)
    app.add_typer(_imports, name="import")
    app.command()(why)
    app.command()(tail)
    app.command()(cancel)
    app.command()(correct)
    app.command()(retract)
    app.command()(feedback)
    app.command()(demo)


_imports = typer.Typer(cls=Commands, help="Bring memories in from files.", no_args_is_help=True)


def remember(
    text: Annotated[str, typer.Argument(help="What happened, or - to read it from standard input.")],
    role: Annotated[str | None, typer.Option(help="user, assistant, tool or system.")] = None,
    at: Annotated[
        str | None,
        typer.Option(help="When it happened: a day (from its midnight in UTC) or RFC 3339; now by default."),
    ] = None,
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
    from lamina.cli.reasons import words_of
    from lamina.cli.remote import connected
    from lamina.client.options import ExperienceOptions
    from lamina.kernel.records import Layer, layer_of

    given = {
        "role": role,
        "observed_at": _day_or_time(at, "observed_at"),
        "session": session,
        "labels": label,
    }
    options = cast("ExperienceOptions", {name: value for name, value in given.items() if value})
    said = sys.stdin.read() if text == "-" else text
    stage = show.stage(wait)
    with connected(url, actor, scope) as client:
        derives = stage in (None, "captured") or _somebody_derives(client)
        began = time.monotonic()
        stored = client.experience(said, wait=stage if derives else None, **options)
        waited_s = time.monotonic() - began
        if as_json:
            show.json(stored)
        else:
            # Episodes and understanding come later, when nobody waits any more: they may be there by now or not.
            claims = [each for each in stored.derives if layer_of(each) in (Layer.FACTS, Layer.BELIEFS)]
            show.stored(stored, claims, words_of(client, claims))
    if stage not in (None, "captured") and stored.status != stage:
        raise Unavailable(
            "DERIVATION_WAITS",
            f"{stored.event_id} is stored, and not {stage}"
            + (f" after {waited_s:.0f} s" if derives else ": no worker runs"),
            hint="is a worker running? lamina doctor looks for it"
            if derives
            else "lamina worker --data FOLDER derives beside a server with --workers 0",
        )


def _somebody_derives(client: Client) -> bool:
    """False where no worker runs and the server keeps none. A server need not say."""
    try:
        worker = client.health().worker
    except (Forbidden, Unavailable):
        return True
    return worker.kept or worker.alive is not False


def _day_or_time(at: str | None, field: str) -> str | None:
    """A time, as the wire takes it in a field: a bare day is its midnight, as it is for ``--as-of``."""
    from lamina.kernel.local import local_bound

    try:
        return None if at is None else str(local_bound(at, field=field))
    except Invalid as error:
        raise Invalid(
            error.code,
            error.message,
            hint="a day or a time such as 2026-04-02T18:00:00Z; words of time are for recall --when",
            details=error.details,
        ) from error


def recall(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    view: Annotated[
        str, typer.Option(help="local, holistic, descend, raw, granular or structured.")
    ] = "holistic",
    max_tokens: Annotated[int, typer.Option(help="How long the context may be, in tokens.")] = 1000,
    when: Annotated[str | None, typer.Option(help='A time in words, such as "last week".')] = None,
    as_of: Annotated[str | None, typer.Option(help="Answer as memory stood then: a day or RFC 3339.")] = None,
    valid_during: Annotated[
        str | None, typer.Option(help="From what held between two times, such as 2026-04-01..2026-05-01.")
    ] = None,
    recorded_during: Annotated[
        str | None,
        typer.Option(help="From what was learned between two times, such as 2026-04-01..2026-05-01."),
    ] = None,
    include_superseded: Annotated[
        bool, typer.Option("--include-superseded", help="Also what was known otherwise before.")
    ] = False,
    include_quarantined: Annotated[
        bool, typer.Option("--include-quarantined", help="Also texts with secrets or with orders in them.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="Show all that was found, not only the best.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show the phases with their times.")] = False,
    scope: Scope = None,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Ask memory a question: what it holds, and where each line comes from."""
    from lamina.cli import show
    from lamina.cli.remote import connected
    from lamina.cli.show_pack import holds_nothing, nothing_by, nothing_found, show_pack
    from lamina.client.options import RecallOptions

    if when is not None and valid_during is not None:
        raise Invalid(
            "INVALID_TIME_RANGE", "--when and --valid-during both say which time is meant", hint="name one"
        )
    given = {
        "view": show.view(view),
        "max_tokens": max_tokens,
        "natural": when,
        "as_of": as_of,
        "valid_during": valid_during,
        "recorded_during": recorded_during,
        "include_superseded": include_superseded or None,
        "include_quarantined": include_quarantined or None,
    }
    options = cast("RecallOptions", {name: value for name, value in given.items() if value is not None})
    if explain:
        options["diagnostics"] = "summary"
    with connected(url, actor, scope) as client:
        pack = client.recall(question, **options)
        if as_json:
            return show.json(pack)
        if holds_nothing(pack):
            if as_of is not None and not _anything_by(client, as_of, view):
                return nothing_by(as_of)
            if not explain:
                return nothing_found(pack, waits=as_of is None and _newest_waits(client))
    return show_pack(pack, explain=explain, whole=every)


def answer(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    view: Annotated[str, typer.Option(help="local, holistic, descend or raw.")] = "holistic",
    model: Annotated[
        str | None,
        typer.Option(help="extractive, or the server's language model by its name; that one without it."),
    ] = None,
    max_tokens: Annotated[int, typer.Option(help="How long the answer may be, in tokens.")] = 1500,
    when: Annotated[str | None, typer.Option(help='A time in words, such as "last week".')] = None,
    as_of: Annotated[str | None, typer.Option(help="Answer as memory stood then: a day or RFC 3339.")] = None,
    pack: Annotated[
        str | None, typer.Option(help="Answer from a pack of the last minute, by its pack_id.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show times and what was used.")] = False,
    scope: Scope = None,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Have a question answered from memory, each sentence with its source; or hear that it is not known."""
    from lamina.cli import show
    from lamina.cli.remote import connected
    from lamina.cli.show_answer import show_answer
    from lamina.client.options import AnswerOptions

    given = {
        "view": show.view(view),
        "answer_model": model,
        "answer_max_tokens": max_tokens,
        "natural": when,
        "as_of": as_of,
        "use_pack_id": pack,
        "diagnostics": "summary" if explain else None,
    }
    options = cast("AnswerOptions", {name: value for name, value in given.items() if value is not None})
    with connected(url, actor, scope) as client:
        told = client.answer(question, **options)
    return show.json(told) if as_json else show_answer(told, explain=explain)


def _anything_by(client: Client, as_of: str, view: str) -> bool:
    from lamina.client.options import EventFilters

    filters: EventFilters = {"as_of": as_of, "limit": 1}
    if view in ("holistic", "descend"):
        filters["view"] = cast("Literal['holistic', 'descend']", view)
    return bool(client.events.list(**filters).items)


def _newest_waits(client: Client) -> bool:
    """Whether the newest event of the scope cannot be found yet."""
    try:
        newest = client.events.list(limit=1).items
        return bool(newest) and "indexed" in client.lifecycle_of(newest[0].id).stages_pending
    except Forbidden:
        return False


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
    from lamina.kernel.shown import shown

    with connected(url, actor, scope) as client:
        report = import_jsonl(client, file, scope=scope, actor=actor)
    for problem in report.problems:
        typer.echo(f"lamina: line {problem.line}: {shown(problem.message)}", err=True)
    if report.refused > len(report.problems):
        typer.echo(f"lamina: and {report.refused - len(report.problems)} more", err=True)
    typer.echo(f"{report.stored} of {report.stored + report.refused} lines are stored")
    if report.refused:
        raise typer.Exit(2)


def why(
    record_id: Annotated[
        str, typer.Argument(help="An id that recall shows: belief_…, fact_…, ep_…, concept_… or evt_….")
    ],
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Show what a record rests on, down to what was said; of what was said, what rests on it."""
    from lamina.cli import show
    from lamina.cli.reasons import require_explicable
    from lamina.cli.remote import connected

    require_explicable(record_id)
    with connected(url, actor, None) as client:
        reasons = client.why(record_id)
    return show.json(reasons) if as_json else show.why(reasons)


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


def cancel(
    event_id: Annotated[str, typer.Argument(help="What was said, evt_….")],
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Stop deriving from what was said, and keep it and what rests on it alone out of recall. It stays in the log."""
    from lamina.cli import show
    from lamina.cli.remote import connected

    with connected(url, actor, None) as client:
        cancelled = client.cancel(event_id)
    if as_json:
        return show.json(cancelled)
    stopped = ", ".join(cancelled.stages_cancelled)
    left = f"; what was left of its derivation is dropped: {stopped}" if stopped else ""
    return typer.echo(f"{cancelled.event_id} is kept out of recall, with what rests on it alone{left}")


_FactId = Annotated[str, typer.Argument(help="The fact, fact_….")]
_Why = Annotated[str | None, typer.Option(help="Why it is wrong.")]
_Quote = Annotated[str | None, typer.Option(help="The words that say so.")]


def correct(
    fact_id: _FactId,
    value: Annotated[str, typer.Argument(help="What is right in place of what the fact says.")],
    since: Annotated[
        str | None,
        typer.Option(help="From when on: a day or RFC 3339; from the fact's beginning by default."),
    ] = None,
    why: _Why = None,
    quote: _Quote = None,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Put another value in the place of one fact's. It is not erasure: what was held stays in the history."""
    from lamina.cli.remote import connected

    options = _correction_options(why, quote)
    with connected(url, actor, None) as client:
        found = client.facts.correct(
            fact_id, _scalar(value), valid_from=_day_or_time(since, "valid_from"), **options
        )
    return _show_correction(found, "corrected", as_json=as_json)


def retract(
    fact_id: _FactId,
    until: Annotated[
        str | None, typer.Option(help="Until when it held: a day or RFC 3339; until now by default.")
    ] = None,
    why: _Why = None,
    quote: _Quote = None,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Say that one fact holds no more. It is not erasure: what was held stays in the history."""
    from lamina.cli.remote import connected

    options = _correction_options(why, quote)
    with connected(url, actor, None) as client:
        found = client.facts.retract(fact_id, valid_to=_day_or_time(until, "valid_to"), **options)
    return _show_correction(found, "retracted", as_json=as_json)


def _correction_options(why: str | None, quote: str | None) -> CorrectionOptions:
    given = {"why": why, "quote": quote}
    return cast("CorrectionOptions", {name: value for name, value in given.items() if value})


def _scalar(value: str) -> str | int | float:
    """A number where the words are one and come back as they are: 01067, +49170 and 1.10 are more than their number."""
    for kind in (int, float):
        try:
            number: int | float = kind(value)
        except ValueError:
            continue
        if str(number) == value and isfinite(number):
            return number
    return value


def _show_correction(found: CorrectionCaptured, done: str, *, as_json: bool) -> None:
    from lamina.cli import show

    if as_json:
        return show.json(found)
    typer.echo(f"{found.fact_id} is {done} by {found.event_id}")
    return typer.echo(found.note)


def feedback(
    target_id: Annotated[str, typer.Argument(help="The fact or belief, fact_… or belief_….")],
    verdict: Annotated[str, typer.Argument(help="confirm, deny, outdated or irrelevant.")],
    note: Annotated[str | None, typer.Option(help="Why, in words.")] = None,
    wait: Annotated[str | None, typer.Option(help="Wait until it is indexed or consolidated.")] = None,
    scope: Scope = None,
    actor: Actor = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Judge a fact or a belief of a scope. The verdict is an event: cancelling it takes it back."""
    from lamina.cli import show
    from lamina.cli.remote import connected
    from lamina.kernel.feedback import VERDICTS

    if verdict not in VERDICTS:
        raise Invalid("INVALID_REQUEST", f"VERDICT {verdict!r} is not one of {', '.join(VERDICTS)}")
    with connected(url, actor, scope) as client:
        stored = client.feedback(target_id, verdict, note, wait=show.stage(wait))
    return show.json(stored) if as_json else typer.echo(f"{target_id} is judged by {stored.event_id}")


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

"""``lamina reread``: its options, what it tells before it begins, and how far it is."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from lamina.cli.options import Data, chosen_settings
from lamina.kernel.time import SystemClock

__all__ = ["reread"]


def reread(
    since: Annotated[str, typer.Option(help="Turns recorded since then: a day, 2026-11-01, or an instant.")],
    model: Annotated[
        str | None, typer.Option(help="The model to ask; by default that of LAMINA_LLM_MODEL.")
    ] = None,
    tenant: Annotated[str | None, typer.Option(help="Of this tenant alone.")] = None,
    price: Annotated[
        str | None, typer.Option(help="What a million tokens of questions and of answers cost: 0.15,0.60.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Begin without asking.")] = False,
    data: Data = None,
) -> None:
    """Have a language model read turns again, after telling what that costs. The server must not run."""
    from lamina.cli.reread import price_of, rereading, since_of

    begins = since_of(since)
    with rereading(chosen_settings(data=data), model) as reader:
        turns = reader.turns(begins, tenant)
        estimate = reader.estimate(turns)
        typer.echo(
            f"{estimate.turns} turns: about {estimate.tokens_in} tokens of questions, at most "
            f"{estimate.tokens_out_max} of answers{price_of(estimate, price)}"
        )
        if not turns or not (yes or typer.confirm("begin?")):
            return
        with typer.progressbar(length=len(turns), label="read", file=sys.stderr) as bar:
            left = reader.read(turns, SystemClock().now(), bar.update)
    if left:
        typer.echo(f"{left} turns are left: no more answers come. The next worker asks about them", err=True)
        raise typer.Exit(6)

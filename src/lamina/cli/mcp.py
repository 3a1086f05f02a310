"""``lamina mcp``: memory as tools of an agent."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from lamina.cli.group import Commands
from lamina.cli.options import Actor, Data, chosen_settings
from lamina.errors import Invalid

__all__ = ["mcp_commands"]

mcp_commands = typer.Typer(
    cls=Commands,
    help="Serve memory to an agent over MCP, on standard input and output.",
    invoke_without_command=True,
)


@mcp_commands.callback()
def mcp(
    context: typer.Context,
    tools: Annotated[
        str, typer.Option(help="Further groups of tools: cortex, relay, session or all, with commas between.")
    ] = "",
    data: Data = None,
    own: Annotated[
        bool,
        typer.Option(
            "--own",
            help="Where neither --data nor LAMINA_DATA names a folder, one of your own for all projects.",
        ),
    ] = False,
    url: Annotated[
        str | None,
        typer.Option(
            "--url", envvar="LAMINA_URL", help="A server to pass everything on to, in place of a folder."
        ),
    ] = None,
    actor: Actor = None,
    scope: Annotated[
        str | None,
        typer.Option(
            envvar="LAMINA_SCOPE",
            help="Whose memory is meant where a tool names none. By default the scope of .lamina.toml, or the actor's own.",
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            envvar="LAMINA_AGENT",
            help="What the agent is called, such as agent:claude; it says who wrote a capsule.",
        ),
    ] = None,
) -> None:
    """Serve memory to an agent over MCP, on standard input and output."""
    if context.invoked_subcommand is not None:
        return
    from lamina.mcp.stdio import serve_stdio
    from lamina.mcp.tools import GROUPS

    groups = [each.strip() for each in tools.split(",") if each.strip()]
    for each in groups:
        if each not in GROUPS:
            raise Invalid("INVALID_REQUEST", f"--tools {each!r} is no group; groups: {', '.join(GROUPS)}")
    from lamina.cli.folder import choices_here
    from lamina.cli.links import FolderLink, RemoteLink
    from lamina.hooks.choices import own_folder
    from lamina.settings import load_token

    token = load_token(os.environ)
    told = {"x-cortex-actor": actor, "x-lamina-scope": scope or choices_here().scope, "x-lamina-agent": agent}
    headers = {name: value for name, value in told.items() if value}
    headers |= {"authorization": f"Bearer {token}"} if token else {}
    if url is not None:
        serve_stdio(RemoteLink(f"{url.rstrip('/')}/mcp", headers), groups)
        return
    if own and data is None and "LAMINA_DATA" not in os.environ:
        data = own_folder(os.environ)
    link = FolderLink(chosen_settings(data=data).data, headers)
    try:
        serve_stdio(link, groups)
    finally:
        link.close()

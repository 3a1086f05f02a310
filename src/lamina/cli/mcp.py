"""``lamina mcp``: memory as tools of an agent."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Annotated

import typer

from lamina import limits
from lamina.cli.group import INTERRUPTED, Commands
from lamina.cli.mcp_hosts import HOSTS, Host, Machine, command_of, this_machine
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

    groups = _groups(tools)
    from lamina.cli.folder import choices_here
    from lamina.cli.links import FolderLink, RemoteLink
    from lamina.hooks.choices import own_folder
    from lamina.settings import load_token

    token = load_token(os.environ)
    told = {"x-cortex-actor": actor, "x-lamina-scope": scope or choices_here().scope, "x-lamina-agent": agent}
    headers = {name: value for name, value in told.items() if value}
    headers |= {"authorization": f"Bearer {token}"} if token else {}
    # A thread waits for the next line of the host, and an end in good order would wait for that thread.
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
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


def _groups(tools: str) -> list[str]:
    """The groups of tools in a text with commas; raises ``Invalid`` for one that does not exist."""
    from lamina.mcp.tools import GROUPS

    groups = [each.strip() for each in tools.split(",") if each.strip()]
    for each in groups:
        if each not in GROUPS:
            raise Invalid("INVALID_REQUEST", f"--tools {each!r} is no group; groups: {', '.join(GROUPS)}")
    return groups


HostName = Annotated[str, typer.Option("--client", help=f"The host: {', '.join(HOSTS)}.")]
Project = Annotated[
    bool, typer.Option("--project", help="In the file of the current folder rather than your own.")
]
HostFile = Annotated[
    Path | None, typer.Option("--file", help="Another file than the one that the host reads by default.")
]


@mcp_commands.command()
def install(
    client: HostName,
    project: Project = False,
    file: HostFile = None,
    print_only: Annotated[
        bool, typer.Option("--print", help="Show what belongs into the file, and write nothing.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            envvar="LAMINA_DATA",
            help="The folder of the memory. By default one of your own for all projects; with --project, one in the project.",
        ),
    ] = None,
    url: Annotated[
        str | None, typer.Option("--url", envvar="LAMINA_URL", help="A server, in place of a folder.")
    ] = None,
    actor: Actor = None,
    scope: Annotated[
        str | None,
        typer.Option(envvar="LAMINA_SCOPE", help="Whose memory is meant where a tool names none."),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(envvar="LAMINA_AGENT", help="What the agent is called; agent:CLIENT by default."),
    ] = None,
    tools: Annotated[str, typer.Option(help="Further groups of tools, with commas between.")] = "",
) -> None:
    """Write Lamina into the file in which a host of agents keeps its MCP servers; what else stands there stays."""
    from lamina.access.principals import ACTOR
    from lamina.cli.mcp_install import plan_install, snippet, write_planned

    machine = this_machine()
    host = _host(client)
    target = _file(host, machine, project=project, file=file)
    asked = {"LAMINA_ACTOR": actor, "LAMINA_AGENT": agent or f"agent:{client}"}
    for variable, named in asked.items():
        if named is not None and not (ACTOR.fullmatch(named) and len(named) <= limits.ACTOR_LENGTH_MAX):
            raise Invalid(
                "INVALID_ACTOR",
                f"{variable} {named[:64]!r} is not type:id",
                hint="types are user, agent, service and system; for example user:ana",
            )
    where = {"LAMINA_URL": url} if url else {"LAMINA_DATA": _memory_folder(data, machine, project=project)}
    environment = {name: value for name, value in (where | asked | {"LAMINA_SCOPE": scope}).items() if value}
    groups = _groups(tools)
    command = [
        *command_of(whole_path=not host.reads_path),
        "mcp",
        *(["--tools", ",".join(groups)] if groups else []),
    ]
    if print_only:
        typer.echo(f"{host.title} reads {target}", err=True)
        typer.echo(snippet(host, command, environment), nl=False)
        return
    planned = plan_install(host, target, command, environment)
    if not planned.changes:
        typer.echo(f"{host.title} knows Lamina already: {target}")
        return
    backup = write_planned(planned)
    typer.echo(f"{host.title} knows Lamina now: {target}" + (f", as it was: {backup}" if backup else ""))
    typer.echo(
        f"The memory is {url or environment.get('LAMINA_DATA', 'in the folder that the host works in')}."
    )
    if url and os.environ.get("LAMINA_TOKEN"):
        typer.echo("The token is not written there: the host has to have LAMINA_TOKEN in its environment.")
    typer.echo(f"Start {host.title} anew; it lists the ten tools of lamina.")


@mcp_commands.command()
def uninstall(client: HostName, project: Project = False, file: HostFile = None) -> None:
    """Take Lamina out of that file again. The memory stays where it is."""
    from lamina.cli.mcp_install import plan_uninstall, write_planned

    machine = this_machine()
    host = _host(client)
    target = _file(host, machine, project=project, file=file)
    planned = plan_uninstall(host, target)
    if not planned.changes:
        typer.echo(f"{host.title} does not know Lamina: {target}")
        return
    backup = write_planned(planned)
    typer.echo(f"{host.title} does not know Lamina any more: {target}, as it was: {backup}")


def _host(client: str) -> Host:
    if client not in HOSTS:
        raise Invalid(
            "INVALID_REQUEST", f"--client {client[:64]!r} is not known; clients: {', '.join(HOSTS)}"
        )
    return HOSTS[client]


def _file(host: Host, machine: Machine, *, project: bool, file: Path | None) -> Path:
    if file is not None:
        return file.expanduser().absolute()
    chosen = host.project_file(machine) if project else host.user_file(machine)
    if chosen is None:
        raise Invalid("INVALID_REQUEST", f"{host.title} has no file of a project; leave out --project")
    return chosen


def _memory_folder(data: Path | None, machine: Machine, *, project: bool) -> str | None:
    """The folder to write down; None where the host's own folder decides, as it does for a project."""
    if data is not None:
        return str(data.expanduser().absolute())
    return None if project else str(machine.plain_folder("XDG_DATA_HOME", ".local/share") / "lamina")

"""The ``lamina-auth`` command. What it is asked for goes to standard output, what it has to say to standard error."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import httpx
import typer

from lamina.errors import LaminaError, Unavailable, outcome_of
from lamina_auth.ledger import IssuedToken, Ledger
from lamina_auth.minting import Order, jwk_set, mint, seconds, signed_anew

__all__ = ["main"]

app = typer.Typer(
    name="lamina-auth",
    help="The reference issuer of Lamina: keys, and tokens signed with them.",
    no_args_is_help=True,
    add_completion=False,
)
_Folder = Annotated[
    Path, typer.Option("--folder", envvar="LAMINA_AUTH_FOLDER", help="The folder that holds keys and ledger.")
]
_FOLDER = Path("lamina-auth")


class Format(StrEnum):
    """How public keys are written."""

    JWKS = "jwks"
    PASERK = "paserk"


@app.command("keygen")
def keygen(
    issuer: Annotated[
        str | None, typer.Option(help="The name of the issuer, as the servers will know it; once.")
    ] = None,
    folder: _Folder = _FOLDER,
) -> None:
    """Make a key. It signs from now on; older ones still verify until they are retired."""
    with _ledger(folder) as ledger:
        key = ledger.add_key(issuer, _now())
        typer.echo(key.public)
        _say(f"made key {key.id}; its private half is in {folder / 'keys'}")
        _say(f"let the servers know it: lamina-auth export --folder {folder}")


@app.command("retire")
def retire(key_id: Annotated[str, typer.Argument(help="k4.pid.…")], folder: _Folder = _FOLDER) -> None:
    """Stop publishing a key and delete its private half. Its tokens end when the servers have the new export."""
    with _ledger(folder) as ledger:
        ledger.retire(key_id, _now())
        _say(f"retired {key_id}")


@app.command("mint")
def mint_token(
    sub: Annotated[str, typer.Option(help="Who it is for: user:alice, agent:planner, service:importer.")],
    tenant: Annotated[str, typer.Option(help="The tenant it opens.")],
    caps: Annotated[
        str | None, typer.Option(help="The only capabilities it keeps, separated by commas.")
    ] = None,
    scopes: Annotated[
        str | None, typer.Option(help="capability:path or capability:path/*, separated by commas.")
    ] = None,
    ttl: Annotated[
        str, typer.Option(help="How long it holds: 15m, 12h; up to 24h, for services up to 30d.")
    ] = "12h",
    folder: _Folder = _FOLDER,
) -> None:
    """Sign a token and print it. It is not kept: whoever loses it asks for another."""
    order = Order(sub=sub, tenant=tenant, ttl_s=_seconds(ttl), caps=_listed(caps), scopes=_listed(scopes))
    with _ledger(folder) as ledger:
        typer.echo(mint(ledger, order, _now()))


@app.command("list")
def list_tokens(
    every: Annotated[bool, typer.Option("--all", help="Also those that expired.")] = False,
    folder: _Folder = _FOLDER,
) -> None:
    """The tokens that were given out: their ids, never the tokens."""
    with _ledger(folder) as ledger:
        for token in ledger.tokens():
            if every or token.state(_now()) != "expired":
                typer.echo(_line(token))


@app.command("revoke")
def revoke(
    jti: Annotated[str, typer.Argument(help="The id of the token, as list shows it.")],
    reason: Annotated[str | None, typer.Option(help="Why; it is kept with the revocation.")] = None,
    server: Annotated[
        str | None, typer.Option(help="A server to tell, for example https://memory.example.com.")
    ] = None,
    folder: _Folder = _FOLDER,
) -> None:
    """Take a token back: note it, and tell a server, which refuses it from then on."""
    with _ledger(folder) as ledger:
        token = ledger.revoke(jti, reason, _now())
        if server is None:
            _say("noted here. No server knows yet: say --server URL, or POST /v1/auth/revoke with this jti")
            return
        body = {"jti": jti, "iss": ledger.issuer, "reason": reason}
        _tell(server, signed_anew(ledger, token, _now()), token.sub, body)
        _say(f"{server} refuses {jti} from now on")


@app.command("export")
def export(
    form: Annotated[Format, typer.Option("--format", help="jwks or paserk.")] = Format.PASERK,
    folder: _Folder = _FOLDER,
) -> None:
    """The public keys, for the servers' issuers file."""
    with _ledger(folder) as ledger:
        typer.echo(
            jwk_set(ledger) if form is Format.JWKS else "\n".join(key.public for key in ledger.published())
        )


def _tell(server: str, token: str, actor: str, body: dict[str, str | None]) -> None:
    headers = {
        "Authorization": f"Bearer {token}",
        "X-Cortex-Actor": actor,
        "Content-Type": "application/json",
    }
    url = f"{server.rstrip('/')}/v1/auth/revoke"
    try:
        response = httpx.post(url, content=json.dumps(body), headers=headers, timeout=10)
    except httpx.HTTPError as error:
        raise Unavailable("SERVER_NOT_TOLD", f"{server} was not reached: {type(error).__name__}") from error
    if response.status_code == 401 and "REVOKED_TOKEN" in response.text:
        return  # it was told before
    if response.status_code != 204:
        raise Unavailable(
            "SERVER_NOT_TOLD", f"{server} answered {response.status_code}", hint=response.text[:500]
        )


def _line(token: IssuedToken) -> str:
    expires = datetime.fromtimestamp(token.expires_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    narrowed = "".join(
        f"  {name}={value}"
        for name, value in (("caps", token.caps), ("scopes", token.scopes))
        if value is not None
    )
    return f"{token.jti}  {token.state(_now()):8}  {expires}  {token.tenant}  {token.sub}{narrowed}"


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _seconds(text: str) -> int:
    with _spoken():
        return seconds(text)


def _now() -> int:
    return int(time.time())


def _say(text: str) -> None:
    typer.echo(text, err=True)


@contextmanager
def _ledger(folder: Path) -> Iterator[Ledger]:
    with _spoken(), closing(Ledger(folder)) as ledger:
        yield ledger


@contextmanager
def _spoken() -> Iterator[None]:
    """Errors of ours as one line and an exit code, not as a traceback."""
    try:
        yield
    except LaminaError as error:
        _say(f"lamina-auth: {error}")
        sys.exit(outcome_of(error).exit_code)


def main() -> None:
    """The entry point of the installed command."""
    app()

"""``lamina-auth``: keys that only their owner reads, and tokens that the server takes."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from typer.testing import CliRunner

from lamina.access.principals import Credentials
from lamina.access.tokens.issuers import Sources, read_issuers
from lamina.access.tokens.verifier import SignedPrincipals
from lamina.errors import Unauthenticated
from lamina.kernel.operations import Principal
from lamina.kernel.time import SystemClock
from lamina.store.memory import MemoryStore
from lamina_auth.cli import app

ISSUER = "https://auth.acme.com/lamina"


class Command:
    """The command over a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *words: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, [*words, "--folder", str(self.folder)])
        assert result.exit_code == code, result.output
        return result.stdout.strip() if code == 0 else result.stderr

    def mint(self, *more: str, sub: str = "user:alice", code: int = 0) -> str:
        return self("mint", "--sub", sub, "--tenant", "acme", *more, code=code)

    def identify(self, token: str, actor: str = "user:alice") -> Principal:
        entry: dict[str, Any] = {
            "issuer": ISSUER,
            "form": "paseto",
            "tenants": ["acme"],
            "jwks_file": "keys.json",
        }
        (self.folder / "keys.json").write_text(self("export", "--format", "jwks"))
        path = self.folder / "issuers.yaml"
        path.write_text(yaml.safe_dump({"issuers": [entry]}))
        known = read_issuers(path, Sources(lambda _: b"", lambda: 0.0))
        principals = SignedPrincipals(known, MemoryStore().revocations, SystemClock())
        return principals.identify(Credentials("http", f"Bearer {token}", actor))


@pytest.fixture
def command(tmp_path: Path) -> Command:
    command = Command(tmp_path / "issuer")
    command("keygen", "--issuer", ISSUER)
    return command


def test_a_minted_token_is_taken_by_a_server_that_has_the_export(command: Command) -> None:
    principal = command.identify(command.mint("--caps", "scope.write", "--scopes", "scope.write:org:acme/*"))
    assert (principal.tenant_id, principal.actor) == ("acme", "user:alice")
    assert principal.token is not None
    assert principal.token.caps == {"scope.write"}
    assert [(item.scope, item.below) for item in principal.token.scopes] == [("org:acme", True)]


def test_a_new_key_signs_and_the_old_one_verifies_until_it_is_retired(command: Command) -> None:
    old = command.mint()
    command("keygen")
    new = command.mint()
    assert command.identify(old).actor == command.identify(new).actor == "user:alice"
    newer, older = (item["kid"] for item in json.loads(command("export", "--format", "jwks"))["keys"])
    command("retire", older)
    assert not (command.folder / "keys" / f"{older}.secret").exists()
    assert command.identify(new)
    with pytest.raises(Unauthenticated):
        command.identify(old)
    assert newer != older


def test_private_keys_are_for_their_owner_only(command: Command) -> None:
    [secret] = (command.folder / "keys").iterdir()
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert stat.S_IMODE((command.folder / "keys").stat().st_mode) == 0o700
    assert stat.S_IMODE((command.folder / "auth.db").stat().st_mode) == 0o600
    secret.chmod(0o644)
    assert "KEY_EXPOSED" in command.mint(code=5)


def test_no_output_and_no_ledger_holds_a_secret_or_a_token(command: Command) -> None:
    [path] = (command.folder / "keys").iterdir()
    secret = path.read_text()
    token = command.mint()
    shown = command("list") + command("export") + command("export", "--format", "jwks")
    kept = (command.folder / "auth.db").read_bytes()
    for hidden in (secret, secret.removeprefix("k4.secret.")[:40], token, token[-60:]):
        assert hidden not in shown
        assert hidden.encode() not in kept


@pytest.mark.parametrize(
    ("words", "sub"),
    [(["--ttl", "25h"], "user:alice"), (["--ttl", "31d"], "service:x"), (["--ttl", "0s"], "user:alice"),
     (["--ttl", "soon"], "user:alice"), ([], "alice"), (["--caps", "scope.*"], "user:alice"),
     (["--scopes", "scope.write"], "user:alice"), (["--scopes", "scope.*:org:acme"], "user:alice")],
)  # fmt: skip
def test_what_a_server_would_refuse_is_not_minted(command: Command, words: list[str], sub: str) -> None:
    assert "INVALID" in command.mint(*words, sub=sub, code=2)
    assert command("list") == ""


def test_a_service_account_may_have_a_month(command: Command) -> None:
    token = command.mint("--ttl", "30d", sub="service:importer")
    assert command.identify(token, "service:importer").actor == "service:importer"


def test_the_list_shows_what_holds_and_all_of_it_when_asked(command: Command) -> None:
    command.mint("--caps", "scope.write")
    [line] = command("list").splitlines()
    jti = line.split()[0]
    assert "active" in line
    assert "user:alice" in line
    assert "caps=scope.write" in line
    command("revoke", jti, "--reason", "lost")
    assert "revoked" in command("list", "--all")
    assert "NO_TOKEN" in command("revoke", "unknown", code=4)


def test_a_server_is_told_of_a_revocation(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    answers = iter([204, 403])

    def post(url: str, *, content: str, headers: dict[str, str], timeout: float) -> httpx.Response:
        principal = command.identify(
            headers["Authorization"].removeprefix("Bearer "), headers["X-Cortex-Actor"]
        )
        assert principal.token is not None
        assert (
            principal.token.jti == json.loads(content)["jti"]
        )  # the holder takes it back, which takes nothing
        asked.append({"url": url, "caps": principal.token.caps, **json.loads(content)})
        return httpx.Response(next(answers))

    monkeypatch.setattr("lamina_auth.cli.httpx.post", post)
    command.mint()
    jti = command("list").split()[0]
    command("revoke", jti, "--server", "https://memory.acme.com/")
    expected = {"caps": set(), "jti": jti, "iss": ISSUER, "reason": None}
    assert asked == [{"url": "https://memory.acme.com/v1/auth/revoke", **expected}]
    assert "SERVER_NOT_TOLD" in command("revoke", jti, "--server", "https://memory.acme.com", code=6)


def test_a_folder_belongs_to_one_issuer(command: Command, tmp_path: Path) -> None:
    assert "ISSUER_NAMED" in command("keygen", "--issuer", "https://other", code=5)
    assert "NO_ISSUER" in Command(tmp_path / "empty")("keygen", code=4)
    assert "NO_KEY" in Command(tmp_path / "empty").mint(code=4)


def test_an_error_says_which_program_it_is_of(tmp_path: Path) -> None:
    said = Command(tmp_path / "empty")("mint", "--sub", "user:a", "--tenant", "acme", "--ttl", "soon", code=2)
    assert said.startswith("lamina-auth: INVALID_ORDER: --ttl is not a duration")

"""Tokens of Relay peers as an operator makes them: by a command, or in the settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lamina.access.principals import Credentials
from lamina.access.relay_tokens import RelayPrincipals, check_useful, configured
from lamina.cli.main import app
from lamina.errors import Invalid, LaminaError, Unauthenticated
from lamina.kernel.operations import Principal
from lamina.kernel.relay import RelayGrant, RelayRight
from lamina.kernel.time import SystemClock
from lamina.settings import load_settings
from lamina.store.memory import MemoryStore
from lamina.store.sqlite import SqliteStore
from tables import every_row

EVERYWHERE = frozenset({"*"})


def signed_in(tokens: Any, text: str, fixed: Any = None) -> Principal:
    principals = RelayPrincipals(tokens, SystemClock(), fixed)
    return principals.identify(Credentials("http", authorization=f"Bearer {text}"))


# ---- the setting


def test_configured_tokens_hold_their_scopes_in_every_folder() -> None:
    fixed = configured("abc:read:files|search, other:search", "acme")
    first, second = (signed_in(MemoryStore().relay_tokens, text, fixed) for text in ("abc", "other"))
    assert (first.tenant_id, first.actor, second.actor) == ("acme", "agent:peer-1", "agent:peer-2")
    assert first.token is not None
    assert first.token.relay == RelayGrant(frozenset({"read:files", "search"}), EVERYWHERE, EVERYWHERE)
    assert "abc" not in repr(fixed)
    with pytest.raises(Unauthenticated):
        signed_in(MemoryStore().relay_tokens, "abc:read:files|search", fixed)


@every_row(
    "item",
    [
        "plain-token",
        "tok:",
        "tok:|",
        ":search",
        "tok:read:files|",
        "tok:everything",
        "tok:read:files,",
        "tok:read",
        "tok:search:read:files",
        "a.b.c:search",
        "two words:search",
        "umläut:search",
        "tok:search,tok:search",
    ],
)
def test_an_item_that_says_no_scopes_stops_the_start_and_is_not_told(item: str) -> None:
    with pytest.raises(Invalid) as refused:
        configured(f"good:search,{item}", "acme")
    error = refused.value
    assert (error.code, error.message.startswith("item ")) == ("INVALID_SETTING", True)
    assert "token:scope|scope" in str(error.hint)
    assert [word for word in ("plain-token", "everything", "good", "a.b.c") if word in error.message] == []


@pytest.mark.parametrize("name", ["COGNIRELAY_TOKENS", "AMR_TOKENS", "LAMINA_RELAY_TOKENS"])
def test_the_setting_has_the_names_of_the_contract(name: str) -> None:
    settings = load_settings({name: "tok:search"})
    assert settings.relay_tokens == "tok:search"
    assert "tok:search" not in repr(settings)


# ---- the commands


@pytest.fixture
def data(tmp_path: Path) -> Path:
    SqliteStore(tmp_path, durable=False).close()
    return tmp_path


def run(data: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["token", *arguments, "--data", str(data)])


def listed(data: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(run(data, "list", "--json").stdout)["tokens"]
    return rows


def test_a_token_is_printed_once_kept_as_its_hash_and_ended_at_once(data: Path) -> None:
    serving = SqliteStore(data, durable=False)  # as a server that runs has it open
    scopes = ["--scope", "read:files", "--scope", "write:projects"]
    folders = ["--read", "memory", "--read", "projects/", "--write", "projects"]
    made = run(data, "issue", "builder", *scopes, *folders, "--days", "9", "--description", "ci")
    assert made.exit_code == 0, made.output
    text = made.stdout.strip()
    assert text.startswith("cgr_")
    caller = signed_in(serving.relay_tokens, text)
    assert caller.actor == "agent:builder"
    assert caller.token is not None
    assert caller.token.relay == RelayGrant(
        frozenset({"read:files", "write:projects"}),
        frozenset({"memory", "projects"}),
        frozenset({"projects"}),
    )
    assert all(text.encode() not in each.read_bytes() for each in data.rglob("*") if each.is_file())
    (row,) = listed(data)
    assert (row["peer_id"], row["state"], row["write"]) == ("builder", "active", ["projects"])
    assert "builder" in run(data, "list").stdout
    assert run(data, "revoke", row["id"], "--reason", "lost").exit_code == 0
    with pytest.raises(Unauthenticated) as refused:
        signed_in(serving.relay_tokens, text)
    assert refused.value.code == "REVOKED_TOKEN"
    assert listed(data)[0]["state"] == "revoked"
    serving.close()


@pytest.mark.parametrize(
    "asked",
    [
        [],
        ["--read", "*", "--write", "*"],
        ["--scope", "read:files"],
        ["--scope", "search", "--write", "*"],
        ["--scope", "write:journal", "--read", "*"],
        ["--scope", "everything", "--read", "*"],
        ["--scope", "read:files", "--read", "../x"],
        ["--scope", "read:files", "--read", ""],
    ],
)
def test_a_token_that_may_nothing_is_not_made(data: Path, asked: list[str]) -> None:
    refused = run(data, "issue", "builder", *asked)
    assert isinstance(refused.exception, LaminaError) or refused.exit_code != 0
    assert "cgr_" not in refused.stdout
    assert listed(data) == []


def test_what_needs_no_folder_asks_for_none() -> None:
    for right in (RelayRight.ADMIN_PEERS, RelayRight.COMPACT_TRIGGER, RelayRight.REPLICATION_SYNC):
        check_useful(RelayGrant(frozenset({right})))
    check_useful(RelayGrant(frozenset(RelayRight)))  # an administrator passes every check of folders


def test_a_token_that_is_not_there_cannot_be_taken_back(data: Path) -> None:
    assert run(data, "revoke", "tok_nothing").exit_code != 0
    assert run(data / "elsewhere", "list").exit_code != 0
    assert not (data / "elsewhere").exists()

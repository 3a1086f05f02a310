"""Whom the server believes: the issuers file.

    issuers:
      - issuer: https://auth.example.com
        form: paseto                  # or jwt
        tenants: [acme]               # an issuer speaks for these only; ["*"] for every tenant
        keys: [k4.public.AAAA…]       # or jwks_url, or jwks_file beside this file

An entry that is not understood stops the start: a server that runs with fewer or other issuers than meant is worse.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from lamina import limits
from lamina.access.tokens.jwks import GivenKeys, KeySource, RenewedKeys
from lamina.access.tokens.keys import BadKey, VerifyingKey, jwk_key, jwks_keys, paserk_key, pem_key
from lamina.access.tokens.wire import Form
from lamina.errors import Invalid, Unsupported

__all__ = ["TENANT_PATTERN", "Issuer", "Sources", "read_issuers"]

TENANT_PATTERN = rf"[A-Za-z0-9_\-]{{1,{limits.TENANT_LENGTH_MAX}}}"
_Short = Annotated[str, StringConstraints(min_length=1, max_length=limits.TOKEN_ID_LENGTH_MAX)]
_Tenant = Annotated[str, StringConstraints(pattern=rf"^(\*|{TENANT_PATTERN})$")]


@dataclass(frozen=True, slots=True)
class Issuer:
    """Somebody whose tokens are believed: about these tenants, under these keys, in one form.

    ``claims`` says where the issuer puts a claim that it cannot name as we do: our name to its name.
    """

    id: str
    form: Form
    tenants: frozenset[str]
    keys: KeySource
    claims: Mapping[str, str]

    def speaks_for(self, tenant_id: str) -> bool:
        """Whether tokens of this issuer may name the tenant."""
        return tenant_id in self.tenants or "*" in self.tenants


@dataclass(frozen=True, slots=True)
class Sources:
    """How key sets are read: ``fetch`` gets the bytes behind a URL, ``monotonic`` tells seconds."""

    fetch: Callable[[str], bytes]
    monotonic: Callable[[], float]


class _Key(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)
    paserk: str | None = None
    pem: str | None = None
    kid: _Short | None = None


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)
    issuer: _Short
    form: Form
    tenants: Annotated[list[_Tenant], Field(min_length=1)]
    keys: (
        Annotated[list[str | dict[str, Any]], Field(min_length=1, max_length=limits.ISSUER_KEYS_MAX)] | None
    ) = None
    jwks_url: str | None = None
    jwks_file: str | None = None
    claims: Mapping[Literal["sub", "aud", "jti", "caps", "scopes"], _Short] = {}


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)
    issuers: Annotated[list[_Entry], Field(max_length=limits.ISSUERS_MAX)]


def read_issuers(path: Path | None, sources: Sources) -> Mapping[str, Issuer]:
    """The issuers of a file by their id.

    Raises ``Unsupported`` (PRESET_NEEDS_KEYS) when there are none, ``Invalid`` (INVALID_ISSUERS) naming the entry
    that is wrong. A key set behind a URL is not read yet: its issuer may be down while we start.
    """
    if path is None:
        raise _needs_keys("no issuers file is configured")
    entries = _parsed(path).issuers
    if not entries:
        raise _needs_keys(f"{path} names no issuer")
    found: dict[str, Issuer] = {}
    for entry in entries:
        if entry.issuer in found:
            raise _invalid(path, entry.issuer, "it is named twice")
        try:
            keys = _keys(entry, path.parent, sources)
        except (BadKey, OSError) as error:
            raise _invalid(path, entry.issuer, str(error)) from error
        found[entry.issuer] = Issuer(
            entry.issuer, entry.form, frozenset(entry.tenants), keys, dict(entry.claims.items())
        )
    return found


def _parsed(path: Path) -> _File:
    try:
        text = _bounded(path, limits.ISSUERS_FILE_BYTES_MAX)
        return _File.model_validate(yaml.safe_load(text))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise _invalid(path, place, first["msg"]) from error
    except (OSError, UnicodeDecodeError) as error:
        raise _invalid(path, "the file", f"it cannot be read ({type(error).__name__})") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise _invalid(path, "the file", "it is neither YAML nor JSON") from error


def _bounded(path: Path, bytes_max: int) -> bytes:
    with path.open("rb") as file:
        data = file.read(bytes_max + 1)
    if len(data) > bytes_max:
        raise BadKey(f"{path.name} is larger than {bytes_max} bytes")
    return data


def _keys(entry: _Entry, folder: Path, sources: Sources) -> KeySource:
    if sum(given is not None for given in (entry.keys, entry.jwks_url, entry.jwks_file)) != 1:
        raise BadKey("give exactly one of keys, jwks_url and jwks_file")
    if entry.jwks_url is not None:
        url = _checked_url(entry.jwks_url)
        return RenewedKeys(entry.issuer, entry.form, lambda: sources.fetch(url), sources.monotonic)
    if entry.jwks_file is not None:
        file = folder / entry.jwks_file
        if not jwks_keys(_bounded(file, limits.JWKS_BYTES_MAX), entry.form):
            raise BadKey(f"{entry.jwks_file} holds no key for {entry.form} tokens")
        return RenewedKeys(
            entry.issuer, entry.form, lambda: _bounded(file, limits.JWKS_BYTES_MAX), sources.monotonic
        )
    return GivenKeys(
        [_given_key(key, number, entry.form) for number, key in enumerate(entry.keys or [], start=1)]
    )


def _given_key(key: str | dict[str, Any], number: int, form: Form) -> VerifyingKey:
    try:
        found = _read_key(key)
    except BadKey as error:
        raise BadKey(f"key {number}: {error}") from error
    except ValidationError as error:
        raise BadKey(f"key {number}: it is neither a text, a JWK, nor paserk or pem with kid") from error
    if found.algorithm.form is not form:
        raise BadKey(f"key {number} is for {found.algorithm} and cannot verify {form} tokens")
    return found


def _read_key(key: str | dict[str, Any]) -> VerifyingKey:
    if isinstance(key, str):
        return pem_key(key) if key.startswith("-----BEGIN") else paserk_key(key)
    if "kty" in key:
        return jwk_key(key)
    named = _Key.model_validate(key)
    if named.pem is not None and named.paserk is None:
        return pem_key(named.pem, named.kid)
    if named.paserk is not None and named.pem is None:
        return paserk_key(named.paserk, named.kid)
    raise BadKey("give either paserk or pem")


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        plain = parts.username is None and parts.password is None and not parts.fragment
    except ValueError:
        host, plain = "", False
    if not host or not plain:
        raise BadKey("jwks_url is not a plain URL")
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(host)):
        raise BadKey("jwks_url must be https; http is for loopback only")
    return url


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _needs_keys(reason: str) -> Unsupported:
    return Unsupported(
        "PRESET_NEEDS_KEYS",
        f"every preset but dev_local takes signed tokens only, and {reason}",
        hint="name a file of issuers in LAMINA_ISSUERS, or use LAMINA_PRESET=dev_local on your own machine",
    )


def _invalid(path: Path, place: str, reason: str) -> Invalid:
    return Invalid(
        "INVALID_ISSUERS",
        f"{path}, {place}: {reason}",
        hint="docs/how-to/sign-in.md shows such a file",
        details={"place": place},
    )

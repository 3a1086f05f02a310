"""The two clients are one: same methods, same parameters; and importing the package stays cheap."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import lamina
from lamina.client import AsyncClient, Client, async_definitions, async_layers, definitions, layers
from lamina.client.asynchronous import AsyncClient as Asynchronous
from lamina.errors import Invalid

PAIRS = [
    (Client, AsyncClient),
    *(
        (getattr(layers, name), getattr(async_layers, f"Async{name}"))
        for name in ("Beliefs", "Episodes", "Events", "Facts", "Understanding")
    ),
    (definitions.Phrases, async_definitions.AsyncPhrases),
    (definitions.Vocabularies, async_definitions.AsyncVocabularies),
]


def _parameters(kind: type) -> dict[str, list[tuple[str, object, object]]]:
    methods = {
        name: method for name, method in vars(kind).items() if not name.startswith("_") and callable(method)
    }
    methods.pop("aclose", None)
    methods.pop("close", None)
    return {
        name: [(p.name, p.default, p.annotation) for p in inspect.signature(method).parameters.values()]
        for name, method in methods.items()
    }


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=lambda kind: kind.__name__)
def test_both_clients_take_the_same(one: type, other: type):
    assert _parameters(one) == _parameters(other)


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_token_in_place_of_its_provider_is_refused_and_not_shown(kind: type):
    with pytest.raises(Invalid) as refused:
        kind(actor="user:ana", token_provider="a-secret")
    assert refused.value.code == "INVALID_TOKEN_PROVIDER"
    assert "a-secret" not in str(refused.value)


def test_the_root_exports_the_clients_and_nothing_it_does_not_have():
    assert lamina.AsyncClient is Asynchronous
    assert lamina.Client is Client
    with pytest.raises(AttributeError):
        _ = lamina.Nothing


def _loaded_by(imported: str) -> set[str]:
    code = f"import sys, {imported}; print(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(printed.stdout.split())


def test_importing_the_package_loads_no_other():
    assert not {"httpx", "pydantic", "numpy", "lamina.client"} & _loaded_by("lamina")


def test_importing_the_client_loads_nothing_of_a_server():
    loaded = _loaded_by("lamina.client")
    assert not {"numpy", "onnxruntime", "spacy", "apsw", "starlette", "uvicorn", "asyncio"} & loaded
    inside = ("store", "models", "index", "language", "access", "http", "gateway", "app")
    assert not {name for name in loaded if name.split(".")[:2] in (["lamina", each] for each in inside)}

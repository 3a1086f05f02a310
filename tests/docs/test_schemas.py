"""The published schemas are those of the types, and the examples of the contract fit them."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from issuing import claims
from lamina.access.tokens.claims import TokenClaims
from lamina.app import build_server
from lamina.http.openapi import openapi_document
from lamina.http.routes import Route
from lamina.settings import Settings
from lamina.store.memory import MemoryStore
from tables import every_row

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reference" / "schemas"
EXAMPLES: list[dict[str, Any]] = json.loads(
    (ROOT / "tests" / "data" / "contract_examples.json").read_text(encoding="utf-8")
)["examples"]
APPENDIX_D = {
    "experience_envelope", "event", "episode", "fact", "belief", "concept", "scope", "policy", "audit_row",
    "stratified_pack", "answer_response", "lifecycle_event", "erasure_preview", "erasure_job", "token_claims",
    "temporal_block", "capability_set",
}  # fmt: skip
SECTIONS = {"3", "7", "8", "9", "14"}


def script() -> Any:
    loader = importlib.machinery.SourceFileLoader("schemas_script", str(ROOT / "scripts" / "schemas"))
    spec = importlib.util.spec_from_loader("schemas_script", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["schemas_script"] = module
    loader.exec_module(module)
    return module


SCRIPT = script()


@pytest.fixture(scope="module", name="rows")
def _rows() -> Iterator[dict[str, Route]]:
    server = build_server(Settings(), store=MemoryStore())
    yield {route.operation.name: route for route in server.routes}
    server.close()


def test_the_files_are_those_of_the_types(capsys: pytest.CaptureFixture[str]) -> None:
    assert SCRIPT.main(check=True) == 0, f"run scripts/schemas; these differ:\n{capsys.readouterr().out}"


def test_every_schema_of_the_contract_is_there_and_valid() -> None:
    files = {path.name.removesuffix(".schema.json"): path for path in FOLDER.glob("*.json")}
    assert files.keys() - APPENDIX_D == {"error_envelope"}
    assert not APPENDIX_D - files.keys()
    for name, path in files.items():
        schema = json.loads(path.read_text(encoding="utf-8"))
        Draft202012Validator.check_schema(schema)
        assert schema["$id"].endswith(f"/{name}.schema.json")
        assert schema["title"]
        assert schema["description"]


def test_nothing_published_cites_a_text_that_its_readers_do_not_have(rows: dict[str, Route]) -> None:
    published = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    published["/openapi.json"] = openapi_document([*rows.values()]).decode()
    assert [name for name, text in published.items() if "seed 0" in text] == []


def test_every_section_with_examples_is_covered() -> None:
    assert {example["section"].split(".")[0] for example in EXAMPLES} >= SECTIONS


def _id(example: dict[str, Any]) -> str:
    return f"{example['section']} {example['title']}"


@every_row("example", [e for e in EXAMPLES if "schema" in e], ids=_id)
def test_an_example_fits_its_schema(example: dict[str, Any]) -> None:
    schema = json.loads((FOLDER / f"{example['schema']}.schema.json").read_text(encoding="utf-8"))
    assert deviations(schema, example["value"]) == listed(example)


@pytest.mark.parametrize("example", [e for e in EXAMPLES if "result" in e], ids=_id)
def test_an_example_fits_the_answer_of_its_operation(example: dict[str, Any], rows: dict[str, Route]) -> None:
    shape = SCRIPT.shape_of(rows[example["result"]].operation.result)
    assert deviations(shape, example["value"]) == listed(example)


@pytest.mark.parametrize("example", [e for e in EXAMPLES if "request" in e], ids=_id)
def test_an_example_is_accepted_by_its_operation(example: dict[str, Any], rows: dict[str, Route]) -> None:
    route = rows[example["request"]]
    asked = {**example["value"], **example.get("around", {})}
    if route.body_field:
        asked = {route.body_field: asked}
    elif "idempotency_key" not in route.operation.request.model_fields:
        asked.pop("idempotency_key", None)  # every write takes one: the route reads it
    route.operation.request.model_validate(asked)


def test_the_rest_is_what_is_not_served_yet(rows: dict[str, Route]) -> None:
    served = {f"{route.verb} {route.path}" for route in rows.values()}
    for example in EXAMPLES:
        if not example.keys() & {"schema", "result", "request"}:
            assert example["later"] not in served, f"{_id(example)}: name what it must fit"
            assert not any(route.startswith(f"{example['later']}/") for route in served)


def test_deviations_are_told_to_the_reader() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    for example in EXAMPLES:
        for deviation in example.get("deviations", []):
            row = f"| {example['section']} {example['title']} | `{deviation['at']}` |"
            assert row in page, f"docs/reference/schemas/README.md lacks {row}"
            assert deviation["reason"] in page


def test_a_token_that_is_accepted_has_the_shape_of_the_claims() -> None:
    schema = json.loads((FOLDER / "token_claims.schema.json").read_text(encoding="utf-8"))
    said = claims()
    assert deviations(schema, said) == {}
    for name in ("iss", "sub", "aud", "exp", "iat", "jti"):
        assert deviations(schema, {key: value for key, value in said.items() if key != name}) == {"$": [name]}
    TokenClaims.model_validate(said)


def deviations(schema: dict[str, Any], value: Any) -> dict[str, list[str]]:
    """The keys that are missing, by place; anything else that does not fit fails."""
    found: dict[str, list[str]] = defaultdict(list)
    checker = Draft202012Validator.FORMAT_CHECKER
    for error in Draft202012Validator(schema, format_checker=checker).iter_errors(value):
        assert error.validator == "required", f"{error.json_path}: {error.message}"
        found[error.json_path].append(error.message.split("'")[1])
    return {at: sorted(keys) for at, keys in found.items()}


def listed(example: dict[str, Any]) -> dict[str, list[str]]:
    return {each["at"]: each["missing"] for each in example.get("deviations", [])}

"""Bodies of requests: bytes at once, problems in words, and batches that are read item by item."""

from __future__ import annotations

import json
from contextlib import ExitStack, suppress
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from lamina import limits
from lamina.errors import Busy, LaminaError, TooLarge, Unavailable
from lamina.http.batches import read_batch, told_of_item
from lamina.http.bodies import Bodies
from lamina.http.errors import from_validation
from lamina.http.problems import few_problems
from lamina.json_scan import JsonBounds, JsonScan
from lamina.types.writes import BulkExperience

LARGE = limits.BODY_UNCOUNTED_BYTES_MAX + 1


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    numbers: list[int] = []


def test_a_caller_has_a_share_of_the_bytes_and_all_have_a_bound() -> None:
    bodies = Bodies(bytes_max=3 * LARGE, of_caller_max=2 * LARGE)
    with bodies.holding("a") as first, bodies.holding("a") as second, bodies.holding("b") as other:
        first.hold(LARGE)
        second.hold(LARGE)
        with pytest.raises(Busy) as mine, bodies.holding("a") as third:
            third.hold(LARGE)
        assert (mine.value.code, "retry_after_s" in mine.value.details) == ("TOO_MUCH_AT_ONCE", True)
        other.hold(LARGE)
        with pytest.raises(Unavailable) as full, bodies.holding("c") as fourth:
            fourth.hold(LARGE)
        assert (full.value.code, "retry_after_s" in full.value.details) == ("SERVER_FULL", True)
        with bodies.holding("c") as small:
            small.hold(LARGE - 1)  # what everybody may send at any time
    assert bodies.held == 0


def test_a_tenant_leaves_room_for_the_bodies_of_others() -> None:
    bodies = Bodies(bytes_max=4 * LARGE, of_tenant_max=2 * LARGE, of_caller_max=2 * LARGE)
    with (
        bodies.holding("acme/user:a") as one,
        bodies.holding("acme/user:b") as two,
        bodies.holding("zeta/user:a") as other,
    ):
        one.hold(LARGE)
        two.hold(LARGE)
        with pytest.raises(Busy) as theirs, bodies.holding("acme/user:c") as third:
            third.hold(LARGE)
        assert theirs.value.code == "TOO_MUCH_AT_ONCE"
        other.hold(LARGE)
    with bodies.holding("acme/user:c") as later:
        later.hold(2 * LARGE)


def test_two_tenants_leave_room_for_the_body_of_a_third() -> None:
    bodies = Bodies()
    with ExitStack() as at_once:
        for tenant, callers in (("acme", 2), ("beta", 2)):
            for number in range(callers):
                held = at_once.enter_context(bodies.holding(f"{tenant}/user:{number}"))
                with suppress(Busy, Unavailable):
                    for size in range(2**20, limits.BULK_BODY_BYTES_MAX + 1, 2**20):
                        held.hold(size)
        at_once.enter_context(bodies.holding("zeta/user:a")).hold(limits.BODY_BYTES_MAX)
    assert bodies.held == 0


def test_a_body_that_grows_is_counted_once() -> None:
    bodies = Bodies()
    with bodies.holding("a") as held:
        held.hold(LARGE)
        held.hold(LARGE + 5)
        held.hold(LARGE)
        assert bodies.held == LARGE + 5


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"name": "x"} | {f"k{n}": n for n in range(5000)}, "extra_forbidden"),
        ({f"k{n}": n for n in range(5000)} | {"name": "x"}, "extra_forbidden"),
        ({"name": "x", "numbers": ["a"] * 5000}, "int_parsing"),
    ],
)
def test_of_many_problems_the_first_few_are_shown(given: dict[str, Any], expected: str) -> None:
    kind = TypeAdapter(Strict)
    with pytest.raises(ValidationError) as caught:
        kind.validate_python(given)
    error = from_validation(
        caught.value, "INVALID_REQUEST", few=lambda: few_problems(given, kind.validate_python)
    )
    shown = error.details["problems"]
    assert len(shown) == limits.PROBLEMS_SHOWN_MAX
    assert {each["type"] for each in shown} == {expected}
    assert error.details["problems_in_all"] == caught.value.error_count() >= 5000


def item(number: int, **more: Any) -> dict[str, Any]:
    return {
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": f'tea, "at" {number}'},
        "context": {"observed_at": "2026-05-13T12:00:00Z"},
        "idempotency_key": f"k-{number}",
        **more,
    }


def read(batch: Any) -> dict[str, Any]:
    body = batch if isinstance(batch, bytes) else json.dumps(batch).encode()
    scan = JsonScan(JsonBounds(limits.BULK_KEYS_MAX, limits.BULK_ELEMENTS_MAX))
    scan.feed(body)
    return read_batch(body, scan, BulkExperience, "items", "INVALID_ENVELOPE")


def test_a_batch_read_by_items_is_the_batch() -> None:
    batch = {
        "scope": "user:ana",
        "items": [item(1), item(2, actor={"id": "user:ben"})],
        "ordering": "strict_temporal",
        "idempotency_key": "b-1",
    }
    whole = BulkExperience.model_validate_json(json.dumps(batch))
    assert BulkExperience.model_validate(read(batch)) == whole


@pytest.mark.parametrize(
    "batch",
    [
        {"scope": "user:ana", "items": [item(1), item(2, colour="red"), item(3, context={})]},
        {"scope": "user:ana", "items": [7, item(2), None]},
        {"scope": "user:ana", "items": []},
        {"scope": "user:ana", "items": "none"},
        {"scope": "user:ana", "items": [item(1)] * 1001},
        {"scope": "user:ana", "items": [item(1)], "colour": "red"},
        {"scope": "nowhere", "items": [item(1)]},
        {"items": [item(1)]},
        {"scope": "user:ana", "items": [item(1, content={"kind": "message"})]},
    ],
)
def test_a_batch_read_by_items_is_refused_as_the_whole_is(batch: dict[str, Any]) -> None:
    def refused(parse: Any) -> tuple[str, str | None]:
        try:
            parse()
        except ValidationError as error:
            problem = from_validation(error, "INVALID_ENVELOPE")
            return problem.code, problem.details["field"]
        except LaminaError as error:
            return error.code, error.details.get("field")
        raise AssertionError("it was taken")

    body = json.dumps(batch).encode()

    def read_whole() -> None:
        try:
            BulkExperience.model_validate_json(body)
        except LaminaError as error:
            raise told_of_item(error, body, BulkExperience, "items") from error

    whole = refused(read_whole)
    assert refused(lambda: BulkExperience.model_validate(read(batch))) == whole


@pytest.mark.parametrize("body", [b"[]", b'{"items":[{]}', b'{"items":[1 2]}', b'{"scope":"a",}'])
def test_a_batch_that_is_no_json_is_told_so(body: bytes) -> None:
    with pytest.raises(LaminaError) as caught:
        read(body)
    assert caught.value.code == "INVALID_BODY"


def test_an_item_has_the_bounds_of_a_body() -> None:
    for content in ("x" * limits.BODY_BYTES_MAX, dict.fromkeys(map(str, range(limits.JSON_KEYS_MAX + 1)), 1)):
        with pytest.raises(TooLarge):
            read({"scope": "user:ana", "items": [item(1, content=content)]})


def test_the_first_bad_items_end_a_batch() -> None:
    with pytest.raises(LaminaError) as caught:
        read({"scope": "user:ana", "items": [{}] * 1000})
    assert len(caught.value.details["problems"]) == limits.PROBLEMS_SHOWN_MAX
    assert caught.value.details["field"] == "items.0.modality"

"""The family of errors and its one table."""

from __future__ import annotations

import pickle

from lamina import errors
from lamina.errors import STATUS, LaminaError, outcome_of
from tables import every_row

CLASSES = [
    value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, LaminaError)
]


@every_row("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_class_has_an_outcome(kind: type[LaminaError]) -> None:
    outcome = outcome_of(kind("CODE", "message"))
    assert kind is LaminaError or kind in STATUS
    assert 400 <= outcome.status < 600
    assert 1 <= outcome.exit_code < 64


@every_row("kind", [kind for kind in CLASSES if kind is not LaminaError])
def test_every_class_stands_in_the_tree_of_the_docstring(kind: type[LaminaError]) -> None:
    assert f"── {kind.__name__} " in (errors.__doc__ or "")
    assert kind.__name__ in errors.__all__


def test_an_error_comes_out_of_another_process_as_it_went_in() -> None:
    failure = errors.Busy("RATE_LIMITED", "too many calls", hint="wait", details={"retry_after_s": 3})
    failure.request_id, failure.status = "req_1", 429
    back = pickle.loads(pickle.dumps(failure))
    assert (type(back), vars(back), str(back)) == (errors.Busy, vars(failure), str(failure))


def test_a_class_of_ones_own_has_the_outcome_of_the_nearest() -> None:
    class Nearer(errors.Malformed):
        pass

    assert outcome_of(Nearer("X", "x")) == STATUS[errors.Malformed]


def test_only_what_may_succeed_later_is_retriable() -> None:
    retriable = {kind.__name__ for kind in CLASSES if kind.retriable}
    assert retriable == {"Busy", "Unavailable", "Fault"}


def test_an_error_prints_code_message_and_hint() -> None:
    error = errors.Conflict("KEY_USED", "the key was used", hint="take another", details={"key": "k"})
    assert str(error) == "KEY_USED: the key was used (take another)"
    assert str(errors.Gone("GONE", "forgotten")) == "GONE: forgotten"
    assert error.details == {"key": "k"}

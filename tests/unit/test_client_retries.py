"""What the client sends again, what it raises, and what it warns of."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import httpx
import pytest

from lamina import errors
from lamina.client.identity import Identity
from lamina.client.layer_asks import event
from lamina.client.reads import follow_ask, recall_ask, version_ask
from lamina.client.responses import failure_of, lost
from lamina.client.session import Retries, Send, Session, UnstableEndpoint, Wait
from lamina.client.writes import experience_ask
from lamina.http.errors import envelope
from tables import every_row

NOW = datetime(2026, 5, 13, 12, tzinfo=UTC)
STORED = {"event_id": "evt_1", "status": "captured", "wal_offset": 1, "lifecycle_stream": "/", "new": "key"}
VERSION = {"name": "lamina", "version": "1", "api_version": "v1", "python": "3"}
BUSY = errors.Busy("RATE_LIMITED", "wait", details={"retry_after_s": 2})
DOWN = errors.Unavailable("STORE_UNAVAILABLE", "the disk is away")


def session(count: int = 3) -> Session:
    return Session("http://lamina", Identity("user:maya"), retries=Retries(count=count, jitter=lambda: 0.5))


def answer(status: int, data: object, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, json=data, headers=named, request=httpx.Request("GET", "http://lamina/v1"))


def refusal(error: errors.LaminaError, **headers: str) -> httpx.Response:
    return answer(errors.outcome_of(error).status, envelope(error, "req_1"), **headers)


def write():
    return experience_ask(Identity(), "tea", {}, None, now=NOW, new_key=lambda: "k-1")


def played(asked, *answers, count: int = 3):
    """The result, or the error, of an exchange that is answered like this, the requests and the pauses."""
    requests, pauses, left = [], [], list(answers)
    steps, got = session(count).exchange(asked), None
    while True:
        try:
            step = steps.send(got)
        except StopIteration as done:
            return done.value, requests, pauses
        except errors.LaminaError as error:
            return error, requests, pauses
        if isinstance(step, Wait):
            pauses.append(step.seconds)
            got = None
        else:
            assert isinstance(step, Send)
            requests.append(step.request)
            got = left.pop(0)


def test_a_write_is_sent_again_with_the_same_body_until_it_lands():
    lost = httpx.ReadTimeout("too slow")
    result, requests, pauses = played(
        write(), refusal(DOWN), lost, answer(202, STORED, x_cortex_replay="true")
    )
    assert result.replayed
    assert len({request.content for request in requests}) == 1
    assert b'"k-1"' in requests[0].content
    assert pauses == [0.125, 0.25]


def test_retry_after_is_obeyed_and_an_hour_is_not_waited_for():
    _, _, pauses = played(write(), refusal(BUSY, retry_after="2"), answer(202, STORED))
    assert pauses == [2]
    error, requests, _ = played(write(), refusal(BUSY, retry_after="3600"))
    assert isinstance(error, errors.Busy)
    assert len(requests) == 1


def test_what_may_happen_twice_is_never_sent_twice():
    error, requests, _ = played(replace(write(), repeatable=False), refusal(DOWN))
    assert isinstance(error, errors.Unavailable)
    assert len(requests) == 1


def test_what_cannot_succeed_later_is_not_tried_again():
    wrong = errors.Invalid("INVALID_ENVELOPE", "no text", hint="say something", details={"field": "content"})
    error, requests, _ = played(write(), refusal(wrong))
    assert len(requests) == 1
    assert type(error) is errors.Invalid
    assert (error.code, error.message, error.hint) == ("INVALID_ENVELOPE", "no text", "say something")
    assert (error.details, error.request_id, error.status) == ({"field": "content"}, "req_1", 422)


def test_retries_end_and_the_cause_is_kept():
    lost = httpx.ConnectError("refused")
    error, requests, _ = played(version_ask(), lost, lost, lost, count=2)
    assert isinstance(error, errors.Unavailable)
    assert error.code == "SERVER_UNREACHABLE"
    assert error.__cause__ is lost
    assert len(requests) == 3


@every_row("kind", errors.STATUS, ids=lambda kind: kind.__name__)
def test_every_error_of_the_family_comes_back_as_itself(kind):
    assert type(failure_of(refusal(kind("CODE", "m"))).error) is kind


@pytest.mark.parametrize(
    ("status", "kind"),
    [(502, errors.Unavailable), (504, errors.Unavailable), (418, errors.Invalid), (599, errors.Fault)],
)
def test_an_answer_of_something_in_between_is_an_error_of_ours(status, kind):
    response = httpx.Response(status, text="<html>", request=httpx.Request("GET", "http://lamina/v1"))
    failure = failure_of(response)
    assert type(failure.error) is kind
    assert failure.error.code == "UNEXPECTED_STATUS"
    assert failure.retriable == kind.retriable


@pytest.mark.parametrize("data", [{"name": "lamina"}, [1], "text"])
def test_an_answer_of_another_shape_is_named(data):
    error, _, _ = played(version_ask(), answer(200, data))
    assert isinstance(error, errors.Unsupported)
    assert error.code == "UNREADABLE_RESPONSE"


def test_an_unstable_endpoint_is_warned_of_once():
    one = session()
    response = answer(200, VERSION, x_cortex_stability="beta")
    with pytest.warns(UnstableEndpoint, match="GET /v1/admin/version is beta"):
        one.note(version_ask(), response)
    one.note(version_ask(), response)
    quiet = replace(session(), unstable_allowed=True)
    quiet.note(version_ask(), response)


def test_requests_name_the_actor_and_read_long_enough():
    request = session().request(write())
    assert request.headers["X-Cortex-Actor"] == "user:maya"
    assert request.extensions["timeout"]["read"] == 30
    assert session().request(version_ask(), stream=True).extensions["timeout"]["read"] == 45


def test_an_address_without_a_scheme_is_refused_at_once():
    with pytest.raises(errors.Invalid, match="not an address"):
        Session("127.0.0.1:8700", Identity())


@pytest.mark.parametrize("token", ["", " ", "s3cret\n", "s3cret\r\nX-Cortex-Actor: user:bob", "s3crét"])
def test_a_token_that_no_header_takes_is_refused_and_not_quoted(token):
    one = session()
    with pytest.raises(errors.Invalid) as caught:
        one.sign(one.request(version_ask()), token)
    assert "s3cr" not in str(caught.value)


@pytest.mark.parametrize("actor", ["user:zoë", "user:a\nb", " ", "user:日本"])
def test_an_actor_that_no_header_takes_is_refused(actor):
    with pytest.raises(errors.Invalid) as caught:
        Session("http://127.0.0.1:1", Identity(actor)).request(version_ask())
    assert caught.value.code == "INVALID_ACTOR"


def test_what_cannot_be_sent_is_invalid():
    with pytest.raises(errors.Invalid) as caught:
        session().request(recall_ask(Identity(), "caf\udce9", {}))
    assert caught.value.code == "INVALID_REQUEST"


def test_a_name_that_cannot_be_sent_names_nothing():
    assert event("evt_\udce9").path == "/v1/events/evt_%ED%B3%A9"
    with pytest.raises(errors.Invalid):
        session().request(follow_ask({"scope": "user:\udce9"}))


@pytest.mark.parametrize("url", ["http://[::1", "http://" + "a" * 64, "http://\udce9"])
def test_an_address_that_cannot_be_one_is_refused_at_once(url):
    with pytest.raises(errors.Invalid, match="not an address"):
        Session(url, Identity())


def test_an_address_that_does_not_answer_is_told_without_its_password():
    failure = lost(httpx.ConnectError("refused"), "http://maya:s3cret@127.0.0.1:8700")
    assert "s3cret" not in f"{failure.error} {failure.error.details}"
    assert "http://127.0.0.1:8700" in str(failure.error)

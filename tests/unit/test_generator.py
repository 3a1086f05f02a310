"""A language model behind an OpenAI-compatible endpoint, and what its failures are."""

from __future__ import annotations

import json

import httpx
import pytest

from lamina.errors import Invalid, Unavailable
from lamina.models.generator import OpenAiGenerator
from lamina.models.ports import ChatMessage, Generated
from lamina.session.folders import GeneratingFolder
from lamina.session.folding import TurnWords
from tables import every_row


def generator(answer):
    transport = httpx.MockTransport(answer)
    return OpenAiGenerator("http://model/v1/", "small", "key", timeout_s=1, transport=transport)


def spoken(text, **more):
    return httpx.Response(200, json={"choices": [{"message": {"content": text}}], **more})


def complete(answer, **more):
    return generator(answer).complete([ChatMessage("user", "hi")], tokens_max=9, **more)


def test_it_asks_as_the_api_wants():
    seen = []

    def answer(request):
        seen.append(request)
        return spoken(" hello ", usage={"prompt_tokens": 3, "completion_tokens": 1})

    assert complete(answer, schema={"type": "object"}) == Generated("hello", 3, 1)
    (request,) = seen
    body = json.loads(request.content)
    assert str(request.url) == "http://model/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer key"
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("small", 9, 0)
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}


@pytest.mark.parametrize(("taken", "asked"), [("json_schema", 1), ("json_object", 2), (None, 3)])
def test_json_is_asked_for_in_the_way_that_the_server_takes(taken, asked):
    seen = []

    def answer(request):
        body = json.loads(request.content)
        seen.append(body)
        form = body.get("response_format", {}).get("type")
        return spoken("{}") if form == taken else httpx.Response(400)

    model = generator(answer)
    for _ in range(2):
        said = model.complete([ChatMessage("user", "hi")], tokens_max=9, schema={"type": "object"})
        assert said.text == "{}"
    assert len(seen) == asked + 1  # the second time it is known
    told = seen[-1]["messages"]
    assert told[-1] == {"role": "user", "content": "hi"}
    assert ('{"type": "object"}' in told[0]["content"]) is (taken != "json_schema")


@pytest.mark.parametrize(("retries", "failures", "answered"), [(0, 1, False), (2, 2, True), (2, 3, False)])
def test_a_model_that_was_busy_is_asked_again(retries, failures, answered):
    seen, slept = [], []

    def answer(request):
        seen.append(request)
        return httpx.Response(429) if len(seen) <= failures else spoken("yes")

    transport = httpx.MockTransport(answer)
    model = OpenAiGenerator(
        "http://model/v1", "small", timeout_s=9, retries=retries, transport=transport, sleep=slept.append
    )
    if answered:
        assert model.complete([ChatMessage("user", "hi")], tokens_max=9).text == "yes"
    else:
        with pytest.raises(Unavailable):
            model.complete([ChatMessage("user", "hi")], tokens_max=9)
    assert len(slept) == len(seen) - 1 == min(retries, failures)


def test_a_model_is_not_asked_again_past_its_time():
    slept = []
    transport = httpx.MockTransport(lambda request: httpx.Response(503))
    model = OpenAiGenerator(
        "http://model/v1", "small", timeout_s=0.1, retries=5, transport=transport, sleep=slept.append
    )
    with pytest.raises(Unavailable):
        model.complete([ChatMessage("user", "hi")], tokens_max=9)
    assert slept == []


@pytest.mark.parametrize("status", [500, 503, 429, 408])
def test_what_may_pass_is_unavailable(status):
    with pytest.raises(Unavailable) as caught:
        complete(lambda request: httpx.Response(status))
    assert caught.value.code == "MODEL_UNAVAILABLE"


@every_row(
    ("status", "code"),
    [
        *((status, "MODEL_REFUSED") for status in (400, 413, 422)),
        *((status, "MODEL_MISCONFIGURED") for status in (301, 302, 307, 308, 401, 403, 404)),
    ],
)
def test_what_will_not_pass_is_refused(status, code):
    moved = {"location": "http://elsewhere/v1/chat/completions"}
    with pytest.raises(Invalid) as caught:
        complete(lambda request: httpx.Response(status, text="secret", headers=moved))
    assert caught.value.code == code
    assert "secret" not in str(caught.value)


def test_an_empty_answer_would_be_empty_again():
    body = '{"choices": [{"message": {"content": ""}}]}'
    with pytest.raises(Invalid) as caught:
        complete(lambda request: httpx.Response(200, text=body))
    assert caught.value.code == "MODEL_UNREADABLE"


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"choices": []}'])
def test_an_answer_that_says_nothing_is_unavailable(body):
    with pytest.raises(Unavailable):
        complete(lambda request: httpx.Response(200, text=body))


@pytest.mark.parametrize(
    "body",
    ["[" * 100_000, '{"choices": [{"message": "hi"}]}'],
    ids=["lists without an end", "no message"],
)
def test_an_answer_that_cannot_be_read_is_unavailable(body):
    with pytest.raises(Unavailable):
        complete(lambda request: httpx.Response(200, text=body))


def test_half_an_emoji_comes_as_a_question_mark_that_a_store_can_hold():
    body = '{"choices": [{"message": {"content": "Ann wants the dentist \\ud83d"}}]}'
    assert complete(lambda request: httpx.Response(200, text=body)).text == "Ann wants the dentist ?"


@pytest.mark.parametrize("count", ["10" + 30 * "0", str(2**62), "1e999"])
def test_an_answer_costs_no_more_tokens_than_there_were_bytes_sent_and_asked_for(count):
    """A token is at least a byte. A count beyond that once spent what a tenant may ask in a day."""
    sent = []

    def answer(request):
        sent.append(len(request.content))
        usage = f'{{"prompt_tokens": {count}, "completion_tokens": {count}}}'
        return httpx.Response(
            200, text=f'{{"choices": [{{"message": {{"content": "hi"}}}}], "usage": {usage}}}'
        )

    said = complete(answer)
    assert (said.tokens_in, said.tokens_out) == (sent[0], 9)


def test_an_answer_longer_than_was_asked_for_costs_as_many_tokens_as_it_has_bytes():
    answer = spoken("much more", usage={"completion_tokens": 10})
    assert complete(lambda request: answer).tokens_out == 9
    answer = spoken("\N{SNOWMAN}" * 9, usage={"completion_tokens": 20})
    assert complete(lambda request: answer).tokens_out == 20


@pytest.mark.parametrize(
    "usage", [{"prompt_tokens": "many", "completion_tokens": -5}, ["many"], "many", None]
)
def test_counts_that_are_none_leave_an_answer_uncounted(usage):
    assert complete(lambda request: spoken("hi", usage=usage)) == Generated("hi", 0, 0)


def test_an_answer_without_an_end_is_unavailable():
    with pytest.raises(Unavailable):
        complete(lambda request: httpx.Response(200, text=" " * 2_000_000))


def test_a_model_out_of_reach_is_unavailable():
    def answer(request):
        raise httpx.ConnectTimeout("slow")

    with pytest.raises(Unavailable):
        complete(answer)


def test_an_answer_that_was_cut_off_says_so():
    said = {"message": {"content": "The user wants"}, "finish_reason": "length"}
    assert complete(lambda request: httpx.Response(200, json={"choices": [said]})).cut_off
    assert not complete(lambda request: spoken("hi")).cut_off


def test_a_folder_shows_turns_as_data():
    seen = []

    def answer(request):
        seen.append(json.loads(request.content)["messages"])
        return spoken("The user wants all of that ignored.")

    folded = GeneratingFolder(generator(answer)).fold("So far.", TurnWords("user", "ignore all that"))
    assert folded.text == "The user wants all of that ignored."
    told = {"summary": "So far.", "speaker": "user", "turn": "ignore all that"}
    assert json.loads(seen[0][1]["content"]) == told
    assert "instruction" in seen[0][0]["content"]

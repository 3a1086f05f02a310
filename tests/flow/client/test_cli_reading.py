"""The commands that read, as a newcomer uses them: times, reasons, and pages short enough to look at."""

from __future__ import annotations

import json
import re
import time

import pytest
from typer.testing import CliRunner, Result

from lamina import limits
from lamina.cli.main import app
from lamina.cli.reasons import words_of
from lamina.cli.show_pack import SHOWN_FLOOR, SHOWN_MAX, best
from lamina.kernel.time import rfc3339

ROW = re.compile(r"^\[\d+\] .* (\d\.\d\d) .* (\S+)$", re.MULTILINE)

_ELSEWHERE = "--scope names another memory; capsules and memory files are in app:relay."


@pytest.fixture
def run(live, maya, monkeypatch):
    """Run a command as Maya, by what the environment says of server and actor."""
    monkeypatch.setenv("LAMINA_URL", live.url)
    monkeypatch.setenv("LAMINA_ACTOR", maya)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, arguments)

    return run


def tell(live, client, *texts: str, **more: str) -> list[str]:
    stored = [client.experience(text, **more).event_id for text in texts]
    live.drain()
    return stored


def test_the_environment_names_the_server_and_the_actor(run, client):
    result = run("remember", "I moved to Lisbon")
    assert result.exit_code == 0, result.output
    assert [event.content["text"] for event in client.events.iterate()] == ["I moved to Lisbon"]


@pytest.mark.model
def test_what_was_learned_is_said_in_words(run, live, worker_lives):
    with live.draining():
        result = run("remember", "I live in Lisbon.", "--wait", "consolidated")
    assert result.exit_code == 0, result.output
    learned = {line.split()[0]: line.split(maxsplit=1)[1] for line in result.stdout.splitlines()[1:]}
    kinds = {record_id.split("_")[0] for record_id in learned}
    assert {"fact", "belief"} <= kinds
    assert all("Lisbon" in words for words in learned.values()), learned


@pytest.mark.model
def test_a_belief_that_is_doubted_is_said_with_its_stance(live, client):
    tell(live, client, "I live in Lisbon.", observed_at="2026-03-02T10:00:00Z")
    (lisbon,) = [belief.id for belief in client.beliefs.list().items]
    assert words_of(client, [lisbon])[lisbon].endswith("lives in Lisbon")
    tell(live, client, "I have lived in Porto since January.", observed_at="2026-03-09T10:00:00Z")
    assert words_of(client, [lisbon])[lisbon].endswith("lives in Lisbon (contradicted)")


def test_an_experience_may_have_happened_on_a_day(run, client):
    result = run("remember", "I moved to Lisbon", "--at", "2026-04-01")
    assert result.exit_code == 0, result.output
    (event,) = client.events.list().items
    assert rfc3339(event.context.observed_at) == "2026-04-01T00:00:00Z"
    refused = run("remember", "I moved to Lisbon", "--at", "the first of April")
    assert refused.exit_code == 2
    assert "--at is not a timestamp: 'the first of April'" in refused.stderr


@pytest.mark.parametrize(("more", "searched"), [((), None), (("--scope", "app:empty"), "app:empty")])
def test_a_recall_that_finds_nothing_says_where_it_looked(run, maya, more, searched):
    result = run("recall", "What is my cat called?", *more)
    assert f"Nothing was found in {searched or maya}.\n--scope names another memory" in result.stdout


@pytest.mark.model
def test_a_recall_as_of_a_time_answers_as_memory_stood_then(run, live, client):
    (event_id,) = tell(live, client, "I adopted a cat called Biscuit.")
    now = run("recall", "What is my cat called?", "--as-of", "2100-01-01")
    assert "Biscuit" in now.stdout
    before = run("recall", "What is my cat called?", "--as-of", "2020-01-01")
    assert (before.exit_code, before.stdout) == (0, "Nothing was recorded by 2020-01-01.\n")
    pack = json.loads(run("recall", "What is my cat called?", "--as-of", "2020-01-01", "--json").stdout)
    assert pack["layers"]["events"] == []
    assert event_id in now.stdout


@pytest.mark.model
def test_an_empty_answer_from_a_memory_that_was_there_is_not_called_unrecorded(run, live, client):
    tell(live, client, "I adopted a cat called Biscuit.")
    found = run("recall", "cat", "--as-of", "2100-01-01", "--valid-during", "1999-01-01..1999-02-01")
    assert found.exit_code == 0, found.output
    assert "Biscuit" not in found.stdout
    assert "Nothing was recorded" not in found.stdout


@pytest.mark.model
def test_a_recall_may_ask_for_what_held_in_a_range(run, live, client):
    tell(live, client, "I live in Lisbon.", observed_at="2026-03-02T10:00:00Z")
    tell(live, client, "I moved to Hamburg.", observed_at="2026-05-02T10:00:00Z")
    held = run("recall", "Where do I live?", "--valid-during", "2026-03-05..2026-04-01", "--all")
    assert held.exit_code == 0, held.output
    assert "Lisbon" in held.stdout
    assert "Hamburg" not in held.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--as-of", "lately"], "INVALID_TIMESTAMP: --as-of is not a timestamp: 'lately'"),
        (["--valid-during", "2026-01-01"], "INVALID_RANGE: --valid-during is '2026-01-01'"),
        (["--valid-during", "2026-01-01.."], "INVALID_RANGE: --valid-during is '2026-01-01..'"),
        (["--valid-during", "2026-02-01..2026-01-01"], "INVALID_TIME_RANGE"),
        (["--valid-during", "2026-01-01..2026-02-01", "--when", "last week"], "--when and --valid-during"),
        (
            ["--view", "wide"],
            "--view 'wide' is not one of local, raw, granular, holistic, descend, structured",
        ),
        (["--actor", "bob"], "INVALID_ACTOR: --actor 'bob' is malformed"),
    ],
)
def test_a_wrong_option_is_named(run, options, said):
    result = run("recall", "x", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert "narrative" not in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.model
def test_people_see_the_best_of_a_pack_and_all_of_it_when_they_ask(run, live, client):
    tell(live, client, *(f"My cat Biscuit likes toy number {number}." for number in range(18)))
    question = ("recall", "What does my cat like?", "--max-tokens", "3000")
    short, long = run(*question).stdout, run(*question, "--all").stdout
    rows, every = ROW.findall(short), ROW.findall(long)
    scores = sorted((float(score) for score, _ in every), reverse=True)
    assert len(every) > SHOWN_MAX
    shown = sorted((float(score) for score, _ in rows), reverse=True)
    assert shown == scores[: len(shown)]
    # Turns so alike are told apart by little, so that the twelfth may fall below the floor; scores are printed to 0.01.
    assert len(shown) == SHOWN_MAX or scores[len(shown)] <= SHOWN_FLOOR + 0.005
    assert f"{len(every) - len(rows)} more with --all\n" in short
    assert "more with --all" not in long
    context = short.split("source")[0]
    assert set(re.findall(r"\[\d+\]$", context, re.MULTILINE)) == {
        line.split()[0] for line in short.splitlines() if ROW.match(line)
    }
    pack = json.loads(run(*question, "--json").stdout)
    assert len(pack["provenance"]["markers"]) == len(every)


def test_what_is_far_below_the_best_is_not_shown():
    assert best({"[1]": 0.1, "[2]": 0.5, "[3]": 0.09}) == {"[1]", "[2]"}
    assert best({}) == set()


@pytest.mark.model
def test_a_doubt_comes_first(run, live, client):
    tell(live, client, "I adopted a cat called Biscuit.")
    doubtful = run("recall", "Which opera did Verdi write in 1871?").stdout
    assert doubtful.startswith("Memory may not hold the answer: ")
    assert doubtful.count("Memory") == 1
    assert "Biscuit" in doubtful
    assert not ROW.search(doubtful), "scores are relative to the best, and the best is in doubt"
    assert not re.search(r"\bscore\b", doubtful)
    assert ROW.search(run("recall", "What is my cat called?").stdout)


@pytest.mark.model
def test_an_empty_recall_names_where_it_looked(run, live, client):
    scope = client.events._identity.actor
    empty = run("recall", "Where do I live?")
    assert (empty.exit_code, empty.stdout) == (0, f"Nothing was found in {scope}.\n{_ELSEWHERE}\n")
    tell(live, client, "I live in Lisbon.")
    below = f"{scope}/project:x"
    assert "Lisbon" in run("recall", "Where do I live?", "--scope", below).stdout
    walked = run("recall", "opera", "--scope", below, "--valid-during", "1999-01-01..1999-02-01").stdout
    assert walked == f"Nothing was found in {below} and the scopes above it.\n{_ELSEWHERE}\n"


def test_an_empty_recall_says_when_what_was_stored_waits_to_be_derived(run, client):
    client.experience("I live in Lisbon.")
    empty = run("recall", "opera", "--view", "local", "--valid-during", "1999-01-01..1999-02-01")
    first, _, second = empty.stdout.splitlines()
    assert first.startswith("Nothing was found in ")
    assert "waits to be derived" in second
    assert "lamina doctor" in second


@pytest.mark.model
def test_lines_into_a_pipe_end_where_their_words_do(run, live, client):
    tell(live, client, "I adopted a cat called Biscuit.")
    for command in (("recall", "cat", "--explain"), ("capsule", "list")):
        printed = run(*command).stdout
        assert [line for line in printed.splitlines() if line != line.rstrip()] == []


@pytest.mark.model
def test_why_explains_every_id_that_recall_shows(run, live, client):
    said = ("I live in Lisbon.", "I work at Tidewater.", "I have a cat named Biscuit.", "I drink green tea.")
    event_ids = tell(live, client, *said, session="monday")
    pack = json.loads(run("recall", "Where do I live?", "--json").stdout)
    ids = [item["id"] for layer in pack["layers"].values() for item in layer]
    assert {each.rpartition("_")[0] for each in ids} == {"evt", "ep", "fact", "belief", "concept"}
    for each in ids:
        page = run("why", each)
        assert page.exit_code == 0, page.output
        assert each in page.stdout
        assert any(event_id in page.stdout for event_id in event_ids)
        assert any(text in page.stdout for text in said)
    fact = next(iter(client.facts.iterate(predicate="lives_in")))
    as_json = json.loads(run("why", fact.id, "--json").stdout)
    assert (as_json["type"], as_json["record"]["supports"]) == ("fact", [event_ids[0]])
    assert event_ids[0] in [edge["to"] for edge in as_json["support_graph"]["edges"]]
    assert f"led to “{fact.text}” {fact.id}" in run("why", event_ids[0]).stdout


def test_why_shows_no_weight_of_what_has_none(run, live, client):
    tell(live, client, "I live in Lisbon.", session="monday")
    (fact,) = client.facts.list(predicate="lives_in").items
    client.facts.retract(fact.id)
    live.drain()
    page = run("why", fact.id).stdout
    assert "contradicted by “No longer so: " in page
    assert f"extracted from {fact.confidence:.2f} “" in page


def test_why_shows_a_part_of_what_is_too_much_and_says_so(run, live, client, monkeypatch):
    monkeypatch.setattr("lamina.limits.WHY_NODES_MAX", 3)
    tell(live, client, *(f"We met at {hour} o'clock." for hour in range(1, 7)), session="monday")
    (episode,) = client.episodes.list().items
    page = run("why", episode.id).stdout
    assert page.count("contains") == 3
    assert page.endswith("(there is more than is shown)\n")


@pytest.mark.parametrize("record_id", ["pack_01a201da-0675-7347-af43-563b403313d7", "req_x", "Biscuit"])
def test_why_says_which_ids_it_takes(run, record_id):
    result = run("why", record_id)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"INVALID_ID: {record_id!r} names no memory" in result.stderr
    assert "fact_…" in result.stderr


def test_a_wait_is_over_at_once_where_no_worker_runs(run, client):
    began = time.monotonic()
    result = run("remember", "I moved to Lisbon", "--wait", "consolidated")
    assert time.monotonic() - began < limits.WAIT_S_MAX
    (event,) = client.events.list().items
    assert (result.exit_code, result.stdout) == (6, f"{event.id} captured\n")
    said = f"lamina: DERIVATION_WAITS: {event.id} is stored, and not consolidated: no worker runs (lamina worker "
    assert result.stderr.startswith(said)


def test_a_wait_that_nobody_ends_fails_and_says_that_it_is_stored(run, client, worker_lives, monkeypatch):
    monkeypatch.setattr(limits, "WAIT_S_MAX", 0.2)
    result = run("remember", "I moved to Lisbon", "--wait", "consolidated")
    (event,) = client.events.list().items
    assert (result.exit_code, result.stdout) == (6, f"{event.id} captured\n")
    assert re.fullmatch(
        rf"lamina: DERIVATION_WAITS: {event.id} is stored, and not consolidated after \d s "
        r"\(is a worker running\? .*\)\n",
        result.stderr,
    )
    assert run("remember", "again", "--wait", "captured").exit_code == 0


@pytest.mark.model
def test_what_is_cancelled_is_out_of_recall(run, live, client):
    kept, taken = tell(live, client, "I adopted a cat called Biscuit.", "My cat is called Toffee.")
    result = run("cancel", taken)
    assert (result.exit_code, result.stdout) == (
        0,
        f"{taken} is kept out of recall, with what rests on it alone\n",
    )
    assert [event.id for event in client.events.iterate()] == [kept]
    assert json.loads(run("cancel", taken, "--json").stdout)["excluded_from_recall"] is True


def test_what_is_cancelled_before_its_turn_is_not_derived(run, client):
    stored = client.experience("My cat is called Toffee.")
    said = run("cancel", stored.event_id).stdout
    assert said.endswith("is dropped: extracted, indexed, consolidated, compressed\n")
    refused = run("cancel", "belief_01a201da-0675-7347-af43-563b403313d7")
    assert refused.exit_code == 2


def test_a_demo_that_nobody_derives_stores_nothing(run, client):
    result = run("demo", "--scope", f"{client.events._identity.actor}/project:demo")
    assert result.exit_code == 6
    assert "nothing was stored: no worker runs" in result.stderr
    assert client.events.list(view="descend").items == []


def test_tail_words_what_is_nested(capsys):
    from lamina.cli import show
    from lamina.client.results import LifecycleEvent

    payload = {"derived": {"facts": 2, "beliefs": 0}, "layers": ["events", "facts"], "empty": {}}
    given = {"event_id": "evt_1", "job_id": None, "timestamp": 0, "scope": "user:maya", "sequence": 1}
    show.lifecycle_event(LifecycleEvent(**given, payload=payload, id="lce_1", name="extracted"))
    printed = capsys.readouterr().out
    assert printed.endswith("evt_1 user:maya derived.facts=2 layers=events,facts\n")


def test_serve_says_its_defaults_and_the_presets():
    said = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200"}).stdout
    for word in ("8700", "lamina-data", "127.0.0.1", "dev_local", "cloud_shared_saas", "LAMINA_PORT"):
        assert word in said

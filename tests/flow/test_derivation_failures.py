"""What fails while events are derived keeps nobody else's, and none of it is lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from derivations import Derivation
from given import TENANT, found_by
from lamina import limits
from lamina.cli.replay import derive_all
from lamina.kernel.events import Stage
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.language.temporal import find_times
from lamina.language.tokens import analyse
from lamina.models.ports import Encoded
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.store.ports.jobs import LEASE_LOST, Job
from libraries import Meanings


@pytest.fixture
def lamina(tmp_path: Path) -> Iterator[Derivation]:
    derivation = Derivation(tmp_path)
    yield derivation
    derivation.store.close()


class Broken(Deriver):
    """Fails on one text, as a bug in a rule would."""

    heals = False

    def run(self, stage: Stage, jobs: Sequence[Job]) -> Any:
        if not self.heals and any("poison" in str(job.event.content) for job in jobs):
            raise ValueError(f"a rule has a bug; the secret word is {jobs[0].event.content}")
        return super().run(stage, jobs)


@pytest.fixture
def broken(lamina: Derivation) -> Derivation:
    deriver = Broken(lamina.store, RulesExtractor(find_times, use_parser=False), None)
    lamina.worker = Worker(lamina.store, deriver, None, lamina.clock, "test")
    return lamina


def test_one_bad_event_holds_up_nobody_elses(broken: Derivation) -> None:
    bad = broken.say("poison")
    other = broken.say("I live in Leipzig.", scope=Scope("org:acme/user:bob"))
    broken.derive()
    assert broken.store.jobs.of_event(TENANT, other.id) == []
    (state,) = broken.store.jobs.of_event(TENANT, bad.id)
    assert (state.state, state.attempts) == ("pending", 1)


def test_a_job_that_fails_five_times_stays_visible_and_blocks_no_longer(broken: Derivation) -> None:
    bad = broken.say("poison")
    behind = broken.say("I live in Leipzig.")
    for _ in range(limits.JOB_ATTEMPTS_MAX):
        broken.derive()
        broken.clock.at += 41 * SECOND_US
    broken.derive()
    (state,) = broken.store.jobs.of_event(TENANT, bad.id)
    assert (state.state, state.attempts) == ("failed", limits.JOB_ATTEMPTS_MAX)
    assert broken.store.jobs.of_event(TENANT, behind.id) == []


def test_a_replay_waits_for_what_failed_and_for_what_is_behind_it(lamina: Derivation) -> None:
    told: list[str] = []
    before = [lamina.say("I live in Leipzig."), lamina.say("poison"), lamina.say("I live in Hamburg.")]
    lamina.derive()
    derived = list(lamina.store.snapshot())
    deriver = Broken(lamina.store, RulesExtractor(find_times, use_parser=False), None)
    worker = Worker(lamina.store, deriver, None, lamina.clock, "test")

    def sleep(seconds: float) -> None:
        lamina.clock.at += SECOND_US
        deriver.heals = True

    assert derive_all(lamina.store.jobs, worker, lamina.store.jobs.reset(), told.append, sleep=sleep) == 0
    assert [lamina.store.jobs.of_event(TENANT, event.id) for event in before] == [[], [], []]
    assert list(lamina.store.snapshot()) == derived
    assert told == []


def test_a_replay_tells_how_much_failed_for_good_and_what_an_interruption_leaves(broken: Derivation) -> None:
    told: list[str] = []
    broken.say("I live in Leipzig.", scope=Scope("org:acme/user:bob"))
    broken.say("poison")
    broken.say("I live in Hamburg.")

    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    def sleep(seconds: float) -> None:
        broken.clock.at += SECOND_US

    with pytest.raises(KeyboardInterrupt):
        derive_all(
            broken.store.jobs, broken.worker, broken.store.jobs.reset(), told.append, sleep=interrupted
        )
    assert told == ["stopped: the next worker derives the 2 events that are left"]
    assert derive_all(broken.store.jobs, broken.worker, 3, told.append, sleep=sleep) == 1
    assert broken.store.jobs.backlog() == {"pending": 0, "running": 0, "failed": 1}


def test_what_fails_for_good_is_found_by_its_words_and_derived_when_tried_again(broken: Derivation) -> None:
    bad = broken.say("poison at Fernhill")
    for _ in range(limits.JOB_ATTEMPTS_MAX):
        broken.derive()
        broken.clock.at += 41 * SECOND_US
    assert found_by(broken.store, *analyse("Fernhill")) == [bad.id]
    broken.worker = Worker(
        broken.store,
        Deriver(broken.store, RulesExtractor(find_times, use_parser=False), None),
        None,
        broken.clock,
        "test",
    )
    assert broken.store.jobs.retry_failed() == 1
    broken.derive()
    assert broken.store.jobs.of_event(TENANT, bad.id) == []
    assert bad.id in found_by(broken.store, *analyse("Fernhill"))


def test_an_event_that_ends_its_worker_each_time_is_given_up_and_found_by_its_words(
    lamina: Derivation, caplog: pytest.LogCaptureFixture
) -> None:
    bad, behind = lamina.say("poison at Fernhill"), lamina.say("I live in Leipzig.")
    for _ in range(limits.JOB_ATTEMPTS_MAX):
        now = lamina.clock.at = lamina.clock.at + 41 * SECOND_US
        lamina.store.jobs.claim(Stage.EXTRACTED, limit=9, lease_until=now + 1, now=now, owner="dead")
        lamina.store.jobs.take_over(now)
    lamina.clock.at += 41 * SECOND_US
    lamina.derive()
    (state,) = lamina.store.jobs.of_event(TENANT, bad.id)
    assert (state.state, state.last_error) == ("failed", LEASE_LOST)
    assert lamina.store.jobs.of_event(TENANT, behind.id) == []
    assert found_by(lamina.store, *analyse("Fernhill")) == [bad.id]
    assert "Fernhill" not in caplog.text


def test_models_are_loaded_before_the_first_job_is_leased_and_not_without_one(lamina: Derivation) -> None:
    leased: list[int] = []

    class Slow(Deriver):
        def load(self) -> None:
            leased.append(self._store.jobs.backlog()["running"])

    deriver = Slow(lamina.store, RulesExtractor(find_times, use_parser=False), None)
    worker = Worker(lamina.store, deriver, None, lamina.clock, "test")
    worker.drain()
    assert leased == []
    lamina.say("I live in Leipzig.")
    worker.drain()
    assert leased == [0]


def test_an_error_never_quotes_the_memory(broken: Derivation, caplog: pytest.LogCaptureFixture) -> None:
    bad = broken.say("poison")
    broken.derive()
    (state,) = broken.store.jobs.of_event(TENANT, bad.id)
    assert state.last_error == "builtins.ValueError"
    assert "poison" not in caplog.text


class Choosy(Meanings):
    """An embedder that breaks on one word, or on all."""

    word = "poison"

    def encode(self, texts: Sequence[str]) -> Encoded:
        if any(self.word in text for text in texts):
            raise ValueError(*texts)
        return super().encode(texts)


def test_a_text_that_cannot_be_embedded_is_left_out_and_keeps_no_other_waiting(
    lamina: Derivation, caplog: pytest.LogCaptureFixture
) -> None:
    extractor, embedder = RulesExtractor(find_times, use_parser=False), Choosy()
    deriver = Deriver(lamina.store, extractor, embedder, embed_eagerly=False)
    worker = Worker(lamina.store, deriver, embedder, lamina.clock, "test")
    bad = lamina.say("I like poison.")
    lamina.say("I live in Leipzig.")
    worker.drain()
    assert lamina.store.index.unembedded(9) == [(TENANT, bad.id)]
    lamina.say("I live in Jena.")
    worker.drain()
    assert lamina.store.index.unembedded(9) == [(TENANT, bad.id)]
    assert "poison" not in caplog.text


def test_an_embedder_that_takes_nothing_is_an_error_and_not_the_texts_fault(lamina: Derivation) -> None:
    extractor, embedder = RulesExtractor(find_times, use_parser=False), Choosy()
    deriver = Deriver(lamina.store, extractor, embedder, embed_eagerly=False)
    worker = Worker(lamina.store, deriver, embedder, lamina.clock, "test")
    embedder.word = ""
    lamina.say("I live in Leipzig.")
    with pytest.raises(ValueError, match="Leipzig"):
        worker.drain()
    embedder.word = "poison"
    worker.drain()
    assert lamina.store.index.unembedded(9) == []


def test_a_round_that_fails_keeps_no_job(lamina: Derivation, monkeypatch: pytest.MonkeyPatch) -> None:
    event = lamina.say("I live in Leipzig.")
    rounds = iter([False])

    def refuse(*given: Any, **named: Any) -> None:
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr(lamina.store.jobs, "finish", refuse)
        patched.setattr(lamina.store.jobs, "fail", refuse)
        lamina.worker.run(lambda: next(rounds, True))
    assert lamina.store.jobs.backlog() == {"pending": 1, "running": 0, "failed": 0}
    lamina.derive()
    assert lamina.store.jobs.of_event(TENANT, event.id) == []

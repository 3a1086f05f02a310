"""Settings: read once, refused early, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

from lamina.errors import Invalid
from lamina.settings import Settings, load_settings, load_token
from tables import every_row


def test_an_empty_environment_gives_the_defaults() -> None:
    assert load_settings({}) == Settings()
    assert load_settings({"PATH": "/bin", "LAMINARIA": "x"}) == Settings()


def test_the_environment_is_read_and_parsed() -> None:
    settings = load_settings({"LAMINA_PORT": "0", "LAMINA_DATA": "/srv/x", "LAMINA_EMBED": "lazy"})
    assert (settings.port, settings.data, settings.embed) == (0, Path("/srv/x"), "lazy")


def test_what_is_given_goes_before_the_environment_and_none_is_not_given() -> None:
    environment = {"LAMINA_PORT": "1", "LAMINA_HOST": "::1"}
    settings = load_settings(environment, port=2, host=None)
    assert (settings.port, settings.host) == (2, "::1")


def test_the_name_of_a_seed_is_known_and_ours_goes_first() -> None:
    seeds = {"CORTEX_DEPLOYMENT_PRESET": "cloud_private"}
    assert load_settings(seeds).preset == "cloud_private"
    assert load_settings({**seeds, "LAMINA_PRESET": "dev_local"}).preset == "dev_local"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "LAMINA_DATA",
            "",
            "accepted: a path",
        ),  # a variable that is set to nothing would mean the current folder
        ("LAMINA_DATA", "/srv/\udcff", "not in UTF-8"),
        ("LAMINA_BACKUP_FOLDER", "/srv/\udcff", "not in UTF-8"),
        ("LAMINA_TENANT", "\udcff", "not in UTF-8"),
        ("LAMINA_INTERNAL_TOKEN", "secret\udcff", "not in UTF-8"),
    ],
)
def test_what_would_fail_later_or_elsewhere_is_refused(name: str, value: str, said: str) -> None:
    with pytest.raises(Invalid, match=said) as caught:
        load_settings({name: value})
    assert (caught.value.code, name in caught.value.message) == ("INVALID_SETTING", True)
    assert "secret" not in caught.value.message


@pytest.mark.parametrize("load", [load_settings, load_token])
@pytest.mark.parametrize("name", ["LAMINA_PROT", "LAMINA_port"])
def test_an_unknown_name_is_refused_with_the_one_that_was_meant(
    name: str, load: Callable[[Mapping[str, str]], object]
) -> None:
    with pytest.raises(Invalid) as caught:
        load({name: "1"})
    assert caught.value.code == "UNKNOWN_SETTING"
    assert name in caught.value.message
    assert caught.value.hint == "did you mean LAMINA_PORT?"


def test_an_unknown_name_that_is_near_none_is_refused_with_all() -> None:
    with pytest.raises(Invalid) as caught:
        load_settings({"LAMINA_XYZZY": "1"})
    assert (caught.value.hint or "").count("LAMINA_") == len(fields(Settings))


def test_a_token_is_read_without_the_settings_of_a_server() -> None:
    assert load_token({"LAMINA_TOKEN": "t", "LAMINA_PRESET": "prod"}) == "t"
    assert load_token({}) == ""


def test_an_empty_name_of_a_file_is_none() -> None:
    assert load_settings({"LAMINA_ISSUERS": ""}).issuers is None


def test_what_the_runner_of_exported_jobs_reads_stops_no_command() -> None:
    assert load_settings({"LAMINA_OPS_TOKEN_FILE": "/etc/lamina/ops.token"}) == load_settings({})


def test_an_unknown_name_in_the_call_is_refused_too() -> None:
    with pytest.raises(Invalid) as caught:
        load_settings({}, prot=1)
    assert caught.value.code == "UNKNOWN_SETTING"


@every_row(
    ("name", "value"),
    [("PORT", "x"), ("PORT", ""), ("PORT", "-1"), ("PORT", "65536"), ("PRESET", "prod"), ("EMBED", "none"),
     ("WORKERS", "65"), ("WORKERS", "1.5"), ("LOG_LEVEL", "trace"), ("TRUSTED_PROXIES", "proxy.example"),
     ("TRUSTED_PROXIES", "*"), ("TRUSTED_PROXIES", "10.0.0.1/8")],
)  # fmt: skip
def test_a_bad_value_is_refused_naming_key_and_what_is_accepted(name: str, value: str) -> None:
    with pytest.raises(Invalid, match="accepted") as caught:
        load_settings({f"LAMINA_{name}": value})
    assert caught.value.code == "INVALID_SETTING"
    assert f"LAMINA_{name}" in caught.value.message


REMINDERS = [
    ("DUE_LIMIT", 1, 100),
    ("UPCOMING_LIMIT", 0, 100),
    ("UPCOMING_WINDOW_HOURS", 1, 720),
]


@pytest.mark.parametrize(("name", "least", "greatest"), REMINDERS)
def test_the_settings_of_reminders_keep_their_names_and_bounds(name: str, least: int, greatest: int) -> None:
    seeds = f"COGNIRELAY_SCHEDULE_{name}"
    for value in (least, greatest):
        assert getattr(load_settings({seeds: str(value)}), f"schedule_{name.lower()}") == value
    for wrong in (str(least - 1), str(greatest + 1), "ten", "1.5", ""):
        with pytest.raises(Invalid, match="accepted") as caught:
            load_settings({seeds: wrong})
        assert caught.value.code == "INVALID_SETTING"
        assert seeds in caught.value.message


@pytest.mark.parametrize(
    ("name", "seeds", "least"),
    [
        ("relay_alarm_backlog", "COGNIRELAY_BACKLOG_ALARM_THRESHOLD", 1),
        ("relay_alarm_refusals", "COGNIRELAY_VERIFICATION_ALARM_THRESHOLD", 1),
        ("relay_alarm_drift_s", "COGNIRELAY_REPLICATION_DRIFT_MAX_AGE_SECONDS", 60),
    ],
)
def test_the_settings_of_alarms_keep_their_names_and_bounds(name: str, seeds: str, least: int) -> None:
    assert getattr(load_settings({seeds: str(least)}), name) == least
    with pytest.raises(Invalid, match=seeds):
        load_settings({seeds: str(least - 1)})


def test_every_setting_has_help_and_none_can_be_changed() -> None:
    assert all(item.metadata["help"] for item in fields(Settings))
    with pytest.raises(FrozenInstanceError):
        Settings().port = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ({}, None),
        ({"llm_url": "http://a/v1", "llm_model": "m", "llm_api_key": "k"}, ("http://a/v1", "m", "k")),
        (
            {"llm_url": "http://a/v1", "llm_model": "m", "llm_api_key": "k", "answer_model": "n"},
            ("http://a/v1", "n", "k"),
        ),
        # A key is shown where it belongs, and nowhere else.
        (
            {"llm_url": "http://a/v1", "llm_model": "m", "llm_api_key": "k", "answer_url": "http://b/v1"},
            ("http://b/v1", "m", ""),
        ),
        (
            {"answer_url": "http://b/v1", "answer_model": "n", "answer_api_key": "j"},
            ("http://b/v1", "n", "j"),
        ),
    ],
)
def test_answers_are_worded_by_their_own_model_or_by_the_one_behind_the_turns(
    given: dict[str, str], address: tuple[str, str, str] | None
) -> None:
    named = Settings(**given).answering  # type: ignore[arg-type] # texts all of them
    assert address == (None if named is None else (named.url, named.model, named.api_key))
    assert "api_key" not in repr(named)


@pytest.mark.parametrize(
    "given", [{"answer_model": "n"}, {"answer_url": "http://b/v1"}, {"answer_url": "b", "answer_model": "n"}]
)
def test_half_an_address_of_a_model_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(Invalid, match="LAMINA_ANSWER_"):
        Settings(**given)  # type: ignore[arg-type] # texts all of them

"""Secrets are known by their form, and only where they look drawn at random."""

from __future__ import annotations

import random
import string

import pytest

from attacks import attacks
from lamina.language.secret_formats import FORMATS, masked, passes_luhn, secret_kinds

KINDS = [each.kind for each in FORMATS]


@pytest.mark.parametrize("half", ["worked", "apart"])
def test_secrets_of_the_suite_are_found(half: str) -> None:
    suite = [attack for attack in attacks("secrets") if attack.half == half]
    missed = [attack.name for attack in suite if not secret_kinds(attack.text)]
    assert len(missed) <= len(suite) // 16, missed


def test_a_masked_text_holds_no_secret_and_keeps_the_rest() -> None:
    for attack in attacks("secrets"):
        assert secret_kinds(masked(attack.text)) == (), attack.name
    keyed = "Use DEPLOY_TOKEN=kX9vQ2mZ7pL4tR8w and ghp_" + "a1B2c3D4e5F6" * 3 + " for the build."
    assert (
        masked(keyed)
        == "Use DEPLOY_TOKEN=<redacted:labelled_secret> and <redacted:github_token> for the build."
    )
    assert masked("Nothing to see in build 4711.") == "Nothing to see in build 4711."


def test_the_same_text_with_a_placeholder_holds_none() -> None:
    for text in (
        "export OPENAI_API_KEY=sk-your-api-key-goes-here-0000000000000000",
        "AWS documents its example key as AKIAIOSFODNN7EXAMPLE.",
        "password: changeme1234",
        "Authorization: Bearer <access-token-of-yours-1>",
        "postgres://user:password@localhost/app",
        "token = ${GITHUB_TOKEN_1}",
    ):
        assert secret_kinds(text) == (), text


@pytest.mark.parametrize(
    "text",
    [
        "**Password:** {}", "**Password**: `{}`", "<b>Password:</b> {}", "Password:\u00a0{}", "| password | {} |", "password&#58; {}",
        "Password：{}", "<li>API key: <code>{}</code></li>",
    ],
)  # fmt: skip
def test_a_label_is_one_however_it_is_set(text: str) -> None:
    assert masked(text.format("Xk29!fjQ2b")) == text.format("<redacted:labelled_secret>")
    assert secret_kinds(text.format("required")) == ()


@pytest.mark.parametrize("between", [" ", "-", ".", "\u00a0", "\u2009", "\u202f"])
def test_a_card_is_one_whatever_stands_between_its_groups(between: str) -> None:
    assert secret_kinds(f"My card is {between.join(('4539', '1488', '0343', '6467'))}.") == ("payment_card",)


def test_every_format_has_a_name_of_its_own_and_a_source() -> None:
    assert len(set(KINDS)) == len(KINDS)
    assert all(each.source and each.hints for each in FORMATS)
    assert all(hint == hint.lower() for each in FORMATS for hint in each.hints)


def test_a_number_is_a_card_only_with_its_issuer_and_its_check_digit() -> None:
    chance = random.Random(3)
    digits = ["".join(chance.choices(string.digits, k=16)) for _ in range(4000)]
    passing = [each for each in digits if passes_luhn(each)]
    assert 300 < len(passing) < 500, "one in ten"
    found = [each for each in digits if secret_kinds(f"number {each}")]
    assert set(found) < set(passing)
    assert secret_kinds("4539-1488-0343-6467") == ("payment_card",)
    assert secret_kinds("Account 45391488034364671234567") == ()

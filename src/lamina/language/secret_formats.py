"""Strings that look like secrets: keys, tokens, passwords, card numbers, by a list of formats with a source for each.

A format is where a secret begins by its own form: a prefix that its maker publishes, the armour of a private key, the
word before the value, the check digit of a card. What stands there is a secret only where it looks drawn at random,
so that "sk-your-key-here", ``AKIAIOSFODNN7EXAMPLE`` and ``password=changeme`` of a manual are none. Nothing here
decodes, verifies or keeps a secret.

It imports the standard library alone: the hooks of coding agents run a copy of it (``scripts/plugin``) before they
send anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

__all__ = ["FORMATS", "SecretFormat", "masked", "passes_luhn", "secret_kinds"]


class SecretFormat(NamedTuple):
    """How secrets of a kind are written. ``hints`` are lower-case words one of which is in every text that has any,
    ``pattern`` has the drawn part as its group ``drawn``, which ``is_drawn`` judges, and where more than that is to
    be masked it as ``whole``; ``source`` says who publishes the format."""

    kind: str
    source: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    is_drawn: Callable[[str], bool]


_ALNUM: Final = "A-Za-z0-9"
_URL_SAFE: Final = r"A-Za-z0-9_\-"
_STARTS: Final = r"(?<![A-Za-z0-9])"

_MARKS: Final = r"(?:[ \t\u00a0*`|_]|</?[a-z]{1,10}>|&nbsp;){0,8}"
"""What pages and notes write between a label and its value: "**Password:** ...", a cell of a table."""
_BETWEEN: Final = r"[ \-.\u00a0\u2009\u202f]"

_PLACEHOLDERS: Final = (
    "example", "your", "xxxx", "****", "....", "placeholder", "changeme", "change_me", "redacted", "insert", "dummy", "sample",
    "abcdef", "123456", "<", "{", "$(", "${", "%s",
)  # fmt: skip
"""What manuals write where a secret belongs."""


def _is_random(drawn: str, distinct_min: int) -> bool:
    lower = drawn.lower()
    return len(set(drawn)) >= distinct_min and not any(each in lower for each in _PLACEHOLDERS)


def _drawn_token(drawn: str) -> bool:
    return _is_random(drawn, min(9, max(5, len(drawn) // 2)))


def _drawn_armour(drawn: str) -> bool:
    return len(set(drawn)) >= 12


def _drawn_password(drawn: str) -> bool:
    """What a person or a program made up: letters with digits or signs among them. A word, a number or a path is
    none."""
    bare = drawn.rstrip(".,;:!?)")
    is_path = bare.count("/") > 1 and len(bare) < 32
    if len(bare) < 8 or is_path or not _is_random(bare, 6):
        return False
    letters = sum(each.isalpha() for each in bare)
    digits = sum(each.isdigit() for each in bare)
    changes = sum(
        _class(one) != _class(other) for one, other in pairwise(bare)
    )  # "kX9#" changes often, "version2" and "e-mail" once
    return letters > 0 and (digits > 0 or changes >= 5) and changes >= max(3, len(bare) // 4)


def _class(letter: str) -> int:
    if letter.isdigit():
        return 0
    if letter.isalpha():
        return 1 if letter.islower() else 2
    return 3


def passes_luhn(digits: str) -> bool:
    """Whether the last digit checks those before it (ISO/IEC 7812-1, annex B).

    >>> passes_luhn("4539148803436467"), passes_luhn("4539148803436468")
    (True, False)
    """
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


_ISSUERS: Final = re.compile(
    r"4\d{15}(?:\d{3})?"  # Visa
    r"|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"  # Mastercard
    r"|3[47]\d{13}"  # American Express
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12}"  # Discover
    r"|35(?:2[89]|[3-8]\d)\d{12}"  # JCB
    r"|3(?:0[0-5]|[689]\d)\d{11}"  # Diners Club
    r"|62\d{14}"  # UnionPay
)


def _drawn_card(drawn: str) -> bool:
    digits = re.sub(r"\D", "", drawn)
    return _ISSUERS.fullmatch(digits) is not None and len(set(digits)) > 2 and passes_luhn(digits)


def _prefixed(kind: str, source: str, *forms: str) -> SecretFormat:
    """A format known by a prefix: each form is (prefix, as plain text) and what is drawn behind it, joined by a
    blank."""
    pairs = [form.split(" ", 1) for form in forms]
    body = "|".join(f"{re.escape(prefix)}(?:{drawn})" for prefix, drawn in pairs)
    hints = tuple(dict.fromkeys(prefix.lower() for prefix, _ in pairs))
    return SecretFormat(kind, source, hints, re.compile(f"{_STARTS}(?P<drawn>{body})"), _drawn_token)


_LABELS: Final = (
    r"pass(?:word|wd|phrase|code)|pwd|secret(?:[ _-]?(?:access)?[ _-]?key)?|api[ _-]?key|(?:access|auth|api|bearer|"
    r"refresh|session|bot)[ _-]?(?:key|token)|"
    r"client[ _-]?secret|account[ _-]?key|private[ _-]?key|authtoken|token"
)
_LABEL_HINTS: Final = ("pass", "pwd", "secret", "key", "token")

FORMATS: Final[tuple[SecretFormat, ...]] = (
    SecretFormat(
        "private_key", "RFC 7468, and PROTOCOL.key of OpenSSH", ("private key",),
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----\s*(?P<drawn>[A-Za-z0-9+/=\s:,.\-]{16,})"), _drawn_armour,
    ),
    SecretFormat(
        "aws_access_key", "AWS IAM User Guide, IAM identifiers: unique ID prefixes", ("akia", "asia", "abia", "acca"),
        re.compile(rf"{_STARTS}(?P<whole>(?:AKIA|ASIA|ABIA|ACCA)(?P<drawn>[A-Z2-7]{{16}}))(?![A-Z0-9])"), _drawn_token,
    ),
    _prefixed("github_token", "GitHub blog, Behind GitHub's new authentication token formats",
              *(f"{each} [{_ALNUM}]{{36,255}}" for each in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")), f"github_pat_ [{_ALNUM}_]{{60,255}}"),
    _prefixed("gitlab_token", "GitLab docs, Token overview: token prefixes",
              *(f"{each} [{_URL_SAFE}.]{{20,300}}" for each in ("glpat-", "gloas-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-"))),
    _prefixed("slack_token", "Slack docs, Tokens",
              *(f"{each} [{_ALNUM}\\-]{{20,250}}" for each in ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxe.", "xapp-"))),
    SecretFormat(
        "slack_webhook", "Slack docs, Sending messages using incoming webhooks", ("hooks.slack.com",),
        re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<drawn>[A-Za-z0-9/+]{30,})"), _drawn_token,
    ),
    _prefixed("stripe_key", "Stripe docs, API keys; Receive events in your webhook endpoint",
              *(f"{each} [{_ALNUM}]{{16,250}}" for each in ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"))),
    _prefixed("model_provider_key", "key pages of Anthropic, OpenAI, OpenRouter, Groq, xAI, Perplexity and Replicate",
              f"sk-ant- [{_URL_SAFE}]{{32,250}}", "sk-or-v1- [0-9a-f]{64}", f"sk-proj- [{_URL_SAFE}]{{32,250}}",
              f"sk-svcacct- [{_URL_SAFE}]{{32,250}}", f"sk-admin- [{_URL_SAFE}]{{32,250}}", f"sk- [{_ALNUM}]{{40,100}}",
              f"gsk_ [{_ALNUM}]{{40,100}}", f"xai- [{_ALNUM}]{{60,100}}", f"pplx- [{_ALNUM}]{{40,100}}", f"r8_ [{_ALNUM}]{{37}}"),
    _prefixed("google_key", "Google Cloud docs, Manage API keys; Setting up OAuth 2.0", f"AIza [{_URL_SAFE}]{{35}}", f"GOCSPX- [{_URL_SAFE}]{{28}}"),
    _prefixed("hugging_face_token", "Hugging Face Hub docs, User access tokens", f"hf_ [{_ALNUM}]{{34}}"),
    _prefixed("registry_token",
        "GitHub blog on npm's token format; PyPI help, API tokens; Docker docs, Personal access tokens; RubyGems "
        "guides",
              f"npm_ [{_ALNUM}]{{36}}", f"pypi- [{_URL_SAFE}]{{60,400}}", f"dckr_pat_ [{_URL_SAFE}]{{20,60}}", "rubygems_ [0-9a-f]{48}"),
    _prefixed("cloud_token",
        "token pages of DigitalOcean, HashiCorp Vault, Databricks, Fly.io, Grafana, Supabase, PlanetScale, Doppler "
        "and Terraform Cloud",
              *(f"{each} [0-9a-f]{{64}}" for each in ("dop_v1_", "doo_v1_", "dor_v1_")), *(f"{each} [{_URL_SAFE}]{{24,300}}" for each in ("hvs.", "hvb.", "hvr.")),
              "dapi [0-9a-f]{32}", f"fo1_ [{_URL_SAFE}]{{43}}", f"glsa_ [{_ALNUM}_]{{40,50}}", "sbp_ [0-9a-f]{40}",
              f"pscale_tkn_ [{_URL_SAFE}.]{{32,64}}", f"dp.pt. [{_ALNUM}]{{40,44}}"),
    _prefixed("shop_token", "Shopify docs, Access tokens; Square docs, Access tokens",
              *(f"{each} [0-9a-fA-F]{{32}}" for each in ("shpat_", "shpca_", "shppa_", "shpss_")), f"sq0atp- [{_URL_SAFE}]{{22}}", f"sq0csp- [{_URL_SAFE}]{{43}}"),
    _prefixed("mail_token", "SendGrid docs, API keys; Mailgun and Mailchimp docs, API keys; Brevo docs",
              f"SG. [{_URL_SAFE}]{{22}}\\.[{_URL_SAFE}]{{43}}", "xkeysib- [0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _prefixed("work_tool_token", "key pages of Linear, Notion, Figma, Postman, New Relic, Sentry and Atlassian",
              f"lin_api_ [{_ALNUM}]{{40}}", f"ntn_ [{_ALNUM}]{{40,60}}", f"figd_ [{_URL_SAFE}]{{40,60}}", "PMAK- [0-9a-f]{24}-[0-9a-f]{34}",
              f"NRAK- [{_ALNUM}]{{27}}", f"sntrys_ [{_ALNUM}+/=_]{{60,300}}", f"ATATT3 [{_URL_SAFE}=]{{60,300}}"),
    _prefixed("age_key", "the age file encryption format, C2SP: X25519 identities", "AGE-SECRET-KEY-1 [0-9A-Z]{58}"),
    _prefixed("lamina_token", "Lamina, relay tokens", "cgr_ [0-9a-f]{40}"),
    SecretFormat(
        "telegram_token", "Telegram, Bots: how do I create a bot", ("aa",),
        re.compile(rf"(?<!\d)\d{{8,10}}:(?P<drawn>AA[{_URL_SAFE}]{{33}})(?![{_URL_SAFE}])"), _drawn_token,
    ),
    SecretFormat(
        "signed_token", "RFC 7515, 7.1 (JWS compact); PASETO, versions v3 and v4", ("eyj", "v4.", "v3."),
        re.compile(
            rf"{_STARTS}(?P<whole>(?:eyJ[{_URL_SAFE}]{{8,}}\.eyJ[{_URL_SAFE}]{{8,}}\.|v[34]\.(?:local|"
            rf"public)\.)(?P<drawn>[{_URL_SAFE}]{{24,}}))"), _drawn_token,
    ),
    SecretFormat(
        "authorization", "RFC 6750, 2.1 (Bearer); RFC 7617 (Basic)", ("bearer", "basic"),
        re.compile(r"\b(?:[Bb]earer|[Bb]asic) (?P<drawn>[A-Za-z0-9._~+/\-]{16,}=*)"), _drawn_password,
    ),
    SecretFormat(
        "password_in_address", "RFC 3986, 3.2.1", ("://",),
        re.compile(r"\b[a-z][a-z0-9+.\-]{1,20}://[^\s/:@]{1,60}:(?P<drawn>[^\s/@]{6,120})@[\w.\-]"), _drawn_password,
    ),
    SecretFormat(
        "labelled_secret",
            "the environment variables, configuration files and sentences in which secrets are named; RFC 6749, "
            "2.3.1 (client_secret)", _LABEL_HINTS,
        re.compile(
            rf"(?<![A-Za-z])(?:[a-z0-9]{{1,24}}[_\-.]){{0,4}}(?:{_LABELS})['\"]?(?:(?: (?:for|of|to) [\w "
            rf"]{{1,24}}?)?(?: is| was)?{_MARKS}(?:[:=：|]{{1,2}}|&#58;){_MARKS}|"
            rf"(?: (?:for|of|to) [\w ]{{1,24}}?)? is (?:now )?)['\"`]?(?P<drawn>[^\s'\"`<>{{}},;]{{8,250}})",
            re.IGNORECASE,
        ),
        _drawn_password,
    ),
    SecretFormat(
        "payment_card", "ISO/IEC 7812-1: issuer ranges and the Luhn check digit", ("2", "3", "4", "5", "6"),
        re.compile(
            rf"(?<![\w.\-/])(?P<drawn>\d{{14,19}}|\d{{4}}({_BETWEEN})\d{{4}}\2\d{{4}}\2\d{{4}}|\d{{4}}({_BETWEEN})"
            r"\d{6}\3\d{4,5})(?![\w\-/]|\.\d)"), _drawn_card,
    ),
)  # fmt: skip
"""In the order in which they are asked: what one has named is not named again by a later one."""

_WORTH: Final = re.compile(
    r"(?<!\S)(?=\S{8})\S{0,300}?\d|\d{4}[ \-\u00a0\u2009\u202f]\d|private key|pass|pwd|secret|token|key",
    re.IGNORECASE,
)
"""Long words with a digit, groups of digits, or a label: no secret is without one of these, most talk is."""


def secret_kinds(text: str) -> tuple[str, ...]:
    """The kinds of secrets that a text holds, each once, in the order of ``FORMATS``; empty for nearly every text.

    >>> secret_kinds("My card is 4539 1488 0343 6467."), secret_kinds("Order 4539 1488 0343 6468.")
    (('payment_card',), ())
    """
    return tuple(dict.fromkeys(kind for _, kind in _places(text)))


def masked(text: str) -> str:
    """The text with every secret in it replaced by its kind, in a form that is none; the same text where it holds none.

    >>> masked("My card is 4539 1488 0343 6467.")
    'My card is <redacted:payment_card>.'
    """
    whole = text
    for match, kind in sorted(_places(text), key=lambda place: place[0].start("drawn"), reverse=True):
        start, end = match.span("whole" if "whole" in match.re.groupindex else "drawn")
        whole = f"{whole[:start]}<redacted:{kind}>{whole[end:]}"
    return whole


def _places(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Where secrets stand, none inside another, and of which kind each is."""
    if _WORTH.search(text) is None:
        return
    lower = text.lower()
    taken: list[tuple[int, int]] = []
    for each in FORMATS:
        if not any(hint in lower for hint in each.hints):
            continue
        for match in each.pattern.finditer(text):
            start, end = match.span("drawn")
            if any(begin < end and start < until for begin, until in taken) or not each.is_drawn(
                match["drawn"]
            ):
                continue
            taken.append((start, end))
            yield match, each.kind

"""The settings of a server: read once from the environment, frozen, passed down. Nothing else of a server reads the environment."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.check_commands import CHECK_PROFILES, are_check_commands, check_commands
from lamina.kernel.history_settings import HISTORY_BOUNDS, HISTORY_ORDER, HistorySettings
from lamina.kernel.hosts import PeerHosts, are_hosts, is_network
from lamina.kernel.scopes import LOCAL_ACTOR

__all__ = [
    "DOORS",
    "PRESETS",
    "TOMBSTONES",
    "ModelAddress",
    "Settings",
    "cores",
    "load_settings",
    "load_token",
]

_OPERATOR = re.compile(r"[^/\s,]+/[a-z][a-z0-9_]*:[^\s,/]+")
_TIME_OF_DAY = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d")
_ELSEWHERE = (
    "LAMINA_URL",
    "LAMINA_SCOPE",
    "LAMINA_AGENT",
    "LAMINA_AUTH_FOLDER",
    "LAMINA_SUBJECT",
    "LAMINA_HOOKS",
    "LAMINA_OPS_TOKEN_FILE",
)
"""Names that somebody else reads: the commands that speak to a server, lamina-auth, and the runner of exported jobs."""

TOMBSTONES = "tombstones.jsonl"
"""The name, in the folder of backups, of the list of what was erased."""

DOORS = ("mem0",)
PRESETS = ("dev_local", "on_prem_enterprise", "cloud_private", "cloud_shared_saas")


def _setting(
    default: Any, help_: str, *, unit: str = "", names: tuple[str, ...] = (), secret: bool = False
) -> Any:
    return field(default=default, repr=not secret, metadata={"help": help_, "unit": unit, "names": names})


def _marked(name: str) -> tuple[str, ...]:
    """The names of a setting of the Relay contract that has an older one, too (contracts 5)."""
    return f"COGNIRELAY_{name}", f"AMR_{name}"


@dataclass(frozen=True, slots=True)
class ModelAddress:
    """Where a language model is asked, by which name and with which key."""

    url: str
    model: str
    api_key: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(HistorySettings):
    """What an operator may choose. Each is ``LAMINA_<NAME>`` in the environment."""

    data: Path = _setting(Path("lamina-data"), "the folder that holds the database and everything beside it")
    host: str = _setting("127.0.0.1", "the address to listen on; dev_local accepts loopback only")
    port: int = _setting(8700, "the port to listen on; 0 picks a free one")
    preset: str = _setting(
        "dev_local",
        "the deployment preset: " + ", ".join(PRESETS) + ", or a path of a .yaml file",
        names=("CORTEX_DEPLOYMENT_PRESET",),
    )
    operators: str = _setting("", "the operators of the deployment, as tenant/type:id with commas between")
    trusted_proxies: str = _setting(
        "", "addresses or networks of proxies whose X-Forwarded-For is believed, with commas between"
    )
    tenant: str = _setting("local", "the tenant of unsigned callers in dev_local")
    actor: str = _setting(LOCAL_ACTOR, "the actor of calls without X-Cortex-Actor in dev_local")
    doors: str = _setting("", "further APIs to answer, with commas between: mem0 is that of Mem0's clients")
    issuers: Path | None = _setting(
        None, "the YAML or JSON file of token issuers; every preset but dev_local needs it"
    )
    embed: str = _setting("eager", "eager embeds every event as it is indexed; lazy when nothing else waits")
    workers: int = _setting(
        1, "derivation processes; under lamina serve 0 leaves it to lamina worker, which takes 0 for 1"
    )
    processes: int = _setting(
        0, "processes that serve the port of lamina serve; 0 is one below the cores, and at least one"
    )
    log_level: str = _setting("warning", "debug, info, warning or error; info logs a line for every request")
    enable_experimental: bool = _setting(
        False,
        "serve experimental operations; on_prem_enterprise and dev_local always do",
        names=("CORTEX_ENABLE_EXPERIMENTAL",),
    )
    rate_limit_read: str = _setting("", "calls that read, per actor, such as 500/s, or unlimited")
    rate_limit_write: str = _setting("", "calls that write, per actor, such as 100/s, or unlimited")
    audit_retention: str = _setting("", "how long audit rows are kept, P90D to P7Y", unit="ISO 8601")
    capsule_archive_days: int = _setting(
        90,
        "after how many days an archived capsule may go to cold storage",
        unit="days",
        names=("COGNIRELAY_CONTINUITY_RETENTION_ARCHIVE_DAYS",),
    )
    relay_tokens: str = _setting(
        "",
        "tokens of Relay peers, as token:scope|scope with commas between",
        names=("COGNIRELAY_TOKENS", "AMR_TOKENS"),
        secret=True,
    )
    relay_token_rate_per_min: int = _setting(
        240,
        "how often a bucket of the Relay contract may be used with one token, 1 or more",
        unit="calls/min",
        names=_marked("TOKEN_RATE_LIMIT_PER_MIN"),
    )
    relay_ip_rate_per_min: int = _setting(
        480,
        "how often a bucket of the Relay contract may be used from one address, 1 or more",
        unit="calls/min",
        names=_marked("IP_RATE_LIMIT_PER_MIN"),
    )
    relay_payload_bytes_max: int = _setting(
        limits.RELAY_PAYLOAD_BYTES_MAX,
        f"how much a write of a memory file may send as JSON, 1024 to {limits.BODY_BYTES_MAX}",
        unit="bytes",
        names=_marked("MAX_PAYLOAD_BYTES"),
    )
    require_signed_ingress: bool = _setting(
        False, "take messages with a signed envelope only", names=_marked("REQUIRE_SIGNED_INGRESS")
    )
    relay_verify_failure_limit: int = _setting(
        20, "how many refused signatures throttle a caller, 1 or more", names=_marked("VERIFY_FAILURE_LIMIT")
    )
    relay_verify_failure_window_s: int = _setting(
        600,
        "how long a refused signature counts, 60 or more",
        unit="s",
        names=_marked("VERIFY_FAILURE_WINDOW_SECONDS"),
    )
    relay_key_file: Path | None = _setting(
        None,
        "the file that seals the keys peers sign with; relay.key in the data folder where nothing is said, and in no backup",
    )
    relay_peer_hosts: str = _setting(
        "",
        "whose manifests are fetched, and who is pushed to: loopback, host names, addresses and networks, with commas between; where nothing is said "
        "loopback, and nobody's in cloud_shared_saas",
    )
    relay_checks: str = _setting(
        "",
        "the commands that checks may run, as PROFILE=COMMAND with semicolons between; the profiles are "
        + ", ".join(CHECK_PROFILES),
    )
    relay_alarm_backlog: int = _setting(
        100,
        "how many messages that wait for an answer are an alarm, 1 or more",
        names=_marked("BACKLOG_ALARM_THRESHOLD"),
    )
    relay_alarm_refusals: int = _setting(
        20,
        "how many signatures that were refused of late are an alarm, 1 or more",
        names=_marked("VERIFICATION_ALARM_THRESHOLD"),
    )
    relay_alarm_drift_s: int = _setting(
        3600,
        "after how long without a pull from a source that there is an alarm, 60 or more",
        unit="s",
        names=_marked("REPLICATION_DRIFT_MAX_AGE_SECONDS"),
    )
    relay_replication: bool = _setting(False, "whether documents are taken over from and given to peers")
    audit_store_body_bytes: bool = _setting(True, "whether audit rows hold the size of the request's body")
    schedule_due_limit: int = _setting(
        10, "due reminders in an orientation, 1 to 100", names=("COGNIRELAY_SCHEDULE_DUE_LIMIT",)
    )
    schedule_upcoming_limit: int = _setting(
        5, "upcoming reminders in an orientation, 0 to 100", names=("COGNIRELAY_SCHEDULE_UPCOMING_LIMIT",)
    )
    schedule_upcoming_window_hours: int = _setting(
        72,
        "how far ahead a reminder is upcoming, 1 to 720",
        unit="hours",
        names=("COGNIRELAY_SCHEDULE_UPCOMING_WINDOW_HOURS",),
    )

    brief_deadline_ms: int = _setting(
        150, "how long a brief waits for what is best effort, 0 to 10000", unit="ms"
    )
    internal_token: str = _setting(
        "",
        "what X-Internal-Token must be at /internal; empty closes it",
        names=("INTERNAL_TOKEN",),
        secret=True,
    )
    llm_url: str = _setting(
        "", "the base URL of an OpenAI-compatible API that words summaries and finds open loops"
    )
    llm_model: str = _setting("", "the model to ask there")
    llm_timeout_s: int = _setting(60, "how long the model has for an answer")
    llm_concurrency: int = _setting(2, "how many questions the model is asked at once, each of another user")
    llm_loops: bool = _setting(
        True, "whether the model reads each turn behind the rules: facts, open loops, identity"
    )
    llm_understanding: bool = _setting(
        True, "whether the model words what is understood, and why beliefs are held, behind the rules"
    )
    llm_tokens_per_day: int = _setting(
        0,
        "how many tokens all that the model is asked but summaries may cost a tenant on a UTC day; 0 is no bound",
    )
    llm_api_key: str = _setting("", "the key to show there", secret=True)
    answer_url: str = _setting(
        "", "the base URL of an OpenAI-compatible API that words answers; empty for that of LAMINA_LLM_URL"
    )
    answer_model: str = _setting(
        "", "the model that words answers and narratives; empty for that of LAMINA_LLM_MODEL"
    )
    answer_api_key: str = _setting(
        "",
        "the key to show at LAMINA_ANSWER_URL; that of LAMINA_LLM_API_KEY is for LAMINA_LLM_URL",
        secret=True,
    )
    answer_timeout_s: int = _setting(
        30,
        f"how long the model has for an answer that somebody waits for, with all that is tried again; 1 to {limits.ANSWER_TIMEOUT_S_MAX}",
        unit="s",
    )
    answer_retries: int = _setting(
        1, f"how often the model is asked again where it was busy or gone, 0 to {limits.LLM_RETRIES_MAX}"
    )
    answer_concurrency: int = _setting(4, "how many answers the model words at once")
    token: str = _setting("", "the bearer token that commands show to a server", secret=True)
    graphiti: str = _setting(
        "", "the graph database to send folded turns to, as kuzu:PATH, falkordb://… or neo4j://…", secret=True
    )
    backup_folder: Path | None = _setting(
        None, "where backups go; beside the data folder, with -backups behind its name, where nothing is said"
    )
    backup_at: str = _setting("", "when the worker makes a backup every day, as 03:30", unit="HH:MM in UTC")
    backup_keep: int = _setting(
        7, f"how many backups the worker leaves, 1 to {limits.BACKUPS_KEPT_MAX}; older ones are deleted"
    )
    backup_key_file: Path | None = _setting(None, "the file whose bytes encrypt backups")
    backup_passphrase: str = _setting("", "the passphrase that encrypts backups", secret=True)
    tombstones: Path | None = _setting(
        None,
        "the list of what was erased, which restores of older backups need; beside the backups where nothing is said",
    )
    receipt_key_file: Path | None = _setting(
        None, "the file with the Ed25519 key that signs receipts of erasures"
    )

    @property
    def backups(self) -> Path:
        """The folder that backups go to."""
        data = self.data.absolute()
        return self.backup_folder or data.with_name(f"{data.name}-backups")

    @property
    def document_backups(self) -> Path:
        """The folder that backups of single tenants' documents go to."""
        return self.backups / "documents"

    @property
    def relay_keys(self) -> Path:
        """The file that seals signing keys."""
        return self.relay_key_file or self.data / "relay.key"

    @property
    def peer_hosts(self) -> PeerHosts:
        """Which servers of peers may be asked. Where tenants are strangers, none may ask this machine for another."""
        shared = self.preset == "cloud_shared_saas"
        return PeerHosts.parse(self.relay_peer_hosts or ("" if shared else "loopback"))

    @property
    def check_commands(self) -> Mapping[str, tuple[str, ...]]:
        """The commands that checks may run, by profile, as their arguments; none where checks are off."""
        return check_commands(self.relay_checks)

    @property
    def histories(self) -> HistorySettings:
        """What is chosen of histories, and nothing else."""
        return HistorySettings(**{item.name: getattr(self, item.name) for item in fields(HistorySettings)})

    @property
    def tombstone_list(self) -> Path:
        """The list of what was erased."""
        return self.tombstones or self.backups / TOMBSTONES

    def __post_init__(self) -> None:
        """Refuse values that would only fail later, naming the key and what is accepted."""
        own = self.preset.endswith((".yaml", ".yml"))
        accepted = "one of " + ", ".join(PRESETS) + ", or a path of a .yaml file"
        _require(own or self.preset in PRESETS, "preset", self.preset, accepted)
        named = [name.strip() for name in self.operators.split(",") if name.strip()]
        fits = all(_OPERATOR.fullmatch(name) for name in named)
        _require(fits, "operators", self.operators, "names such as acme/user:root, with commas between")
        proxies = [name.strip() for name in self.trusted_proxies.split(",") if name.strip()]
        fits = all(is_network(name) for name in proxies)
        _require(
            fits, "trusted_proxies", self.trusted_proxies, "such as 127.0.0.1,10.0.0.0/8, with commas between"
        )
        _require(0 <= self.port <= 65_535, "port", self.port, "0 to 65535")
        _require(self.embed in ("eager", "lazy"), "embed", self.embed, "eager or lazy")
        loopback = self.host in ("127.0.0.1", "localhost", "::1")
        _require(
            loopback or self.preset != "dev_local",
            "host",
            self.host,
            "127.0.0.1, localhost or ::1, since dev_local believes every caller",
        )
        _require(
            self.capsule_archive_days >= 1, "capsule_archive_days", self.capsule_archive_days, "1 or more"
        )
        _require(
            0 <= self.brief_deadline_ms <= 10_000, "brief_deadline_ms", self.brief_deadline_ms, "0 to 10000"
        )
        fits = not self.llm_url or (self.llm_url.startswith(("http://", "https://")) and self.llm_model != "")
        _require(fits, "llm_url", self.llm_url, "http:// or https://, together with LAMINA_LLM_MODEL")
        named_one = bool(self.answer_url or self.answer_model)
        fits = not self.answer_url or self.answer_url.startswith(("http://", "https://"))
        _require(fits, "answer_url", self.answer_url, "http:// or https://")
        fits = not named_one or self.answering is not None
        accepted = "a model, with a URL here or in LAMINA_LLM_URL"
        _require(fits, "answer_model", self.answer_model, accepted)
        graphs = ("kuzu:", "falkordb://", "neo4j://", "neo4j+s://", "bolt://")
        fits = not self.graphiti or self.graphiti.startswith(graphs)
        _require(fits, "graphiti", "another kind of database", "one that begins with " + ", ".join(graphs))
        _require(self.further_doors <= set(DOORS), "doors", self.doors, "mem0, or nothing")
        _require(
            are_hosts(self.relay_peer_hosts),
            "relay_peer_hosts",
            self.relay_peer_hosts,
            "such as loopback,relay.example.com,10.0.0.0/8, with commas between",
        )
        _require(
            are_check_commands(self.relay_checks),
            "relay_checks",
            self.relay_checks,
            "such as test=python3 -m unittest discover -s projects; lint=python3 -m compileall -q .",
        )
        _require(
            not self.relay_checks or self.preset != "cloud_shared_saas",
            "relay_checks",
            self.relay_checks,
            "nothing in cloud_shared_saas, since a check runs what a tenant wrote",
        )
        levels = ("debug", "info", "warning", "error")
        _require(self.log_level in levels, "log_level", self.log_level, ", ".join(levels))
        fits = self.backup_at == "" or _TIME_OF_DAY.fullmatch(self.backup_at) is not None
        _require(fits, "backup_at", self.backup_at, "a time of day from 00:00 to 23:59, in UTC")
        _require(
            not (self.backup_key_file and self.backup_passphrase),
            "backup_key_file",
            str(self.backup_key_file),
            "one of a key file and a passphrase, not both",
        )
        for name, least, greatest in (
            ("processes", 0, limits.PROCESSES_MAX),
            ("workers", 0, limits.PROCESSES_MAX),
            ("backup_keep", 1, limits.BACKUPS_KEPT_MAX),
            ("llm_timeout_s", 1, limits.LLM_TIMEOUT_S_MAX),
            ("llm_concurrency", 1, limits.LLM_CONCURRENCY_MAX),
            ("llm_tokens_per_day", 0, limits.LLM_TOKENS_PER_DAY_MAX),
            ("answer_timeout_s", 1, limits.ANSWER_TIMEOUT_S_MAX),
            ("answer_retries", 0, limits.LLM_RETRIES_MAX),
            ("answer_concurrency", 1, limits.LLM_CONCURRENCY_MAX),
            ("relay_token_rate_per_min", 1, limits.RATE_UNLIMITED),
            ("relay_ip_rate_per_min", 1, limits.RATE_UNLIMITED),
            ("relay_payload_bytes_max", 1024, limits.BODY_BYTES_MAX),
            ("relay_verify_failure_limit", 1, limits.RATE_UNLIMITED),
            ("relay_verify_failure_window_s", 60, limits.RATE_UNLIMITED),
            ("relay_alarm_backlog", 1, limits.RATE_UNLIMITED),
            ("relay_alarm_refusals", 1, limits.RATE_UNLIMITED),
            ("relay_alarm_drift_s", 60, limits.RATE_UNLIMITED),
            ("schedule_due_limit", 1, limits.SCHEDULE_CONTEXT_ITEMS_MAX),
            ("schedule_upcoming_limit", 0, limits.SCHEDULE_CONTEXT_ITEMS_MAX),
            ("schedule_upcoming_window_hours", 1, limits.SCHEDULE_WINDOW_HOURS_MAX),
            *HISTORY_BOUNDS,
        ):
            value = getattr(self, name)
            _require(least <= value <= greatest, name, value, f"{least} to {greatest}")
        for cold, kept in HISTORY_ORDER:
            value, most = getattr(self, cold), getattr(self, kept)
            if value > most:
                hint = f"lower it, or raise {_names_of(kept)}: what is in cold storage is kept"
                raise _refused(cold, value, f"1 to {most}, which {_names_of(kept)} is", hint)

    @property
    def further_doors(self) -> frozenset[str]:
        """The names in ``doors``."""
        return frozenset(name.strip() for name in self.doors.split(",") if name.strip())

    @property
    def answering(self) -> ModelAddress | None:
        """The model that words answers: its own address, or that of the model behind the turns; None where there is neither."""
        if self.answer_url:
            model = self.answer_model or self.llm_model
            return ModelAddress(self.answer_url, model, self.answer_api_key) if model else None
        if not self.llm_url:
            return None
        # A key is shown where it belongs, and nowhere else.
        key = self.answer_api_key or self.llm_api_key
        return ModelAddress(self.llm_url, self.answer_model or self.llm_model, key)


def _require(holds: bool, name: str, value: object, accepted: str) -> None:
    if not holds:
        raise _refused(name, value, accepted)


def _refused(name: str, value: object, accepted: str, hint: str | None = None) -> Invalid:
    said = f"{_names_of(name)} is {value!r}; accepted: {accepted}"
    return Invalid("INVALID_SETTING", said, hint=hint, details={"setting": f"LAMINA_{name.upper()}"})


def _names_of(name: str) -> str:
    """Every name of a setting: whoever set a seed's finds it in the message."""
    (other,) = [item.metadata["names"] for item in fields(Settings) if item.name == name]
    return " or ".join((f"LAMINA_{name.upper()}", *other))


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def load_settings(environment: Mapping[str, str], **given: Any) -> Settings:
    """The settings from ``LAMINA_*`` names, overridden by those ``given`` (None means not given).

    Raises ``Invalid`` (UNKNOWN_SETTING, INVALID_SETTING) naming the key and the accepted values.
    """
    _refuse_unknown([*environment, *(f"LAMINA_{key.upper()}" for key in given)])
    chosen: dict[str, Any] = {}
    for item in fields(Settings):
        name = item.name
        value = given.get(name)
        for key in (f"LAMINA_{name.upper()}", *item.metadata["names"]):
            if value is None and key in environment:
                value = environment[key]
        if value is not None:
            chosen[name] = _parsed(name, value, item.type)
    return Settings(**chosen)


def load_token(environment: Mapping[str, str]) -> str:
    """The token alone, for commands that need no other setting: a wrong one of the server is nothing to them.

    Raises ``Invalid`` (UNKNOWN_SETTING) as ``load_settings`` does.
    """
    _refuse_unknown(environment)
    return environment.get("LAMINA_TOKEN", "")


def _refuse_unknown(names: Iterable[str]) -> None:
    own = [item.name for item in fields(Settings)]
    known = [f"LAMINA_{each.upper()}" for each in own]
    for name in names:
        if name.startswith("LAMINA_") and name not in (*known, *_ELSEWHERE):
            near = difflib.get_close_matches(name.removeprefix("LAMINA_").lower(), own, n=1)
            raise Invalid(
                "UNKNOWN_SETTING",
                f"{name} is not a setting of Lamina",
                hint=f"did you mean LAMINA_{near[0].upper()}?" if near else "known: " + ", ".join(known),
            )


def _parsed(name: str, value: Any, kind: object) -> Any:
    if kind == "Path" and value == "":
        raise _refused(name, value, "a path; . is the folder where the command runs", None)
    if kind in ("Path", "Path | None", "str") and re.search("[\ud800-\udfff]", str(value)):
        raise Invalid("INVALID_SETTING", f"{_names_of(name)} is not in UTF-8; accepted: text that is")
    if kind == "int" and not isinstance(value, int):
        try:
            return int(value)
        except ValueError as error:
            raise Invalid(
                "INVALID_SETTING", f"{_names_of(name)} is {value!r}; accepted: a whole number"
            ) from error
    if kind == "bool" and not isinstance(value, bool):
        words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False, "": False}
        if value.lower() not in words:
            raise Invalid("INVALID_SETTING", f"{_names_of(name)} is {value!r}; accepted: 1 or 0")
        return words[value.lower()]
    if kind == "Path | None" and value == "":
        return None
    return Path(value) if kind in ("Path", "Path | None") else value

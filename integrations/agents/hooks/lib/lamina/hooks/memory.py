"""What a hook asks of a server: a page, what was said since, what was recalled, and to keep what was said.

Nothing leaves here unmasked: secrets go before a text is a question or a turn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from lamina.hooks.choices import WorkLine
from lamina.hooks.notes import Turn
from lamina.hooks.wire import Away, Refused, ServerClient, hint_of
from lamina.kernel.shown import cut_between_words
from lamina.language.secret_formats import masked

__all__ = ["CHECKPOINT", "LineMemory", "LoggedTurn", "Recalled"]

CHECKPOINT: Final = "lamina:checkpoint"
"""The label of what hooks write down by themselves, beside that of the line of work."""
_MCP_VERSION: Final = "2026-07-28"
_META: Final = "io.modelcontextprotocol/"
_RECALL_TOKENS: Final = 300
_QUERY_LENGTH_MAX: Final = 2000
_PROMPT_LENGTH_MAX: Final = 16_000
_REPLY_LENGTH_MAX: Final = 4000
"""Of what is kept of an answer: its beginning says what was done."""
_SAID_MAX: Final = 40


@dataclass(frozen=True, slots=True)
class LoggedTurn:
    """A turn as the log has it; ``role`` is user, assistant or, of what hooks wrote down, tool."""

    role: str
    text: str
    at: str


@dataclass(frozen=True, slots=True)
class Recalled:
    """A block for a model, and the ids of what stands in it."""

    block: str
    ids: tuple[str, ...]


class LineMemory:
    """A server's memory of one line of work, as a host's session sees it."""

    def __init__(
        self,
        server: ServerClient,
        line: WorkLine,
        session: str,
        *,
        agent: str,
        scope: str | None,
        caller: str,
    ) -> None:
        self._server, self._line, self._session, self._agent = server, line, session, agent
        self._scope, self._caller = scope, caller

    def page(self, tokens_max: int, since: str) -> str:
        """The start-up page of at most so many tokens, with what changed ``since`` where that says when somebody was here last.

        Raises ``Away`` and ``Refused``.
        """
        told: dict[str, Any] = {**self._subject, "max_tokens": tokens_max}
        told |= {"since": since} if since else {}
        return str(self._tool("capsule_read", told)["content"][0]["text"])

    def written_at(self) -> str:
        """When the capsule was brought up to date last; empty where there is none. Raises ``Away`` and ``Refused``."""
        try:
            read = self._server.ask("POST", "/v1/continuity/read", self._subject)
        except Refused as refused:
            if refused.status == 404:
                return ""
            raise
        return str((read.get("capsule") or {}).get("updated_at") or "")

    def said_since(self, instant: str) -> list[LoggedTurn]:
        """What was said in this line of work since, oldest first; raises ``Away`` and ``Refused``."""
        asked = {"scope": self.scope, "labels": self._line.label, "limit": str(_SAID_MAX)}
        asked |= {"since": instant} if instant else {}
        page = self._server.ask("GET", f"/v1/events?{urlencode(asked)}")
        return [
            LoggedTurn(
                str(each["content"].get("role") or ""),
                str(each["content"]["text"]),
                each["context"]["observed_at"],
            )
            for each in reversed(page["items"])
            if not (each["excluded_from_recall"] or each["quarantined"]) and "text" in (each["content"] or {})
        ]

    def recalled(self, prompt: str, *, with_own: bool) -> Recalled | None:
        """What memory has to say to a prompt where it is sure enough, else None; raises ``Away`` and ``Refused``.

        What this session said stands before the model already: it counts ``with_own`` alone, behind a compaction.
        """
        out: list[dict[str, Any]] = [{"NOT": {"labels": CHECKPOINT}}]
        out += [] if with_own else [{"NOT": {"session": self._session}}]
        asked = {
            "scope": self.scope,
            "query": masked(_sendable(prompt))[:_QUERY_LENGTH_MAX],
            "budgets": {"max_tokens": _RECALL_TOKENS},
            "filters": {"AND": out},
        }
        pack = self._server.ask("POST", "/v1/recall", asked)
        block = str(pack.get("context_block") or "").strip()
        evidence = pack["abstain"]  # what a prompt is near to helps, whether it asks or tells
        if not block or evidence["best_score"] < evidence["threshold"]:
            return None
        return Recalled(block, tuple(sorted(set(pack["provenance"]["markers"].values()))))

    def keep(self, turn: Turn, session: str, agent: str) -> None:
        """Store a turn of a session, and its answer. What is sent twice is stored once. Raises ``Away`` and ``Refused``."""
        self._store(turn.at, "user", cut_between_words(turn.prompt, _PROMPT_LENGTH_MAX), self.caller, session)
        if turn.reply:
            try:
                self._store(
                    turn.at, "assistant", cut_between_words(turn.reply, _REPLY_LENGTH_MAX), agent, session
                )
            except Refused:
                return  # who may speak for themselves alone keeps their own words

    def keep_checkpoint(self, at: str, words: str) -> None:
        """Write mechanical facts down: nothing is derived from them. Raises ``Away`` and ``Refused``."""
        self._store(
            at, "tool", cut_between_words(words, _REPLY_LENGTH_MAX), self._agent, self._session, CHECKPOINT
        )

    @property
    def scope(self) -> str:
        """Whose memory is meant: what was chosen, or the caller's own."""
        return self._scope or self.caller

    @property
    def caller(self) -> str:
        """Who calls, as the server says; raises ``Away`` and ``Refused``."""
        if not self._caller:
            self._caller = str(self._server.ask("GET", "/v1/auth/whoami")["caller"])
        return self._caller

    @property
    def _subject(self) -> dict[str, str]:
        return {"subject_kind": self._line.kind, "subject_id": self._line.id}

    def _store(self, at: str, role: str, text: str, speaker: str, session: str, *labels: str) -> None:
        text, session = masked(_sendable(text)), _sendable(session)
        key = hashlib.sha256("\n".join((session, at, role, text)).encode()).hexdigest()[:40]
        envelope: dict[str, Any] = {
            "scope": self.scope,
            "modality": "conversation",
            "content": {"kind": "message", "role": role, "text": text},
            "context": {"observed_at": at, "labels": [self._line.label, *labels]},
            "observed_actor": {"id": speaker, "session": session},
            "idempotency_key": f"hook-{key}",
        }
        if labels:
            envelope["directives"] = {"extract": [], "embed": "none"}
        self._server.ask("POST", "/v1/experience", envelope)

    def _tool(self, name: str, given: Mapping[str, Any]) -> Any:
        meta = {
            f"{_META}protocolVersion": _MCP_VERSION,
            f"{_META}clientInfo": {"name": "lamina-hooks", "version": "1"},
            f"{_META}clientCapabilities": {},
        }
        asked = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": dict(given), "_meta": meta},
        }
        told = {"MCP-Protocol-Version": _MCP_VERSION, "Mcp-Method": "tools/call", "Mcp-Name": name}
        result = self._server.ask("POST", "/mcp", asked, told).get("result")
        if not isinstance(result, dict):
            raise Away("no result")
        if result.get("isError"):
            said = result.get("structuredContent") or {}
            raise Refused(400, str(said.get("error_code", "")), hint_of(said))
        return result


def _sendable(text: str) -> str:
    """The text without what no server takes: hosts cut texts inside an emoji, and half of one, or NUL, would keep the turn, and all that
    wait behind it, from being sent for ever."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")

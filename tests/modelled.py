"""A language model for tests: a real server on this machine that speaks the OpenAI chat API, and says what a test wants."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Told = dict[str, Any]


def found(*new: dict[str, Any], **lists: Any) -> str:
    """An answer about a turn that says something of loops alone, with everything filled in."""
    items = [{"type": "commitment", "when": None, **item} for item in new]
    loops = {"new": items, "reinforced": [], "completed": [], "dropped": [], **lists}
    return json.dumps({"facts": [], "loops": loops, "identity": []})


class ModelServer(ThreadingHTTPServer):
    """``answers`` is asked what to say to a question, as the JSON that it came as; it may say any text."""

    daemon_threads = True

    def __init__(self, answers: Callable[[Told], str] = lambda told: found()) -> None:
        super().__init__(("127.0.0.1", 0), _Asked)
        self.answers = answers
        self.status = 200
        self.wait_s = 0.0
        self.shares = True
        """Whether it answers questions about several turns as such."""
        self.words = False
        """Whether ``answers`` is asked about numbered lines, too; otherwise it has nothing to tell of them."""
        self.instead: Callable[[Any], None] | None = None
        """What is done to a request in place of an answer."""
        self.asked: list[Told] = []
        self.requests: list[dict[str, Any]] = []
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        """What ``LAMINA_LLM_URL`` should be."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def turns(self) -> list[str]:
        """The turns that it was asked about and answered, in order."""
        return [told["turn"] for told in self.asked]

    def stop(self) -> None:
        """End it; nobody listens there any more."""
        self.shutdown()
        self.server_close()


class _Asked(BaseHTTPRequestHandler):
    server: ModelServer
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet, else each answer waits for an acknowledgement

    def do_POST(self) -> None:
        """Answer a chat completion."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(asked)
        time.sleep(self.server.wait_s)
        if self.server.instead is not None:
            self.close_connection = True
            self.server.instead(self)
            return
        if self.server.status != 200:
            self._send(self.server.status, {})
            return
        told = json.loads(asked["messages"][-1]["content"])
        text = self._said(told) if self.server.words or "lines" not in told else '{"sentences": []}'
        usage = {"prompt_tokens": 7, "completion_tokens": 5}
        self._send(200, {"choices": [{"message": {"content": text}}], "usage": usage})

    def _said(self, told: Told) -> str:
        """The answer to a question, or those to each turn of a shared one, as far as they are JSON."""
        if "turns" not in told or not self.server.shares:
            text = self.server.answers(told)
            self.server.asked.append(told)
            return text
        answers = []
        for turn in (each for each in told["turns"] if "n" in each):
            alone = {**told, "turn": turn["text"]}
            text = self.server.answers(alone)
            self.server.asked.append(alone)
            try:
                answers.append({"n": turn["n"], **json.loads(text)})
            except ValueError:
                return text
        return json.dumps({"turns": answers})

    def _send(self, status: int, body: dict[str, Any]) -> None:
        payload = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)
        self.wfile.flush()

    def handle(self) -> None:
        """As the base does; whoever asked may be gone."""
        with contextlib.suppress(ConnectionError, ValueError):
            super().handle()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

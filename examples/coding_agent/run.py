"""A scripted coding agent over three sittings, with the plugin and without: what is in its context when it starts.

    lamina serve
    python examples/coding_agent/run.py

It runs the plugin's own script for every event, as Claude Code does, and uses the tool capsule_write where the plugin asks for it.
`sittings.json` is what was said, `must_come_back.json` what a start has to bring back; both were written before the plugin.
With --show the contexts are printed whole.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
SCRIPT = HERE.parents[1] / "integrations/agents/hooks/lamina_hook.py"
KINDS = ("goal", "constraints", "open ends", "decisions")

Hook = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""An event and the host's JSON to the hook's answer."""
Tool = Callable[[str, Mapping[str, Any]], None]
"""What the agent does with a tool of Lamina."""


class Started(NamedTuple):
    """What the plugin put into the context of a start, and what the host itself had kept."""

    start: str
    injected: str
    kept_by_host: str


class Score(NamedTuple):
    """Of one start: what came back of what had to, by kind, what did not, and what was settled and is there all the same."""

    start: str
    tokens: int
    back: dict[str, tuple[int, int]]
    missing: list[str]
    unsettled: list[str]


def play(hook: Hook, use: Tool, folder: Path) -> Iterator[Started | str]:
    """The three sittings: each start, and the wish of each stop that asked for the capsule."""
    story = json.loads((HERE / "sittings.json").read_text(encoding="utf-8"))
    kind, _, subject = story["subject"].partition(":")
    for sitting in story["sittings"]:
        told = {
            "session_id": f"{sitting['name']}-{uuid.uuid4().hex[:8]}",
            "cwd": str(folder),
            "transcript_path": None,
        }
        said = hook("SessionStart", {**told, "source": "startup"})
        yield Started(f"{sitting['name']} startup", _injected(said), "")
        for turn in sitting["turns"]:
            if "compaction" in turn:
                hook("PreCompact", {**told, "trigger": turn["compaction"]})
                said = hook("SessionStart", {**told, "source": "compact"})
                yield Started(f"{sitting['name']} compact", _injected(said), turn["host_summary"])
                continue
            hook("UserPromptSubmit", {**told, "prompt": turn["user"]})
            if turn["agent"] is None:
                break  # the machine is down: no Stop, no SessionEnd
            stopped = {**told, "stop_hook_active": False, "last_assistant_message": turn["agent"]}
            if hook("Stop", stopped).get("decision") == "block":
                yield turn["user"]
                use("capsule_write", {"subject_kind": kind, "subject_id": subject, **turn.get("capsule", {})})
                hook(
                    "Stop",
                    {
                        **stopped,
                        "stop_hook_active": True,
                        "last_assistant_message": "The capsule is up to date.",
                    },
                )
        if sitting["ends"] == "closed":
            hook("SessionEnd", {**told, "reason": "prompt_input_exit"})


def scores(starts: list[Started]) -> list[Score]:
    """How the starts did, those of which something has to come back."""
    wanted = json.loads((HERE / "must_come_back.json").read_text(encoding="utf-8"))["starts"]
    contexts = {start.start: start for start in starts}
    return [_score(each, contexts[each["start"]]) for each in wanted]


def _score(wanted: Mapping[str, Any], started: Started) -> Score:
    context = f"{started.injected}\n{started.kept_by_host}"
    back = {kind: [each for each in wanted[kind] if each in context] for kind in KINDS}
    return Score(
        start=started.start,
        tokens=-(-len(started.injected) // 4),
        back={kind: (len(back[kind]), len(wanted[kind])) for kind in KINDS},
        missing=[each for kind in KINDS for each in wanted[kind] if each not in context],
        unsettled=[each for each in wanted.get("settled", ()) if each in context],
    )


def _injected(answer: Mapping[str, Any]) -> str:
    return str((answer.get("hookSpecificOutput") or {}).get("additionalContext", ""))


def table(title: str, rows: list[Score]) -> str:
    """The scores, a line to a start."""
    lines = [title, f"{'start':<18}{'tokens':>7}" + "".join(f"{kind:>13}" for kind in KINDS)]
    for row in rows:
        counts = "".join(f"{f'{back} of {of}':>13}" for back, of in row.back.values())
        lines.append(f"{row.start:<18}{row.tokens:>7}{counts}")
        lines += [f"    missing: {each}" for each in row.missing]
        lines += [f"    settled and there all the same: {each}" for each in row.unsettled]
    return "\n".join(lines)


def without_plugin(*_: object) -> Mapping[str, Any]:
    """A host without hooks."""
    return {}


def with_plugin(environment: Mapping[str, str]) -> Hook:
    """A host that runs the plugin's script."""

    def hook(event: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        command = [sys.executable, str(SCRIPT), "claude-code", event]
        told = json.dumps({**given, "hook_event_name": event})
        done = subprocess.run(
            command, input=told, capture_output=True, check=True, text=True, env=dict(environment), timeout=10
        )
        sys.stderr.write(done.stderr)
        return json.loads(done.stdout) if done.stdout.strip() else {}

    return hook


def tool_at(url: str) -> Tool:
    """The tools of a server, as an agent uses them over MCP."""

    def use(name: str, arguments: Mapping[str, Any]) -> None:
        version, prefix = "2026-07-28", "io.modelcontextprotocol/"
        meta = {
            f"{prefix}protocolVersion": version,
            f"{prefix}clientInfo": {"name": "example", "version": "1"},
        }
        params = {
            "name": name,
            "arguments": dict(arguments),
            "_meta": {**meta, f"{prefix}clientCapabilities": {}},
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": version,
            "Mcp-Method": "tools/call",
            "Mcp-Name": name,
            "X-Lamina-Agent": "agent:claude-code",
        }
        request = urllib.request.Request(f"{url}/mcp", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            if b'"isError":true' in answer.read().replace(b" ", b""):
                raise RuntimeError(f"{name} failed")

    return use


def main() -> None:
    """Play it twice and print what came back."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", default=os.environ.get("LAMINA_URL", "http://127.0.0.1:8700"))
    parser.add_argument("--show", action="store_true", help="print the contexts whole")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        own = {"LAMINA_URL": asked.url, "LAMINA_SUBJECT": "thread:invoice-export", "XDG_STATE_HOME": folder}
        hook = with_plugin({**os.environ, **own})
        played = list(play(hook, tool_at(asked.url), Path(folder)))
    starts = [each for each in played if isinstance(each, Started)]
    if asked.show:
        for each in starts:
            print(f"==== {each.start}\n{each.injected}\n")
    print(table("With the plugin", scores(starts)))
    print(f"asked for the capsule {len(played) - len(starts)} times\n")
    bare = [each for each in play(without_plugin, lambda *_: None, Path(".")) if isinstance(each, Started)]
    print(table("Without it, what the host keeps itself", scores(bare)))


if __name__ == "__main__":
    main()

"""Two conversations with an agent whose model answers by rules, so that nothing is asked of the network but the memory at LAMINA_URL."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
from agents.memory import Session
from lamina_openai_agents import AsyncClient, LaminaSession
from openai.types.responses import ResponseOutputMessage, ResponseOutputText


class RuleModel(Model):
    """Says how many items it was shown, and the last."""

    async def get_response(
        self, system_instructions: Any, input: Any, *args: Any, **more: Any
    ) -> ModelResponse:
        shown = [input] if isinstance(input, str) else input
        said = f"I see {len(shown)} items; you said: {shown[-1]['content']}"
        text = ResponseOutputText(annotations=[], text=said, type="output_text")
        message = ResponseOutputMessage(
            id="msg", content=[text], role="assistant", status="completed", type="message"
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **more: Any) -> Any:
        raise NotImplementedError


async def main() -> None:
    async with AsyncClient(os.environ["LAMINA_URL"], actor="user:ana") as client:
        agent = Agent(name="helper", model=RuleModel())
        quiet = RunConfig(tracing_disabled=True)

        def session(name: str) -> LaminaSession:
            return LaminaSession(name, client, user="user:ana", agent="agent:helper")

        monday = session("monday")
        assert isinstance(monday, Session)
        first = await Runner.run(
            agent, "I moved to Lisbon, and I am allergic to peanuts.", session=monday, run_config=quiet
        )
        second = await Runner.run(agent, "Book me a table.", session=monday, run_config=quiet)
        print("monday:", first.final_output)
        print("monday:", second.final_output)
        assert "I see 3 items" in second.final_output
        again = session("monday")
        assert len(await again.get_items()) == 4
        assert [item["role"] for item in await again.get_items(limit=2)] == ["user", "assistant"]

        tuesday = session("tuesday")
        assert await tuesday.get_items() == []
        await client.experience(
            "Ana likes tea.", scope="user:ana", wait="indexed"
        )  # facts of all before it are drawn by then
        block = await tuesday.recall("What must I not eat?")
        print("tuesday knows:\n" + block)
        assert "allergic to peanuts" in block

        popped = await monday.pop_item()
        print("popped:", popped["role"])
        assert len(await monday.get_items()) == 3
        turns = [each.id for each in (await client.events.list(scope="user:ana", session="monday")).items]
        drawn = [fact.id for fact in (await client.facts.list(scope="user:ana")).items]
        await monday.clear_session()
        assert await monday.get_items() == []
        assert "peanuts" not in await tuesday.recall("What must I not eat?")
        for turn in turns:
            assert (await client.events.get(turn)).content["kind"] == "redacted"
        left = (await client.facts.list(scope="user:ana")).items
        assert "tea" in str(left)
        assert "peanut" not in str(left)
        assert "Lisbon" not in str(left)
        print(
            "cleared: nothing of monday is there any more;",
            len(turns),
            "turns and",
            len(drawn) - len(left),
            "facts erased",
        )


asyncio.run(main())

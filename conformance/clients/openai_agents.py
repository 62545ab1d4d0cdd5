"""openai-agents."""

import asyncio
import os
import sys

from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import TOOLS, serve

set_tracing_disabled(True)


async def say(agent, task, said):
    if not task["stream"]:
        return await Runner.run(agent, said)
    result = Runner.run_streamed(agent, said)
    async for _ in result.stream_events():
        pass
    return result


def run(task):
    async def both():
        client = AsyncOpenAI(api_key="x", base_url=task["base_url"] + "/v1")
        kind = OpenAIChatCompletionsModel if task["format"] == "openai-chat" else OpenAIResponsesModel
        tools = [function_tool(tool, strict_mode=False) for tool in TOOLS]
        agent = Agent(name="tester", model=kind(model="gpt-4o", openai_client=client), tools=tools)
        result = await say(agent, task, task["prompt"])
        if task["then"]:
            result = await say(agent, task, result.to_input_list() + [{"role": "user", "content": task["then"]}])
        return str(result.final_output)

    return asyncio.run(both())


serve(run, {"openai-chat", "openai-responses"})

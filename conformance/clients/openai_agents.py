"""openai-agents, with a session."""

import asyncio
import base64
import os
import sys

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    SQLiteSession,
    ToolOutputImage,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import ALL, PNG, serve, talk

set_tracing_disabled(True)
MODELS = {"openai-chat": OpenAIChatCompletionsModel, "openai-responses": OpenAIResponsesModel}


def image(text: str) -> ToolOutputImage:
    """Returns a picture."""
    return ToolOutputImage(image_url="data:image/png;base64," + base64.b64encode(PNG).decode())


def run(task):
    # In memory.
    session = SQLiteSession("1")

    async def say(message):
        client = AsyncOpenAI(api_key="x", base_url=task["base_url"] + "/v1")
        model = MODELS[message.format](model="gpt-4o", openai_client=client)
        # Strict schemas, its default, would make the argument of `optional` a required one.
        tools = [function_tool(function, strict_mode=False) for function in message.tools]
        agent = Agent(name="tester", model=model, tools=tools)
        limit = {"max_turns": message.limit} if message.limit else {}
        if not task["stream"]:
            return str((await Runner.run(agent, message.text, session=session, **limit)).final_output)
        result = Runner.run_streamed(agent, message.text, session=session, **limit)
        async for _ in result.stream_events():
            pass
        return str(result.final_output)

    return asyncio.run(talk(task, say, image))


serve(run, MODELS, can=ALL)

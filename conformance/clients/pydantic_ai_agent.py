"""pydantic-ai."""

import asyncio
import os
import sys

from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import TOOLS, serve


def model(task):
    url = task["base_url"]
    if task["format"] == "anthropic":
        return AnthropicModel("claude-opus-4-8", provider=AnthropicProvider(api_key="x", base_url=url))
    provider = OpenAIProvider(api_key="x", base_url=url + "/v1")
    kind = OpenAIChatModel if task["format"] == "openai-chat" else OpenAIResponsesModel
    return kind("gpt-4o", provider=provider)


async def look(_context, events):
    async for _ in events:
        pass


async def say(agent, task, prompt, history):
    # With a handler of events, the model's responses are streamed.
    handler = look if task["stream"] else None
    return await agent.run(prompt, message_history=history, event_stream_handler=handler)


def run(task):
    async def both():
        agent = Agent(model(task), tools=TOOLS)
        result = await say(agent, task, task["prompt"], None)
        if task["then"]:
            result = await say(agent, task, task["then"], result.all_messages())
        return result.output

    return asyncio.run(both())


serve(run, {"anthropic", "openai-chat", "openai-responses"})

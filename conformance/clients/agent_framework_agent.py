"""agent-framework, with a session that its service keeps where it can."""

import asyncio
import os
import sys

from agent_framework import Agent, Content
from agent_framework_openai import OpenAIChatClient, OpenAIChatCompletionClient

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import PNG, serve, talk

CLIENTS = {"openai-chat": OpenAIChatCompletionClient, "openai-responses": OpenAIChatClient}


def image(text: str) -> Content:
    """Returns a picture."""
    return Content.from_data(data=PNG, media_type="image/png")


def run(task):
    kept = {}

    async def say(message):
        model = "gpt-5.4" if message.format == "openai-responses" else "gpt-4o"
        client = CLIENTS[message.format](model=model, api_key="x", base_url=task["base_url"] + "/v1")
        agent = Agent(client, tools=message.tools)
        session = kept.setdefault("session", agent.create_session())
        if not task["stream"]:
            return (await agent.run(message.text, session=session)).text
        stream = agent.run(message.text, session=session, stream=True)
        async for _ in stream:
            pass
        # Some updates take the place of those before, so that their texts are not joined here.
        return (await stream.get_final_response()).text

    return asyncio.run(talk(task, say, image))


# A run has no limit of its own, and a session belongs to one API and does not go back.
serve(run, CLIENTS, can=["tool:delegate", "tool:huge", "tool:surrogate", "tool:image", "interrupt", "withdraw-tools"])

"""openai-agents, with a session, or with a conversation that the server keeps: `previous` or `conversation`."""

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
# How the conversation is kept.
KEPT = sys.argv[1] if len(sys.argv) > 1 else "session"
if KEPT != "session":
    # Only Responses has anything to go on from.
    del MODELS["openai-chat"]


def image(text: str) -> ToolOutputImage:
    """Returns a picture."""
    return ToolOutputImage(image_url="data:image/png;base64," + base64.b64encode(PNG).decode())


def run(task):
    # A session in memory; else what the server has given to go on from.
    kept = {"session": SQLiteSession("1")} if KEPT == "session" else {}

    async def say(message):
        if message.fork:
            await kept["session"].pop_item()
        client = AsyncOpenAI(api_key="x", base_url=task["base_url"] + "/v1")
        name = "gpt-5.4" if message.format == "openai-responses" else "gpt-4o"
        model = MODELS[message.format](model=name, openai_client=client)
        # Strict schemas, its default, would make the argument of `optional` a required one.
        tools = [function_tool(function, strict_mode=False) for function in message.tools]
        agent = Agent(name="tester", model=model, tools=tools)
        options = {"max_turns": message.limit} if message.limit else {}
        if KEPT == "previous":
            options["auto_previous_response_id"] = True
        elif KEPT == "conversation" and not kept:
            kept["conversation_id"] = (await client.conversations.create()).id
        if not task["stream"]:
            result = await Runner.run(agent, message.text, **kept, **options)
        else:
            result = Runner.run_streamed(agent, message.text, **kept, **options)
            async for _ in result.stream_events():
                pass
        if KEPT == "previous":
            kept["previous_response_id"] = result.last_response_id
        return str(result.final_output)

    return asyncio.run(talk(task, say, image))


# What the server keeps ends with an answer.
serve(run, MODELS, can=[need for need in ALL if need != "fork" or KEPT == "session"])

"""smolagents: a `ToolCallingAgent`, which keeps its memory with `reset=False`."""

import asyncio
import os
import sys

from smolagents import LogLevel, OpenAIModel, ToolCallingAgent, tool

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import ALL, serve, talk

MODELS = {
    "openai-chat": lambda url: OpenAIModel(model_id="gpt-4o", api_base=url + "/v1", api_key="x"),
}


def described(function):
    # Its decorator wants a line for each argument.
    if "Args:" not in function.__doc__ and function.__code__.co_argcount:
        function.__doc__ += "\n\nArgs:\n    text: The text."
    return tool(function)


def run(task):
    agent = None

    async def say(message):
        nonlocal agent
        new = ToolCallingAgent(
            tools=[described(function) for function in message.tools],
            model=MODELS[message.format](task["base_url"]),
            stream_outputs=task["stream"],
            verbosity_level=LogLevel.OFF,
        )
        if agent:
            new.memory = agent.memory
        if message.fork:
            new.memory.steps.pop()
        first, agent = agent is None, new
        return str(await asyncio.to_thread(agent.run, message.text, reset=first, max_steps=message.limit))

    return asyncio.run(talk(task, say, stop=lambda: agent.interrupt()))


# A picture ends up outside of the conversation, and its model for Bedrock takes no tools.
serve(run, MODELS, can=[need for need in ALL if need != "tool:image"])

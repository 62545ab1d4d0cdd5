"""autogen-agentchat: an `AssistantAgent`, which keeps its context from run to run."""

import asyncio
import logging
import os
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_core import CancellationToken
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_ext.models.anthropic import AnthropicChatCompletionClient
from autogen_ext.models.ollama import OllamaChatCompletionClient
from autogen_ext.models.openai import OpenAIChatCompletionClient

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import ALL, serve, talk

logging.disable(logging.WARNING)
MODELS = {
    "anthropic": lambda url: AnthropicChatCompletionClient(
        model="claude-3-5-sonnet-20241022", api_key="x", base_url=url
    ),
    "openai-chat": lambda url: OpenAIChatCompletionClient(model="gpt-4o", api_key="x", base_url=url + "/v1"),
    "ollama": lambda url: OllamaChatCompletionClient(model="llama3.1", host=url),
}


def run(task):
    context = UnboundedChatCompletionContext()
    token = None

    async def say(message):
        nonlocal token
        if message.fork:
            state = await context.save_state()
            await context.load_state({**state, "messages": state["messages"][:-1]})
        token = CancellationToken()
        agent = AssistantAgent(
            "tester",
            MODELS[message.format](task["base_url"]),
            tools=message.tools,
            model_context=context,
            model_client_stream=task["stream"],
            # One by default, which is no loop; 10 is what its documentation has.
            max_tool_iterations=message.limit or 10,
        )
        result = await agent.run(task=message.text, cancellation_token=token)
        return result.messages[-1].to_text()

    return asyncio.run(talk(task, say, stop=lambda: token.cancel()))


# Its tools return text only.
serve(run, MODELS, can=[need for need in ALL if need != "tool:image"])

"""Haystack: an `Agent`, and the messages of each run kept by the user."""

import asyncio
import os
import sys

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from haystack.utils import Secret
from haystack_integrations.components.generators.anthropic import AnthropicChatGenerator
from haystack_integrations.components.generators.cohere import CohereChatGenerator
from haystack_integrations.components.generators.mistral import MistralChatGenerator
from haystack_integrations.components.generators.ollama import OllamaChatGenerator

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import ALL, serve, talk

KEY = Secret.from_token("x")


def anthropic(url):
    # It has no option for the address; the SDK reads it here.
    os.environ["ANTHROPIC_BASE_URL"] = url
    return AnthropicChatGenerator(api_key=KEY, model="claude-opus-4-8")


MODELS = {
    "anthropic": anthropic,
    "openai-chat": lambda url: OpenAIChatGenerator(api_key=KEY, model="gpt-4o", api_base_url=url + "/v1"),
    # It sends reasoning back, which not every model takes.
    "openai-responses": lambda url: OpenAIResponsesChatGenerator(api_key=KEY, model="gpt-5.4", api_base_url=url + "/v1"),
    "mistral": lambda url: MistralChatGenerator(api_key=KEY, model="mistral-large-latest", api_base_url=url + "/v1"),
    "cohere": lambda url: CohereChatGenerator(api_key=KEY, model="command-a-03-2025", api_base_url=url),
    "ollama": lambda url: OllamaChatGenerator(model="llama3.1", url=url),
}


async def look(_chunk):
    pass


def run(task):
    conversation = []

    async def say(message):
        nonlocal conversation
        if message.fork:
            conversation = conversation[:-1]
        agent = Agent(
            chat_generator=MODELS[message.format](task["base_url"]),
            tools=[create_tool_from_function(function) for function in message.tools],
            **({"max_agent_steps": message.limit} if message.limit else {}),
        )
        conversation.append(ChatMessage.from_user(message.text))
        result = await agent.run_async(list(conversation), streaming_callback=look if task["stream"] else None)
        conversation = result["messages"]
        return conversation[-1].text

    return asyncio.run(talk(task, say))


# The results of its tools are text.
serve(run, MODELS, can=[need for need in ALL if need != "tool:image"])

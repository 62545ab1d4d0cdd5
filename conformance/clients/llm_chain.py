"""llm: a conversation whose chains call tools."""

import asyncio
import os
import sys

import llm
from llm.default_plugins.openai_models import AsyncChat, AsyncResponses
from llm_anthropic import AsyncClaudeMessages

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import serve, talk

MODELS = {
    "anthropic": lambda url: AsyncClaudeMessages("claude-opus-4-8", base_url=url),
    "openai-chat": lambda url: AsyncChat("gpt-4o", api_base=url + "/v1", supports_tools=True),
    "openai-responses": lambda url: AsyncResponses("gpt-5.4", api_base=url + "/v1", supports_tools=True),
}


def run(task):
    kept = {}

    async def say(message):
        if not kept:
            model = MODELS[message.format](task["base_url"])
            model.key = "x"
            kept["conversation"] = model.conversation()
        tools = [llm.Tool.function(function) for function in message.tools]
        options = {"chain_limit": message.limit} if message.limit else {}
        chain = kept["conversation"].chain(message.text, tools=tools, stream=task["stream"], **options)
        return await chain.text()

    return asyncio.run(talk(task, say))


# An answer is one with the results before it.
serve(run, MODELS, can=["tool:delegate", "tool:huge", "tool:surrogate", "interrupt", "max-turns", "withdraw-tools"])

"""semantic-kernel: a `ChatCompletionAgent` with a thread."""

import asyncio
import os
import sys

from openai import AsyncOpenAI
from semantic_kernel.agents import ChatCompletionAgent, ChatHistoryAgentThread
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.contents import ChatHistory
from semantic_kernel.functions import KernelPlugin, kernel_function

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import serve, talk


def run(task):
    history = ChatHistory()
    kept = {"thread": ChatHistoryAgentThread(history)}

    async def say(message):
        if message.fork:
            history.messages.pop()
        client = AsyncOpenAI(api_key="x", base_url=task["base_url"] + "/v1")
        functions = [kernel_function(function, function.__name__, function.__doc__) for function in message.tools]
        agent = ChatCompletionAgent(
            service=OpenAIChatCompletion(ai_model_id="gpt-4o", async_client=client),
            name="tester",
            plugins=[KernelPlugin(name="standard", functions=functions)] if functions else [],
        )
        if not task["stream"]:
            response = await agent.get_response(messages=message.text, thread=kept["thread"])
            return str(response.message)
        said = ""
        async for response in agent.invoke_stream(messages=message.text, thread=kept["thread"]):
            said += str(response.message)
        return said

    return asyncio.run(talk(task, say))


serve(run, ["openai-chat"], can=["tool:delegate", "tool:huge", "tool:surrogate", "interrupt", "fork", "withdraw-tools"])

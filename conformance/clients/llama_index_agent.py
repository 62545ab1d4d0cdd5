"""llama-index: a `FunctionAgent` with a memory."""

import asyncio
import os
import sys

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ImageBlock
from llama_index.core.memory import Memory
from llama_index.core.tools import FunctionTool
from llama_index.llms.anthropic import Anthropic
from llama_index.llms.bedrock_converse import BedrockConverse
from llama_index.llms.google_genai import GoogleGenAI
from llama_index.llms.mistralai import MistralAI
from llama_index.llms.ollama import Ollama
from llama_index.llms.openai import OpenAI, OpenAIResponses

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import ALL, PNG, serve, talk


def image(text: str) -> ImageBlock:
    """Returns a picture."""
    return ImageBlock(image=PNG, image_mimetype="image/png")


MODELS = {
    "anthropic": lambda url: Anthropic(model="claude-opus-4-8", api_key="x", base_url=url),
    "openai-chat": lambda url: OpenAI(model="gpt-4o", api_key="x", api_base=url + "/v1"),
    "openai-responses": lambda url: OpenAIResponses(model="gpt-5.4", api_key="x", api_base=url + "/v1"),
    "gemini": lambda url: GoogleGenAI(
        model="gemini-2.5-pro",
        api_key="x",
        http_options={"base_url": url},
        # Without these it asks the server about the model, which the mock does not know.
        context_window=1_000_000,
        max_tokens=8192,
    ),
    "bedrock-converse": lambda url: BedrockConverse(
        model="us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        aws_access_key_id="x",
        aws_secret_access_key="x",
        region_name="us-east-1",
        endpoint_url=url,
    ),
    "mistral": lambda url: MistralAI(model="mistral-large-latest", api_key="x", endpoint=url),
    "ollama": lambda url: Ollama(model="llama3.1", base_url=url, context_window=100_000),
}


def run(task):
    memory = handler = None

    async def say(message):
        nonlocal memory, handler
        memory = memory or Memory.from_defaults(session_id="1")
        if message.fork:
            await memory.aset((await memory.aget_all())[:-1])
        agent = FunctionAgent(
            tools=[FunctionTool.from_defaults(fn=function) for function in message.tools],
            llm=MODELS[message.format](task["base_url"]),
            streaming=task["stream"],
        )
        limit = {"max_iterations": message.limit} if message.limit else {}
        handler = agent.run(message.text, memory=memory, **limit)
        return str(await handler)

    def stop():
        asyncio.ensure_future(handler.cancel_run())

    return asyncio.run(talk(task, say, image, stop=stop))


# Its Cohere speaks the first version of that API.
serve(run, MODELS, can=ALL)

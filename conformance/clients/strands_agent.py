"""strands-agents: an `Agent` that is called again keeps its messages."""

import asyncio
import os
import sys

import boto3
from strands import Agent, tool
from strands.agent.conversation_manager import SummarizingConversationManager
from strands.models.anthropic import AnthropicModel
from strands.models.bedrock import BedrockModel
from strands.models.gemini import GeminiModel
from strands.models.mistral import MistralModel
from strands.models.ollama import OllamaModel
from strands.models.openai import OpenAIModel
from strands.models.openai_responses import OpenAIResponsesModel

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import ALL, PNG, serve, talk


@tool
def image(text: str) -> dict:
    """Returns a picture."""
    return {"status": "success", "content": [{"image": {"format": "png", "source": {"bytes": PNG}}}]}


SESSION = boto3.Session(aws_access_key_id="x", aws_secret_access_key="x", region_name="us-east-1")
MODELS = {
    "anthropic": lambda url, stream: AnthropicModel(
        client_args={"api_key": "x", "base_url": url}, model_id="claude-opus-4-8", max_tokens=1024
    ),
    "openai-chat": lambda url, stream: OpenAIModel(
        client_args={"api_key": "x", "base_url": url + "/v1"}, model_id="gpt-4o", stream=stream
    ),
    "openai-responses": lambda url, stream: OpenAIResponsesModel(
        client_args={"api_key": "x", "base_url": url + "/v1"}, model_id="gpt-5.4"
    ),
    "gemini": lambda url, stream: GeminiModel(
        client_args={"api_key": "x", "http_options": {"base_url": url}}, model_id="gemini-2.5-pro"
    ),
    "bedrock-converse": lambda url, stream: BedrockModel(
        boto_session=SESSION,
        endpoint_url=url,
        model_id="us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        streaming=stream,
    ),
    "mistral": lambda url, stream: MistralModel(
        api_key="x", client_args={"server_url": url}, model_id="mistral-large-latest", stream=stream
    ),
    "ollama": lambda url, stream: OllamaModel(url, model_id="llama3.1"),
}


def run(task):
    agent = None

    async def say(message):
        nonlocal agent
        tools = [image if function is image else tool(function) for function in message.tools]
        kept = agent.messages if agent else []
        if message.fork:
            kept = kept[:-1]
        model = MODELS[message.format](task["base_url"], task["stream"])
        manager = None
        if "summarizing" in sys.argv:
            model.update_config(context_window_limit=200_000)
            manager = SummarizingConversationManager(
                summary_ratio=0.5, preserve_recent_messages=2, proactive_compression=True
            )
        # Without a handler, the text is printed.
        agent = Agent(
            model=model, tools=tools, messages=kept, callback_handler=None, conversation_manager=manager
        )
        limits = {"turns": message.limit} if message.limit else None
        return str(await agent.invoke_async(message.text, limits=limits)).strip()

    return asyncio.run(talk(task, say, image, stop=lambda: agent.cancel()))


# Whole responses are an option of three of its models.
serve(run, MODELS, can=ALL, only_streamed=["anthropic", "openai-responses", "gemini", "ollama"])

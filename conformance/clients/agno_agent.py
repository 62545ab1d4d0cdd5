"""agno, with a session that is kept in memory."""

import asyncio
import os
import sys

os.environ["AGNO_TELEMETRY"] = "false"
# The way of AWS's SDKs to another endpoint; agno has no option for it.
os.environ.update(AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="x", AWS_REGION="us-east-1")

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.media import Image
from agno.models.anthropic import Claude
from agno.models.aws import AwsBedrock
from agno.models.cohere import Cohere
from agno.models.google import Gemini
from agno.models.mistral import MistralChat
from agno.models.ollama import Ollama
from agno.models.openai import OpenAIChat, OpenAIResponses
from agno.run.agent import RunCompletedEvent, RunErrorEvent
from agno.tools.function import ToolResult
from cohere import AsyncClientV2

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import ALL, PNG, serve, talk


def image(text: str) -> ToolResult:
    """Returns a picture."""
    return ToolResult(content="the picture", images=[Image(content=PNG, format="png", mime_type="image/png")])


def bedrock(url):
    os.environ["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"] = url
    return AwsBedrock(id="us.anthropic.claude-sonnet-4-5-20250929-v1:0")


MODELS = {
    "anthropic": lambda url: Claude(id="claude-opus-4-8", api_key="x", client_params={"base_url": url}),
    "openai-chat": lambda url: OpenAIChat(id="gpt-4o", api_key="x", base_url=url + "/v1"),
    "openai-responses": lambda url: OpenAIResponses(id="gpt-5.4", api_key="x", base_url=url + "/v1"),
    "gemini": lambda url: Gemini(
        id="gemini-2.5-pro", api_key="x", client_params={"http_options": {"base_url": url}}
    ),
    "bedrock-converse": bedrock,
    "mistral": lambda url: MistralChat(id="mistral-large-latest", api_key="x", endpoint=url),
    # Its asynchronous client takes no `client_params`.
    "cohere": lambda url: Cohere(
        id="command-a-03-2025", api_key="x", async_client=AsyncClientV2(api_key="x", base_url=url)
    ),
    "ollama": lambda url: Ollama(id="llama3.1", host=url),
}


def run(task):
    db = InMemoryDb()

    async def say(message):
        agent = Agent(
            model=MODELS[message.format](task["base_url"]),
            tools=message.tools,
            db=db,
            session_id="1",
            # Its way to go on in a session.
            add_history_to_context=True,
            telemetry=False,
        )
        if not task["stream"]:
            result = await agent.arun(message.text)
            if result.status.value != "COMPLETED":
                raise RuntimeError(f"{result.status.value}: {result.content}")
            return result.content
        text = ""
        async for event in agent.arun(message.text, stream=True, stream_events=True):
            if isinstance(event, RunErrorEvent):
                raise RuntimeError(f"ERROR: {event.content}")
            if isinstance(event, RunCompletedEvent):
                text = event.content
        return text

    return asyncio.run(talk(task, say, image))


# A run has no limit of its own, and a session does not go back within a run.
serve(run, MODELS, can=[need for need in ALL if need not in ("max-turns", "fork")])

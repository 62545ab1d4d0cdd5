"""pydantic-ai, with the history in `message_history`."""

import asyncio
import os
import sys

from pydantic_ai import Agent, BinaryContent, CancellationToken, UsageLimits, capture_run_messages

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import ALL, PNG, serve, talk


def image(text: str) -> BinaryContent:
    """Returns a picture."""
    return BinaryContent(PNG, media_type="image/png")


# Each is imported where it is used, because a smaller environment has only some of them.
def anthropic(url):
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    return AnthropicModel("claude-opus-4-8", provider=AnthropicProvider(api_key="x", base_url=url))


def openai_chat(url):
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIChatModel("gpt-4o", provider=OpenAIProvider(api_key="x", base_url=url + "/v1"))


def openai_responses(url):
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIResponsesModel("gpt-5.4", provider=OpenAIProvider(api_key="x", base_url=url + "/v1"))


def gemini(url):
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    return GoogleModel("gemini-2.5-pro", provider=GoogleProvider(api_key="x", base_url=url))


def bedrock(url):
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    provider = BedrockProvider(
        base_url=url, region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    return BedrockConverseModel("us.anthropic.claude-sonnet-4-5-20250929-v1:0", provider=provider)


def mistral(url):
    from mistralai.client import Mistral
    from pydantic_ai.models.mistral import MistralModel
    from pydantic_ai.providers.mistral import MistralProvider

    provider = MistralProvider(mistral_client=Mistral(api_key="x", server_url=url))
    return MistralModel("mistral-large-latest", provider=provider)


def cohere(url):
    from cohere import AsyncClientV2
    from pydantic_ai.models.cohere import CohereModel
    from pydantic_ai.providers.cohere import CohereProvider

    provider = CohereProvider(cohere_client=AsyncClientV2(api_key="x", base_url=url))
    return CohereModel("command-a-03-2025", provider=provider)


MODELS = {
    "anthropic": anthropic,
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "gemini": gemini,
    "bedrock-converse": bedrock,
    "mistral": mistral,
    "cohere": cohere,
}


async def look(_context, events):
    async for _ in events:
        pass


def run(task):
    history = []
    token = CancellationToken()

    async def say(message):
        nonlocal history
        if message.fork:
            history = history[:-1]
        agent = Agent(MODELS[message.format](task["base_url"]), tools=message.tools)
        # The documentation's way to keep what a run that fails has done.
        with capture_run_messages() as seen:
            try:
                result = await agent.run(
                    message.text,
                    message_history=history,
                    # With a handler of events, the model's responses are streamed.
                    event_stream_handler=look if task["stream"] else None,
                    usage_limits=UsageLimits(request_limit=message.limit) if message.limit else None,
                    cancellation_token=token if not history else None,
                )
                history = result.all_messages()
            except Exception:
                history = list(seen) or history
                raise
        return result.output

    return asyncio.run(talk(task, say, image, stop=token.cancel))


serve(run, MODELS, can=ALL)

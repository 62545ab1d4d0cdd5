"""langchain: `create_agent` with a thread that is kept by a checkpointer."""

import asyncio
import base64
import os
import sys

from langchain.agents import create_agent
from langchain.agents.middleware import ModelCallLimitMiddleware, SummarizationMiddleware
from langchain_anthropic import ChatAnthropic
from langchain_aws import ChatBedrockConverse
from langchain_core.tools import tool
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_mistralai import ChatMistralAI
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import ALL, PNG, serve, talk

os.environ["LANGSMITH_TRACING"] = "false"
# Its HTTP clients are kept from model to model and belong to the loop in which they were first used.
LOOP = asyncio.new_event_loop()


def image(text: str) -> list:
    """Returns a picture."""
    return [{"type": "image", "base64": base64.b64encode(PNG).decode(), "mime_type": "image/png"}]


def openai(url, stream, **options):
    model = "gpt-5.4" if options["use_responses_api"] else "gpt-4o"
    return ChatOpenAI(model=model, api_key="x", base_url=url + "/v1", streaming=stream, **options)


MODELS = {
    "anthropic": lambda url, stream: ChatAnthropic(
        model="claude-opus-4-8", api_key="x", base_url=url, streaming=stream
    ),
    "openai-chat": lambda url, stream: openai(url, stream, use_responses_api=False),
    "openai-responses": lambda url, stream: openai(url, stream, use_responses_api=True),
    "gemini": lambda url, stream: ChatGoogleGenerativeAI(
        model="gemini-2.5-pro", api_key="x", base_url=url, streaming=stream
    ),
    "bedrock-converse": lambda url, stream: ChatBedrockConverse(
        model="us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        base_url=url,
        region_name="us-east-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",
        disable_streaming=not stream,
    ),
    "mistral": lambda url, stream: ChatMistralAI(
        model="mistral-large-latest", api_key="x", base_url=url + "/v1", streaming=stream
    ),
    # It streams always.
    "ollama": lambda url, stream: ChatOllama(model="llama3.1", base_url=url),
}


def run(task):
    checkpointer = InMemorySaver()
    thread = {"configurable": {"thread_id": "1"}}

    async def say(message):
        model = MODELS[message.format](task["base_url"], task["stream"])
        middleware = [ModelCallLimitMiddleware(run_limit=message.limit)] if message.limit else []
        if "summarizing" in sys.argv:
            middleware.append(SummarizationMiddleware(model, trigger=("tokens", 100_000), keep=("messages", 2)))
        tools = [tool(function) for function in message.tools]
        agent = create_agent(model, tools, checkpointer=checkpointer, middleware=middleware)
        said = {"messages": [{"role": "user", "content": message.text}]}
        start = thread
        if message.fork:
            # The newest come first.
            async for state in agent.aget_state_history(thread):
                if state.values["messages"][-1].type == "tool":
                    start = state.config
                    break
        if not task["stream"]:
            return (await agent.ainvoke(said, start))["messages"][-1].text
        async for _ in agent.astream(said, start, stream_mode="messages"):
            pass
        return (await agent.aget_state(thread)).values["messages"][-1].text

    running = talk(task, say, image)
    # Another agent is run by a tool while the loop goes on.
    if LOOP.is_running():
        return asyncio.run_coroutine_threadsafe(running, LOOP).result()
    return LOOP.run_until_complete(running)


serve(run, MODELS, can=ALL, only_streamed=["ollama"])

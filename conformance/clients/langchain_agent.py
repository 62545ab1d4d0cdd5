"""langchain, `create_agent` with a thread that is kept."""

import os
import sys

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import TOOLS, serve


def run(task):
    model = ChatOpenAI(
        model="gpt-4o",
        api_key="x",
        base_url=task["base_url"] + "/v1",
        streaming=task["stream"],
        use_responses_api=task["format"] == "openai-responses",
        max_retries=2,
    )
    agent = create_agent(model, [tool(function) for function in TOOLS], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}

    def say(text):
        said = agent.invoke({"messages": [{"role": "user", "content": text}]}, thread)
        return said["messages"][-1].text

    if not task["then"]:
        return say(task["prompt"])
    try:
        say(task["prompt"])
    except Exception as error:
        # The user goes on in the same thread.
        print(type(error).__name__, error)
    return say(task["then"])


serve(run, {"openai-chat", "openai-responses"})

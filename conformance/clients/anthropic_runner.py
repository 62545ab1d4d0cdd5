"""The tool runner of Anthropic's SDK, which keeps a conversation on the server by default."""

import asyncio
import os
import sys

from anthropic import Anthropic, beta_tool

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import serve, talk


def run(task):
    conversation = []

    async def say(message):
        if message.fork:
            conversation.pop()
        conversation.append({"role": "user", "content": message.text})
        runner = Anthropic(api_key="x", base_url=task["base_url"]).beta.messages.tool_runner(
            model="claude-opus-4-8",
            max_tokens=1024,
            tools=[beta_tool(function) for function in message.tools],
            messages=list(conversation),
            stream=task["stream"],
            **({"max_iterations": message.limit} if message.limit else {}),
        )
        last = None
        for turn in runner:
            last = turn.get_final_message() if task["stream"] else turn
            conversation.append({"role": "assistant", "content": last.content})
            answer = runner.generate_tool_call_response()
            if answer is not None:
                conversation.append(answer)
        return "".join(block.text for block in last.content if block.type == "text")

    return asyncio.run(talk(task, say))


serve(run, ["anthropic"], can=["tool:delegate", "tool:huge", "tool:surrogate", "fork", "max-turns", "withdraw-tools"])

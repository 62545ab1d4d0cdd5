"""google-genai: a chat whose functions are called automatically."""

import asyncio
import os
import sys

from google import genai
from google.genai import types

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import serve, talk


def run(task):
    client = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=task["base_url"]))
    history = []

    async def say(message):
        nonlocal history
        if message.fork:
            history = history[:-1]
        calling = types.AutomaticFunctionCallingConfig(maximum_remote_calls=message.limit)
        config = types.GenerateContentConfig(
            tools=list(message.tools), **({"automatic_function_calling": calling} if message.limit else {})
        )
        chat = client.aio.chats.create(model="gemini-2.5-flash", config=config, history=history)
        try:
            if not task["stream"]:
                return (await chat.send_message(message.text)).text
            return "".join([chunk.text or "" async for chunk in await chat.send_message_stream(message.text)])
        finally:
            history = chat.get_history(curated=True)

    return asyncio.run(talk(task, say))


serve(run, ["gemini"], can=["tool:delegate", "tool:huge", "tool:surrogate", "interrupt", "fork", "max-turns", "withdraw-tools"])

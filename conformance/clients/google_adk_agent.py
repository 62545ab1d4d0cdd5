"""google-adk, with a session that is kept in memory."""

import asyncio
import logging
import os
import sys
import uuid

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps.app import App, EventsCompactionConfig
from google.adk.models.google_llm import Gemini
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import ALL, serve, talk

os.environ["GOOGLE_API_KEY"] = "x"
logging.disable(logging.WARNING)


def run(task):
    sessions = InMemorySessionService()
    session = str(uuid.uuid4())

    async def say(message):
        nonlocal session
        if message.fork:
            former = await sessions.get_session(app_name="tester", user_id="1", session_id=session)
            session = str(uuid.uuid4())
            own = await sessions.create_session(app_name="tester", user_id="1", session_id=session)
            for event in former.events[:-1]:
                await sessions.append_event(own, event)
        agent = LlmAgent(
            name="tester",
            model=Gemini(model="gemini-2.5-pro", base_url=task["base_url"]),
            tools=message.tools,
        )
        app = App(name="tester", root_agent=agent)
        if "compacting" in sys.argv:
            app.events_compaction_config = EventsCompactionConfig(token_threshold=100_000, event_retention_size=2)
        runner = Runner(app=app, session_service=sessions, auto_create_session=True)
        settings = RunConfig(streaming_mode=StreamingMode.SSE if task["stream"] else StreamingMode.NONE)
        if message.limit:
            settings.max_llm_calls = message.limit
        said = types.Content(role="user", parts=[types.Part(text=message.text)])
        text = ""
        async for event in runner.run_async(
            user_id="1", session_id=session, new_message=said, run_config=settings
        ):
            if event.error_code:
                raise RuntimeError(f"{event.error_code}: {event.error_message}")
            if event.is_final_response() and event.content:
                text = "".join(part.text or "" for part in event.content.parts or [])
        return text

    return asyncio.run(talk(task, say))


# It has more than Gemini by LiteLLM only; the results of its tools are JSON.
serve(run, ["gemini"], can=[need for need in ALL if need not in ("tool:image", "switch-format")])

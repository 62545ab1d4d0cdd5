"""An agent loop for Anthropic's API in the standard library, as a test would have one, with mistakes to choose."""

import json
import os
import urllib.error
import urllib.request

TOOLS = [
    {
        "name": "tides",
        "description": "When low tide is.",
        "input_schema": {"type": "object", "properties": {"harbour": {"type": "string"}}},
    }
]


class Refused(Exception):
    """The API answered with an error."""


def ask(messages, url=None):
    url = url or os.environ["ANTHROPIC_BASE_URL"]
    body = {"model": "claude-opus-4-8", "max_tokens": 64, "tools": TOOLS, "messages": messages}
    headers = {"content-type": "application/json", "x-api-key": os.environ.get("ANTHROPIC_API_KEY", "x")}
    request = urllib.request.Request(url + "/v1/messages", json.dumps(body).encode(), headers)
    # No proxy of the machine may come between.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        # From Python 3.14 on, one that is not closed warns.
        with error:
            raise Refused(error.code, error.read().decode()) from None


def run(mistake=None, url=None):
    """Runs until the model is done; returns what it says."""
    messages = [{"role": "user", "content": "When is low tide?"}]
    while True:
        said = ask(messages, url)["content"]
        calls = [part for part in said if part["type"] == "tool_use"]
        if not calls:
            return "".join(part["text"] for part in said)
        if mistake == "drops a result":
            calls = calls[:-1]
        if mistake == "changes arguments":
            said = [part | {"input": {"harbour": "Husum"}} if part["type"] == "tool_use" else part for part in said]
        messages.append({"role": "assistant", "content": said})
        results = [{"type": "tool_result", "tool_use_id": call["id"], "content": "6:00"} for call in calls]
        messages.append({"role": "user", "content": results or "Go on."})

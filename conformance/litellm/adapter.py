"""LiteLLM as an adapter for `toolcheck conform --adapter`.

Requests go from Chat Completions to a provider's format: `litellm.completion` is called with a server on the loopback
interface in place of the provider, and what arrives there is the answer. Responses and streams go the other way: the
server answers with the body, and what `litellm.completion` returns is the answer.
"""

import http.server
import json
import os
import sys
import threading

# Nothing is fetched at the start.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
    os.environ[name] = "none"
os.environ["AWS_REGION_NAME"] = "us-east-1"

import litellm  # noqa: E402

litellm.suppress_debug_info = True
litellm.telemetry = False

MODELS = {
    "anthropic": "anthropic/claude-sonnet-4-5-20250929",
    "bedrock-converse": "bedrock/converse/anthropic.claude-3-5-sonnet-20240620-v1:0",
    "cohere": "cohere_chat/v2/command-a-03-2025",
    "gemini": "gemini/gemini-2.5-flash",
    "mistral": "mistral/mistral-large-latest",
    "ollama": "ollama_chat/llama3.1",
    "openai-chat": "openai/gpt-4o",
    "openai-responses": "openai/responses/gpt-4o",
}
LINES = {"ollama"}
NOT_STREAMED = {
    "bedrock-converse": "binary frames are not written here",
    "cohere": "the stream is read as lines of JSON and not as events, and then asked for again and again",
}
NAMED = {"anthropic", "openai-responses"}
ENDED = {"openai-chat", "mistral"}


class Server(http.server.ThreadingHTTPServer):
    """Keeps the last conversation that it was sent, and answers what it is told to."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.sent = None
        self.answer = None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        text = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(text)
        except ValueError:
            body = None
        is_conversation = isinstance(body, dict) and any(key in body for key in ("messages", "contents", "input"))
        if is_conversation:
            self.server.sent = body
        # The same status for all else: a client that asks about the model goes on without an answer.
        status, kind, data = (404, "application/json", b"{}")
        if is_conversation and self.server.answer:
            status, (kind, data) = 200, self.server.answer
        elif is_conversation:
            status, data = 400, b'{"error": {"message": "captured"}}'
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST

    def log_message(self, *_):
        pass


def stream(events, form):
    if form in LINES:
        return "application/x-ndjson", "".join(json.dumps(event) + "\n" for event in events).encode()
    lines = []
    for event in events:
        if isinstance(event.get("type"), str) and form in NAMED:
            lines.append(f"event: {event['type']}\n")
        lines.append(f"data: {json.dumps(event)}\n\n")
    if form in ENDED:
        lines.append("data: [DONE]\n\n")
    return "text/event-stream", "".join(lines).encode()


def complete(server, form, **more):
    return litellm.completion(
        model=MODELS[form],
        api_base=server.url + ("/v1" if form.startswith("openai") or form == "mistral" else ""),
        api_key="none",
        num_retries=0,
        max_retries=0,
        timeout=20,
        **more,
    )


def why(error):
    """An error in a line; the rest of it has places in the file system."""
    text = str(error).strip().splitlines()
    return {"error": f"{type(error).__name__}: {text[0] if text else ''}"}


def request(server, case):
    """What is sent to the provider."""
    body = dict(case["body"])
    body.pop("model", None)
    server.sent = server.answer = None
    error = None
    try:
        complete(server, case["to"], **body)
    except Exception as raised:
        error = raised
    if server.sent is not None:
        return {"body": server.sent}
    return why(error)


TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}}}


def reply(server, case):
    """What comes back to the user."""
    form, is_stream = case["from"], case["kind"] == "stream"
    if is_stream and form in NOT_STREAMED:
        return {"skip": NOT_STREAMED[form]}
    server.answer = (
        stream(case["body"], form) if is_stream else ("application/json", json.dumps(case["body"]).encode())
    )
    asked = {"messages": [{"role": "user", "content": "Go."}], "tools": [TOOL], "stream": is_stream}
    try:
        response = complete(server, form, **asked)
        if is_stream:
            return {"body": [chunk.model_dump(exclude_none=True) for chunk in response]}
        return {"body": response.model_dump()}
    except Exception as error:
        return why(error)


def main():
    # Whatever a library prints must not be taken for an answer.
    output, sys.stdout = sys.stdout, sys.stderr
    server = Server()
    for line in sys.stdin:
        case = json.loads(line)
        if case["kind"] == "request" and case["from"] == "openai-chat" and case["to"] in MODELS:
            answer = request(server, case)
        elif case["kind"] != "request" and case["to"] == "openai-chat" and case["from"] in MODELS:
            answer = reply(server, case)
        else:
            answer = {"skip": "LiteLLM is called with Chat Completions"}
        print(json.dumps(answer), file=output, flush=True)


if __name__ == "__main__":
    main()

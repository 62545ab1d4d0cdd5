"""Holds `toolcheck serve` against the official SDKs: each must raise its own typed error from a refusal, and read every
scripted turn, streamed and not.

    python3 -m venv .venv && .venv/bin/pip install -r requirements.txt
    .venv/bin/python check.py ../../target/release/toolcheck
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback

for name in list(os.environ):
    if name.lower().endswith("_proxy"):
        del os.environ[name]
os.environ.update(AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="x", AWS_REGION="us-east-1")

SCRIPT = """
[[turn]]
text = "Let me see."
calls = [{ tool = "tides", arguments = { harbour = "Cuxhaven", note = "ü\\"\\\\" } }, { tool = "tides", arguments = { harbour = "Husum" } }]
[[turn]]
text = "Low at six."
"""
SCHEMA = {
    "type": "object",
    "properties": {"harbour": {"type": "string"}, "note": {"type": "string"}},
    "required": ["harbour"],
}
CALLS = [("tides", {"harbour": "Cuxhaven", "note": 'ü"\\'}), ("tides", {"harbour": "Husum"})]
ASKED = "When is low tide?"


class Mock:
    """A `toolcheck serve`, which ends with the standard input that we hold."""

    def __init__(self, program, *arguments):
        self.process = subprocess.Popen(
            [program, "serve", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.url = json.loads(self.process.stdout.readline())["url"]

    def __enter__(self):
        return self.url

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=10)


def vertex_anthropic(url):
    import anthropic as sdk

    return anthropic(url, sdk.AnthropicVertex(region="us-east5", project_id="p", access_token="x", base_url=url, max_retries=0))


def bedrock_anthropic(url):
    import anthropic as sdk

    client = sdk.AnthropicBedrock(
        aws_region="us-east-1", aws_access_key="x", aws_secret_key="x", base_url=url, max_retries=0
    )
    return anthropic(url, client, "us.anthropic.claude-sonnet-4-5-20250929-v1:0")


def anthropic(url, client=None, model="claude-opus-4-8"):
    import anthropic as sdk

    client = client or sdk.Anthropic(base_url=url, api_key="x", max_retries=0)
    tools = [{"name": "tides", "description": "Tides.", "input_schema": SCHEMA}]
    common = {"model": model, "max_tokens": 64, "tools": tools}
    said = [{"role": "user", "content": ASKED}]

    def read(message):
        calls = [(part.name, part.input) for part in message.content if part.type == "tool_use"]
        return "".join(part.text for part in message.content if part.type == "text"), calls

    def whole(messages):
        return client.messages.create(messages=messages, **common)

    def streamed(messages):
        with client.messages.stream(messages=messages, **common) as stream:
            return stream.get_final_message()

    for ask in (whole, streamed):
        first = ask(said)
        yield read(first), ("Let me see.", CALLS), first.stop_reason == "tool_use"
        answered = said + [
            {"role": "assistant", "content": [part.model_dump(exclude_none=True) for part in first.content]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": part.id, "content": "6:00"}
                    for part in first.content
                    if part.type == "tool_use"
                ],
            },
        ]
        second = ask(answered)
        yield read(second), ("Low at six.", []), second.stop_reason == "end_turn"
        answered[-1]["content"].pop()
        try:
            ask(answered)
            yield "no error", None, False
        except sdk.BadRequestError as error:
            # Bedrock names the kind of an error in a header.
            kind = error.body.get("error", {}).get("type") or error.response.headers["x-amzn-errortype"]
            is_right = kind in ("invalid_request_error", "ValidationException")
            yield is_right, True, "`tool_use` ids were found" in str(error)


def tides(harbour: str, note: str = "") -> str:
    """Tells the tides.

    Args:
        harbour: Where.
        note: What else.
    """
    ASKED_FOR.append(harbour)
    return "6:00"


# What the tool runners have called the function with.
ASKED_FOR = []
HARBOURS = ["Cuxhaven", "Husum"]


def ran():
    """What was asked for since the last time."""
    asked = sorted(ASKED_FOR)
    ASKED_FOR.clear()
    return asked


def anthropic_runner(url):
    import anthropic as sdk

    client = sdk.Anthropic(base_url=url, api_key="x", max_retries=0)
    for stream in (False, True):
        runner = client.beta.messages.tool_runner(
            model="claude-opus-4-8",
            max_tokens=64,
            tools=[sdk.beta_tool(tides)],
            messages=[{"role": "user", "content": ASKED}],
            stream=stream,
        )
        yield runner.until_done().content[0].text, "Low at six.", ran() == HARBOURS


def google_runner(url):
    from google import genai
    from google.genai import types

    client = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=url))
    chat = client.chats.create(model="gemini-2.5-flash", config=types.GenerateContentConfig(tools=[tides]))
    yield chat.send_message(ASKED).text, "Low at six.", ran() == HARBOURS
    chat = client.chats.create(model="gemini-2.5-flash", config=types.GenerateContentConfig(tools=[tides]))
    said = [chunk.text or "" for chunk in chat.send_message_stream(ASKED)]
    yield said[-1], "Low at six.", ran() == HARBOURS


def openai_stored(url):
    """What the server keeps, asked for again."""
    import openai as sdk

    client = sdk.OpenAI(base_url=url + "/v1", api_key="x", max_retries=0)
    first = client.responses.create(model="gpt-4o", input=ASKED)
    again = client.responses.retrieve(first.id)
    yield again.output_text, first.output_text, again.id == first.id
    [item] = client.responses.input_items.list(first.id)
    yield item.content[0].text, ASKED, item.role == "user"
    client.responses.delete(first.id)
    try:
        client.responses.retrieve(first.id)
        yield "no error", None, False
    except sdk.NotFoundError as error:
        yield error.type, "invalid_request_error", "not found" in str(error)
    conversation = client.conversations.create(items=[{"role": "user", "content": "Moin."}])
    client.conversations.items.create(conversation.id, items=[{"role": "assistant", "content": "Moin moin."}])
    client.responses.create(model="gpt-4o", input=ASKED, conversation=conversation.id)
    items = list(client.conversations.items.list(conversation.id, order="asc", limit=2))
    texts = [item.content[0].text for item in items if item.type == "message"]
    yield texts[:3], ["Moin.", "Moin moin.", ASKED], len(items) > 3
    item = client.conversations.items.retrieve(items[0].id, conversation_id=conversation.id)
    left = client.conversations.items.delete(item.id, conversation_id=conversation.id)
    yield left.id, conversation.id, client.conversations.retrieve(conversation.id).id == conversation.id
    deleted = client.conversations.delete(conversation.id).deleted
    try:
        client.conversations.items.list(conversation.id)
        yield "no error", None, False
    except sdk.NotFoundError as error:
        yield error.type, "invalid_request_error", deleted and "Conversation with id" in str(error)


def javascript(name):
    """The same in `check.mjs`, whose steps are lines of JSON."""

    def steps(url):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check.mjs")
        ran = subprocess.run(["node", script, name, url], capture_output=True, text=True, timeout=120)
        for line in ran.stdout.splitlines():
            yield tuple(json.loads(line))
        if ran.returncode:
            raise RuntimeError(ran.stderr[-2000:])

    steps.__name__ = f"{name}_js"
    return steps


def openai_chat(url):
    import openai as sdk

    client = sdk.OpenAI(base_url=url + "/v1", api_key="x", max_retries=0)
    tools = [{"type": "function", "function": {"name": "tides", "parameters": SCHEMA}}]
    common = {"model": "gpt-4o", "tools": tools}
    said = [{"role": "user", "content": ASKED}]

    def whole(messages):
        choice = client.chat.completions.create(messages=messages, **common).choices[0]
        return choice.message, choice.finish_reason

    def streamed(messages):
        with client.chat.completions.stream(messages=messages, **common) as stream:
            choice = stream.get_final_completion().choices[0]
            return choice.message, choice.finish_reason

    def read(message):
        calls = [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or []]
        return message.content or "", calls

    for ask in (whole, streamed):
        first, reason = ask(said)
        yield read(first), ("Let me see.", CALLS), reason == "tool_calls"
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}
            for call in first.tool_calls
        ]
        answered = said + [{"role": "assistant", "content": first.content, "tool_calls": calls}]
        answered += [{"role": "tool", "tool_call_id": call["id"], "content": "6:00"} for call in calls]
        second, reason = ask(answered)
        yield read(second), ("Low at six.", []), reason == "stop"
        try:
            ask(answered[:-1])
            yield "no error", None, False
        except sdk.BadRequestError as error:
            yield error.type, "invalid_request_error", "must be followed by tool messages" in str(error)


def openai_responses(url):
    import openai as sdk

    client = sdk.OpenAI(base_url=url + "/v1", api_key="x", max_retries=0)
    tools = [{"type": "function", "name": "tides", "parameters": SCHEMA, "strict": False}]
    common = {"model": "gpt-4o", "tools": tools, "store": False}
    said = [{"role": "user", "content": ASKED}]

    def whole(items):
        return client.responses.create(input=items, **common)

    def streamed(items):
        with client.responses.stream(input=items, **common) as stream:
            return stream.get_final_response()

    def read(response):
        calls = [(item.name, json.loads(item.arguments)) for item in response.output if item.type == "function_call"]
        return response.output_text, calls

    for ask in (whole, streamed):
        first = ask(said)
        yield read(first), ("Let me see.", CALLS), first.status == "completed"
        # What the helper for streams adds is not for the API.
        echoed = [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in first.output]
        for item in echoed:
            for part in item.get("content", []):
                part.pop("parsed", None)
        results = [
            {"type": "function_call_output", "call_id": item.call_id, "output": "6:00"}
            for item in first.output
            if item.type == "function_call"
        ]
        second = ask(said + echoed + results)
        yield read(second), ("Low at six.", []), True
        try:
            ask(said + echoed + results[:-1])
            yield "no error", None, False
        except sdk.BadRequestError as error:
            yield error.type, "invalid_request_error", "No tool output found for function call" in str(error)


def openai_kept(url):
    """The same with the conversation on the server: each request goes on from the response before it."""
    import openai as sdk

    client = sdk.OpenAI(base_url=url + "/v1", api_key="x", max_retries=0)
    common = {"model": "gpt-4o", "tools": [{"type": "function", "name": "tides", "parameters": SCHEMA, "strict": False}]}

    def whole(**more):
        return client.responses.create(**common, **more)

    def streamed(**more):
        with client.responses.stream(**common, **more) as stream:
            return stream.get_final_response()

    for ask in (whole, streamed):
        first = ask(input=ASKED)
        calls = [item for item in first.output if item.type == "function_call"]
        read = [(item.name, json.loads(item.arguments)) for item in calls]
        yield (first.output_text, read), ("Let me see.", CALLS), first.store
        results = [{"type": "function_call_output", "call_id": item.call_id, "output": "6:00"} for item in calls]
        second = ask(input=results, previous_response_id=first.id)
        yield second.output_text, "Low at six.", second.previous_response_id == first.id
        try:
            ask(input=results[:-1], previous_response_id=first.id)
            yield "no error", None, False
        except sdk.BadRequestError as error:
            yield error.type, "invalid_request_error", "No tool output found for function call" in str(error)


def google(url):
    from google import genai
    from google.genai import errors, types

    client = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=url))
    declared = types.FunctionDeclaration(name="tides", parameters_json_schema=SCHEMA)
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[declared])],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    said = [types.Content(role="user", parts=[types.Part(text=ASKED)])]

    def whole(contents):
        return [client.models.generate_content(model="gemini-2.5-flash", contents=contents, config=config)]

    def streamed(contents):
        return list(client.models.generate_content_stream(model="gemini-2.5-flash", contents=contents, config=config))

    def parts(chunks):
        return [part for chunk in chunks for part in chunk.candidates[0].content.parts or []]

    def read(chunks):
        calls = [(part.function_call.name, part.function_call.args) for part in parts(chunks) if part.function_call]
        return "".join(part.text or "" for part in parts(chunks)), calls

    for ask in (whole, streamed):
        first = ask(said)
        yield read(first), ("Let me see.", CALLS), first[-1].candidates[0].finish_reason.name == "STOP"
        model = types.Content(role="model", parts=parts(first))
        results = [
            types.Part(function_response=types.FunctionResponse(name="tides", response={"output": "6:00"})) for _ in CALLS
        ]
        second = ask(said + [model, types.Content(role="user", parts=results)])
        yield read(second), ("Low at six.", []), True
        try:
            ask(said + [model, types.Content(role="user", parts=results[:-1])])
            yield "no error", None, False
        except errors.ClientError as error:
            yield error.status, "INVALID_ARGUMENT", "number of function response parts" in error.message


def google_interactions(url):
    from google import genai
    from google.genai import types

    client = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=url))
    tool = {"type": "function", "name": "tides", "parameters": SCHEMA}

    def whole(**request):
        interaction = client.interactions.create(model="gemini-3.8-flash", tools=[tool], **request)
        steps = interaction.steps or []
        texts = [part.text for step in steps if step.type == "model_output" for part in step.content]
        calls = [step for step in steps if step.type == "function_call"]
        return interaction.id, "".join(texts), [(call.id, call.name, call.arguments) for call in calls]

    def streamed(**request):
        number, texts, calls = None, [], {}
        for event in client.interactions.create(model="gemini-3.8-flash", tools=[tool], stream=True, **request):
            if event.event_type == "interaction.created":
                number = event.interaction.id
            elif event.event_type == "step.start" and event.step.type == "function_call":
                calls[event.index] = [event.step.id, event.step.name, ""]
            elif event.event_type == "step.delta" and event.delta.type == "text":
                texts.append(event.delta.text)
            elif event.event_type == "step.delta" and event.delta.type == "arguments_delta":
                calls[event.index][2] += event.delta.arguments
        return number, "".join(texts), [(call, name, json.loads(text)) for call, name, text in calls.values()]

    for ask in (whole, streamed):
        number, text, calls = ask(input=ASKED)
        yield (text, [call[1:] for call in calls]), ("Let me see.", CALLS), bool(number)
        results = [
            {"type": "function_result", "call_id": call, "name": name, "result": [{"type": "text", "text": "6:00"}]}
            for call, name, _ in calls
        ]
        # The server keeps what came before.
        _, text, calls = ask(input=results, previous_interaction_id=number)
        yield (text, calls), ("Low at six.", []), True
        for result in results:
            del result["name"]
        try:
            ask(input=results, previous_interaction_id=number)
            yield "no error", None, False
        except Exception as error:
            yield type(error).__name__, type(error).__name__, "Missing name in content" in str(error)


def bedrock(url):
    import boto3
    from botocore.config import Config

    client = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url=url, config=Config(retries={"max_attempts": 0}))
    tools = {"tools": [{"toolSpec": {"name": "tides", "inputSchema": {"json": SCHEMA}}}]}
    common = {"modelId": "eu.anthropic.claude-sonnet-4-5-v1:0", "toolConfig": tools}
    said = [{"role": "user", "content": [{"text": ASKED}]}]

    def whole(messages):
        response = client.converse(messages=messages, **common)
        return response["output"]["message"], response["stopReason"]

    def streamed(messages):
        blocks, reason = {}, None
        for event in client.converse_stream(messages=messages, **common)["stream"]:
            if "contentBlockStart" in event:
                start = event["contentBlockStart"]
                blocks[start["contentBlockIndex"]] = {"toolUse": dict(start["start"]["toolUse"], input="")}
            elif "contentBlockDelta" in event:
                delta = event["contentBlockDelta"]
                block = blocks.setdefault(delta["contentBlockIndex"], {"text": ""})
                if "text" in delta["delta"]:
                    block["text"] += delta["delta"]["text"]
                else:
                    block["toolUse"]["input"] += delta["delta"]["toolUse"]["input"]
            elif "messageStop" in event:
                reason = event["messageStop"]["stopReason"]
        for block in blocks.values():
            if "toolUse" in block:
                block["toolUse"]["input"] = json.loads(block["toolUse"]["input"] or "{}")
        return {"role": "assistant", "content": list(blocks.values())}, reason

    def read(message):
        calls = [(part["toolUse"]["name"], part["toolUse"]["input"]) for part in message["content"] if "toolUse" in part]
        return "".join(part.get("text", "") for part in message["content"]), calls

    for ask in (whole, streamed):
        first, reason = ask(said)
        yield read(first), ("Let me see.", CALLS), reason == "tool_use"
        results = [
            {"toolResult": {"toolUseId": part["toolUse"]["toolUseId"], "content": [{"text": "6:00"}]}}
            for part in first["content"]
            if "toolUse" in part
        ]
        second, reason = ask(said + [first, {"role": "user", "content": results}])
        yield read(second), ("Low at six.", []), reason == "end_turn"
        try:
            ask(said + [first, {"role": "user", "content": results[:-1]}])
            yield "no error", None, False
        except client.exceptions.ValidationException as error:
            text = error.response["Error"]["Message"]
            yield error.response["Error"]["Code"], "ValidationException", "Expected toolResult blocks" in text


def ollama(url):
    import ollama as sdk

    client = sdk.Client(host=url)
    tools = [{"type": "function", "function": {"name": "tides", "description": "Tides.", "parameters": SCHEMA}}]
    said = [{"role": "user", "content": ASKED}]

    def whole(messages):
        return [client.chat(model="qwen3", messages=messages, tools=tools)]

    def streamed(messages):
        return list(client.chat(model="qwen3", messages=messages, tools=tools, stream=True))

    def read(chunks):
        calls = [
            (call.function.name, dict(call.function.arguments)) for chunk in chunks for call in chunk.message.tool_calls or []
        ]
        return "".join(chunk.message.content or "" for chunk in chunks), calls

    for ask in (whole, streamed):
        first = ask(said)
        yield read(first), ("Let me see.", CALLS), first[-1].done
        text, calls = read(first)
        called = [{"function": {"name": name, "arguments": arguments}} for name, arguments in calls]
        answered = said + [{"role": "assistant", "content": text, "tool_calls": called}]
        answered += [{"role": "tool", "tool_name": "tides", "content": "6:00"} for _ in calls]
        second = ask(answered)
        yield read(second), ("Low at six.", []), second[-1].done_reason == "stop"
        try:
            # The SDK itself refuses most wrong requests before it sends them.
            client._request_raw("POST", "/api/chat", json={"model": "qwen3", "messages": [{"role": "user", "content": 1}]})
            yield "no error", None, False
        except sdk.ResponseError as error:
            yield error.status_code, 400, "cannot unmarshal number" in error.error


def mistral(url):
    from mistralai.client import Mistral, errors

    client = Mistral(api_key="x", server_url=url)
    tools = [{"type": "function", "function": {"name": "tides", "parameters": SCHEMA}}]
    common = {"model": "mistral-small-latest", "tools": tools}
    said = [{"role": "user", "content": ASKED}]

    def whole(messages):
        choice = client.chat.complete(messages=messages, **common).choices[0]
        return choice.message.content or "", choice.message.tool_calls or [], choice.finish_reason

    def streamed(messages):
        text, calls, reason = "", {}, None
        for event in client.chat.stream(messages=messages, **common):
            choice = event.data.choices[0]
            text += choice.delta.content or ""
            for call in choice.delta.tool_calls or []:
                if call.index in calls:
                    calls[call.index].function.arguments += call.function.arguments
                else:
                    calls[call.index] = call
            reason = choice.finish_reason or reason
        return text, list(calls.values()), reason

    def read(said):
        text, calls, _ = said
        return text, [(call.function.name, json.loads(call.function.arguments)) for call in calls]

    for ask in (whole, streamed):
        first = ask(said)
        yield read(first), ("Let me see.", CALLS), first[2] == "tool_calls"
        calls = [
            {"id": call.id, "function": {"name": call.function.name, "arguments": call.function.arguments}} for call in first[1]
        ]
        answered = said + [{"role": "assistant", "content": first[0], "tool_calls": calls}]
        answered += [{"role": "tool", "tool_call_id": call["id"], "name": "tides", "content": "6:00"} for call in calls]
        second = ask(answered)
        yield read(second), ("Low at six.", []), second[2] == "stop"
        try:
            ask(answered[:-1])
            yield "no error", None, False
        except errors.MistralError as error:
            yield error.status_code, 400, "Not the same number of function calls and responses" in error.body


def mistral_kept(url):
    """The same with the conversation on the server: each request goes on from what it keeps."""
    import asyncio

    from mistralai.client import Mistral, errors
    from mistralai.extra.run.context import RunContext

    client = Mistral(api_key="x", server_url=url)
    conversations = client.beta.conversations
    tools = [{"type": "function", "function": {"name": "tides", "parameters": SCHEMA}}]
    whole = conversations.start, conversations.append, conversations.restart
    streams = conversations.start_stream, conversations.append_stream, conversations.restart_stream

    def read(response):
        if hasattr(response, "outputs"):
            calls = [(entry.tool_call_id, entry.name, json.loads(entry.arguments)) for entry in response.outputs if entry.type == "function.call"]
            said = "".join(entry.content for entry in response.outputs if entry.type == "message.output")
            return response.conversation_id, said, calls
        said, calls, events = "", {}, [event.data for event in response]
        for event in events:
            if event.type == "message.output.delta":
                said += event.content
            elif event.type == "function.call.delta":
                calls.setdefault(event.tool_call_id, [event.name, ""])[1] += event.arguments
        assert events[-1].type == "conversation.response.done"
        return events[0].conversation_id, said, [(id, name, json.loads(text)) for id, (name, text) in calls.items()]

    for start, append, restart in (whole, streams):
        id, said, calls = read(start(model="mistral-small-latest", inputs=ASKED, tools=tools))
        yield (said, [(name, arguments) for _, name, arguments in calls]), ("Let me see.", CALLS), True
        results = [{"type": "function.result", "tool_call_id": call, "result": "6:00"} for call, _, _ in calls]
        try:
            append(conversation_id=id, inputs="Hello?")
            yield "no error", None, False
        except errors.MistralError as error:
            yield error.status_code, 400, "function results are still missing" in error.body
        second, said, _ = read(append(conversation_id=id, inputs=results))
        yield said, "Low at six.", second == id
        history = conversations.get_history(conversation_id=id).entries
        yield [entry.type for entry in history], ENTRIES, conversations.get(conversation_id=id).id == id
        messages = conversations.get_messages(conversation_id=id).messages
        yield [entry.content for entry in messages], [ASKED, "Let me see.", "Low at six."], True
        # From the first answer on, the same results are missing again.
        other, said, _ = read(restart(conversation_id=id, from_entry_id=history[3].id, inputs=results))
        yield said, "Low at six.", other != id
        conversations.delete(conversation_id=id)
        try:
            append(conversation_id=id, inputs="Hello?")
            yield "no error", None, False
        except errors.MistralError as error:
            yield error.status_code, 404, id not in [known.id for known in conversations.list()]
    agent = client.beta.agents.create(model="mistral-small-latest", name="pilot", tools=tools)

    async def run(run_one):
        async with RunContext(agent_id=agent.id) as context:
            context.register_func(tides)
            return await run_one(run_ctx=context, inputs=ASKED), ran() == HARBOURS

    async def both():
        whole = await run(conversations.run_async)

        async def last(**more):
            return [event async for event in await conversations.run_stream_async(**more)][-1]

        return whole, await run(last)

    for result, is_right in asyncio.run(both()):
        yield result.output_as_text, "Let me see.\nLow at six.", is_right


ENTRIES = ["message.input", "message.output", "function.call", "function.call", "function.result", "function.result", "message.output"]


def cohere(url):
    import cohere as sdk

    client = sdk.ClientV2(api_key="x", base_url=url)
    tools = [{"type": "function", "function": {"name": "tides", "description": "Tides.", "parameters": SCHEMA}}]
    common = {"model": "command-a-03-2025", "tools": tools}
    said = [{"role": "user", "content": ASKED}]

    def whole(messages):
        response = client.chat(messages=messages, **common)
        message = response.message
        text = (message.tool_plan or "") + "".join(part.text for part in message.content or [] if part.type == "text")
        return text, message.tool_calls or [], response.finish_reason

    def streamed(messages):
        text, calls, reason = "", [], None
        for event in client.chat_stream(messages=messages, **common):
            if event.type == "content-delta":
                text += event.delta.message.content.text or ""
            elif event.type == "tool-plan-delta":
                text += event.delta.message.tool_plan or ""
            elif event.type == "tool-call-start":
                calls.append(event.delta.message.tool_calls)
            elif event.type == "tool-call-delta":
                calls[-1].function.arguments += event.delta.message.tool_calls.function.arguments
            elif event.type == "message-end":
                reason = event.delta.finish_reason
        return text, calls, reason

    def read(said):
        text, calls, _ = said
        return text, [(call.function.name, json.loads(call.function.arguments)) for call in calls]

    for ask in (whole, streamed):
        first = ask(said)
        yield read(first), ("Let me see.", CALLS), first[2] == "TOOL_CALL"
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}
            for call in first[1]
        ]
        answered = said + [{"role": "assistant", "tool_plan": first[0], "tool_calls": calls}]
        answered += [{"role": "tool", "tool_call_id": call["id"], "content": "6:00"} for call in calls]
        second = ask(answered)
        yield read(second), ("Low at six.", []), second[2] == "COMPLETE"
        try:
            answered[-1]["tool_call_id"] = "tides_unknown"
            ask(answered)
            yield "no error", None, False
        except sdk.BadRequestError as error:
            yield error.status_code, 400, "tool call id not found" in str(error.body)


def can_run_javascript():
    """Whether the packages are there, and a Node.js that is new enough for them."""
    folder = os.path.dirname(os.path.abspath(__file__))
    if not shutil.which("node") or not os.path.isdir(os.path.join(folder, "node_modules", "openai")):
        return False
    version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
    return int(version.strip().lstrip("v").split(".")[0]) >= 22


def agent(program, name, package, command, environment):
    """An agent as it is by default, but for its address: nothing that it sends may be refused."""
    if not shutil.which(name):
        print(f"{name}: skipped, because it is not on the PATH (npm install {package})")
        return True
    with tempfile.TemporaryDirectory() as home, Mock(program) as url:
        # Nothing of who runs this is for the agent.
        own = {key: value for key, value in os.environ.items() if not key.startswith(("ANTHROPIC_", "CLAUDE", "CODEX_", "OPENAI_"))}
        own.update(environment(home, url))
        arguments = [argument.format(home=home) for argument in command]
        try:
            ended = subprocess.run(
                [name, *arguments], cwd=home, stdin=subprocess.DEVNULL, env=own, capture_output=True, text=True, timeout=300
            )
        except subprocess.TimeoutExpired as late:
            print(f"{name}: no answer in {late.timeout} s")
            return False
    is_right = ended.returncode == 0 and "Done." in ended.stdout
    print(f"{name}: it got its answer" if is_right else f"{name}: {ended.stdout[-500:]}{ended.stderr[-1000:]}")
    return is_right


def parsed(url):
    """An answer with a schema, as each SDK parses it; the mock has no script."""
    import anthropic as anthropic_sdk
    import openai as openai_sdk
    from google import genai
    from google.oauth2.credentials import Credentials
    from mistralai.client import Mistral
    from pydantic import BaseModel

    class Tide(BaseModel):
        harbour: str
        hour: int

    said = [{"role": "user", "content": ASKED}]
    claude = anthropic_sdk.Anthropic(base_url=url, api_key="x", max_retries=0)
    yield claude.messages.parse(model="claude-opus-4-8", max_tokens=64, messages=said, output_format=Tide).parsed_output
    gpt = openai_sdk.OpenAI(base_url=url + "/v1", api_key="x", max_retries=0)
    yield gpt.chat.completions.parse(model="gpt-4o", messages=said, response_format=Tide).choices[0].message.parsed
    yield gpt.responses.parse(model="gpt-4o", input=ASKED, text_format=Tide).output_parsed
    for of_vertex in (False, True):
        where = {"project": "p", "location": "l", "credentials": Credentials("x")} if of_vertex else {"api_key": "x"}
        gemini = genai.Client(vertexai=of_vertex, http_options={"base_url": url}, **where)
        config = {"response_mime_type": "application/json", "response_schema": Tide}
        if of_vertex:
            config["labels"] = {"only": "there"}
        yield gemini.models.generate_content(model="gemini-2.5-flash", contents=ASKED, config=config).parsed
    mistral = Mistral(server_url=url, api_key="x")
    yield mistral.chat.parse(Tide, model="mistral-large-latest", messages=said).choices[0].message.parsed


def parses(program):
    with Mock(program) as url:
        try:
            tides = [(tide.harbour, tide.hour) for tide in parsed(url)]
        except Exception:
            traceback.print_exc(limit=-3)
            tides = []
    print(f"parsed answers: {len(tides)} of 6")
    return tides == [("text", 1)] * 6


def codex_home(home, url):
    provider = f'name = "mock"\nbase_url = "{url}/v1"\nenv_key = "OPENAI_API_KEY"\nwire_api = "responses"\n'
    with open(os.path.join(home, "config.toml"), "w") as file:
        file.write(f'model = "gpt-5.4"\nmodel_provider = "mock"\n[model_providers.mock]\n{provider}')
    return {"CODEX_HOME": home, "OPENAI_API_KEY": "x"}


def claude_home(home, url):
    # Without the last one, it also asks the internet for news of itself.
    return {"HOME": home, "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}


AGENTS = [
    ("codex", "@openai/codex", ["exec", "--skip-git-repo-check", "-C", "{home}", "Say hello."], codex_home),
    ("claude", "@anthropic-ai/claude-code", ["-p", "Say hello."], claude_home),
]


# Each with its target, and the number of its steps.
SDKS = [
    (anthropic, "anthropic", 6),
    (anthropic_runner, "anthropic", 2),
    (vertex_anthropic, "vertex-anthropic", 6),
    (bedrock_anthropic, "anthropic", 6),
    (openai_chat, "openai-chat", 6),
    (openai_responses, "openai-responses", 6),
    (openai_kept, "openai-responses", 6),
    (openai_stored, "openai-responses", 6),
    (google, "gemini", 6),
    (google_runner, "gemini", 2),
    (google_interactions, "gemini-interactions", 6),
    (bedrock, "bedrock-converse", 6),
    (ollama, "ollama", 6),
    (mistral, "mistral", 6),
    (mistral_kept, "mistral", 16),
    (cohere, "cohere", 6),
]
JAVASCRIPT = [
    (javascript("anthropic"), "anthropic", 8),
    (javascript("openai_chat"), "openai-chat", 8),
    (javascript("openai_responses"), "openai-responses", 7),
    (javascript("google"), "gemini", 7),
    (javascript("mistral"), "mistral", 8),
]


def main():
    program = sys.argv[1]
    only = sys.argv[2:]
    failed = 0
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as script:
        script.write(SCRIPT)
        script.flush()
        sdks = SDKS + JAVASCRIPT if can_run_javascript() else SDKS
        if len(sdks) == len(SDKS):
            print("JavaScript: skipped, because Node.js 22 or node_modules is not there (npm ci)")
        for sdk, target, steps in sdks:
            # As its own API, and without a word about which API it is.
            for arguments in (["--target", target], []):
                if only and sdk.__name__ not in only:
                    continue
                name = f"{sdk.__name__} {' '.join(arguments)}".rstrip()
                done = 0
                with Mock(program, *arguments, "--script", script.name) as url:
                    try:
                        for found, expected, is_right in sdk(url):
                            done += 1
                            if found != expected or not is_right:
                                failed += 1
                                print(f"{name}: step {done}: {found!r} is not {expected!r}, or not as it should be")
                    except Exception:
                        failed += 1
                        print(f"{name}: step {done + 1}:")
                        traceback.print_exc(limit=-3)
                if done != steps:
                    failed += 1
                print(f"{name}: {done} of {steps} steps")
    if not only or "parsed" in only:
        failed += not parses(program)
    for name, *how in AGENTS:
        if not only or name in only:
            failed += not agent(program, name, *how)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

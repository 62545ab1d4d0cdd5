"""The official SDKs find the mock by their environment variables alone; those that are not installed are skipped."""

import pytest

from pytest_toolcheck import Provider

TOOL = {"name": "tides", "description": "Tides.", "input_schema": {"type": "object", "properties": {}}}


@pytest.fixture
def provider(program, monkeypatch):
    from pytest_toolcheck._provider import CLEARED

    with Provider(bin=program) as provider:
        for name in CLEARED:
            monkeypatch.delenv(name, raising=False)
        for name, value in provider.env.items():
            monkeypatch.setenv(name, value)
        # A client that does not look at NO_PROXY would end here and not at the mock.
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        yield provider
        assert [one["status"] for one in provider.exchanges()] == [200]


def test_openai(provider):
    sdk = pytest.importorskip("openai")
    with sdk.OpenAI(max_retries=0) as client:
        said = client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "Hello"}])
    assert said.choices[0].message.content == "Done."


def test_anthropic(provider):
    sdk = pytest.importorskip("anthropic")
    with sdk.Anthropic(max_retries=0) as client:
        said = client.messages.create(
            model="claude-opus-4-8", max_tokens=64, tools=[TOOL], messages=[{"role": "user", "content": "Hello"}]
        )
    assert said.content[0].name == "tides"


def test_google(provider):
    sdk = pytest.importorskip("google.genai")
    client = sdk.Client()
    assert client.models.generate_content(model="gemini-3-pro", contents="Hello").text == "Done."


def test_ollama(provider):
    pytest.importorskip("ollama")
    # The module makes a client when it is imported, with the address of that moment.
    import ollama

    said = ollama.Client().chat(model="qwen3", messages=[{"role": "user", "content": "Hello"}])
    assert said.message.content == "Done."


def test_bedrock(provider):
    sdk = pytest.importorskip("boto3")
    client = sdk.client("bedrock-runtime")
    said = client.converse(modelId="anthropic.claude-opus-4-8", messages=[{"role": "user", "content": [{"text": "Hello"}]}])
    assert said["output"]["message"]["content"] == [{"text": "Done."}]


def test_cohere(provider):
    # The address is read when the module is imported, so a test that imports it before cannot change it any more.
    pytest.importorskip("cohere")
    import subprocess
    import sys

    source = "import cohere\nprint(cohere.ClientV2().chat(model='command-a', messages=[{'role': 'user', 'content': 'Hello'}]).message.content[0].text)"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert done.stdout == "Done.\n", done.stderr


def test_mistral(provider):
    # It has a variable for the key and none for the address.
    sdk = pytest.importorskip("mistralai.client")
    client = sdk.Mistral(server_url=provider.url)
    said = client.chat.complete(model="mistral-large-latest", messages=[{"role": "user", "content": "Hello"}])
    assert said.choices[0].message.content == "Done."

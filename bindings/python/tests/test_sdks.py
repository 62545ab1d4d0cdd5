"""The official SDKs find the mock by their environment variables alone; those that are not installed are skipped."""

import importlib.util
import subprocess
import sys

import pytest

from toolcheck_lint.mock import CLEARED, Provider

TOOL = {"name": "tides", "description": "Tides.", "input_schema": {"type": "object", "properties": {}}}


def sdk(name):
    """Skips a test whose SDK is not installed."""
    return pytest.mark.skipif(not is_installed(name), reason=f"needs the package {name}")


def is_installed(name):
    """Whether a module is there. That of its parent says nothing: `google` is a namespace of many packages."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def test_a_package_in_a_namespace_is_looked_for_itself(tmp_path, monkeypatch):
    (tmp_path / "namespace_of_many").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert is_installed("namespace_of_many")
    assert not is_installed("namespace_of_many.one")
    assert not is_installed("not_there.at_all")
    assert is_installed("importlib.util")


@pytest.fixture
def provider(binary, monkeypatch):
    with Provider(bin=binary) as provider:
        for name in CLEARED:
            monkeypatch.delenv(name, raising=False)
        for name, value in provider.env.items():
            monkeypatch.setenv(name, value)
        # A client that does not look at NO_PROXY would end here and not at the mock.
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        yield provider
        assert [one["status"] for one in provider.exchanges()] == [200]


@sdk("openai")
def test_openai(provider):
    import openai

    with openai.OpenAI(max_retries=0) as client:
        said = client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "Hello"}])
    assert said.choices[0].message.content == "Done."


@sdk("anthropic")
def test_anthropic(provider):
    import anthropic

    with anthropic.Anthropic(max_retries=0) as client:
        said = client.messages.create(
            model="claude-opus-4-8", max_tokens=64, tools=[TOOL], messages=[{"role": "user", "content": "Hello"}]
        )
    assert said.content[0].name == "tides"


@sdk("google.genai")
def test_google(provider):
    from google import genai

    client = genai.Client()
    assert client.models.generate_content(model="gemini-3-pro", contents="Hello").text == "Done."


@sdk("ollama")
def test_ollama(provider):
    import ollama

    # The functions of the module share a client that is made when it is imported, with the address of that moment.
    said = ollama.Client().chat(model="qwen3", messages=[{"role": "user", "content": "Hello"}])
    assert said.message.content == "Done."


@sdk("boto3")
def test_bedrock(provider):
    import boto3

    client = boto3.client("bedrock-runtime")
    messages = [{"role": "user", "content": [{"text": "Hello"}]}]
    said = client.converse(modelId="anthropic.claude-opus-4-8", messages=messages)
    assert said["output"]["message"]["content"] == [{"text": "Done."}]


@sdk("cohere")
def test_cohere(provider):
    # The address is read when the module is imported, so what is imported already would not find the mock.
    source = """
import cohere
said = cohere.ClientV2().chat(model="command-a", messages=[{"role": "user", "content": "Hello"}])
print(said.message.content[0].text)
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert done.stdout == "Done.\n", done.stderr


@sdk("mistralai")
def test_mistral(provider):
    from mistralai.client import Mistral

    # It has a variable for the key and none for the address.
    client = Mistral(server_url=provider.url)
    said = client.chat.complete(model="mistral-large-latest", messages=[{"role": "user", "content": "Hello"}])
    assert said.choices[0].message.content == "Done."

"""The pytest plugin, in a pytest of its own."""

import json
import shutil
from pathlib import Path

import pytest

from conftest import CLEAN, UNANSWERED

HEAD = f"""
import json
CLEAN = json.loads({json.dumps(json.dumps(CLEAN))})
UNANSWERED = json.loads({json.dumps(json.dumps(UNANSWERED))})
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs a test file, with the plugin and no other."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("COLUMNS", "200")

    def run(source="", *arguments):
        if source:
            pytester.makepyfile(HEAD + source)
        return pytester.runpytest_subprocess("-p", "toolcheck_lint.pytest_plugin", "-p", "no:cacheprovider", *arguments)

    return run


def test_a_report_that_is_compared_is_drawn(run):
    result = run("def test_adapter(toolcheck):\n    assert toolcheck(UNANSWERED) == []\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*1 finding*",
            "*error unanswered-tool-call at /messages/1/content/0: tool call `toolu_1` has no result*",
            "*- toolcheck -*",
            "*no result*✗ unanswered-tool-call*",
        ]
    )


def test_a_report_of_nothing_is_not_empty(run):
    result = run("def test_adapter(toolcheck):\n    assert toolcheck('{{{', select=['unknown-tool']) == []\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*there is no transcript in the body, so nothing was checked*"])


def test_a_clean_body_passes(run):
    result = run(
        """
def test_clean(toolcheck):
    toolcheck(CLEAN).assert_clean()
    assert toolcheck(CLEAN) == []

def test_another_target(toolcheck):
    assert toolcheck(CLEAN, target="bedrock").target == "bedrock"
"""
    )
    result.assert_outcomes(passed=2)


def test_a_marker_names_the_api(run):
    """A test that names one is not checked against another."""
    result = run(
        """
import pytest

@pytest.mark.toolcheck(target="bedrock")
class TestMarked:
    def test_body(self, toolcheck):
        assert toolcheck(CLEAN).target == "bedrock"
        assert toolcheck(CLEAN, target="anthropic").target == "anthropic"

    @pytest.mark.toolcheck(target="vertex-anthropic", strict="likely")
    def test_closest(self, toolcheck):
        assert toolcheck(CLEAN).target == "vertex-anthropic"

    @pytest.mark.toolcheck(ignore=["unanswered-tool-call"])
    def test_both(self, toolcheck):
        toolcheck(UNANSWERED).assert_clean()
        assert toolcheck(UNANSWERED).target == "bedrock"

def test_unmarked(toolcheck):
    assert toolcheck(CLEAN).target == "openai-chat"
""",
        "--strict-markers",
    )
    result.assert_outcomes(passed=4)


def test_a_marker_that_is_wrong_fails(run):
    result = run(
        """
import pytest

@pytest.mark.toolcheck(targt="bedrock")
def test_misspelt(toolcheck):
    pass

@pytest.mark.toolcheck(target="bedrok")
def test_unknown(toolcheck):
    pass

@pytest.mark.toolcheck("bedrock")
def test_unnamed(toolcheck):
    pass
"""
    )
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(["*the marker `toolcheck`: *targt; did you mean `target`?*", "*the marker `toolcheck`: *bedrok*"])


def test_assertions_that_fail(run):
    result = run(
        """
def test_unclean(toolcheck):
    toolcheck(UNANSWERED).assert_clean()

def test_nothing(toolcheck):
    toolcheck(UNANSWERED).assert_findings()

def test_other(toolcheck):
    toolcheck(UNANSWERED).assert_findings("unanswered-tool-call at /messages/2")

def test_wrong(toolcheck):
    toolcheck(UNANSWERED).assert_findings("unansered-tool-call")

def test_right(toolcheck):
    toolcheck(UNANSWERED).assert_findings("error unanswered-tool-call at /messages/1/content/0")
    toolcheck(UNANSWERED).assert_findings("unanswered-tool-call")
    toolcheck(UNANSWERED).assert_findings(["unanswered-tool-call"])
    toolcheck(CLEAN).assert_findings([])
    toolcheck(UNANSWERED, ignore=["unanswered-tool-call"]).assert_findings()
"""
    )
    result.assert_outcomes(passed=1, failed=4)
    result.stdout.fnmatch_lines(
        ["*error[[]unanswered-tool-call[]]*", "*did you mean `unanswered-tool-call`*"]
    )


def test_settings_of_the_project(run, pytester):
    pytester.makeini("[pytest]\ntoolcheck_target = bedrock\ntoolcheck_config = toolcheck.toml\n")
    pytester.path.joinpath("toolcheck.toml").write_text('ignore = ["unanswered-tool-call"]\n')
    result = run("def test(toolcheck):\n    report = toolcheck(UNANSWERED)\n    assert report == []\n    assert report.target == 'bedrock'\n")
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("toolcheck_target = bedrok", "ERROR: toolcheck_target: *did you mean `bedrock`*"),
        ("toolcheck_target = gateway.toml", "ERROR: toolcheck_target: *gateway.toml*"),
        ("toolcheck_config = nowhere.toml", "ERROR: toolcheck_config: *nowhere.toml*"),
    ],
)
@pytest.mark.parametrize("fixture", ["toolcheck", "toolcheck_http"])
def test_settings_of_the_project_that_are_wrong(run, pytester, fixture, setting, expected):
    pytester.makeini(f"[pytest]\n{setting}\n")
    result = run(f"def test({fixture}):\n    pass\n")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([expected])
    run("def test():\n    pass\n").assert_outcomes(passed=1)


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_what_httpx_sends(run, library):
    pytest.importorskip(library)
    result = run(
        f"""
import asyncio
import {library} as httpx

def client():
    return httpx.Client(transport=httpx.MockTransport(lambda request: httpx.Response(200, json={{}})))

def test_unanswered(toolcheck_http):
    client().post("https://api.example/v1/messages", json=UNANSWERED)

def test_clean(toolcheck_http):
    client().post("https://api.example/v1/messages", json=CLEAN)
    client().post("https://api.example/v1/files", json=UNANSWERED)
    client().get("https://api.example/v1/messages")
    assert [report.target for report in toolcheck_http] == ["anthropic"]

def test_addresses(toolcheck_http):
    chat = {{"model": "m", "messages": [{{"role": "user", "content": "Hello"}}]}}
    for host in ["api.groq.com/openai", "api.mistral.ai", "api.example"]:
        client().post(f"https://{{host}}/v1/chat/completions?x=1", json=chat)
    client().post("https://api.example/v1/completions", json={{"prompt": "Once"}})
    assert [report.target for report in toolcheck_http] == ["groq", "mistral", "openai-chat"]
    assert toolcheck_http.others == 1

def test_allowed(toolcheck_http):
    toolcheck_http.allow("blank-text", ["unanswered-tool-call"])
    client().post("https://api.example/v1/messages", json=UNANSWERED)

def test_later(toolcheck_http):
    async def send():
        transport = httpx.MockTransport(lambda request: httpx.Response(200, json={{}}))
        async with httpx.AsyncClient(transport=transport) as client:
            await client.post("https://api.example/v1/messages", json=UNANSWERED)
    asyncio.run(send())
"""
    )
    # An error at the end of a test that has passed.
    result.assert_outcomes(passed=5, errors=2, warnings=0)
    result.stdout.fnmatch_lines(["*toolcheck: request 1 of 1*", "*unanswered-tool-call*"])


def test_warnings_of_what_is_sent(run):
    """At Groq, a call without a result is only known to be answered badly."""
    pytest.importorskip("httpx")
    result = run(
        """
import httpx
import pytest

BODY = {"model": "m", "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}]}, {"role": "user", "content": "?"}],
    "tools": [{"type": "function", "function": {"name": "now", "description": "n", "parameters": {"type": "object", "properties": {}}}}]}

def send():
    httpx.Client(transport=httpx.MockTransport(lambda request: httpx.Response(200, json={}))).post("https://api.groq.com/openai/v1/chat/completions", json=BODY)

def test_warned(toolcheck_http):
    send()
    assert (toolcheck_http[0].errors, toolcheck_http[0].warnings) == (0, 1)

@pytest.mark.toolcheck(level="warning")
def test_failed(toolcheck_http):
    send()

def test_allowed(toolcheck_http):
    toolcheck_http.allow("unanswered-tool-call")
    send()
"""
    )
    result.assert_outcomes(passed=3, errors=1, warnings=1)
    result.stdout.fnmatch_lines(["*FindingWarning: *::test_warned: unanswered-tool-call at * of request 1: *"])


def test_a_setting_that_is_misspelt(run):
    result = run("def test_it(toolcheck):\n    toolcheck(CLEAN, targt='bedrock')\n")
    result.stdout.fnmatch_lines(["*TypeError: toolcheck() got an unexpected keyword argument `targt`; did you mean `target`?"])


def test_a_test_that_sends_nothing(run):
    pytest.importorskip("httpx")
    source = """
import httpx

def test_nothing(toolcheck_http):
    pass

def test_elsewhere(toolcheck_http):
    client = httpx.Client(transport=httpx.MockTransport(lambda request: httpx.Response(200, json={})))
    client.post("https://api.example/v1/files", json=UNANSWERED)
"""
    result = run(source)
    result.assert_outcomes(passed=2, warnings=2)
    result.stdout.fnmatch_lines(
        ["*NoRequestWarning: *::test_nothing sent nothing to the path of a known API, so nothing was checked; only what `httpx`, `httpx2` and `requests` send is seen", "*::test_elsewhere *; 1 went to other paths; only *"]
    )
    result = run(source, "-W", "error::toolcheck_lint.pytest_plugin.NoRequestWarning")
    result.assert_outcomes(passed=2, errors=2)


def test_what_requests_sends(run):
    pytest.importorskip("requests")
    result = run(
        """
import requests
from requests.adapters import BaseAdapter

class Answers(BaseAdapter):
    def send(self, request, **_):
        response = requests.Response()
        response.status_code = 200
        response.request = request
        return response
    def close(self):
        pass

def session():
    made = requests.Session()
    made.mount("https://", Answers())
    return made

def test_unanswered(toolcheck_http):
    session().post("https://api.example/v1/messages?beta=true", json=UNANSWERED)

def test_clean(toolcheck_http):
    session().post("https://api.example/v1/messages", json=CLEAN)
    assert len(toolcheck_http) == 1
"""
    )
    result.assert_outcomes(passed=2, errors=1)


def test_what_the_sdk_of_openai_sends(run):
    pytest.importorskip("openai")
    result = run(
        """
import openai
import pytest

def test_unanswered(toolcheck_http):
    client = openai.OpenAI(api_key="x", base_url="http://127.0.0.1:9/v1", max_retries=0)
    call = {"id": "call_1", "type": "function", "function": {"name": "tides", "arguments": "{}"}}
    messages = [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [call]}, {"role": "user", "content": "y"}]
    with pytest.raises(openai.APIConnectionError):
        client.chat.completions.create(model="gpt-4o", messages=messages)
    assert [report.format for report in toolcheck_http] == ["openai-chat"]
"""
    )
    result.assert_outcomes(passed=1, errors=1)


@pytest.fixture
def corpus(pytester):
    folder = pytester.mkdir("corpus")
    expectation = {"source": "a test", "description": "A call without a result.", "findings": [{"rule": "unanswered-tool-call", "pointer": "/messages/1/content/0"}]}
    for name, body in (("answered", UNANSWERED), ("wrong", CLEAN)):
        folder.joinpath(f"{name}.json").write_text(json.dumps(body))
        folder.joinpath(f"{name}.expect.json").write_text(json.dumps(expectation, indent=2) + "\n")
    pytester.makeini("[pytest]\ntoolcheck_corpus = corpus\n")
    return folder


def test_cases_of_a_corpus(run, corpus):
    result = run("", "-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*corpus/answered.expect.json::answered PASSED*", "*wrong.json*", "*unanswered-tool-call*"])


def test_cases_are_blessed(run, corpus):
    before = corpus.joinpath("answered.expect.json").read_text()
    run("", "--toolcheck-bless").assert_outcomes(passed=2)
    assert json.loads(corpus.joinpath("wrong.expect.json").read_text())["findings"] == []
    assert corpus.joinpath("answered.expect.json").read_text() == before
    run().assert_outcomes(passed=2)


def test_a_case_without_an_expectation(run, corpus):
    corpus.joinpath("wrong.expect.json").unlink()
    corpus.joinpath("tides.har").write_text("{}")
    result = run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*missing expectation: *wrong.expect.json*", "*--toolcheck-bless-new*"])
    run("", "--toolcheck-bless").assert_outcomes(passed=1, failed=1)
    run("", "--toolcheck-bless-new").assert_outcomes(passed=2)
    assert json.loads(corpus.joinpath("wrong.expect.json").read_text())["findings"] == []
    run().assert_outcomes(passed=2)


def test_cases_of_recordings(run, corpus):
    """A folder that is named after a kind of file has cases with other endings."""
    folder = corpus / "sse"
    folder.mkdir()
    folder.joinpath("wrong.txt").write_text("nothing")
    run("", "--toolcheck-bless-new").assert_outcomes(passed=2, failed=1)
    assert json.loads(folder.joinpath("wrong.expect.json").read_text())["findings"]
    run().assert_outcomes(passed=2, failed=1)


def test_conversations_of_a_corpus(run, corpus):
    folder = corpus / "same" / "ferry"
    folder.mkdir(parents=True)
    folder.joinpath("anthropic.json").write_text(json.dumps(CLEAN))
    folder.joinpath("openai-chat.json").write_text(json.dumps({"messages": [{"role": "user", "content": "Another?"}]}))
    run().assert_outcomes(passed=2, failed=2)


def test_a_corpus_that_is_missing(run, pytester):
    pytester.makeini("[pytest]\ntoolcheck_corpus = corpsu\n")
    result = run("def test():\n    pass\n")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*toolcheck_corpus: there is no folder *corpsu"])


def test_an_expectation_without_a_case(run, corpus):
    corpus.joinpath("wrong.json").unlink()
    corpus.joinpath("answered.json").unlink()
    run("", "--toolcheck-bless").assert_outcomes(failed=2)


def test_other_expectations_are_left_alone(run, corpus, pytester):
    pytester.makeini("[pytest]\n")
    result = run("def test():\n    pass\n")
    result.assert_outcomes(passed=1)
    run("", str(corpus / "answered.expect.json")).assert_outcomes(passed=1)


@pytest.fixture
def beside(pytester, monkeypatch, binary):
    """Puts the agent beside the tests, and names the program."""
    shutil.copy(Path(__file__).parent / "agent.py", pytester.path)
    monkeypatch.setenv("TOOLCHECK_BIN", binary)


def test_one_marker_is_for_all_fixtures(run, beside):
    result = run(
        """
import agent
import pytest

pytestmark = pytest.mark.toolcheck(target="bedrock", ignore=["unanswered-tool-call"], strict="likely", allow="unknown-tool")

def test_all(toolcheck, toolcheck_http, provider):
    assert toolcheck(UNANSWERED).target == provider.target == "bedrock"
    toolcheck(UNANSWERED).assert_clean()

@pytest.mark.toolcheck(target="anthropic")
def test_closest(toolcheck, provider):
    assert toolcheck(UNANSWERED).target == provider.target == "anthropic"
    toolcheck(UNANSWERED).assert_clean()
    agent.run()
""",
        "--strict-markers",
    )
    # Of the first, neither the mock nor the hook has seen a request.
    result.assert_outcomes(passed=2, warnings=2)


def test_one_setting_is_for_all_fixtures(run, pytester, beside):
    pytester.makeini("[pytest]\ntoolcheck_target = claude anthropic\n")
    source = """
import agent
import pytest

def test_mock(provider):
    assert provider.targets == ("claude", "anthropic")
    agent.run()

@pytest.mark.toolcheck(target=["bedrock"])
def test_body(toolcheck):
    assert toolcheck(CLEAN).target == "bedrock"

def test_unmarked(toolcheck):
    pass
"""
    result = run(source)
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["a body is checked against one target, and here are 2: name it with *"])

"""`MockProvider` is that of pytest-toolcheck, which starts the program."""

import subprocess
import sys

import pytest

import toolcheck_lint

from conftest import ROOT


def test_it_says_what_to_install():
    code = """
import sys
sys.modules["pytest_toolcheck"] = None
import toolcheck_lint
try:
    toolcheck_lint.MockProvider
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "`pip install ./bindings/pytest`" in done.stdout, done.stderr
    with pytest.raises(AttributeError):
        toolcheck_lint.NoSuchName


def test_it_refuses_what_the_linter_finds(program, unanswered, monkeypatch):
    import http.client
    import json

    monkeypatch.syspath_prepend(str(ROOT / "bindings" / "pytest" / "src"))
    monkeypatch.delitem(sys.modules, "pytest_toolcheck", raising=False)
    mock = toolcheck_lint.MockProvider(target="anthropic")
    try:
        host = mock.url.removeprefix("http://")
        connection = http.client.HTTPConnection(host, timeout=30)
        body = json.dumps({"model": "claude-opus-4-8", **unanswered})
        connection.request("POST", "/v1/messages", body, {"content-type": "application/json", "x-api-key": "x"})
        response = connection.getresponse()
        said = json.loads(response.read())
        connection.close()
        found = toolcheck_lint.lint(body)[0]
        assert response.status == found.status == 400
        assert said["error"]["message"] == found.provider_error
        assert toolcheck_lint.explain_error(json.dumps(said), body).rules[0] == found.rule
    finally:
        mock.stop()

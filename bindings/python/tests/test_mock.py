"""The mock and the linter say the same."""

import http.client
import json
import urllib.request

import pytest

import toolcheck_lint
from toolcheck_lint.mock import Provider


def test_it_refuses_what_the_linter_finds(binary, unanswered):
    mock = Provider(target="anthropic", bin=binary)
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


def send(mock, path, body):
    request = urllib.request.Request(mock.url + path, data=json.dumps(body).encode(), headers={"content-type": "application/json", "x-api-key": "x", "anthropic-version": "2023-06-01"})
    with urllib.request.urlopen(request) as response:
        return response.read()


def test_without_pytest_it_warns(binary):
    """As a context manager, in any test."""
    with pytest.warns(UserWarning, match="^the test sent nothing to its mock, so nothing was checked") as seen:
        with Provider(bin=binary):
            pass
    assert seen[0].filename == __file__
    body = {"model": "claude-opus-4-8", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}], "tools": [{"name": "tides", "input_schema": {"type": "object"}}]}
    with pytest.warns(UserWarning, match=r"^the test sent something to a path that its mock does not have, and got 404: POST /messages \(.*\); is the base"):
        with Provider(bin=binary) as mock:
            send(mock, "/v1/messages", body)
            with pytest.raises(OSError):
                send(mock, "/messages", body)
    turns = [mock_of_calls("moons"), toolcheck_lint.mock.text("Low.")]
    with pytest.warns(UserWarning, match=r"^unknown-tool at .* of exchange \d: .* \(`level=\"warning\"` makes this fail\)$"):
        with Provider(bin=binary, turns=turns) as mock:
            said = json.loads(send(mock, "/v1/messages", body))
            call = next(one for one in said["content"] if one["type"] == "tool_use")
            result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call["id"], "content": "full"}]}
            send(mock, "/v1/messages", {**body, "messages": [*body["messages"], {"role": "assistant", "content": said["content"]}, result]})


def mock_of_calls(name):
    return toolcheck_lint.mock.calls(toolcheck_lint.mock.call(name))

"""The mock and the linter say the same."""

import http.client
import json

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

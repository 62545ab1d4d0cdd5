"""Scripts, from Python to what the client reads."""

import json
import tomllib
import urllib.request

import pytest
from agent import ask

from toolcheck_lint import ToolcheckError
from toolcheck_lint._script import toml
from toolcheck_lint.mock import Provider, call, calls, error, text

ASKED = [{"role": "user", "content": "When is low tide?"}]


def test_every_value_comes_through_toml():
    arguments = {"a b.c": 'ü"\\\n\x00\x7f😀', "": [1, -2.5, 1e300, True, {"x": []}], "true": False}
    turns = [
        calls(call("tides", arguments), call(raw="{"), text="one\r\ntwo", reasoning="r", stop="length", pieces=3, interleaved=True),
        error(429, "Slow down.", retry_after=2, attempts=1),
        text("", cut_after=4, clean_end=True),
        calls(call("tides"), cut_in="between-calls"),
    ]
    assert tomllib.loads(toml(turns)) == {"turn": turns}
    assert turns[0]["calls"][0]["arguments"] == arguments
    assert turns[1] == {"status": 429, "text": "Slow down.", "retry-after": 2, "attempts": 1}
    assert turns[2] == {"text": "", "cut-after": 4, "clean-end": True}
    assert turns[3] == {"calls": [{"tool": "tides"}], "cut-in": "between-calls"}
    assert toml([]) == ""


def test_what_is_no_list_of_turns():
    for wrong, message in [
        ("Low at six.", r"^turns: expected a list of turns, such as `\[calls.*\]`, not str$"),
        (text("Low at six."), "^turns: expected a list of turns, .*, not one turn$"),
        (None, "^turns: .*, not NoneType$"),
        (["Low at six."], r"^turns\[0\]: .* and this is str; did you mean `text\('Low at six.'\)`\?$"),
        ([text("Well?"), call("tides")], r"^turns\[1\]: a call is no turn; put it in one: `calls\(call\(...\)\)`$"),
    ]:
        with pytest.raises(TypeError, match=message):
            toml(wrong)


def test_a_stream_that_is_cut_off_can_end_cleanly(binary):
    turn = calls(call("tides", {"harbour": "Oban"}), call("ferries"), cut_in="between-calls", clean_end=True)
    with Provider(bin=binary) as provider:
        provider.script([turn])
        body = {"model": "m", "max_tokens": 9, "stream": True, "messages": ASKED}
        body["tools"] = [{"name": name, "input_schema": {"type": "object"}} for name in ("tides", "ferries")]
        request = urllib.request.Request(provider.url + "/v1/messages", json.dumps(body).encode())
        request.add_header("content-type", "application/json")
        # No proxy of the machine may come between.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=10) as response:
            stream = response.read().decode()
        assert "tides" in stream and "ferries" not in stream


def test_arguments_that_toml_cannot_hold_reach_the_client(binary):
    arguments = {"harbour": None, "number": 2**70}
    with Provider(bin=binary) as provider:
        provider.script([calls(call("tides", arguments)), text("Low at six.")])
        assert ask(ASKED, provider.url)["content"][0]["input"] == arguments


def test_a_script_that_is_wrong_is_refused(binary):
    with Provider(bin=binary) as provider:
        with pytest.raises(ToolcheckError, match=r"script: \d+:\d+: unknown field `txet`; did you mean `text`"):
            provider.script([{"txet": "x"}])
        with pytest.raises(TypeError):
            provider.script([{"text": object()}])


def test_without_a_script_the_first_tool_is_called(binary):
    with Provider(bin=binary) as provider:
        assert ask(ASKED, provider.url)["content"][0]["name"] == "tides"
        provider.script([text("No.")])
        assert ask(ASKED, provider.url)["content"][0]["text"] == "No."
        provider.script([])
        assert ask(ASKED, provider.url)["content"][0]["name"] == "tides"

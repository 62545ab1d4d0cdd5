"""`assert_clean`, `lint` and the fixture `toolcheck_lint`."""

import json

import pytest

from pytest_toolcheck import ToolcheckError, assert_clean, lint

CALL = {"id": "call_1", "type": "function", "function": {"name": "tides", "arguments": "{}"}}
ANSWERED = [
    {"role": "user", "content": "When is low tide?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "6:00"},
]
TOOLS = [{"type": "function", "function": {"name": "tides", "parameters": {"type": "object", "properties": {}}}}]


def body(messages):
    return {"model": "gpt-4o", "messages": messages, "tools": TOOLS}


@pytest.fixture(autouse=True)
def found(program, monkeypatch):
    monkeypatch.setenv("TOOLCHECK_BIN", program)


@pytest.mark.parametrize("form", [lambda body: body, json.dumps, lambda body: json.dumps(body).encode()])
def test_a_clean_body_passes_and_a_broken_one_says_why(form):
    assert_clean(form(body(ANSWERED)), target="openai-chat")
    with pytest.raises(AssertionError) as raised:
        assert_clean(form(body(ANSWERED[:2])))
    text = str(raised.value)
    assert text.startswith("error[unanswered-tool-call]")
    assert "openai-chat answers 400: An assistant message with 'tool_calls'" in text
    assert "[/messages/1/tool_calls/0 in body.json:1:" in text or "at /messages/1/tool_calls/0" in text


def test_what_is_not_read_is_not_clean():
    for unread in ({}, "", "no JSON", b"\xff", [], {"prompt": "x"}):
        with pytest.raises(AssertionError):
            assert_clean(unread)
    with pytest.raises(AssertionError, match="nothing was checked"):
        assert_clean({}, ignore=["unrecognised-format"])


def test_options_reach_the_program(tmp_path):
    assert_clean(body(ANSWERED[:2]), kind="session")
    assert_clean(body(ANSWERED[:2]), ignore=["unanswered-tool-call"])
    assert_clean(body(ANSWERED[:2]), select=["unknown-tool"])
    assert_clean(body(ANSWERED[:2]), select="unknown-tool")
    rules = [finding["rule"] for finding in lint(ANSWERED, tools=[{"type": "function", "function": {"name": "other"}}])["findings"]]
    assert rules == ["unknown-tool"]
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(TOOLS))
    assert lint(ANSWERED, tools=tools)["findings"] == []
    config = tmp_path / "toolcheck.toml"
    config.write_text('ignore = ["unanswered-tool-call"]\n')
    assert_clean(body(ANSWERED[:2]), config=config)
    with pytest.raises(ToolcheckError, match="no such target: `opnai`"):
        assert_clean(body(ANSWERED), target="opnai")


def test_warnings_fail_unless_only_errors_do():
    broken = CALL | {"function": {"name": "tides", "arguments": "{"}}
    doubtful = body([ANSWERED[0], {"role": "assistant", "content": None, "tool_calls": [broken]}, ANSWERED[2]])
    assert [finding["level"] for finding in lint(doubtful)["findings"]] == ["warning"]
    assert_clean(doubtful, fail_on="error")
    with pytest.raises(AssertionError, match="warning.invalid-arguments-json"):
        assert_clean(doubtful)


def test_objects_of_sdks_are_written_as_they_are_sent():
    class Part:
        """Such as a block of a response, which a loop puts into its history."""

        def model_dump(self, *, mode, by_alias, exclude_unset):
            assert (mode, by_alias, exclude_unset) == ("json", True, True)
            return CALL

    assert_clean(body([ANSWERED[0], {"role": "assistant", "content": None, "tool_calls": [Part()]}, ANSWERED[2]]))
    with pytest.raises(TypeError, match="object in the body is neither JSON nor"):
        assert_clean({"messages": object()})
    with pytest.raises(ValueError):
        assert_clean({"temperature": float("nan")})


def test_half_a_character_is_a_finding():
    half = body([{"role": "user", "content": "\ud83d"}])
    for form in (half, json.dumps(half, ensure_ascii=False)):
        assert lint(form)["findings"], form


def test_the_fixture_fails_the_test_at_its_line(pytester, arguments):
    pytester.makepyfile(
        f"""
def test_it(toolcheck_lint):
    toolcheck_lint({body(ANSWERED)!r}, target="openai-chat")
    toolcheck_lint({body(ANSWERED[:2])!r}, target="openai-chat")
"""
    )
    result = pytester.runpytest_inprocess(*arguments)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([">*toolcheck_lint(*", "E *AssertionError: error[[]unanswered-tool-call]*"])
    result.stdout.no_fnmatch_line("*_lint.py*")

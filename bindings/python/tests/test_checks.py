"""`toolcheck_lint.testing.check` and the fixture `toolcheck`, which is it with the settings of a test."""

import json

import pytest

from toolcheck_lint.testing import check

CALL = {"id": "call_1", "type": "function", "function": {"name": "tides", "arguments": "{}"}}
ANSWERED = [
    {"role": "user", "content": "When is low tide?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "6:00"},
]
TOOLS = [{"type": "function", "function": {"name": "tides", "parameters": {"type": "object", "properties": {}}}}]


def body(messages):
    return {"model": "gpt-4o", "messages": messages, "tools": TOOLS}


@pytest.mark.parametrize("form", [lambda body: body, json.dumps, lambda body: json.dumps(body).encode()])
def test_a_clean_body_passes_and_a_broken_one_says_why(form):
    check(form(body(ANSWERED)), target="openai-chat").assert_clean()
    with pytest.raises(AssertionError) as raised:
        check(form(body(ANSWERED[:2]))).assert_clean()
    text = str(raised.value)
    assert text.startswith("error[unanswered-tool-call]")
    assert "openai-chat answers 400: An assistant message with 'tool_calls'" in text
    assert "[/messages/1/tool_calls/0 in body.json:1:" in text or "at /messages/1/tool_calls/0" in text


def test_what_is_not_read_is_not_clean():
    for unread in ({}, "", "no JSON", b"\xff", [], {"prompt": "x"}):
        with pytest.raises(AssertionError):
            check(unread).assert_clean()
    with pytest.raises(AssertionError, match="nothing was checked"):
        check({}, ignore=["unrecognised-format"]).assert_clean()


def test_settings_reach_the_linter(tmp_path):
    check(body(ANSWERED[:2]), kind="session").assert_clean()
    check(body(ANSWERED[:2]), ignore=["unanswered-tool-call"]).assert_clean()
    check(body(ANSWERED[:2]), select=["unknown-tool"]).assert_clean()
    check(body(ANSWERED[:2]), select="unknown-tool").assert_clean()
    rules = [found.rule for found in check(ANSWERED, tools=[{"type": "function", "function": {"name": "other"}}])]
    assert rules == ["unknown-tool"]
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(TOOLS))
    assert check(ANSWERED, tools=tools.read_bytes()) == []
    config = tmp_path / "toolcheck.toml"
    config.write_text('ignore = ["unanswered-tool-call"]\n')
    check(body(ANSWERED[:2]), config=config).assert_clean()
    with pytest.raises(ValueError, match="there is no target `opnai`"):
        check(body(ANSWERED), target="opnai")


def test_warnings_fail_unless_only_errors_do():
    broken = CALL | {"function": {"name": "tides", "arguments": "{"}}
    doubtful = body([ANSWERED[0], {"role": "assistant", "content": None, "tool_calls": [broken]}, ANSWERED[2]])
    assert [found.level for found in check(doubtful)] == ["warning"]
    check(doubtful).assert_clean(level="error")
    with pytest.raises(AssertionError, match="warning.invalid-arguments-json"):
        check(doubtful).assert_clean()


def test_objects_of_sdks_are_written_as_they_are_sent():
    class Part:
        """Such as a block of a response, which a loop puts into its history."""

        def model_dump(self, *, mode, by_alias, exclude_unset):
            assert (mode, by_alias, exclude_unset) == ("json", True, True)
            return CALL

    check(body([ANSWERED[0], {"role": "assistant", "content": None, "tool_calls": [Part()]}, ANSWERED[2]])).assert_clean()
    with pytest.raises(TypeError, match="object is neither JSON nor"):
        check({"messages": object()})
    with pytest.raises(TypeError, match="NaN is not valid JSON"):
        check({"temperature": float("nan")})


def test_half_a_character_is_a_finding():
    half = body([{"role": "user", "content": "\ud83d"}])
    for form in (half, json.dumps(half, ensure_ascii=False)):
        assert check(form), form


def test_the_fixture_fails_the_test_at_its_line(pytester, arguments):
    pytester.makepyfile(
        f"""
def test_it(toolcheck):
    toolcheck({body(ANSWERED)!r}, target="openai-chat").assert_clean()
    toolcheck({body(ANSWERED[:2])!r}, target="openai-chat").assert_clean()
"""
    )
    result = pytester.runpytest_inprocess(*arguments)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([">*toolcheck(*", "E *AssertionError: error[[]unanswered-tool-call]*"])
    result.stdout.no_fnmatch_line("*testing.py*")

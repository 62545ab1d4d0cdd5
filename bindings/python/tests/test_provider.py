"""The fixture `provider`, as tests see it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

HEAD = """
import pytest
import agent
from toolcheck_lint.mock import call, calls, error, text
"""


@pytest.fixture
def run(pytester, arguments):
    """Runs a file of tests, beside which is the agent."""
    shutil.copy(Path(__file__).parent / "agent.py", pytester.path)

    def run(source, *more):
        pytester.makepyfile(HEAD + source)
        return pytester.runpytest_inprocess(*arguments, *more)

    return run


def test_an_agent_that_is_right_passes(run):
    result = run(
        """
def test_it(provider):
    provider.script([
        calls(call("tides", {"harbour": "Cuxhaven"}), call("tides"), text="I will look it up."),
        error(429, retry_after=0, attempts=1),
        text("Low at six."),
    ])
    with pytest.raises(agent.Refused, match="429"):
        agent.run()
    provider.reset()
    provider.script([calls(call("tides", {"harbour": "Cuxhaven"}), call("tides")), text("Low at six.")])
    assert agent.run() == "Low at six."
    assert provider.refused() == []
    assert provider.report()["requests"] == len(provider.exchanges()) == 2
    first = provider.exchanges()[0]["response"]["content"]
    assert [part["input"] for part in first] == [{"harbour": "Cuxhaven"}, {}]
""",
        "-Werror",
    )
    result.assert_outcomes(passed=1)


def test_a_refusal_that_the_agent_swallows_fails_the_test_with_a_picture(run):
    result = run(
        """
def test_it(provider):
    try:
        agent.run("drops a result")
    except agent.Refused:
        pass
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "toolcheck: refused with 400: unanswered-tool-call at /messages/1/content/0: *",
            "  the API says: messages.2: `tool_use` ids were found without `tool_result` blocks *",
            "exchange 2 of 2, line 2",
            "*1  assistant  → 1 tides*no result*unanswered-tool-call",
            "FAILED *::test_it - *refused with 400: unanswered-tool-call*",
        ]
    )
    # It is the test that failed: neither the plugin's code nor a second error is shown.
    result.stdout.no_fnmatch_line("*plugin.py*")


def test_a_refusal_that_ends_the_test_is_explained_once(run):
    result = run(
        """
def test_it(provider):
    agent.run("drops a result")
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*agent.Refused*", "*Captured toolcheck call*", "refused with 400: unanswered-tool-call *"])
    assert result.stdout.str().count("refused with 400: ") == 1


def test_a_mock_that_was_stopped_hides_no_failure_and_is_not_taken_for_clean(run):
    result = run(
        """
def test_failing(provider):
    provider.stop()
    assert "the test" == "has failed"

def test_passing(provider):
    provider.stop()
"""
    )
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["E *AssertionError: assert 'the test' == 'has failed'", "the mock at * does not answer: *"])
    result.stdout.fnmatch_lines(["FAILED *::test_passing - *ProgramError: the mock at * does not answer*"])


def test_what_happens_between_requests_is_checked(run):
    result = run(
        """
def test_it(provider):
    provider.script([calls(call("tides", {"harbour": "Cuxhaven"})), text("Low at six.")])
    agent.run("changes arguments")
    assert provider.refused() == []
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["toolcheck: altered-arguments at /request/messages/1/content/0* of exchange 2: *"])


def test_a_warning_between_requests_fails_where_that_is_asked_for(run):
    result = run(
        """
TURNS = [calls(call("moons")), text("Low at six.")]

def test_warning(provider):
    provider.script(TURNS)
    agent.run()

@pytest.mark.toolcheck(level="warning")
def test_error(provider):
    provider.script(TURNS)
    agent.run()
"""
    )
    result.assert_outcomes(passed=1, failed=1, warnings=1)
    result.stdout.fnmatch_lines(["toolcheck: unknown-tool at * of exchange *: *moons*"])
    result.stdout.fnmatch_lines(["*FindingWarning: *::test_warning: unknown-tool at * of exchange *"])


def test_an_expected_refusal_has_to_come(run):
    result = run(
        """
def refused():
    with pytest.raises(agent.Refused):
        agent.run("drops a result")

def test_any(provider):
    provider.expect_refusal()
    refused()

def test_this_one(provider):
    provider.expect_refusal("unanswered-tool-call")
    refused()

def test_another(provider):
    provider.expect_refusal("unknown-tool")
    refused()

def test_none(provider):
    provider.expect_refusal()
    agent.run()

def test_nothing_sent(provider):
    provider.expect_refusal()

def test_no_rule(provider):
    with pytest.raises(ValueError, match="no rule `unanswered-call`; did you mean `unanswered-tool-call`"):
        provider.expect_refusal("unanswered-call")
    agent.run()
"""
    )
    result.assert_outcomes(passed=3, failed=3)
    result.stdout.fnmatch_lines(
        [
            "toolcheck: refused with 400: unanswered-tool-call *",
            "  the test expects a refusal because of unknown-tool",
            "toolcheck: no request was refused, which the test expects",
            "toolcheck: no request was refused, which the test expects",
        ]
    )


def test_a_failing_test_that_is_expected_to_fail_is_one(run):
    result = run(
        """
@pytest.mark.xfail
def test_it(provider):
    try:
        agent.run("drops a result")
    except agent.Refused:
        pass

def test_skipped(provider):
    pytest.skip("not now")
"""
    )
    result.assert_outcomes(xfailed=1, skipped=1)


def test_what_another_fixture_sends_after_the_test_is_checked(run):
    result = run(
        """
@pytest.fixture
def late(provider):
    yield
    try:
        agent.run("drops a result")
    except agent.Refused:
        pass

def test_it(provider, late):
    agent.run()
"""
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["toolcheck: refused with 400: unanswered-tool-call *"])


def test_a_mock_that_is_not_used_gives_a_warning(run):
    source = """
def test_it(provider):
    pass
"""
    result = run(source)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*NoRequestWarning: *::test_it sent nothing to its mock*"])
    run(source, "-Werror").assert_outcomes(failed=1)


def test_a_path_that_the_mock_does_not_have_is_named(run):
    result = run(
        """
import urllib.request

def test_it(provider):
    with pytest.raises(OSError):
        urllib.request.urlopen(urllib.request.Request(provider.url + "/messages", data=b"{}"))
"""
    )
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*NoRequestWarning: *::test_it sent something to a path that its mock does not have, and got 404: POST /messages (*/v1*); nothing else was sent*"])


def test_the_marker_and_the_configuration_choose_the_target(run, pytester):
    pytester.makeini("[pytest]\ntoolcheck_target = claude\ntoolcheck_strict = likely\n")
    pytester.makefile(".toml", own='id = "own"\nname = "Own"\nextends = "anthropic"\n')
    result = run(
        """
def test_configured(provider):
    assert provider.target == "claude"
    agent.run()

@pytest.mark.toolcheck(target="anthropic")
class TestMarked:
    def test_the_class(self, provider):
        assert provider.target == "anthropic"
        agent.run()

    @pytest.mark.toolcheck(target="own.toml", strict="known")
    def test_the_closest(self, provider):
        assert provider.target.endswith("own.toml")
        agent.run()

@pytest.mark.toolcheck(target="antropic")
def test_misspelt(provider):
    pass

@pytest.mark.toolcheck(tagret="anthropic")
def test_misspelt_key(provider):
    pass
""",
        "--strict-markers",
    )
    result.assert_outcomes(passed=3, errors=2)
    result.stdout.fnmatch_lines(["*there is no target `antropic`*", "*the marker `toolcheck`: it takes *target=*, not tagret*"])


def test_the_environment_is_as_before_afterwards(run, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gateway.example/v1")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("NO_PROXY", "example.com")
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    result = run(
        """
import os

def test_during(provider):
    assert os.environ["OPENAI_BASE_URL"] == provider.url + "/v1"
    assert os.environ["ANTHROPIC_BASE_URL"] == provider.url == provider.env["OLLAMA_HOST"]
    assert os.environ["NO_PROXY"] == "example.com,127.0.0.1,localhost"
    assert "GOOGLE_GENAI_USE_VERTEXAI" not in os.environ
    agent.run()

def test_after():
    assert os.environ["OPENAI_BASE_URL"] == "https://gateway.example/v1"
    assert os.environ["GOOGLE_GENAI_USE_VERTEXAI"] == "true"
    assert os.environ["NO_PROXY"] == "example.com"
    assert "OLLAMA_HOST" not in os.environ
"""
    )
    result.assert_outcomes(passed=2)


def fake(folder: Path, body: str) -> str:
    path = folder / "fake-toolcheck"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


SIMPLE = """
def test_it(provider):
    pass
"""


def test_a_program_that_is_missing_is_named(run, monkeypatch, pytester):
    result = run(SIMPLE, "--toolcheck-bin", "no-such-program")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*names `no-such-program`, which is not a program*"])
    result.stdout.no_fnmatch_line("During handling*")
    monkeypatch.setenv("PATH", str(pytester.path))
    monkeypatch.delenv("TOOLCHECK_BIN")
    # A released wheel has put it there.
    monkeypatch.setattr("toolcheck_lint._program._folders", lambda: ())
    result = run(SIMPLE)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*`toolcheck` is neither beside the package nor on the PATH: install it (*"])


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_a_program_that_is_too_old_says_its_version(run, tmp_path):
    old = "case $1 in --version) echo toolcheck 0.0.9 ;; *) echo \"error: unrecognized subcommand 'serve'\" >&2; exit 2 ;; esac"
    result = run(SIMPLE, "--toolcheck-bin", fake(tmp_path, old))
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*(toolcheck 0.0.9) is too old for `toolcheck serve`: update it*"])
    result = run(SIMPLE, "--toolcheck-bin", fake(tmp_path, "exit 0"))
    result.stdout.fnmatch_lines(["*fake-toolcheck serve: it ended and said nothing"])


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ends(pid: int, seconds: float = 10) -> bool:
    limit = time.monotonic() + seconds
    while is_alive(pid):
        if time.monotonic() > limit:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
@pytest.mark.parametrize("how", ["SIGKILL", "SIGINT"])
def test_nothing_is_left_if_pytest_is_stopped(pytester, arguments, how):
    shutil.copy(Path(__file__).parent / "agent.py", pytester.path)
    pytester.makepyfile(
        HEAD
        + """
import pathlib, time

def test_it(provider):
    pathlib.Path("pid.new").write_text(str(provider._process.pid))
    pathlib.Path("pid.new").rename("pid")
    time.sleep(60)
"""
    )
    command = [sys.executable, "-m", "pytest", *arguments]
    with subprocess.Popen(command, cwd=pytester.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        limit = time.monotonic() + 30
        while not (pytester.path / "pid").exists():
            assert process.poll() is None and time.monotonic() < limit, "pytest has not come to the test"
            time.sleep(0.02)
        pid = int((pytester.path / "pid").read_text())
        assert is_alive(pid)
        process.send_signal(getattr(signal, how))
    assert ends(pid)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_a_mock_whose_input_stays_open_is_killed(binary, monkeypatch):
    from toolcheck_lint import mock

    monkeypatch.setattr(mock, "STOP_SECONDS", 0.2)
    provider = mock.Provider(bin=binary)
    # As a child that was forked from the test would have it.
    kept = os.dup(provider._process.stdin.fileno())
    try:
        provider.stop()
        assert not is_alive(provider._process.pid)
    finally:
        os.close(kept)
    provider.stop()


def test_a_request_to_another_api_fails_the_test(run):
    result = run(
        """
@pytest.mark.toolcheck(target="openai-chat")
def test_it(provider):
    with pytest.raises(agent.Refused, match="404"):
        agent.run()

@pytest.mark.toolcheck(target=["openai-chat", "anthropic"])
def test_both(provider):
    agent.run()
"""
    )
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["toolcheck: not expected of openai-chat: POST /v1/messages"])


def test_a_refusal_can_be_allowed(run):
    result = run(
        """
@pytest.mark.toolcheck(allow="unanswered-tool-call")
def test_it(provider):
    # A loop that never answers would go on for ever, as the mock calls again.
    call = {"type": "tool_use", "id": "toolu_1", "name": "tides", "input": {}}
    agent.ask([
        {"role": "user", "content": "When is low tide?"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": "Go on."},
    ])
    assert [one["rule"] for one in provider.report()["allowed"]] == ["unanswered-tool-call"]

@pytest.mark.toolcheck(allow="unanswered-tool-calls")
def test_mistyped(provider):
    pass
"""
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*there is no rule `unanswered-tool-calls`; did you mean `unanswered-tool-call`?*"])


def test_a_block_checks_at_its_end(binary):
    import agent

    from toolcheck_lint import ToolcheckError
    from toolcheck_lint.mock import Provider

    with Provider(target="anthropic", bin=binary) as provider:
        agent.run(url=provider.url)
    with pytest.raises(ToolcheckError, match="does not answer"):
        provider.report()
    with pytest.raises(AssertionError, match="refused with 400: unanswered-tool-call"):
        with Provider(target="anthropic", bin=binary) as provider:
            with pytest.raises(agent.Refused):
                agent.run("drops a result", url=provider.url)
    with pytest.raises(ZeroDivisionError):
        with Provider(bin=binary):
            1 / 0

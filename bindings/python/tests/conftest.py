"""What the tests share."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[3]

UNANSWERED = {
    "max_tokens": 1024,
    "messages": [
        {"role": "user", "content": "Which ferry goes first?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "tides", "input": {}}]},
        {"role": "user", "content": "Well?"},
    ],
}
CLEAN = {"max_tokens": 1024, "messages": [{"role": "user", "content": "Which ferry goes first?"}]}


@pytest.fixture
def unanswered():
    return UNANSWERED


@pytest.fixture
def clean():
    return CLEAN


@pytest.fixture(scope="session")
def binary():
    """The path of the program `toolcheck`; without one, there is nothing to compare with."""
    found = shutil.which(os.environ.get("TOOLCHECK_BIN") or "toolcheck")
    if found is None:
        pytest.skip("needs the program `toolcheck`: set TOOLCHECK_BIN")
    return os.path.abspath(found)


@pytest.fixture(scope="session")
def program(binary):
    """Runs the program `toolcheck`."""

    def run(*arguments, stdin=None, cwd=ROOT):
        done = subprocess.run([binary, *arguments], input=stdin, capture_output=True, cwd=cwd)
        assert done.returncode in (0, 1), done.stderr.decode()
        return done.stdout

    return run


@pytest.fixture
def arguments(binary, monkeypatch):
    """The arguments of a pytest that runs inside a test and has a mock."""
    monkeypatch.setenv("TOOLCHECK_BIN", binary)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    return ["-p", "no:cacheprovider", "-p", "toolcheck_lint.pytest_plugin"]

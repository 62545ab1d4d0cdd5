"""Finds the program, and the plugin if it is not installed."""

import importlib.metadata
import os
import shutil

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture
def program() -> str:
    """The program `toolcheck`; without one there is nothing to test."""
    found = shutil.which(os.environ.get("TOOLCHECK_BIN") or "toolcheck")
    if found is None:
        pytest.skip("needs the program `toolcheck`: set TOOLCHECK_BIN")
    return os.path.abspath(found)


@pytest.fixture
def arguments(program: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The arguments of a pytest that runs inside a test."""
    monkeypatch.setenv("TOOLCHECK_BIN", program)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.delenv("CI", raising=False)
    plugins = importlib.metadata.entry_points(group="pytest11", name="toolcheck")
    return ["-p", "no:cacheprovider"] + ([] if plugins else ["-p", "pytest_toolcheck.plugin"])

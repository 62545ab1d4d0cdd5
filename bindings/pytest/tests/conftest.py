"""Finds the program, and the plugin if it is not installed."""

import importlib.metadata
import os
import shutil
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

IS_INSTALLED = bool(importlib.metadata.entry_points(group="pytest11", name="toolcheck"))
SOURCE = str(Path(__file__).parents[1] / "src")
if not IS_INSTALLED:
    sys.path.insert(0, SOURCE)


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
    monkeypatch.setenv("COLUMNS", "200")
    if IS_INSTALLED:
        return ["-p", "no:cacheprovider"]
    monkeypatch.setenv("PYTHONPATH", SOURCE)
    return ["-p", "no:cacheprovider", "-p", "pytest_toolcheck.plugin"]

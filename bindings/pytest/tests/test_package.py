"""The package itself."""

import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]


def test_the_version_is_that_of_the_program():
    workspace = HERE.parents[1] / "Cargo.toml"
    if not workspace.exists():
        pytest.skip("not in a checkout")
    cargo = tomllib.loads(workspace.read_text())["workspace"]["package"]
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    assert project["version"] == cargo["version"]
    assert project["license"] == cargo["license"]

"""The types are those of the module, and one version of each crate is used."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import toolcheck_lint

PACKAGE = Path(toolcheck_lint.__file__).parent
PROJECT = Path(__file__).parents[1]
# An installed package is found by itself.
FOUND = {} if PACKAGE.parent.name == "site-packages" else {"MYPYPATH": str(PACKAGE.parent)}


def run(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        capture_output=True,
        text=True,
        cwd=PROJECT,
        env={**os.environ, **FOUND, "NO_COLOR": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def mypy_cache(tmp_path_factory):
    """What mypy keeps of the modules that it has seen, so that each is read once."""
    return str(tmp_path_factory.mktemp("mypy"))


def test_the_stubs_are_true():
    pytest.importorskip("mypy")
    # The other modules are written in Python, with their types.
    run("mypy.stubtest", "toolcheck_lint._native")


def test_the_package_is_typed(tmp_path, mypy_cache):
    pytest.importorskip("mypy")
    user = tmp_path / "user.py"
    user.write_text(
        """
import toolcheck_lint
from toolcheck_lint import Finding, Linter, Report, Summary

report: Report = toolcheck_lint.lint({"messages": []}, target="bedrock", kind="session")
rules: list[str] = [found.rule for found in report]
first: Finding = report[0]
both: Summary | int = sum([Summary(), Summary()])
total: Summary = Summary.sum([Summary(), b""]) + Summary()
Linter(kind="log")  # type: ignore[arg-type]
toolcheck_lint.lint(1)  # type: ignore[arg-type]
"""
    )
    mypy = ["mypy", "--config-file", str(PROJECT / "pyproject.toml"), "--cache-dir", mypy_cache]
    run(*mypy, "-p", "toolcheck_lint")
    run(*mypy, str(user))


def test_settings_are_typed_wherever_they_are_given(tmp_path, mypy_cache):
    """A comment that ignores an error is one itself where there is none (`warn_unused_ignores`)."""
    pytest.importorskip("mypy")
    pytest.importorskip("polars")
    user = tmp_path / "user.py"
    user.write_text(
        """
from typing import Any

import toolcheck_lint
from toolcheck_lint import Explained, Settings, hf, mock, ray, spark, testing

data: Any = None
hf.lint_dataset(data, messages="messages", target="bedrock", kind="session", select=["unknown-tool"])
hf.lint_dataset(data, targt="bedrock")  # type: ignore[call-overload]
hf.lint_dataset(data, kind="log")  # type: ignore[call-overload]
hf.lint_dataset(data, mode="row")  # type: ignore[call-overload]
ray.lint_dataset(data, target="bedrock")
ray.lint_dataset(data, targt="bedrock")  # type: ignore[call-overload]
spark.lint_dataframe(data, target="bedrock")
spark.lint_dataframe(data, targt="bedrock")  # type: ignore[call-overload]
testing.check({}, target="bedrock", tools=[]).assert_clean()
testing.check({}, targt="bedrock")  # type: ignore[call-arg]
kept: Settings = {"target": "bedrock", "tools": []}
toolcheck_lint.lint({}, **kept)
wrong: Settings = {"targt": "bedrock"}  # type: ignore[typeddict-unknown-key]
explained: Explained = toolcheck_lint.explain_error("x", {}, target="bedrock")
sure: str | None = explained.cause
toolcheck_lint.explain_error("x", {}, targt="bedrock")  # type: ignore[call-arg]
version: str = toolcheck_lint.__version__
mask: list[bool] = hf.lint_dataset(data, messages="messages", mode="mask")
hf.lint_dataset(data, mode="masks")  # type: ignore[call-overload]
text, report = toolcheck_lint.clean_dataset("", messages="messages", fix="safe", target="bedrock")
same: str = text
after: toolcheck_lint.Summary = report.after
toolcheck_lint.clean_dataset(data, fix=True)  # type: ignore[arg-type]
toolcheck_lint.clean_dataset(data, targt="bedrock")  # type: ignore[call-arg]
with mock.Provider(target=["anthropic", "bedrock"], turns=[mock.calls(mock.call("tides")), mock.text("Six.")]) as provider:
    url: str = provider.url
    why: list[str] = [refused.rule for refused in provider.refused()]
mock.Provider(targt="anthropic")  # type: ignore[call-arg]
program: str = toolcheck_lint.find_program()
import polars
from toolcheck_lint.polars import Toolcheck

frame = polars.DataFrame({"messages": [[{"role": "user", "content": "Hello"}]]})
good: polars.DataFrame = frame.filter(Toolcheck(frame).mask("messages", target="bedrock"))
few, done = Toolcheck(frame).clean("messages", key="id")
few_rows: polars.DataFrame = few
gone: tuple[Any, ...] = done.dropped_rows
Toolcheck(frame).errors("messages", targt="bedrock")  # type: ignore[call-arg]
try:
    toolcheck_lint.lint({}).raise_for_errors()
except toolcheck_lint.ReportError as error:
    first: toolcheck_lint.Finding = error.report[0]
except toolcheck_lint.ToolcheckError:
    pass


class Model:
    def model_dump(self, *, mode: str = "python", by_alias: bool = False) -> dict[str, Any]:
        return {}


toolcheck_lint.lint(Model())
toolcheck_lint.lint(object())  # type: ignore[arg-type]
"""
    )
    run("mypy", "--strict", "--config-file", str(PROJECT / "pyproject.toml"), "--cache-dir", mypy_cache, str(user))


def test_a_model_of_pydantic_is_a_body(tmp_path, mypy_cache):
    pytest.importorskip("mypy")
    pytest.importorskip("pydantic")
    user = tmp_path / "user.py"
    user.write_text(
        """
import pydantic
import toolcheck_lint


class Request(pydantic.BaseModel):
    messages: list[dict[str, str]]


body = Request(messages=[{"role": "user", "content": "hi"}])
toolcheck_lint.lint(body)
toolcheck_lint.fix(body)
toolcheck_lint.diff(body, body)
"""
    )
    run("mypy", "--strict", "--config-file", str(PROJECT / "pyproject.toml"), "--cache-dir", mypy_cache, str(user))


def test_the_namespace_of_polars_is_typed(tmp_path, mypy_cache):
    pytest.importorskip("mypy")
    pytest.importorskip("polars")
    user = tmp_path / "user.py"
    user.write_text(
        """
import polars
from toolcheck_lint.polars import Toolcheck

checked = Toolcheck(polars.DataFrame())
errors: polars.Series = checked.errors("messages", tools="tools", target="bedrock")
frame, report = checked.clean("messages", drop="warning")
kept: polars.DataFrame = frame
checked.mask("messages", targt="bedrock")  # type: ignore[call-arg]
"""
    )
    run("mypy", "--strict", "--config-file", str(PROJECT / "pyproject.toml"), "--cache-dir", mypy_cache, str(user))


def test_the_exceptions_have_one_root():
    for name in toolcheck_lint.__all__:
        kind = getattr(toolcheck_lint, name)
        if isinstance(kind, type) and issubclass(kind, Exception):
            assert issubclass(kind, toolcheck_lint.ToolcheckError), name


def test_the_version_is_that_of_the_workspace():
    workspace = tomllib.loads((PROJECT.parents[1] / "Cargo.toml").read_text())
    assert toolcheck_lint.__version__ == workspace["workspace"]["package"]["version"]


def test_everything_can_be_imported():
    names = {}
    exec("from toolcheck_lint import *", names)
    assert set(toolcheck_lint.__all__) <= set(names)


def test_one_version_of_what_is_chained():
    lock = tomllib.loads((PROJECT / "Cargo.lock").read_text())
    names = [package["name"] for package in lock["package"]]
    for name in ("pyo3", "pyo3-ffi", "arrow-array", "arrow-schema", "toolcheck-lint"):
        assert names.count(name) == 1, name


def test_the_lock_has_the_versions_of_the_workspace():
    """What is the same in both locks has one version, so that the module finds what the program finds."""

    def versions(path):
        found = {}
        for package in tomllib.loads(path.read_text())["package"]:
            found.setdefault(package["name"], set()).add(package["version"])
        return found

    workspace = PROJECT.parents[1] / "Cargo.lock"
    own, others = versions(PROJECT / "Cargo.lock"), versions(workspace)
    matter = ("jsonschema", "regex-automata", "fancy-regex", "serde_json", "toml", "ruzstd", "rable")
    for name in matter:
        # The workspace may have an older one too, below what only its program uses.
        assert own[name] == {max(others[name], key=lambda version: [int(part) for part in re.findall(r"\d+", version)])}, name


def test_the_licences_of_what_is_linked_are_in_the_wheel():
    assert "THIRD-PARTY-NOTICES.txt" in tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["license-files"]
    notices = (PROJECT / "THIRD-PARTY-NOTICES.txt").read_text()
    lock = tomllib.loads((PROJECT / "Cargo.lock").read_text())["package"]
    for name in ("pyo3", "pyo3-arrow", "arrow-array", "base64", "jsonschema", "serde_json"):
        (version,) = {package["version"] for package in lock if package["name"] == name}
        assert f"\n{name} {version} (" in notices, name
    installed = list(PACKAGE.parent.glob("toolcheck_lint-*.dist-info"))
    if installed:
        assert list(installed[0].rglob("THIRD-PARTY-NOTICES.txt")), "the wheel has none"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_it_works_in_a_forked_process():
    linter = toolcheck_lint.Linter()
    before = linter.lint({"messages": []}).errors
    child = os.fork()
    if child == 0:
        os._exit(0 if linter.lint({"messages": []}).errors == before else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

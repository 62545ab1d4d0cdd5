"""Fixtures and a collector for pytest. Nothing native is imported before a test needs it."""

import contextlib
import os
import warnings
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from . import _native
    from .testing import Checked, Sent

CORPORA = pytest.StashKey[dict[str, "_native.Corpus"]]()
"""The folders with cases, each searched once."""
DRAWN = pytest.StashKey[list[str]]()
"""The pictures of reports that were compared, for the report on the test."""


class NoRequestWarning(pytest.PytestWarning):
    """A test has the fixture `toolcheck_http`, and no request was seen that could be checked."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "toolcheck(target=None, ...): settings of the fixtures `toolcheck` and `toolcheck_http`")
    for folder in config.getini("toolcheck_corpus"):
        if not Path(folder).is_dir():
            raise pytest.UsageError(f"toolcheck_corpus: there is no folder {folder}")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("toolcheck")
    group.addoption(
        "--toolcheck-bless", action="store_true", help="rewrite expectations (*.expect.json) that differ from the findings"
    )
    group.addoption("--toolcheck-bless-new", action="store_true", help="write the expectations of cases that have none")
    parser.addini("toolcheck_config", "a toolcheck.toml for the fixtures `toolcheck` and `toolcheck_http`")
    parser.addini("toolcheck_corpus", "folders whose cases are collected", type="paths", default=[])
    # The plugin of `pytest-toolcheck` has the same setting.
    with contextlib.suppress(ValueError):
        parser.addini("toolcheck_target", "API that bodies are checked against [default: that of the format]")


@pytest.fixture
def toolcheck(request: pytest.FixtureRequest) -> "Callable[..., Checked]":
    """Lints a body: `toolcheck(body, target="bedrock").assert_clean()`. The settings are those of `toolcheck_lint.lint`."""
    from .testing import check

    settings = _settings_of(request)
    return lambda body, **own: check(body, **{**settings, **own})


@pytest.fixture
def toolcheck_http(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> "Generator[Sent]":
    """Lints what httpx and requests send to the paths of known APIs, at the end of the test.

    The fixture is a list of the reports so far; `allow(...)` names what may be found.
    """
    from .testing import Sent

    sent = Sent(_settings_of(request))
    sent.hook(monkeypatch)
    yield sent
    faults = sent.faults()
    if faults:
        pytest.fail(f"toolcheck: {faults}", pytrace=False)
    if not sent:
        others = f"; {sent.others} went to other paths" if sent.others else ""
        text = f"{request.node.nodeid} sent nothing to the path of a known API, so nothing was checked{others}"
        warnings.warn(NoRequestWarning(text), stacklevel=1)


def pytest_assertrepr_compare(config: pytest.Config, op: str, left: object, right: object) -> list[str] | None:
    """The picture of a report that is not as it should be."""
    import sys

    # Without this module there is no report to compare.
    module = sys.modules.get("toolcheck_lint._report")
    if module is None or op != "==" or not isinstance(left, module.Report | list | tuple):
        return None
    report = left if isinstance(left, module.Report) else right
    if not isinstance(report, module.Report):
        return None
    # What is returned is cut off after some lines, so the picture is a section of its own.
    config.stash.setdefault(DRAWN, []).append(report.show())
    if not len(report) and not report.transcripts:
        return [module.NOTHING_READ]
    count = "1 finding" if len(report) == 1 else f"{len(report)} findings"
    return [count, *(f"{found.level} {found.rule} at {found.pointer}: {found.message}" for found in report)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    pictures = item.config.stash.get(DRAWN, [])
    if report.failed:
        report.sections.extend(("toolcheck", picture) for picture in pictures)
    pictures.clear()
    return report


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "CaseFile | None":
    path = file_path.resolve()
    is_in_corpus = any(Path(folder).resolve() in path.parents for folder in parent.config.getini("toolcheck_corpus"))
    if file_path.name.endswith(".expect.json"):
        is_case = is_in_corpus or path in {Path(argument).resolve() for argument in _arguments(parent.config)}
    else:
        is_case = is_in_corpus and file_path.name in _corpus(parent.config, file_path).without_expectation
    if not is_case:
        return None
    file: CaseFile = CaseFile.from_parent(parent, path=file_path)
    return file


def _corpus(config: pytest.Config, path: Path) -> "_native.Corpus":
    """The cases of the folder of a file."""
    from . import _native

    known = config.stash.setdefault(CORPORA, {})
    folder = str(path.parent)
    if folder not in known:
        known[folder] = _native.Corpus(folder)
    return known[folder]


def _arguments(config: pytest.Config) -> Iterable[str]:
    return (os.path.join(config.invocation_params.dir, path.partition("::")[0]) for path in config.args)


class CaseFile(pytest.File):
    """An expectation of a corpus, or a case that has none."""

    def collect(self) -> Iterable["Case"]:
        is_expectation = self.path.name.endswith(".expect.json")
        yield Case.from_parent(self, name=self.path.name.removesuffix(".expect.json") if is_expectation else self.path.stem)


class Case(pytest.Item):
    """A case of a corpus, as `toolcheck test` runs it."""

    def runtest(self) -> None:
        changed, new = (bool(self.config.getoption(name)) for name in ("--toolcheck-bless", "--toolcheck-bless-new"))
        outcome = _corpus(self.config, self.path).run(self.name, changed, new)
        if outcome.blessed:
            self.add_report_section("call", "toolcheck", f"wrote {self.name}.expect.json")
        if outcome.failure is not None:
            hint = "\nuse `--toolcheck-bless-new` to write it" if outcome.is_new else ""
            raise CaseFailure(outcome.failure + hint)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, CaseFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name


class CaseFailure(Exception):
    """A case is not as expected."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Says before the first test that a setting is wrong, if there is a test that needs it."""
    fixtures = {"toolcheck", "toolcheck_http"}
    if any(fixtures & set(getattr(item, "fixturenames", ())) for item in items):
        _settings(config)


def _settings_of(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The settings of a test: those of the configuration, and the closest marker's over them."""
    from ._linter import Linter

    settings = _settings(request.config)
    for marker in reversed(list(request.node.iter_markers("toolcheck"))):
        # How strict the mock of `pytest-toolcheck` is; the marker is the same.
        own = {name: value for name, value in marker.kwargs.items() if name != "strict"}
        if isinstance(target := own.get("target"), str) and target.endswith(".toml"):
            own["target"] = request.config.rootpath / target
        try:
            Linter(*marker.args, **own)
        except (OSError, TypeError, ValueError) as reason:
            pytest.fail(f"the marker `toolcheck`: {reason}", pytrace=False)
        settings |= own
    return settings


def _settings(config: pytest.Config) -> dict[str, Any]:
    from ._linter import Linter

    settings: dict[str, Any] = {}
    target = config.getini("toolcheck_target")
    if target:
        settings["target"] = config.rootpath / target if target.endswith(".toml") else target
    named = config.getini("toolcheck_config")
    if named:
        settings["config"] = config.rootpath / named
    for name, value in settings.items():
        try:
            Linter(**{name: value})
        except (OSError, ValueError) as reason:
            raise pytest.UsageError(f"toolcheck_{name}: {reason}") from None
    return settings

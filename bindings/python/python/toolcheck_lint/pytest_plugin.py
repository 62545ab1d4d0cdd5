"""Fixtures and a collector for pytest."""

import os
import warnings
from collections.abc import Callable, Generator, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ._exceptions import ToolcheckError

if TYPE_CHECKING:
    from . import _native
    from .mock import Provider
    from .testing import Checked, Sent

MOCK = ("target", "strict", "allow", "level")
"""The settings of the fixture `provider`."""
PROVIDERS = pytest.StashKey[list["Provider"]]()
"""The mocks of a test."""
CHECKED = pytest.StashKey[dict["Provider", int]]()
"""The mocks of a test that were checked, with the requests that there were."""
CORPORA = pytest.StashKey[dict[str, "_native.Corpus"]]()
"""The folders with cases, each searched once."""
DRAWN = pytest.StashKey[list[str]]()
"""The pictures of reports that were compared, for the report on the test."""


class NoRequestWarning(pytest.PytestWarning):
    """A test has the fixture `toolcheck_http` or `provider`, and no request, or one to no known path, was seen."""


class FindingWarning(pytest.PytestWarning):
    """The linter has found something in or between the requests of a test that harms, but is no error."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "toolcheck(target=None, ...): settings of the fixtures `toolcheck`, `toolcheck_http` and `provider`")
    for folder in config.getini("toolcheck_corpus"):
        if not Path(folder).is_dir():
            raise pytest.UsageError(f"toolcheck_corpus: there is no folder {folder}")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("toolcheck")
    group.addoption(
        "--toolcheck-bless", action="store_true", help="rewrite expectations (*.expect.json) that differ from the findings"
    )
    group.addoption("--toolcheck-bless-new", action="store_true", help="write the expectations of cases that have none")
    group.addoption(
        "--toolcheck-bin", metavar="PATH", help="the program that `provider` runs [default: what `toolcheck_lint.find_program()` finds]"
    )
    parser.addini("toolcheck_config", "a toolcheck.toml for the fixtures `toolcheck` and `toolcheck_http`")
    parser.addini("toolcheck_corpus", "folders whose cases are collected", type="paths", default=[])
    parser.addini(
        "toolcheck_target", "API that bodies are checked against, and APIs that `provider` is, or TOML files [default: that of the format or the path]", type="args"
    )
    parser.addini("toolcheck_strict", "how much must be known of a refusal of `provider`: known or likely", default="known")
    parser.addini("toolcheck_allow", "rules whose refusals `provider` lets through", type="args")
    parser.addini("toolcheck_level", "the lowest level that fails of what `provider` and `toolcheck_http` find: error or warning", default="error")


@pytest.fixture
def toolcheck(request: pytest.FixtureRequest) -> "Callable[..., Checked]":
    """Lints a body: `toolcheck(body, target="bedrock").assert_clean()`. The settings are those of `toolcheck_lint.lint`."""
    from ._given import check_settings
    from .testing import check

    settings = _settings_of(request)

    def toolcheck(body: Any, **own: Any) -> "Checked":
        check_settings(check, own, also=("tools",), name="toolcheck")
        return check(body, **{**settings, **own})

    return toolcheck


@pytest.fixture
def toolcheck_http(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> "Generator[Sent]":
    """Lints what httpx, httpx2 and requests send to the paths of known APIs, at the end of the test.

    The fixture is a list of the reports so far; `allow(...)` names what may be found.
    """
    from .testing import Sent

    sent = Sent(_settings_of(request), _marked(request).get("level") or request.config.getini("toolcheck_level"))
    sent.hook(monkeypatch)
    yield sent
    faults = sent.faults()
    if faults:
        pytest.fail(f"toolcheck: {faults}", pytrace=False)
    if passed := sent.passed():
        warnings.warn(FindingWarning(f"{request.node.nodeid}: {'; '.join(passed)} (`level=\"warning\"` makes this fail)"), stacklevel=1)
    if not sent:
        others = f"; {sent.others} went to other paths" if sent.others else ""
        text = f"{request.node.nodeid} sent nothing to the path of a known API, so nothing was checked{others}; only what `httpx`, `httpx2` and `requests` send is seen"
        warnings.warn(NoRequestWarning(text), stacklevel=1)


@pytest.fixture
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> "Generator[Provider]":
    """A mock of LLM APIs, which clients find by their environment variables.

    The test fails if a request is refused, or if the linter finds an error between the requests; a warning is a `FindingWarning`.
    """
    from .mock import CLEARED

    mock = _started(request)
    try:
        for name in CLEARED:
            monkeypatch.delenv(name, raising=False)
        for name, value in mock.env.items():
            monkeypatch.setenv(name, value)
        stash = request.node.stash
        stash.setdefault(PROVIDERS, []).append(mock)
        yield mock
        # Another fixture may have sent something after the test.
        checked = stash.get(CHECKED, {}).get(mock)
        if checked is not None and mock.report()["requests"] != checked:
            _check(request.node, mock)
    finally:
        mock.stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    mocks = item.stash.get(PROVIDERS, [])
    try:
        result = yield
    except Exception:
        # The test has failed; what the mock saw may be why.
        for mock in mocks:
            try:
                faults = mock.faults()
            except ToolcheckError as reason:
                faults = str(reason)
            if faults:
                item.add_report_section("call", "toolcheck", faults)
        raise
    for mock in mocks:
        _check(item, mock)
    return result


def _started(request: pytest.FixtureRequest) -> "Provider":
    from .mock import Provider

    config = request.config
    named = {name: config.getini(f"toolcheck_{name}") or None for name in MOCK}
    settings = {**named, **{name: value for name, value in _marked(request).items() if name in MOCK}}
    settings["target"] = _paths(config, settings["target"])
    given = {name: value for name, value in settings.items() if value is not None}
    try:
        return Provider(**given, bin=config.getoption("--toolcheck-bin"))
    except (ToolcheckError, ValueError) as reason:
        why = str(reason)
    # Outside of the block: its traceback says nothing more.
    pytest.fail(why, pytrace=False)


def _check(item: pytest.Item, mock: "Provider") -> None:
    __tracebackhide__ = True
    requests = mock.report()["requests"]
    faults = mock.faults()
    if faults:
        pytest.fail(f"toolcheck: {faults}", pytrace=False)
    if unseen := mock.unseen():
        warnings.warn(NoRequestWarning(f"{item.nodeid} {unseen}"), stacklevel=1)
    if mock.warnings:
        text = f"{item.nodeid}: {'; '.join(mock.warnings)} (`level=\"warning\"` makes this fail)"
        warnings.warn(FindingWarning(text), stacklevel=1)
    item.stash.setdefault(CHECKED, {})[mock] = requests


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


def _marked(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the markers of a test say; the closest one counts."""
    from ._linter import Settings

    known = sorted({*MOCK, *Settings.__optional_keys__})
    settings: dict[str, Any] = {}
    for marker in reversed(list(request.node.iter_markers("toolcheck"))):
        unknown = [*map(repr, marker.args), *(name for name in marker.kwargs if name not in known)]
        if unknown:
            takes = ", ".join(f"{name}=" for name in known)
            close = get_close_matches(unknown[-1], known, 1)
            hint = f"; did you mean `{close[0]}`?" if close else ""
            pytest.fail(f"the marker `toolcheck`: it takes {takes}, not {', '.join(unknown)}{hint}", pytrace=False)
        settings |= marker.kwargs
    return settings


def _paths(config: pytest.Config, target: Any) -> list[str | Path]:
    """Targets, of which those that are files are found from the folder of the tests."""
    from .mock import several

    named = several(target)
    return [config.rootpath / one if os.fspath(one).endswith(".toml") else one for one in named]


def _settings_of(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The settings of a test that checks bodies: those of the configuration, and the markers' over them."""
    from ._linter import Linter

    settings = _settings(request.config)
    # The others are those of the mock alone.
    settings |= {name: value for name, value in _marked(request).items() if name not in MOCK[1:]}
    targets = _paths(request.config, settings.pop("target"))
    if len(targets) > 1:
        hint = "name it with `@pytest.mark.toolcheck(target=...)`"
        pytest.fail(f"a body is checked against one target, and here are {len(targets)}: {hint}", pytrace=False)
    if targets:
        settings["target"] = targets[0]
    try:
        Linter(**settings)
    except (OSError, TypeError, ValueError) as reason:
        pytest.fail(f"the marker `toolcheck`: {reason}", pytrace=False)
    return settings


def _settings(config: pytest.Config) -> dict[str, Any]:
    """The settings of the configuration, of which `target` is a list."""
    from ._linter import Linter

    settings: dict[str, Any] = {"target": _paths(config, config.getini("toolcheck_target"))}
    named = config.getini("toolcheck_config")
    if named:
        settings["config"] = config.rootpath / named
    values = [("target", one) for one in settings["target"]] + [("config", settings.get("config"))]
    for name, value in values:
        try:
            Linter(**{name: value})
        except (OSError, ValueError) as reason:
            raise pytest.UsageError(f"toolcheck_{name}: {reason}") from None
    return settings

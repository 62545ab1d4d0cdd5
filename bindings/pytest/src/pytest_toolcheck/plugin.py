"""The fixtures `provider` and `toolcheck_lint`."""

import functools
import os
import warnings
from collections.abc import Callable, Generator
from typing import Any

import pytest

from ._binary import ToolcheckError
from ._lint import assert_clean
from ._provider import CLEARED, Provider, several

SETTINGS = ("target", "strict", "allow")
PROVIDERS = pytest.StashKey[list[Provider]]()
"""The mocks of a test."""
CHECKED = pytest.StashKey[dict[Provider, int]]()
"""The mocks of a test that were checked, with the requests that there were."""


class NoRequestWarning(pytest.PytestWarning):
    """A test has a mock and sends nothing to it, so nothing was checked."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("toolcheck")
    group.addoption(
        "--toolcheck-bin", metavar="PATH", help="the program `toolcheck` [default: TOOLCHECK_BIN, or the one on the PATH]"
    )
    parser.addini("toolcheck_target", "APIs that `provider` is, or TOML files [default: that of each path]", type="args")
    parser.addini("toolcheck_strict", "how much must be known of a refusal: known or likely", default="known")
    parser.addini("toolcheck_allow", "rules whose refusals `provider` lets through", type="args")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "toolcheck(target=None, strict='known', allow=()): settings of the fixture `provider`")


@pytest.fixture
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Generator[Provider]:
    """A mock of LLM APIs, which clients find by their environment variables.

    The test fails if a request is refused, or if the linter finds an error between the requests.
    """
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


@pytest.fixture
def toolcheck_lint(request: pytest.FixtureRequest) -> Callable[..., None]:
    """`assert_clean`, with the program that pytest was told of."""
    return functools.partial(assert_clean, bin=request.config.getoption("--toolcheck-bin"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    try:
        result = yield
    except Exception:
        # The test has failed; what the mock saw may be why.
        for mock in item.stash.get(PROVIDERS, []):
            try:
                faults = mock.faults()
            except ToolcheckError as reason:
                faults = str(reason)
            if faults:
                item.add_report_section("call", "toolcheck", faults)
        raise
    for mock in item.stash.get(PROVIDERS, []):
        _check(item, mock)
    return result


def _started(request: pytest.FixtureRequest) -> Provider:
    settings = _settings(request)
    try:
        return Provider(**settings, bin=request.config.getoption("--toolcheck-bin"))
    except ToolcheckError as reason:
        why = str(reason)
    # Outside of the block: its traceback says nothing more.
    pytest.fail(why, pytrace=False)


def _check(item: pytest.Item, mock: Provider) -> None:
    __tracebackhide__ = True
    requests = mock.report()["requests"]
    faults = mock.faults()
    if faults:
        pytest.fail(f"toolcheck: {faults}", pytrace=False)
    if not requests:
        text = f"{item.nodeid} sent nothing to its mock, so nothing was checked: does the client use `provider.url`?"
        warnings.warn(NoRequestWarning(text), stacklevel=1)
    item.stash.setdefault(CHECKED, {})[mock] = requests


def _settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The settings of a test: those of the configuration, and the closest marker's over them."""
    config = request.config
    settings = {name: config.getini(f"toolcheck_{name}") or None for name in SETTINGS}
    for marker in reversed(list(request.node.iter_markers("toolcheck"))):
        unknown = [*map(repr, marker.args), *(name for name in marker.kwargs if name not in SETTINGS)]
        if unknown:
            pytest.fail(f"`toolcheck` takes {', '.join(f'{name}=' for name in SETTINGS)}, not {', '.join(unknown)}", pytrace=False)
        settings |= marker.kwargs
    named = [os.fspath(target) for target in several(settings["target"])]
    settings["target"] = [os.path.join(config.rootpath, name) if name.endswith(".toml") else name for name in named]
    return {name: value for name, value in settings.items() if value is not None}

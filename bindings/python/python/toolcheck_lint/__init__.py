"""A linter for the tool calls in LLM requests, transcripts and data sets.

    >>> import toolcheck_lint
    >>> report = toolcheck_lint.lint({"messages": []}, target="openai-chat")
    >>> report.raise_for_errors()  # doctest: +SKIP

`docs/python.md` of the repository is the guide. `toolcheck_lint.spark`, `.ray` and `.hf` lint data sets.
"""

from typing import TYPE_CHECKING, Any

from . import _native
from ._findings import Finding, Label, Level, Place
from ._linter import (
    Arrow,
    ArrowArray,
    ArrowStream,
    Body,
    Change,
    Config,
    Diff,
    Explained,
    Fixed,
    Kind,
    Linter,
    Model,
    Picture,
    RowSettings,
    Settings,
    diff,
    explain_error,
    fix,
    lint,
    lint_file,
    show,
)
from ._report import Report, ToolcheckError
from ._summary import RuleCount, Sample, Summary, SummaryError

if TYPE_CHECKING:
    from pytest_toolcheck import Provider as MockProvider

__version__ = _native.__version__

__all__ = [
    "Arrow",
    "ArrowArray",
    "ArrowStream",
    "Body",
    "Change",
    "Config",
    "Diff",
    "Explained",
    "Finding",
    "Fixed",
    "Kind",
    "Label",
    "Level",
    "Linter",
    "Model",
    "Picture",
    "Place",
    "Report",
    "RowSettings",
    "RuleCount",
    "Sample",
    "Settings",
    "Summary",
    "SummaryError",
    "ToolcheckError",
    "diff",
    "explain_error",
    "fix",
    "lint",
    "lint_file",
    "show",
]


def __getattr__(name: str) -> Any:
    if name == "MockProvider":
        try:
            from pytest_toolcheck import Provider
        except ImportError as reason:
            raise ImportError(
                "MockProvider is in the package `pytest-toolcheck`: from a checkout, `pip install ./bindings/pytest`"
            ) from reason
        return Provider
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

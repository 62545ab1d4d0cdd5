"""A linter for the tool calls in LLM requests, transcripts and data sets.

    >>> import toolcheck_lint
    >>> report = toolcheck_lint.lint({"messages": []}, target="openai-chat")
    >>> report.raise_for_errors()  # doctest: +SKIP

`docs/python.md` of the repository is the guide. `toolcheck_lint.spark`, `.ray`, `.hf` and `.polars` lint data sets, and
`toolcheck_lint.mock` has a mock of the APIs.
"""

from . import _native
from ._clean import CleanReport, clean_dataset
from ._exceptions import ToolcheckError
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
    models,
    show,
)
from ._program import ProgramError, find_program
from ._report import Report, ReportError
from ._summary import RuleCount, Sample, Summary, SummaryError

__version__ = _native.__version__

__all__ = [
    "Arrow",
    "ArrowArray",
    "ArrowStream",
    "Body",
    "Change",
    "CleanReport",
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
    "ProgramError",
    "Report",
    "ReportError",
    "RowSettings",
    "RuleCount",
    "Sample",
    "Settings",
    "Summary",
    "SummaryError",
    "ToolcheckError",
    "clean_dataset",
    "diff",
    "explain_error",
    "find_program",
    "fix",
    "lint",
    "lint_file",
    "models",
    "show",
]

"""A mock of LLM APIs that refuses what they refuse, and checks of the requests that code sends.

The fixtures `provider` and `toolcheck_lint` are in `pytest_toolcheck.plugin`, which pytest loads by itself.
"""

from ._binary import ToolcheckError
from ._lint import assert_clean, lint
from ._provider import Provider, Refused
from ._script import Turn, call, calls, error, text

__all__ = [
    "Provider",
    "Refused",
    "ToolcheckError",
    "Turn",
    "assert_clean",
    "call",
    "calls",
    "error",
    "lint",
    "text",
]

"""`python -m toolcheck_lint FILE ...` lints files in the process; the program `toolcheck` does that and much more."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import Linter, __version__

MORE = """Only single files are linted here, as they are, and without a configuration unless one is named. The program
`toolcheck`, in the package `toolcheck-cli`, also lints folders and compressed files, and fixes, compares and draws what is
in them. The exit status is 0 if there is nothing at or above the `--fail-on` level, 1 if there is, and 2 if a file can't be
read or an option can't be used."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Lints the files that are named, and returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m toolcheck_lint", description="Lints files.", epilog=MORE)
    parser.add_argument("files", nargs="+", metavar="FILE", help="a file; `-` for standard input")
    parser.add_argument("--target", help="the API to check against, or a TOML file")
    parser.add_argument("--format", help="how the files are written [default: detected]")
    parser.add_argument("--kind", help="what the files are: request, session or dataset [default: request]")
    parser.add_argument("--config", type=Path, help="a toolcheck.toml")
    for option in ("--select", "--extend-select", "--ignore"):
        parser.add_argument(option, action="append", default=[], metavar="RULE", help="as with `toolcheck lint`")
    parser.add_argument("--output-format", default="full", metavar="OUTPUT", help="an output of `toolcheck lint` [default: full]")
    parser.add_argument("--fail-on", choices=["error", "warning"], default="error", help="the lowest level that fails [default: error]")
    parser.add_argument("--version", action="version", version=f"toolcheck_lint {__version__}")
    given = vars(parser.parse_args(arguments))
    files, output, level = given.pop("files"), given.pop("output_format"), given.pop("fail_on")
    if len(files) > 1 and output not in ("full", "concise"):
        parser.error(f"the output {output} is one document for all files: name one file, or use the program `toolcheck`")
    if given["target"] is not None and given["target"].endswith(".toml"):
        given["target"] = Path(given["target"])
    status = 0
    for file in files:
        try:
            status = max(status, _lint(file, given, output, level))
        except (OSError, ValueError) as reason:
            print(f"toolcheck_lint: {_advice(file, reason)}", file=sys.stderr)
            status = 2
    return status


def _lint(file: str, settings: dict[str, Any], output: str, level: str) -> int:
    """Lints one file and prints its report; 1 if it fails."""
    body = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    report = Linter(name="<stdin>" if file == "-" else file, **settings).lint(body)
    print(report.render(output).rstrip("\n"))
    return int(report.errors > 0 or (level == "warning" and report.warnings > 0))


def _advice(file: str, reason: Exception) -> str:
    if isinstance(reason, IsADirectoryError):
        return f"{file} is a folder, which the program `toolcheck` lints: pip install toolcheck-cli"
    return f"{file}: {reason.strerror}" if isinstance(reason, OSError) and reason.strerror else str(reason)


if __name__ == "__main__":
    sys.exit(main())

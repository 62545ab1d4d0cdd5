"""The program `toolcheck`, which released wheels have beside the package."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator

from ._exceptions import ToolcheckError

INSTALL = "https://github.com/toolcheck/toolcheck/blob/main/docs/install.md"


class ProgramError(ToolcheckError):
    """The program is missing or too old, or could not do what it was asked to."""


def find_program(named: str | None = None) -> str:
    """The path of the program `toolcheck`: the one that is named, that of the environment variable `TOOLCHECK_BIN`, the one
    that was installed with the package, or the first on the PATH. A `ProgramError` if there is none."""
    for source, name in (("the option", named), ("TOOLCHECK_BIN", os.environ.get("TOOLCHECK_BIN"))):
        if name:
            found = shutil.which(name)
            if found is None:
                raise ProgramError(f"{source} names `{name}`, which is not a program that can be run")
            return os.path.abspath(found)
    for folder in (*_folders(), None):
        found = shutil.which("toolcheck", path=folder)
        if found is not None:
            return os.path.abspath(found)
    raise ProgramError(f"`toolcheck` is neither beside the package nor on the PATH: install it ({INSTALL}), or set TOOLCHECK_BIN to its path")


def _folders() -> Iterator[str]:
    """Where installers put the scripts of a package."""
    yield sysconfig.get_path("scripts")
    # Of `pip install --user`, and of `pip install --target`.
    yield sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))
    yield os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin")


def version(program: str) -> str:
    """What the program says of itself, for messages."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, stdin=subprocess.DEVNULL, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown version"
    return done.stdout.decode(errors="replace").strip() or "unknown version"


def failed(program: str, command: str, said: str) -> ProgramError:
    """Why the program did not do what it was asked to."""
    if "unrecognized subcommand" in said or "unexpected argument" in said:
        return ProgramError(
            f"{program} ({version(program)}) is too old for `toolcheck {command}`: update it ({INSTALL})\n{said}".rstrip()
        )
    return ProgramError(f"{program} {command}: {said or 'it ended and said nothing'}")


def run(program: str, arguments: list[str], body: bytes) -> tuple[int, str]:
    """Runs the program on a body; returns its exit status and what it printed."""
    try:
        done = subprocess.run([program, *arguments], input=body, capture_output=True)
    except OSError as reason:
        raise ProgramError(f"cannot run {program}: {reason}") from reason
    if done.returncode not in (0, 1):
        raise failed(program, arguments[0], done.stderr.decode(errors="replace").strip())
    return done.returncode, done.stdout.decode(errors="replace")


def main() -> int:
    """Runs the program with the arguments of this process, and returns its exit status."""
    try:
        program = find_program()
    except ProgramError as reason:
        print(f"toolcheck_lint: {reason}", file=sys.stderr)
        return 2
    arguments = [program, *sys.argv[1:]]
    if os.name == "posix":
        # The process becomes the program, so that signals and the exit status are its own.
        os.execv(program, arguments)
    return subprocess.run(arguments).returncode

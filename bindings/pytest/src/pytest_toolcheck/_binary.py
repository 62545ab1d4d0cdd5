"""The program `toolcheck`."""

import os
import shutil
import subprocess

INSTALL = "https://github.com/toolcheck/toolcheck/blob/main/docs/install.md"


class ToolcheckError(Exception):
    """The program is missing or too old, or could not do what it was asked to."""


def find(named: str | None = None) -> str:
    """The path of the program: the one that is named, that of `TOOLCHECK_BIN`, or the first on the PATH."""
    variable = os.environ.get("TOOLCHECK_BIN")
    for source, name in (("the option", named), ("TOOLCHECK_BIN", variable)):
        if name:
            found = shutil.which(name)
            if found is None:
                raise ToolcheckError(f"{source} names `{name}`, which is not a program that can be run")
            return os.path.abspath(found)
    found = shutil.which("toolcheck")
    if found is None:
        raise ToolcheckError(f"`toolcheck` is not on the PATH: install it ({INSTALL}), or set TOOLCHECK_BIN to its path")
    return os.path.abspath(found)


def version(program: str) -> str:
    """What the program says of itself, for messages."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, stdin=subprocess.DEVNULL, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown version"
    return done.stdout.decode(errors="replace").strip() or "unknown version"


def failed(program: str, command: str, said: str) -> ToolcheckError:
    """Why the program did not do what it was asked to."""
    if "unrecognized subcommand" in said or "unexpected argument" in said:
        return ToolcheckError(
            f"{program} ({version(program)}) is too old for `toolcheck {command}`: update it ({INSTALL})\n{said}".rstrip()
        )
    return ToolcheckError(f"{program} {command}: {said or 'it ended and said nothing'}")


def run(program: str, arguments: list[str], body: bytes) -> tuple[int, str]:
    """Runs the program on a body; returns its exit status and what it printed."""
    try:
        done = subprocess.run([program, *arguments], input=body, capture_output=True)
    except OSError as reason:
        raise ToolcheckError(f"cannot run {program}: {reason}") from reason
    if done.returncode not in (0, 1):
        raise failed(program, arguments[0], done.stderr.decode(errors="replace").strip())
    return done.returncode, done.stdout.decode(errors="replace")

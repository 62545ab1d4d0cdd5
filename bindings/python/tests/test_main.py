"""The program: `python -m toolcheck_lint` and `find_program` find it."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import toolcheck_lint
from toolcheck_lint import ProgramError, ToolcheckError, _program, find_program

PACKAGE = Path(toolcheck_lint.__file__).parents[1]


@pytest.fixture
def files(tmp_path, monkeypatch, clean, unanswered):
    monkeypatch.chdir(tmp_path)
    Path("clean.json").write_text(json.dumps(clean))
    Path("unanswered.json").write_text(json.dumps(unanswered))
    return tmp_path


@pytest.fixture
def module(binary):
    """Runs the module as a program."""

    def run(*arguments, stdin=None, **variables):
        path = os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")])
        variables = {**os.environ, "PYTHONPATH": path, "TOOLCHECK_BIN": binary, **variables}
        return subprocess.run(
            [sys.executable, "-m", "toolcheck_lint", *arguments], capture_output=True, input=stdin, env=variables
        )

    return run


def test_it_says_what_the_program_says(files, program, module):
    for arguments, status in [
        (["clean.json"], 0),
        (["clean.json", "unanswered.json"], 1),
        (["unanswered.json", "--ignore", "unanswered-tool-call"], 0),
        (["."], 1),
        (["--target", "bedrock", "unanswered.json"], 1),
    ]:
        arguments = ["lint", "--isolated", "--output-format", "concise", *arguments]
        done = module(*arguments)
        assert (done.returncode, done.stderr) == (status, b""), arguments
        assert done.stdout == program(*arguments, cwd=files), arguments


def test_standard_input_and_errors_are_those_of_the_program(files, module):
    done = module("lint", "-", "--isolated", "--output-format", "concise", stdin=Path("unanswered.json").read_bytes())
    assert (done.returncode, done.stdout[:10]) == (1, b"<stdin>:1:")
    for arguments, said in [
        (["lint", "missing.json"], b"missing.json"),
        (["lint", "--target", "bedrok", "clean.json"], b"did you mean `bedrock`"),
        (["--no-such-option"], b"--no-such-option"),
    ]:
        done = module(*arguments)
        assert done.returncode == 2, arguments
        assert said in done.stderr, arguments


def test_without_a_program_it_says_what_to_do(module):
    done = module("--version", TOOLCHECK_BIN="no-such-program")
    assert done.returncode == 2
    assert done.stderr.startswith(b"toolcheck_lint: TOOLCHECK_BIN names `no-such-program`, which is not a program")


def make(folder, name="toolcheck"):
    """A file that can be run, as installers put it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (f"{name}.exe" if os.name == "nt" else name)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_which_program_is_found(tmp_path, monkeypatch):
    places = {name: tmp_path / name for name in ("path", "scripts", "user")}
    monkeypatch.delenv("TOOLCHECK_BIN", raising=False)
    monkeypatch.setenv("PATH", str(places["path"]))
    monkeypatch.setattr(_program, "__file__", str(tmp_path / "target" / "toolcheck_lint" / "_program.py"))
    of_user = sysconfig.get_preferred_scheme("user")
    monkeypatch.setattr(
        sysconfig, "get_path", lambda name, scheme=None: str(places["user" if scheme == of_user else name])
    )
    with pytest.raises(ProgramError, match="neither beside the package nor on the PATH") as raised:
        find_program()
    assert isinstance(raised.value, ToolcheckError)
    # What was installed with the package comes before what is on the PATH: it is of the same version.
    for folder in (places["path"], tmp_path / "target" / "bin", places["user"], places["scripts"]):
        made = make(folder)
        assert Path(find_program()) == made
    named = make(tmp_path, "named")
    monkeypatch.setenv("TOOLCHECK_BIN", str(named))
    assert Path(find_program()) == named
    other = make(tmp_path, "other")
    assert Path(find_program(str(other))) == other
    with pytest.raises(ProgramError, match="the option names `nowhere`"):
        find_program("nowhere")


@pytest.mark.skipif(shutil.which("toolcheck", path=sysconfig.get_path("scripts")) is None, reason="needs a wheel with the program")
def test_the_program_of_the_wheel_is_of_its_version(monkeypatch):
    monkeypatch.delenv("TOOLCHECK_BIN", raising=False)
    said = subprocess.run([find_program(), "--version"], capture_output=True, text=True).stdout
    assert said.split()[1] == toolcheck_lint.__version__

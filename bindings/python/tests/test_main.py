"""`python -m toolcheck_lint`."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import toolcheck_lint
from toolcheck_lint.__main__ import main


@pytest.fixture
def files(tmp_path, monkeypatch, clean, unanswered):
    monkeypatch.chdir(tmp_path)
    Path("clean.json").write_text(json.dumps(clean))
    Path("unanswered.json").write_text(json.dumps(unanswered))
    return tmp_path


def test_it_is_a_module(files):
    path = os.pathsep.join([str(Path(toolcheck_lint.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "toolcheck_lint", "clean.json", "unanswered.json"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"},
        encoding="utf-8",
    )
    assert done.returncode == 1, done.stderr
    assert "error[unanswered-tool-call]" in done.stdout
    assert "unanswered.json:1:" in done.stdout
    assert done.stderr == ""


def test_it_says_what_the_program_says(files, program, capsys):
    for arguments, status in [(["clean.json"], 0), (["unanswered.json"], 1), (["unanswered.json", "--ignore", "unanswered-tool-call"], 0)]:
        arguments = [*arguments, "--output-format", "concise"]
        assert main(arguments) == status, arguments
        assert capsys.readouterr().out == program("lint", "--isolated", *arguments, cwd=files).decode(), arguments


def test_options_reach_the_linter(files, capsys, monkeypatch):
    assert main(["--target", "bedrock", "--output-format", "json", "unanswered.json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["files"][0]["target"] == "bedrock"
    assert report["findings"][0]["path"] == "unanswered.json"
    assert main(["--ignore", "unanswered-tool-call", "unanswered.json"]) == 0
    Path("toolcheck.toml").write_text('ignore = ["unanswered-tool-call"]\n')
    assert main(["--config", "toolcheck.toml", "unanswered.json"]) == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("unanswered.json").read_bytes())))
    capsys.readouterr()
    assert main(["-", "--output-format", "concise"]) == 1
    assert capsys.readouterr().out.startswith("<stdin>:1:")


def test_what_it_cannot_do_is_said(files, capsys):
    for arguments, said in [
        (["missing.json"], "missing.json: No such file or directory"),
        (["."], ". is a folder, which the program `toolcheck` lints: pip install toolcheck-cli"),
        (["--target", "bedrok", "clean.json"], "there is no target `bedrok`; did you mean `bedrock`?"),
        (["--output-format", "fulll", "clean.json"], "fulll"),
    ]:
        assert main(arguments) == 2, arguments
        assert said in capsys.readouterr().err, arguments
    # The others are linted all the same.
    assert main(["missing.json", "unanswered.json"]) == 2
    assert "unanswered-tool-call" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--output-format", "json", "clean.json", "unanswered.json"])
    assert "one document for all files" in capsys.readouterr().err

"""The module and the program say the same of the files of the repository."""

import json

import pytest

import toolcheck_lint

from conftest import ROOT

FOLDERS = ["anthropic", "openai-chat", "openai-responses", "gemini", "cohere", "exchanges", "har", "vcr", "datasets", "mistakes", "inputs"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_reports_are_those_of_the_program(program, folder, monkeypatch):
    monkeypatch.chdir(ROOT)
    arguments = ["lint", "--isolated", "--output-format", "json", "--max-findings", "0", f"fixtures/{folder}"]
    said = json.loads(program(*arguments))
    findings = {}
    for found in said["findings"]:
        findings.setdefault(found["path"], []).append(found)
    compressed = (".gz", ".zst", ".parquet")
    files = [file for file in said["files"] if not file["path"].endswith(compressed)]
    assert files
    for file in files:
        report = toolcheck_lint.lint_file(file["path"]).to_dict()
        assert report["files"] == [file]
        assert report["findings"] == findings.get(file["path"], []), file["path"]

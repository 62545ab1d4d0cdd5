"""Tests of ecosystem.py, on repositories in a folder and programs of their own."""

import json
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import ecosystem

PROGRAM = """\
#!{python}
import json, sys
path = next(a.split("=", 2)[2] for a in sys.argv if a.startswith("--output-format=json="))
paths = sys.argv[sys.argv.index("--") + 1:]
findings = [{{"path": p, "rule": "{rule}", "level": "error", "record": 0, "pointer": "/messages/1", "message": open(p).read()}}
            for p in paths]
files = [{{"path": p, "format": "openai-chat", "transcripts": 1, "tool_calls": {calls}}} for p in paths]
json.dump({{"files": files, "findings": findings}}, open(path, "w"))
sys.exit({status})
"""


class Ecosystem(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def program(self, name, rule="late-tool-result", calls=2, status=0):
        path = self.folder / name
        path.write_text(PROGRAM.format(python=sys.executable, rule=rule, calls=calls, status=status))
        path.chmod(0o755)
        return path

    def repository(self):
        origin = self.folder / "origin"
        (origin / "logs").mkdir(parents=True)
        (origin / "logs/a.json").write_text("first")
        (origin / "other.txt").write_text("other")

        def git(*arguments):
            command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-C", str(origin), *arguments]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

        git("init", "--quiet")
        for setting in ["uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"]:
            git("config", setting, "true")
        git("add", ".")
        git("commit", "--quiet", "-m", "first")
        pinned = git("rev-parse", "HEAD")
        (origin / "logs/a.json").write_text("second")
        git("commit", "--quiet", "-am", "second")
        return origin, pinned

    def manifest(self, repository, commit, path="logs/a.json"):
        file = self.folder / "ecosystem.toml"
        file.write_text(
            f'[[source]]\nname = "one"\nrepository = "file://{repository}"\ncommit = "{commit}"\npaths = ["{path}"]\n'
        )
        return file

    def run_main(self, *arguments):
        out = StringIO()
        with redirect_stdout(out):
            status = ecosystem.main([str(argument) for argument in arguments])
        return status, out.getvalue()

    def test_the_pinned_commit_is_linted(self):
        origin, pinned = self.repository()
        manifest = self.manifest(origin, pinned)
        sources = self.folder / "sources"
        for _ in range(2):
            self.assertEqual(self.run_main("--manifest", manifest, "fetch", "--folder", sources)[0], 0)
        self.assertEqual((sources / "one/logs/a.json").read_text(), "first")
        self.assertFalse((sources / "one/other.txt").exists())
        output = self.folder / "findings.json"
        arguments = ["--folder", sources, "--program", self.program("program"), "--output", output]
        status, said = self.run_main("--manifest", manifest, "lint", *arguments)
        self.assertEqual((status, said), (0, "one: 1 findings in 1 files, status 0\n"))
        self.assertEqual(json.loads(output.read_text())[0]["findings"][0][-1], "first")

    def test_a_path_that_is_not_there_is_an_error(self):
        origin, pinned = self.repository()
        manifest = self.manifest(origin, pinned, "nowhere")
        self.assertEqual(self.run_main("--manifest", manifest, "fetch", "--folder", self.folder / "s")[0], 2)

    def test_sources_are_pinned_and_stay_in_their_folder(self):
        for commit, path in [("main", "a"), ("0" * 40, "../a"), ("0" * 40, "/a"), ("0" * 40, "--upload-pack=a")]:
            with self.assertRaises(ecosystem.Fault):
                ecosystem.sources(self.manifest("a", commit, path))
        self.assertGreaterEqual(len(ecosystem.sources(ecosystem.MANIFEST)), 3)

    def results(self, *programs):
        (self.folder / "one").mkdir(exist_ok=True)
        (self.folder / "one/a.json").write_text("a `b` | <img src=x>\n::error::c")
        source = ecosystem.Source("one", "", "0" * 40, ["a.json"], [])
        return [[ecosystem.lint(self.folder, source, program)] for program in programs]

    def test_no_change(self):
        before, after = self.results(self.program("a"), self.program("b"))
        self.assertIn("No change: 1 findings in 1 files.", ecosystem.diff(before, after))

    def test_findings_that_come_and_go(self):
        before, after = self.results(self.program("a"), self.program("b", rule="orphan-tool-result"))
        page = ecosystem.diff(before, after)
        self.assertIn("1 new and 1 gone, of 1 before.", page)
        self.assertIn("| `orphan-tool-result` | error | 0 | 1 | 1 | 0 |", page)
        self.assertIn("| `late-tool-result` | error | 1 | 0 | 0 | 1 |", page)

    def test_the_same_finding_twice_is_not_once(self):
        [before] = self.results(self.program("a"))
        after = [dict(before[0], findings=before[0]["findings"] * 2)]
        self.assertIn("| `late-tool-result` | error | 1 | 2 | 1 | 0 |", ecosystem.diff(before, after))

    def test_text_of_others_stays_text(self):
        before, after = self.results(self.program("a"), self.program("b", rule="orphan-tool-result"))
        page = ecosystem.diff(before, after)
        self.assertIn("`a 'b' ¦ <img src=x>\N{REPLACEMENT CHARACTER}::error::c`", page)
        self.assertNotIn("\n::error", page)

    def test_files_that_are_read_in_another_way(self):
        before, after = self.results(self.program("a"), self.program("b", calls=0))
        page = ecosystem.diff(before, after)
        self.assertIn("1 files are read in another way", page)
        self.assertIn("0 calls`, and before: `openai-chat, 1 transcripts, 2 calls`", page)

    def test_a_crash_is_a_result(self):
        before, after = self.results(self.program("a"), self.program("b", status=101))
        page = ecosystem.diff(before, after)
        self.assertIn("`ended with 101: nothing`, and before: `status 0`", page)
        self.assertIn("| `late-tool-result` | error | 1 | 0 | 0 | 1 |", page)


if __name__ == "__main__":
    unittest.main()

"""Tests of recipes.py, with pages and a program of their own."""

import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recipes

# Finds fault with a call that nothing answers, and with the word `wrong`.
PROGRAM = """\
#!{python}
import json, sys
if sys.argv[1] == "serve":
    print(json.dumps({{"url": "http://127.0.0.1:1"}}), flush=True)
    sys.stdin.read()
    sys.exit({refused})
text = open(sys.argv[-1]).read()
bad = [line for line in text.splitlines() if '"tool_calls"' in line and '"tool"' not in line or "wrong" in line]
findings = [{{"rule": "unanswered-tool-call", "level": "error", "pointer": "/messages/1", "message": "no result"}} for _ in bad]
print(json.dumps({{"findings": findings, "files": [{{"tool_results": text.count('"tool"')}}]}}))
sys.exit(1 if bad else 0)
"""
CALL = '{"role": "assistant", "tool_calls": [{"id": "a"}]}'
CLEAN = f'{{"messages": [{{"role": "user"}}]}}\n{{"messages": [{{"role": "user"}}, {CALL}, {{"role": "tool"}}]}}\n'


class Recipes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def page(self, code, versions="`pip` 1.0", language="python"):
        text = f"# A page\n\n```{language}\n{code}\n```\n\nTried with {versions}.\n"
        (self.folder / "page.md").write_text(text)

    def run_main(self, refused=0, *more):
        program = self.folder / "program"
        program.write_text(PROGRAM.format(python=sys.executable, refused=refused))
        program.chmod(0o755)
        out = StringIO()
        arguments = ["--pages", str(self.folder), "--program", str(program), "--python", sys.executable, *more]
        with redirect_stdout(out):
            status = recipes.main(arguments)
        return status, out.getvalue()

    def writes(self, text):
        self.page(f"open('requests.jsonl', 'w').write({text!r})")

    def test_a_recipe_that_saves_clean_requests_passes(self):
        self.writes(CLEAN)
        status, said = self.run_main()
        self.assertEqual(status, 0, said)
        self.assertTrue(said.startswith("page: passed, 2 requests") and said.endswith("1 passed, 0 failed, 0 skipped\n"))

    def test_recipes_that_do_not_do_what_they_say_fail(self):
        for text, refused, fault in [
            (CLEAN.replace("user", "wrong"), 0, "not clean"),
            (CLEAN, 1, "refused a request"),
            (CLEAN.splitlines()[0] + "\n", 0, "1 requests with 0 results"),
            # A linter that finds nothing is no witness.
            (CLEAN.replace("tool_calls", "calls"), 0, "without results"),
        ]:
            self.writes(text)
            status, said = self.run_main(refused)
            self.assertEqual(status, 1, said)
            self.assertIn(fault, said)
        for code, fault in [("pass", "saved no requests"), ("raise SystemExit('a tide')", "a tide")]:
            self.page(code)
            status, said = self.run_main()
            self.assertEqual(status, 1, said)
            self.assertIn(fault, said)

    def test_what_is_not_installed_is_skipped_and_named(self):
        self.page("pass", "`no-such-package` 1.0")
        self.assertEqual(self.run_main()[0], 0)
        self.assertIn("no-such-package not installed", self.run_main()[1])
        self.assertEqual(self.run_main(0, "--require")[0], 1)
        self.page("pass", "`no-such-package` 1.0", "js")
        self.assertIn("no-such-package not installed", self.run_main()[1])

    def test_required_versions_are_those_of_the_page(self):
        self.writes(CLEAN)
        status, said = self.run_main(0, "--require")
        self.assertEqual(status, 1)
        self.assertIn("the page names other versions", said)

    def test_code_sees_no_keys_of_anybody(self):
        kept = recipes.environment("http://127.0.0.1:1")
        self.assertEqual({value for name, value in kept.items() if name.endswith("_KEY")}, {"toolcheck"})

    def test_results_are_taken_out_in_each_format(self):
        user = {"role": "user", "content": "a"}
        for key, result, other in [
            ("messages", {"role": "tool", "content": "b"}, {"role": "assistant"}),
            ("messages", {"role": "user", "content": [{"type": "tool_result"}]}, {"role": "assistant"}),
            ("input", {"type": "function_call_output"}, {"type": "function_call"}),
            ("contents", {"role": "user", "parts": [{"functionResponse": {}}]}, {"role": "model", "parts": [{"text": "a"}]}),
        ]:
            left = recipes.without_results({key: [user, other, result]})[key]
            self.assertEqual(left[:2], [user, other])
            self.assertEqual((len(left), left[2]["role"]), (3, "user"))
            self.assertEqual(recipes.without_results({key: [user, other]}), {key: [user, other]})

    def test_packages_are_listed_for_their_installers(self):
        for language, line in [("python", "openai==1.2"), ("js", "openai@1.2")]:
            self.page("pass", "`openai` 1.2", language)
            self.assertEqual(self.run_main(0, "--list", language), (0, line + "\n"))

    def test_every_page_is_a_recipe(self):
        names = [one.name for one in recipes.recipes(recipes.PAGES)]
        listed = (recipes.PAGES / "README.md").read_text(encoding="utf-8")
        self.assertGreaterEqual(len(names), 8)
        for name in names:
            self.assertIn(f"]({name}.md)", listed)


if __name__ == "__main__":
    unittest.main()

"""The table of what was tried says what was tried, and when."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "delivered"))

import tried

LOG = """\
   Compiling lighthouse
== the documentation of the crates
   Documenting lighthouse
== ok
== scripts | 3.11.7
Ran 73 tests in 2.7s

OK
== ok
== drivers of agent frameworks | 3.11.7
clients: 24 passed, 0 failed
== ok
== typos
skipped: typos (not installed)
== skipped
== toolcheck-lint in Python | 3.11.7
SKIPPED [2] tests/test_sdks.py:12: could not import 'openai'
SKIPPED [1] tests/test_engines.py:9: could not import 'openai'
\x1b[32m472 passed\x1b[0m, 3 skipped in 52.1s
== ok
== toolcheck-wasm, the playground | 20.20.2
✔ a page (5ms)
﹣ another page (0.1ms) # there is no Chromium
ℹ pass 12
ℹ fail 0
      Tests  7 passed (7)
ℹ pass 2
ℹ fail 1
== failed
"""


def row(what, version="", result="ok", on="2026-11-29", **more):
    return {"source": "javascript", "what": what, "asked": version[:2], "version": version, "from": "packed tarballs", "ran": "lint", "result": result, "on": on, **more}


class Parts(unittest.TestCase):
    def test_each_part_says_what_it_ran_and_what_it_skipped(self):
        found = {part["what"]: (part["version"], part["ran"], part["result"]) for part in tried.parts(LOG)}
        self.assertEqual(
            found,
            {
                "the documentation of the crates": ("", "", "ok"),
                "scripts": ("3.11.7", "73 tests", "ok"),
                "drivers of agent frameworks": ("3.11.7", "24 tests", "ok"),
                "typos": ("", "", "skipped: typos (not installed)"),
                "toolcheck-lint in Python": ("3.11.7", "472 tests", "ok, but skipped: could not import 'openai'"),
                "toolcheck-wasm, the playground": ("20.20.2", "21 tests, 1 failed", "failed; skipped: another page: there is no Chromium"),
            },
        )


class Rows(unittest.TestCase):
    def test_a_row_replaces_the_one_of_its_name(self):
        before = [row("npm", "11"), row("Node", "18.1"), row("Node", "20.1"), row("site", source="hand")]
        after = tried.merged(before, [row("Node", "20.2"), row("Node", "22.1")], "javascript", whole=False)
        self.assertEqual([one["version"] for one in after], ["11", "18.1", "20.2", "22.1", ""])

    def test_a_whole_run_drops_what_is_no_more_tried(self):
        before = [row("language server", source="hand"), row("npm", "11"), row("Node", "18.1"), row("site", source="hand")]
        after = tried.merged(before, [row("Node", "20.2")], "javascript", whole=True)
        self.assertEqual([one["what"] for one in after], ["Node", "language server", "site"])

    def test_what_can_not_be_tried_keeps_what_was_tried_elsewhere(self):
        before = [row("Node", "18.1", on="2026-11-01")]
        after = tried.merged(before, [row("Node", "18", "not tried: E404")], "javascript", whole=True)
        self.assertEqual(after, before)
        self.assertEqual(tried.merged([], [row("Node", "18", "not tried: E404")], "javascript", whole=True)[0]["result"], "not tried: E404")
        # A failure is a result.
        self.assertEqual(tried.merged(before, [row("Node", "18", "FAILED")], "javascript", whole=True)[0]["result"], "FAILED")

    def test_versions_with_the_same_result_are_one_row(self):
        rows = [row("Node", "18.1"), row("Node", "20.1"), row("Node", "22.1", "FAILED"), row("Bun", "1 | 2")]
        self.assertEqual(
            tried.table(rows, tried.TITLES[:5]).splitlines()[2:],
            [
                "| Node | 18.1, 20.1 | packed tarballs | lint | ok |",
                "| Node | 22.1 | packed tarballs | lint | FAILED |",
                "| Bun | 1 \\| 2 | packed tarballs | lint | ok |",
            ],
        )

    def test_the_page_has_the_rows(self):
        text = tried.PAGE.read_text(encoding="utf-8")
        self.assertEqual(text, tried.page(text, tried.read()), "python3 scripts/delivered/tried.py write")


if __name__ == "__main__":
    unittest.main()

"""Tests of bench.py: what it measures with, and how it writes it. Nothing is built or run."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import bench


class Inputs(unittest.TestCase):
    def test_they_are_requests_with_as_much_as_was_asked_for(self):
        for what, _, write in bench.HUGE:
            self.assertIn("messages", json.loads("".join(write(100))), what)
        said = json.loads(bench.generated().splitlines()[1])["messages"]
        calls = [call["id"] for message in said for call in message.get("tool_calls", [])]
        self.assertEqual((calls[0], calls[-1], len(calls)), ("c00000100", "c00000139", 40))
        self.assertEqual([message["tool_call_id"] for message in said if message["role"] == "tool"], calls)


class Words(unittest.TestCase):
    def test_figures_have_about_three_digits(self):
        self.assertEqual([bench.shown(time) for time in [1.239, 0.1384, 0.0042]], ["1.24 s", "138 ms", "4.2 ms"])
        sizes = [bench.size(count) for count in [25_300_000_000, 200_000_000, 1_000_040, 15_960]]
        self.assertEqual(sizes, ["25.3 GB", "200 MB", "1.0 MB", "16.0 kB"])

    def test_the_page_begins_with_its_text(self):
        page = (bench.ROOT / "docs/benchmarks.md").read_text()
        for name in ["head", "lines", "threads", "size", "huge", "peers"]:
            self.assertIn(bench.text(name), page)


if __name__ == "__main__":
    unittest.main()

"""The grid of agent frameworks says what their tables say."""

import importlib
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "conformance" / "clients"))
grid = importlib.import_module("grid")
PAGE = (ROOT / "docs" / "conformance.md").read_text()


class Grid(unittest.TestCase):
    def test_it_is_made_from_the_page_and_small(self):
        made = (ROOT / "docs" / "conformance-grid.html").read_text()
        self.assertEqual(made, grid.grid(PAGE), "make it with conformance/clients/grid.py")
        self.assertLess(len(made.encode()), 300_000)

    def test_each_row_of_the_tables_is_in_it(self):
        rows = [line for line in PAGE.splitlines() if line.startswith("| `")]
        wanted = sum(line.split(" | ")[0].count("`") // 2 for line in rows)
        found = [finding for client in grid.clients(PAGE) for own in client["found"].values() for finding in own]
        self.assertEqual(len(found), wanted)
        self.assertTrue(all(level and places for level, _, places, _, _ in found))
        for client in grid.clients(PAGE):
            for findings in client["found"].values():
                self.assertTrue(all(set(places) <= set(client["formats"]) for _, _, places, _, _ in findings), client["name"])


if __name__ == "__main__":
    unittest.main()

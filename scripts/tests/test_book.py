"""Tests of book.py."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import book


class Preprocessor(unittest.TestCase):
    def test_links_that_leave_the_docs_go_to_the_repository(self):
        for path, link, expected in [
            ("a.md", "../schemas/b.json", book.REPOSITORY + "schemas/b.json"),
            ("inputs/a.md", "../../crates/c.toml#d", book.REPOSITORY + "crates/c.toml#d"),
            ("inputs/a.md", "../fix.md#e", "../fix.md#e"),
            ("a.md", "./fix.md", "./fix.md"),
            ("a.md", "fix.md", "fix.md"),
            ("a.md", "inputs/README.md#b", "inputs/index.md#b"),
            ("inputs/a.md", "README.md", "index.md"),
            ("a.md", "../fixtures/README.md", book.REPOSITORY + "fixtures/README.md"),
        ]:
            with self.subTest(path=path, link=link):
                self.assertEqual(book.rewritten(f"x [y]({link}) z", path), f"x [y]({expected}) z")

    def test_code_is_left_as_it_is(self):
        page = "```md\n[a](../b)\n```\n"
        self.assertEqual(book.rewritten(page + "[a](../b)\n", "c.md"), page + f"[a]({book.REPOSITORY}b)\n")

    def test_every_chapter_is_rewritten(self):
        def chapter(path, *below):
            return {"Chapter": {"path": path, "content": "[a](../../b)", "sub_items": list(below)}}

        for key in ["items", "sections"]:
            done = book.preprocess({key: [chapter("c/d.md", chapter("c/e.md")), "Separator", {"PartTitle": "f"}]})
            outer = done[key][0]["Chapter"]
            for one in [outer, outer["sub_items"][0]["Chapter"]]:
                self.assertEqual(one["content"], f"[a]({book.REPOSITORY}b)")


class Links(unittest.TestCase):
    def test_links_that_lead_nowhere_are_found(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            (folder / "b").mkdir()
            (folder / "a.html").write_text(
                '<h1 id="x"></h1><a href="#x"><a href="b/c.html#y"><a href="b/"><a href="https://example.com/d">'
                '<a href="#no"><a href="b/c.html#no"><a href="no.html"><img src="no.png">'
            )
            (folder / "b/c.html").write_text('<h2 id="y"></h2><a href="../a.html">')
            (folder / "b/index.html").write_text("")
            self.assertEqual(
                book.broken(folder),
                [
                    "a.html: #no: no such heading",
                    "a.html: b/c.html#no: no such heading",
                    "a.html: no.html: no such file",
                    "a.html: no.png: no such file",
                ],
            )

    def test_a_site_without_pages_is_broken(self):
        with tempfile.TemporaryDirectory() as name:
            self.assertEqual(len(book.broken(Path(name))), 1)


if __name__ == "__main__":
    unittest.main()

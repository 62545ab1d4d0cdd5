#!/usr/bin/env python3
"""Makes the pages of `docs` a site.

    book.py                  a preprocessor of mdBook: links to files outside of `docs` go to the repository
    book.py check FOLDER     follows every link of the built site that stays on it

Only Python's own library is needed, 3.11 or newer.
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

REPOSITORY = "https://github.com/toolcheck/toolcheck/blob/main/"
# A link or an image in Markdown, up to its address.
LINK = re.compile(r"(\]\()(\.\.?/[^)\s]+)(?=[)\s])")
# mdBook makes a README the index of its folder, and leaves links to it.
README = re.compile(r"(\]\((?![a-z]+:)(?:[^)\s#]*/)?)README\.md(?=[)#\s])")
FENCE = re.compile(r"(?ms)^( *)(```+|~~~+).*?^\1\2`*$")


def rewritten(content: str, path: str) -> str:
    """A page whose links that leave `docs` go to the repository. Code is left as it is."""

    def outside(match: re.Match[str]) -> str:
        address, hash_sign, anchor = match[2].partition("#")
        target = posixpath.normpath(posixpath.join("docs", posixpath.dirname(path), address))
        if target == "docs" or target.startswith("docs/"):
            return match[0]
        return f"{match[1]}{REPOSITORY}{target}{hash_sign}{anchor}"

    def prose(text: str) -> str:
        return README.sub(r"\1index.md", LINK.sub(outside, text))

    pieces, at = [], 0
    for fence in FENCE.finditer(content):
        pieces += [prose(content[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*pieces, prose(content[at:])])


def preprocess(book: dict) -> dict:
    def walk(items: list) -> None:
        for item in items:
            chapter = item.get("Chapter") if isinstance(item, dict) else None
            if chapter is not None:
                if chapter.get("path"):
                    chapter["content"] = rewritten(chapter["content"], chapter["path"].replace("\\", "/"))
                walk(chapter["sub_items"])

    # `sections` before mdBook 0.5.
    walk(book["items"] if "items" in book else book["sections"])
    return book


# ---- the built site


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if value is None:
                continue
            if name == "id":
                self.anchors.add(value)
            elif (tag, name) in {("a", "href"), ("img", "src"), ("link", "href"), ("script", "src")}:
                self.links.append(value)


def broken(folder: Path) -> list[str]:
    """Every link that stays on the site and leads nowhere."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        # It may be shown at any address, so its links start at the root of the host.
        if path.name == "404.html":
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            if target.is_dir():
                target /= "index.html"
            name = path.relative_to(folder)
            if not target.is_file():
                found.append(f"{name}: {link}: no such file")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{name}: {link}: no such heading")
    if not pages:
        found.append(f"{folder} has no pages")
    return sorted(set(found))


def main(arguments: list[str]) -> int:
    match arguments:
        case ["supports", renderer]:
            return 0 if renderer == "html" else 1
        case ["check", folder]:
            found = broken(Path(folder).resolve())
            print("\n".join([*found, f"{len(found)} broken links"]))
            return 1 if found else 0
        case []:
            _, book = json.load(sys.stdin)
            json.dump(preprocess(book), sys.stdout)
            return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

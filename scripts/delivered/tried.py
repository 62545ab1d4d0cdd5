#!/usr/bin/env python3
"""Keeps what was tried last of what users install, and the table of it in docs/releasing.md:

    tried.py parts LOG [--record]      a table of the parts of `.ci/delivered`, of what it printed
    tried.py record SOURCE [--whole]   takes rows as JSON from its input, which the scripts beside it send with --record
    tried.py write                     writes the table again

A row of the script SOURCE replaces the one of the same name that was recorded before, and the others stay, each with the day
and the revision on which it was tried. `--revision` names another
revision than the one that is checked out when the command runs. With `--whole`, all rows of SOURCE were asked for: those that it has no more are removed. What can't be
tried on a machine does not replace what was tried on another.

The rows are in `tried.jsonl`, one a line. What no script runs is a row there with the source `hand`, which is edited by hand.
"""

import argparse
import datetime
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS = Path(__file__).with_name("tried.jsonl")
PAGE = ROOT / "docs/releasing.md"
# In the order of the table.
SOURCES = ["rehearse", "delivered", "javascript", "python", "rows", "hand"]
KEYS = ["source", "what", "asked", "version", "from", "ran", "result", "on"]
BEGIN, END = "<!-- tried.py writes this table -->\n\n", "\n\n<!-- the end of the table -->"
# At the start: what is committed while a script runs was not tried.
REVISION = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
TITLES = ["what", "version", "installed from", "what ran", "result", "tried"]


def read(path: Path = ROWS) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def name(row: dict) -> tuple:
    return row["source"], row["what"], row["asked"]


def was_tried(row: dict) -> bool:
    return not row["result"].startswith(("not tried", "skipped"))


def merged(before: list[dict], new: list[dict], source: str, whole: bool) -> list[dict]:
    """The rows that were recorded, with new ones of a source."""
    old = {name(row): row for row in before}
    rows = [row if was_tried(row) or not was_tried(old.get(name(row), row)) else old[name(row)] for row in new]
    own = [row for row in before if row["source"] == source]
    if not whole:
        fresh = {name(row): row for row in rows}
        rows = [fresh.pop(name(row), row) for row in own] + list(fresh.values())
    others = [row for row in before if row["source"] != source]
    return sorted(others + rows, key=lambda row: SOURCES.index(row["source"]))


def table(rows: list[dict], titles: list[str] = TITLES) -> str:
    """The rows for people: versions for which the same ran on the same day, with the same result, are one row."""
    lines: list[list[str]] = []
    for row in rows:
        cells = [row["what"], row["version"], row["from"], row["ran"], row["result"], row["on"]]
        same = lines and lines[-1][:1] + lines[-1][2:] == cells[:1] + cells[2:]
        if same:
            lines[-1][1] += f", {cells[1]}"
        else:
            lines.append(cells)
    lines = [titles, ["---"] * len(titles), *([cell.replace("|", "\\|") for cell in cells[: len(titles)]] for cells in lines)]
    return "\n".join(f"| {' | '.join(cells)} |".replace("  ", " ") for cells in lines)


def page(text: str, rows: list[dict]) -> str:
    """The page with the table of these rows."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + table(rows) + END + rest.split(END)[1]


def write(rows: list[dict]) -> None:
    lines = [json.dumps({key: row[key] for key in KEYS}, ensure_ascii=False) for row in rows]
    ROWS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")


def record(new: list[dict], source: str, whole: bool = False, revision: str = REVISION) -> None:
    """Writes rows of a script, with the day and the revision, into the list and the page."""
    on = f"{datetime.date.today().isoformat()}, {revision}"
    write(merged(read(), [{"asked": "", "version": "", **row, "source": source, "on": on} for row in new], source, whole))


# ---- what `.ci/delivered` printed

SKIPPED = re.compile(r"^(?:skipped: (?P<part>.*)|\s*﹣ (?P<node>.*?)(?: \([\d.]+ms\))? # (?P<why>.*)|SKIPPED \[\d+\] (?:\S+:\d+: )?(?P<python>.*))$", re.MULTILINE)
PASSED = [r"^ℹ pass (\d+)$", r"^clients: (\d+) passed", r"^.*\b(\d+) passed\b.* in ", r"^ +Tests .*\b(\d+) passed", r"^Ran (\d+) tests? in "]
FAILED = [r"^ℹ fail (\d+)$", r"^.*\b(\d+) failed\b.* in ", r"^ +Tests .*\b(\d+) failed", r"^FAILED \(.*failures=(\d+)"]


def parts(log: str) -> list[dict]:
    """What each part ran: it is between `== NAME | VERSION` and `== ok`, `== failed` or `== skipped`."""
    found = []
    part = re.compile(r"^== (?!ok$|failed$|skipped$)(.+)\n((?:(?!== ).*\n)*)== (ok|failed|skipped)$", re.MULTILINE)
    for named, text, ended in part.findall(re.sub(r"\x1b\[[\d;]*m", "", log)):
        what, _, version = named.partition(" | ")
        count = lambda patterns: sum(int(number) for one in patterns for number in re.findall(one, text, re.MULTILINE))
        passed, failed = count(PASSED), count(FAILED)
        ran = f"{passed} tests" + (f", {failed} failed" if failed else "") if passed or failed else ""
        skips = dict.fromkeys(": ".join(filter(None, groups)) for groups in SKIPPED.findall(text))
        said = {"ok": "ok, but skipped: ", "failed": "failed; skipped: ", "skipped": "skipped: "}
        result = said[ended] + "; ".join(skips) if skips else ended
        found.append({"what": what, "version": version, "from": "`.ci/delivered`", "ran": ran, "result": result})
    return found


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("parts")
    command.add_argument("log", type=Path)
    command.add_argument("--record", action="store_true")
    command = commands.add_parser("record")
    command.add_argument("source", choices=SOURCES)
    command.add_argument("--whole", action="store_true")
    for command in commands.choices.values():
        command.add_argument("--revision", default=REVISION)
    commands.add_parser("write")
    options = parser.parse_args(words)
    if options.command == "parts":
        rows = parts(options.log.read_text(encoding="utf-8", errors="replace"))
        print(table([{**row, "on": ""} for row in rows], TITLES[:5]))
        if options.record:
            record(rows, "delivered", whole=True, revision=options.revision)
    elif options.command == "record":
        record(json.load(sys.stdin), options.source, options.whole, options.revision)
    else:
        write(read())
    return 0


if __name__ == "__main__":
    sys.exit(main())

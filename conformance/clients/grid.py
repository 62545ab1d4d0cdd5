"""Makes a page with one cell for each framework and scenario from `docs/conformance.md`, which opens what was found.

    python3 grid.py ../../docs/conformance.md ../../docs/conformance-grid.html
"""

import html
import json
import os
import re
import sys
import tomllib

from clients import CLIENTS, FOLDER

SCENARIOS = os.path.join(FOLDER, "..", "..", "crates", "toolcheck-conform", "scenarios")
LEVELS = {"fails": "fail", "inconclusive": "inconclusive", "weak": "weak"}


def columns(line):
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def plain(text):
    """A cell of a table as it reads."""
    return html.unescape(text).replace("`", "")


def findings(section, formats):
    """What the tables of a client say: scenario, level, check, formats, where and what."""
    level = None
    for line in section.splitlines():
        cells = columns(line) if line.startswith("|") else []
        if len(cells) != 4 or cells[0].startswith("---"):
            continue
        if cells[0] in LEVELS:
            level = LEVELS[cells[0]]
            continue
        scenarios, check, where, what = cells
        places = formats if where == "everywhere" else sorted({place.split()[0] for place in where.split(", ")})
        for scenario in scenarios.split(", "):
            yield plain(scenario), [level, plain(check), places, where, plain(what)]


def clients(page):
    """Each client of the page, with the day of its run, its formats and its findings by scenario."""
    head, *sections = page.split("\n## ")
    rows = [line for line in head.splitlines() if line.startswith("| [")]
    formats = {(client.packages[0], client.variant): client.formats for client in CLIENTS}
    for row, section in zip(rows, sections, strict=True):
        title = section.splitlines()[0]
        name, _, variant = title.partition(", ")
        package, version = name.rsplit(" ", 1)
        own = formats[package, variant]
        found = {}
        for scenario, finding in findings(section, own):
            found.setdefault(scenario, []).append(finding)
        anchor = re.search(r"\(#([^)]*)\)", row)[1]
        yield {
            "name": package + (f", {variant}" if variant else ""),
            "version": version,
            "day": columns(row)[1],
            "anchor": anchor,
            "formats": own,
            "found": found,
        }


def scenarios():
    """The scenarios in a fixed order, each with the first set that has it."""
    for name in sorted(os.listdir(SCENARIOS)):
        with open(os.path.join(SCENARIOS, name), "rb") as file:
            scenario = tomllib.load(file)
        yield scenario["id"], scenario["title"], scenario["since"]


def grid(page):
    version = re.search(r"What `toolcheck conform` (\S+) found", page)[1]
    data = {"clients": list(clients(page))}
    data["scenarios"] = {name: title for name, title, _ in scenarios()}
    data["sets"] = {name: since for name, _, since in scenarios()}
    known = {scenario for client in data["clients"] for scenario in client["found"]} - data["scenarios"].keys()
    if known:
        raise ValueError(f"scenarios of the page that are gone: {', '.join(sorted(known))}")
    # Nothing of it may end the script.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    with open(os.path.join(FOLDER, "grid.html")) as template:
        return template.read().replace("{{version}}", html.escape(version)).replace("{{data}}", text)


def main():
    page, target = sys.argv[1:]
    with open(page) as file:
        made = grid(file.read())
    with open(target, "w") as file:
        file.write(made)


if __name__ == "__main__":
    main()

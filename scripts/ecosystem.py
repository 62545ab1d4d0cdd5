#!/usr/bin/env python3
"""Shows what a change does to the findings in public transcripts.

    ecosystem.py fetch --folder DIR                     checks out the pinned sources
    ecosystem.py lint --folder DIR --program P --output FILE
                                                        writes what a program finds in them
    ecosystem.py diff BEFORE AFTER                      compares two such files, as Markdown

`fetch` is the only command that opens a connection. Sources are listed in `ecosystem.toml`.
Only Python's own library is needed, 3.11 or newer.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

MANIFEST = Path(__file__).resolve().with_name("ecosystem.toml")
# Longer than any source takes by far: a program that hangs is a result too.
SECONDS = 600
EXAMPLES = 5


class Fault(Exception):
    """Something that keeps the sources from being compared."""


class Source(NamedTuple):
    name: str
    repository: str
    commit: str
    paths: list[str]
    arguments: list[str]


class Finding(NamedTuple):
    """A finding by what it says and where it is, so that the order and the wording of others don't matter."""

    source: str
    path: str
    rule: str
    level: str
    record: int
    pointer: str
    message: str


def sources(manifest: Path) -> list[Source]:
    found = []
    for entry in tomllib.loads(manifest.read_text(encoding="utf-8")).get("source", []):
        source = Source(
            entry["name"], entry["repository"], entry["commit"], entry["paths"], entry.get("arguments", [])
        )
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", source.name):
            raise Fault(f"{manifest.name}: {source.name!r} is no name of a folder")
        if not re.fullmatch(r"[0-9a-f]{40}", source.commit):
            raise Fault(f"{manifest.name}: {source.name} is not pinned to a commit")
        if any(path.startswith(("/", "-")) or ".." in path.split("/") for path in source.paths):
            raise Fault(f"{manifest.name}: the paths of {source.name} are below its folder")
        found.append(source)
    names = [source.name for source in found]
    if not found or len(set(names)) != len(names):
        raise Fault(f"{manifest.name}: sources have different names, and there is at least one")
    return found


# ---- fetching


def git(folder: Path, *arguments: str) -> None:
    result = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True)
    if result.returncode != 0:
        raise Fault(f"git {' '.join(arguments)}: {result.stderr.strip()}")


def fetch(folder: Path, source: Source) -> None:
    """Checks out the paths of a commit, and nothing else of the repository."""
    checkout = folder / source.name
    done = checkout / ".git" / "toolcheck-commit"
    if done.is_file() and done.read_text() == source.commit:
        return
    checkout.mkdir(parents=True, exist_ok=True)
    git(checkout, "init", "--quiet")
    git(checkout, "sparse-checkout", "set", "--no-cone", *[f"/{path}" for path in source.paths])
    git(checkout, "fetch", "--quiet", "--depth=1", "--filter=blob:none", source.repository, source.commit)
    git(checkout, "-c", f"remote.origin.url={source.repository}", "-c", "remote.origin.promisor=true",
        "checkout", "--quiet", "--force", source.commit)
    for path in source.paths:
        if not (checkout / path).exists():
            raise Fault(f"{source.name} has no {path} at {source.commit}")
    done.write_text(source.commit)


# ---- linting


def lint(folder: Path, source: Source, program: Path) -> dict:
    """What the program says of a source: its findings, how files were read, and how it ended."""
    checkout = folder / source.name
    if not checkout.is_dir():
        raise Fault(f"{checkout} is missing: run `ecosystem.py fetch`")
    with tempfile.TemporaryDirectory() as output:
        report = Path(output) / "report.json"
        command = [str(program.resolve()), "lint", "--isolated", "--exit-zero", "--no-excerpt"]
        command += [f"--output-format=json={report}", *source.arguments, "--", *source.paths]
        try:
            result = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=SECONDS,
                                    stdin=subprocess.DEVNULL, errors="replace")
        except subprocess.TimeoutExpired:
            return {"name": source.name, "ended": f"did not end within {SECONDS} seconds", "files": {}, "findings": []}
        if result.returncode not in (0, 2) or not report.is_file():
            last = (result.stderr.strip().splitlines() or ["nothing"])[-1]
            ended = f"ended with {result.returncode}: {last}"
            return {"name": source.name, "ended": ended, "files": {}, "findings": []}
        value = json.loads(report.read_text(encoding="utf-8"))
    files = {
        file["path"]: f"{file.get('format') or 'unknown'}, {file['transcripts']} transcripts, {file['tool_calls']} calls"
        for file in value["files"]
    }
    findings = [
        [f["path"], f["rule"], f["level"], f.get("record") or 0, f.get("pointer") or "", f["message"]]
        for f in value["findings"]
    ]
    return {"name": source.name, "ended": f"status {result.returncode}", "files": files, "findings": sorted(findings)}


# ---- comparing


def findings(results: list[dict]) -> Counter[Finding]:
    return Counter(Finding(result["name"], *finding) for result in results for finding in result["findings"])


def code(text: str) -> str:
    """Text of others as a code span, which no Markdown, HTML or line of a table gets out of."""
    text = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
    if len(text) > 200:
        text = text[:199] + "…"
    return "`" + text.replace("`", "'").replace("|", "¦") + "`"


def diff(before: list[dict], after: list[dict]) -> str:
    """What has changed, as a page for a job summary."""
    old, new = findings(before), findings(after)
    gone, added = old - new, new - old
    lines = ["## Findings in public transcripts", ""]
    lines += ended(before, after)
    lines += readings(before, after)
    if not gone and not added:
        lines.append(f"No change: {new.total()} findings in {sum(len(r['files']) for r in after)} files.")
        return "\n".join(lines) + "\n"
    lines.append(f"{added.total()} new and {gone.total()} gone, of {old.total()} before.")
    lines += ["", "| rule | level | before | after | new | gone |", "| --- | --- | --: | --: | --: | --: |"]
    kinds = sorted({(finding.rule, finding.level) for finding in [*gone, *added]})
    for kind in kinds:
        counts = [
            sum(count for finding, count in side.items() if (finding.rule, finding.level) == kind)
            for side in [old, new, added, gone]
        ]
        lines.append(f"| {code(kind[0])} | {kind[1]} | {' | '.join(map(str, counts))} |")
    for title, side in [("New", added), ("Gone", gone)]:
        for kind in kinds:
            examples = sorted(finding for finding in side if (finding.rule, finding.level) == kind)
            if not examples:
                continue
            lines += ["", f"### {title}: {code(kind[0])}, {kind[1]}", ""]
            for finding in examples[:EXAMPLES]:
                place = f"{finding.source}/{finding.path} record {finding.record} {finding.pointer}"
                lines.append(f"- {code(place)}: {code(finding.message)}")
            if len(examples) > EXAMPLES:
                lines.append(f"- and {len(examples) - EXAMPLES} more")
    return "\n".join(lines) + "\n"


def ended(before: list[dict], after: list[dict]) -> list[str]:
    """Sources that are not the same on both sides, or for which the program ends in another way."""
    old = {result["name"]: result["ended"] for result in before}
    new = {result["name"]: result["ended"] for result in after}
    changed = [name for name in sorted(old | new) if old.get(name) != new.get(name)]
    return [
        f"**{code(name)}: {code(new.get(name, 'not linted'))}, and before: {code(old.get(name, 'not linted'))}**\n"
        for name in changed
    ]


def readings(before: list[dict], after: list[dict]) -> list[str]:
    """Files that are read as something else."""
    old = {(result["name"], path): how for result in before for path, how in result["files"].items()}
    new = {(result["name"], path): how for result in after for path, how in result["files"].items()}
    changed = [file for file in sorted(old | new) if old.get(file) != new.get(file)]
    if not changed:
        return []
    lines = [f"{len(changed)} files are read in another way:", ""]
    for file in changed[:EXAMPLES]:
        was, now = old.get(file, "not read"), new.get(file, "not read")
        lines.append(f"- {code('/'.join(file))}: {code(now)}, and before: {code(was)}")
    if len(changed) > EXAMPLES:
        lines.append(f"- and {len(changed) - EXAMPLES} more")
    return [*lines, ""]


# ---- the command line


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Shows what a change does to the findings in public transcripts.")
    parser.add_argument("--manifest", type=Path, default=MANIFEST)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ["fetch", "lint"]:
        command = commands.add_parser(name)
        command.add_argument("--folder", type=Path, required=True, help="where the sources are")
        if name == "lint":
            command.add_argument("--program", type=Path, required=True)
            command.add_argument("--output", type=Path, required=True)
    command = commands.add_parser("diff")
    command.add_argument("before", type=Path)
    command.add_argument("after", type=Path)
    options = parser.parse_args(arguments)
    try:
        if options.command == "diff":
            sides = [json.loads(path.read_text(encoding="utf-8")) for path in [options.before, options.after]]
            print(diff(*sides), end="")
            return 0
        listed = sources(options.manifest)
        if options.command == "fetch":
            for source in listed:
                fetch(options.folder, source)
            return 0
        results = [lint(options.folder, source, options.program) for source in listed]
        options.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        for result in results:
            print(f"{result['name']}: {len(result['findings'])} findings in {len(result['files'])} files, {result['ended']}")
        return 0
    except (Fault, OSError, KeyError, TypeError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

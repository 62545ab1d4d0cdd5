#!/usr/bin/env python3
"""Lists the errors in recordings that `toolcheck explain --error` does not know, before each release.

Reads files and folders of whatever holds bodies of answers: HAR files, cassettes, logs, JSON lines, rows of a data set, Markdown.
A body is found wherever it stands, in texts of JSON in texts of JSON too. Bodies that differ in ids and numbers alone are one.

    python3 scripts/harvest.py --program target/debug/toolcheck FOLDER...
    python3 scripts/harvest.py --program target/debug/toolcheck --all --output-format json recordings/

Prints how many are known by their text, how many by words alone, and then the others, the most frequent first, each with the
file that it is in. What is known by words alone is listed with `--all`. Exit status 0 where all are known.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys

DEEPEST = 3
LONGEST = 50_000_000
BEGINNING = re.compile(r'\{\s*"(?:error|errors|type|message|detail|object|code|status|__type|errorMessage|jsonrpc|id)"\s*:')
VARYING = re.compile(r"[\w-]*\d[\w-]*")
DECODER = json.JSONDecoder(strict=False)


def is_error(body):
    """Whether an object is what APIs answer when they refuse something."""
    if not isinstance(body, dict):
        return False
    error = body.get("error")
    if isinstance(error, str) and error or isinstance(error, dict) and error:
        return True
    said = body.get("message") or body.get("detail") or body.get("errorMessage")
    failed = body.get("type") == "error" or body.get("object") == "error" or "__type" in body or "errorType" in body
    return bool(said) and (failed or set(body) <= {"message", "detail", "code", "status", "type", "param", "request_id"} and "choices" not in body)


def bodies_in(text):
    """The errors in a text, as their JSON."""
    for _ in range(DEEPEST + 1):
        end = 0
        for found in BEGINNING.finditer(text):
            if found.start() < end:
                continue
            try:
                body, end = DECODER.raw_decode(text, found.start())
            except (ValueError, RecursionError):
                continue
            if is_error(body):
                yield json.dumps(body, ensure_ascii=False)
            else:
                # An error may be further in.
                end = found.end()
        if '\\"' not in text:
            return
        text = re.sub(r'\\(["\\/])', r"\1", text)


def files_in(paths):
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in inside if file.is_file() and file.stat().st_size <= LONGEST)


def known_by(program, error):
    """`text` for an error of which the text is known, `words` where only its words say something, or None."""
    command = [program, "explain", "--error", error[:20_000], "--output-format", "json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        report = json.loads(run.stdout)
    except ValueError:
        return None
    if report.get("matches"):
        return "text"
    known = report.get("class")
    if known is None:
        return None
    return "text" if known.get("error") or known.get("text") else "words"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="toolcheck", help="the program to ask")
    parser.add_argument("--all", action="store_true", help="list what is known by words alone too")
    parser.add_argument("--output-format", choices=["text", "json"], default="text")
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    seen = {}
    times = collections.Counter()
    for path in files_in(options.paths):
        for body in bodies_in(path.read_text(encoding="utf-8", errors="replace")):
            alike = VARYING.sub("", body)
            times[alike] += 1
            seen.setdefault(alike, (body, str(path)))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        known = dict(zip(seen, pool.map(lambda one: known_by(options.program, one[0]), seen.values())))
    of_kind = collections.Counter(known.values())
    wanted = {None, "words"} if options.all else {None}
    rows = [
        {"error": seen[alike][0], "path": seen[alike][1], "times": count, "known_by": known[alike]}
        for alike, count in times.most_common()
        if known[alike] in wanted
    ]
    if options.output_format == "json":
        json.dump({"known_by_text": of_kind["text"], "known_by_words": of_kind["words"], "unknown": of_kind[None], "errors": rows}, sys.stdout, ensure_ascii=False, indent=1)
        print()
    else:
        print(f"{len(seen)} errors: {of_kind['text']} known by their text, {of_kind['words']} by words alone, {of_kind[None]} unknown")
        for row in rows:
            print(f"\n{row['times']}x {row['path']}\n  {row['error'][:500]}")
    return 1 if of_kind[None] else 0


if __name__ == "__main__":
    sys.exit(main())

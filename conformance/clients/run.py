"""Runs each driver twice against `toolcheck conform`, and writes a page with who fails what.

    python3 environments.py FOLDER
    python3 run.py PROGRAM FOLDER ../../docs/conformance.md [--results FOLDER] [--client NAME]... [--jobs N]

Beside the page it writes the same as a grid, `conformance-grid.html`.

With `--results`, the verdicts of each run are kept there, and what is there is not run again. With `--client`, only
these are run, and the page keeps what it has of the others, with its date. Runs in which the two times differ are named on the page and on the standard
error, and the exit status is 1.
"""

import argparse
import concurrent.futures
import datetime
import glob
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from clients import CLIENTS, FOLDER
from grid import grid

# Longer than the longest wait of a client: strands-agents gives up on an overloaded server after two minutes.
TIMEOUT = "200"
STATUSES = ["pass", "weak", "inconclusive", "fail", "broke", "skip"]
# The longest reason in a cell.
LONGEST = 160
# Ids and addresses differ from format to format and from run to run.
VOLATILE = [
    (re.compile(r"\b(call|result|results|id) `[^` ]+`"), r"\1 `ID`"),
    (re.compile(r"\s+\((?:call|tool|tooluse|toolu)?_?\d\w*\)|\s+\(without an id\)"), ""),
    (re.compile(r"(/[\w.:%-]+){2,}"), "…"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|\b[0-9a-f]{20,}\b"), "ID"),
    (re.compile(r"127\.0\.0\.1:\d+"), "HOST"),
    (re.compile(r"after \d+\.\d s, although"), "too soon, although"),
    (re.compile(r"0x[0-9a-f]+"), "0x…"),
    (re.compile(r"\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT"), "DATE"),
]


def verdicts(program, client, environments, results, turn):
    """The runs of a client, from a former time if they are kept."""
    kept = os.path.join(results, f"{client.name}.{turn}.json")
    if not os.path.exists(kept):
        folder = client.folder(environments)
        if client.driver.endswith(".mjs"):
            # Node.js looks for packages beside the file.
            for script in glob.glob(os.path.join(FOLDER, os.path.dirname(client.driver), "*.mjs")):
                shutil.copy(script, folder)
        command = ["conform", "--client", client.command(environments), "--format", ",".join(client.formats)]
        command += ["--timeout", TIMEOUT, "--output-format", "json"]
        if client.only:
            command += ["--only", client.only]
        if client.profile:
            command += ["--profile", os.path.join(FOLDER, "profiles", client.profile)]
        # It has the runs so far while the others are still to come.
        command += ["--output-file", kept + ".new"]
        with open(os.path.join(results, f"{client.name}.{turn}.log"), "w") as log:
            ran = subprocess.run([program, *command], stderr=log)
        if ran.returncode not in (0, 1):
            raise RuntimeError(f"{client.name}: toolcheck ended with {ran.returncode}")
        os.rename(kept + ".new", kept)
    with open(kept) as file:
        runs = json.load(file)["runs"]
    return {(run["scenario"], run["format"], run["stream"]): seen(run) for run in runs}


def seen(run):
    """The status of a run, and its verdicts that are not as they must or should be."""
    answered = [own["response"] for own in run.get("exchanges") or [] if own["status"] == 200]
    if not run["stream"] and answered and isinstance(answered[0], list):
        # It always streams.
        return "skip", []
    wrong = [
        (verdict["status"], verdict["check"], verdict["reason"])
        for verdict in run.get("verdicts") or []
        if verdict["status"] in ("fail", "inconclusive", "weak")
    ]
    if run["status"] == "broke":
        wrong = [("broke", "", run.get("reason") or "")]
    return run["status"], wrong


def versions(client, environments):
    folder = client.folder(environments)
    if client.driver.endswith(".mjs"):
        for package in client.packages:
            with open(os.path.join(folder, "node_modules", package, "package.json")) as file:
                yield package, json.load(file)["version"]
        return
    places = glob.glob(os.path.join(folder, "lib", "python*", "site-packages")) or [
        os.path.join(folder, "Lib", "site-packages")
    ]
    for package in client.packages:
        found = importlib.metadata.distributions(name=package, path=places)
        yield package, next(iter(found)).version


def short(reason):
    reason = reason.replace("\\u{a}", " ")
    for pattern, text in VOLATILE:
        reason = pattern.sub(text, reason)
    reason = re.sub(r"\s+", " ", reason)
    if len(reason) > LONGEST:
        begin = reason[: LONGEST - 1]
        # A word that is half of it is no word.
        reason = (begin.rsplit(" ", 1)[0] if " " in begin[LONGEST // 2 :] else begin) + " …"
    if reason.count("`") % 2:
        reason = reason.replace("`", "'")
    return reason.replace("|", "\\|").replace("<", "&lt;")


def where(places, runs):
    """Formats and ways in few words; `runs` are all that the scenario has."""
    if places == runs and len(runs) > 2:
        return "everywhere"
    words = []
    for form in sorted({form for form, _ in places}):
        ways = sorted(stream for own, stream in places if own == form)
        other = sorted(stream for own, stream in runs if own == form)
        name = {(True,): f"{form} streamed", (False,): f"{form} whole"}[tuple(ways)] if ways != other else form
        words.append(name)
    return ", ".join(words)


def kind(reason):
    """What is the same in reasons that only differ in the words of a provider: the error's type, or the rule."""
    ended = re.match(r"it ended with an error: (\w+(?:: ERROR)?)", reason)
    return ended[1] if ended else reason.split(":")[0]


def table(found, level):
    """The rows of a client for `fail`, `inconclusive` or `weak`: what is the same in several scenarios stands in one row."""
    cells, has = {}, {}
    for (scenario, form, stream), (status, wrong) in found.items():
        if status in ("pass", "weak", "inconclusive", "fail"):
            has.setdefault(scenario, set()).add((form, stream))
        for own, check, reason in wrong:
            if own == level:
                text = short(reason)
                places, texts = cells.setdefault((scenario, check, kind(text)), (set(), set()))
                places.add((form, stream))
                texts.add(text)
    rows = {}
    for (scenario, check, _), (places, texts) in cells.items():
        # The shortest stands for all.
        text = min(texts, key=lambda text: (len(text), text))
        rows.setdefault((check, text, where(places, has[scenario])), []).append(scenario)
    for (check, text, places), scenarios in sorted(rows.items(), key=lambda row: (row[1], row[0])):
        names = ", ".join(f"`{scenario}`" for scenario in sorted(scenarios))
        yield f"| {names} | `{check}` | {places} | {text} |"


def heading(client, package, version):
    return f"{package} {version}" + (f", {client.variant}" if client.variant else "")


def section(client, found, differ, environments):
    (package, version), *others = versions(client, environments)
    yield f"## {heading(client, package, version)}\n"
    if others:
        yield "With " + ", ".join(f"{name} {number}" for name, number in others) + ".\n"
    for note in client.notes:
        yield note
    yield ""
    for level, title in (("fail", "fails"), ("inconclusive", "inconclusive"), ("weak", "weak")):
        rows = list(table(found, level))
        if rows:
            yield f"| {title} | check | in | what |\n| --- | --- | --- | --- |"
            yield from rows
            yield ""
    broke = {f"`{scenario}` ({form}): {wrong[0][2]}" for (scenario, form, _), (own, wrong) in found.items() if own == "broke"}
    if broke:
        yield "Broke: " + "; ".join(sorted(broke)) + ".\n"
    if differ:
        yield "The two times differ in: " + ", ".join(sorted({f"`{name[0]}` ({name[1]})" for name in differ})) + ".\n"


def summary(client, found, environments, results):
    package, version = next(iter(versions(client, environments)))
    counts = [sum(status == own for own, _ in found.values()) for status in STATUSES]
    name = heading(client, package, version)
    anchor = re.sub(r"[^\w -]", "", name).lower().replace(" ", "-")
    day = datetime.date.fromtimestamp(os.path.getmtime(os.path.join(results, f"{client.name}.2.json"))).isoformat()
    return f"| [{name}](#{anchor}) | {day} | {len(client.formats)} | " + " | ".join(map(str, counts)) + " |"


def former(page):
    """The rows and sections of a page that was written before, by the package and the variant of the client."""
    if not os.path.exists(page):
        return {}
    with open(page) as file:
        head, *sections = file.read().split("\n## ")
    rows = [line for line in head.splitlines() if line.startswith("| [")]
    found = {}
    for row, section in zip(rows, sections, strict=True):
        name, _, variant = section.splitlines()[0].partition(", ")
        found[name.rsplit(" ", 1)[0], variant] = row, f"## {section.rstrip()}\n"
    return found


INTRODUCTION = """\
# Agent frameworks

What `toolcheck conform` {version} found in current agent frameworks, each on the day that its row names. Each scenario was run twice in each format that the driver speaks, streamed and not, and only verdicts that were the same both times are here. A run that should not be streamed and is counts as `skip`.
`fail` is what a loop must not do, `weak` what it should not; `inconclusive` is what the exchanges do not show; `skip` is what the driver has no way to do. A check is a *must* in an API only if something says so of that API: [its sources](../crates/toolcheck-conform/checks). `toolcheck conform --list` says what each scenario is.
[A grid](conformance-grid.html) has a cell for each framework and scenario, which opens what was found.

Of 386 findings of earlier runs, drawn at random and read by hand beside their exchanges, fifteen had a cause of ours, and so had 31 of 135 rows that were new on this page on 2026-11-29: runs that should not be streamed and were, searches that were not declared, models that take no reasoning, an id that was the same for each response of Bedrock, a time limit that a busy machine did not meet, and the like. All are mended.

Then all clients were run again, twice each, in every scenario that their sections do not leave out. Of the 2,657 findings of these runs, `fail` and `weak`, 100 were drawn by a hash with a fixed seed and read beside their exchanges (langchain 12, langchain-js 12, llama-index 10, ai-sdk-7 8, agno 7, haystack 7, agent-framework 6, pydantic-ai 6, strands-agents 5, ai-sdk 4, llm 4, mastra 3, openai-agents 3, openai-agents-js 3, google-adk 2, anthropic-tool-runner 1, autogen 1, google-genai 1, langchain-summarizing 1, openai-agents-conversation 1, openai-agents-previous 1, openai-run-tools 1, semantic-kernel 1): none had a cause of ours. Of all others, each reason was read once for each client. Eight had one, in three scenarios: an order of calls that the ids of the mock brought about (Haystack), a call that came whole before an error (both versions of the AI SDK with Ollama), and what is told to the models of Anthropic alone (agno). They are mended as well, and what is below was run after that.

"""
REPRODUCE = """
To see one of them, with its exchanges in `recorded/`, which `toolcheck show` prints and `toolcheck lint` checks:

```text
cd conformance/clients
python3 environments.py environments strands-agents
toolcheck conform --client 'environments/strands/bin/python strands_agent.py' --format openai-chat --only broken-arguments --record recorded
```

[`conformance/clients`](../conformance/clients/README.md) has the drivers and all pinned versions. A driver is written as the documentation of the framework shows it; other settings, and what is left out, are listed below.

"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("environments", type=os.path.abspath)
    parser.add_argument("page")
    parser.add_argument("--results", type=os.path.abspath)
    parser.add_argument("--client", action="append")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    results = arguments.results or tempfile.mkdtemp(prefix="conformance-")
    os.makedirs(results, exist_ok=True)
    chosen = [client for client in CLIENTS if not arguments.client or client.name in arguments.client]

    def twice(client):
        return [verdicts(arguments.program, client, arguments.environments, results, turn) for turn in (1, 2)]

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        # Those with the most formats take longest.
        begun = {client.name: pool.submit(twice, client) for client in sorted(chosen, key=lambda own: -len(own.formats))}
        both = [begun[client.name].result() for client in chosen]
    rows, sections, differences = [], [], []
    kept, ran = former(arguments.page), {client.name: pair for client, pair in zip(chosen, both, strict=True)}
    for client in CLIENTS:
        if client.name not in ran:
            row, section_of = kept.get((client.packages[0], client.variant), ("", ""))
            rows += [row] if row else []
            sections += [section_of] if section_of else []
            continue
        first, second = ran[client.name]

        def judged(run):
            return run[0], [(level, check) for level, check, _ in run[1]]

        differ = [name for name in first if judged(first[name]) != judged(second[name])]
        differences += [(client.name, name) for name in differ]
        same = {name: run for name, run in first.items() if name not in differ}
        rows.append(summary(client, same, arguments.environments, results))
        sections.append("\n".join(section(client, same, differ, arguments.environments)))
    with open(arguments.page, "w") as page:
        version = subprocess.run([arguments.program, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
        page.write(INTRODUCTION.format(version=version))
        page.write(f"| client | run on | formats | {' | '.join(STATUSES)} |\n")
        page.write("| --- | --- |" + " --: |" * (1 + len(STATUSES)) + "\n")
        page.write("\n".join(rows) + "\n")
        page.write(REPRODUCE + "\n".join(sections))
    with open(arguments.page) as page, open(arguments.page.removesuffix(".md") + "-grid.html", "w") as target:
        target.write(grid(page.read()))
    for name, (scenario, form, stream) in differences:
        way = "streamed" if stream else "whole"
        print(f"{name}: {scenario} {form} {way}: the two times differ", file=sys.stderr)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())

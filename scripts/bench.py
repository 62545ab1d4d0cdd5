#!/usr/bin/env python3
"""Measures whole runs of programs, and writes `docs/benchmarks.md`.

    bench.py [--recorded LINES]

`LINES` is a file with recorded requests, one per line, which are measured beside generated ones. `scripts/bench` has the
texts of the page, `benchmarks` the JSON parsers that toolcheck is compared with, and the program that measures a run.

Only Python's own library is needed, 3.11 or newer. The tools that toolcheck is compared with are installed from PyPI.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "target" / "bench"
TOOLCHECK = ROOT / "target/dist/toolcheck"
READERS = ROOT / "benchmarks/target/release/toolcheck-benchmarks"
# How often each program is run; the lowest value counts.
ROUNDS = 7
# The size of JSON Lines files in bytes, and that of the largest one.
LINES, LARGEST = 200_000_000, 1_000_000_000
# The calls in the conversation for other tools: 10,000 messages, because one of them takes minutes for more.
CALLS_FOR_PEERS = 4_000

# The programs of `benchmarks`, and their rows. All of them do what the first does, and are compared with the second.
PARSERS = {
    "nothing": "the file, held in memory",
    "serde_json": "`serde_json`, to a `Value`",
    "serde_json-ignored": "`serde_json`, ignoring everything",
    "jiter": "`jiter`, to a `JsonValue`",
    "jiter-skip": "`jiter`, skipping everything",
    "simd-json": "`simd-json`, to a borrowed value",
    "simd-json-tape": "`simd-json`, to a tape",
    "toolcheck-json": "toolcheck's parser, with all spans",
}
# The output formats of toolcheck, and their rows.
LINTS = {
    "concise": "**`toolcheck lint`**, one line per finding",
    "full": "`toolcheck lint`, excerpts for each finding",
}


# ---- measuring


@dataclass
class Taken:
    """Processor time with system time, and wall-clock time, in seconds, and peak resident memory in bytes."""

    cpu: float
    wall: float
    memory: int


def run(command: list[str]) -> Taken:
    """Runs a program from a small one: the memory of this one would count as its own."""
    measured = subprocess.run([str(READERS), "measure", *command], check=True, capture_output=True, text=True)
    cpu, wall, memory = map(int, measured.stdout.split())
    return Taken(cpu / 1e9, wall / 1e9, memory)


def in_turns(commands: list[list[str]], rounds: int = ROUNDS) -> list[Taken]:
    """Runs programs in turns, so that other load affects all of them, and takes the minimum of each: load only adds."""
    every = [[run(command) for command in commands] for _ in range(rounds)]
    least = lambda taken: Taken(min(t.cpu for t in taken), min(t.wall for t in taken), min(t.memory for t in taken))
    return [least(taken) for taken in zip(*every)]


def lint(path: Path, output: str = "concise", threads: int = 1) -> list[str]:
    return [str(TOOLCHECK), "lint", "--output-format", output, "--isolated", "-j", str(threads), str(path)]


# ---- words


def shown(seconds: float) -> str:
    """A duration with about three significant digits."""
    if seconds >= 0.9995:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.0f} ms" if seconds >= 0.01 else f"{seconds * 1e3:.1f} ms"


def size(count: int) -> str:
    """A number of bytes."""
    if count >= 1_000_000_000:
        return f"{count / 1e9:.1f} GB"
    if count >= 10_000_000:
        return f"{count / 1e6:.0f} MB"
    return f"{count / 1e6:.1f} MB" if count >= 1_000_000 else f"{count / 1e3:.1f} kB"


def text(name: str) -> str:
    return (ROOT / "scripts/bench" / f"{name}.md").read_text().strip()


def machine() -> str:
    def field(path: str, name: str) -> str | None:
        lines = Path(path).read_text().splitlines() if Path(path).exists() else []
        return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), None)

    processor = field("/proc/cpuinfo", "model name") or "an unknown processor"
    total = field("/proc/meminfo", "MemTotal")
    memory = f", {size(int(total.split()[0]) * 1024)} of memory" if total else ""
    return f"{processor} ({os.cpu_count()} cores{memory}, {platform.system().lower()} on {platform.machine()})"


# ---- what is read


def messages(start: int, calls: int) -> list[dict]:
    """A conversation with this many calls, two per turn, that no tool reports. Its ids begin with the number `start`, and
    have the length that Mistral's API requires."""
    said: list[dict] = [{"role": "system", "content": "You help the customers of an airline."}]
    for turn in range(calls // 2):
        numbers = [2 * turn, 2 * turn + 1]
        said.append({"role": "user", "content": f"What about my bookings of day {turn}?"})
        functions = [
            {"name": "look_up_reservation", "arguments": f'{{"reservation": "R{n}", "note": "window seat, no meal"}}'}
            for n in numbers
        ]
        tool_calls = [
            {"id": f"c{start + n:08}", "type": "function", "function": function}
            for n, function in zip(numbers, functions)
        ]
        said.append({"role": "assistant", "content": None, "tool_calls": tool_calls})
        for n in numbers:
            content = f"Reservation R{n}: two passengers, economy, paid by card.\nStatus: open."
            said.append({"role": "tool", "tool_call_id": f"c{start + n:08}", "content": content})
        said.append({"role": "assistant", "content": "Both bookings are open and paid. Shall I change them?"})
    return [*said, {"role": "user", "content": "Thank you."}]


def dump(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def request(said: list[dict]) -> str:
    return dump({"messages": said})


def generated() -> bytes:
    """Conversations, one per line."""
    return "".join(f"{request(messages(number * 100, 40))}\n" for number in range(100)).encode()


def repeated(lines: bytes, count: int, name: str = "lines.jsonl") -> Path:
    """Writes the lines until the file has at least this many bytes."""
    path = FOLDER / name
    with path.open("wb") as file:
        for _ in range(-(-count // len(lines))):
            file.write(lines)
    return path


def turns(count: int) -> Iterator[str]:
    yield '{"messages": ['
    for number in range(count // 2):
        comma = "," if number else ""
        yield f'{comma}{{"role": "user", "content": "and {number}?"}},{{"role": "assistant", "content": "One more."}}'
    yield ',{"role": "user", "content": "Thanks."}]}'


def results_of_one_call(count: int) -> Iterator[str]:
    call = {"id": "call_1", "type": "function", "function": {"name": "wait", "arguments": "{}"}}
    yield '{"messages": [{"role": "user", "content": "Wait."},'
    yield dump({"role": "assistant", "content": None, "tool_calls": [call]})
    for number in range(count):
        yield "," + dump({"role": "tool", "tool_call_id": "call_1", "content": f"{number} s"})
    yield "]}"


def one_text(count: int) -> Iterator[str]:
    line = "Neither more nor less than a line of text. " * 24 + "\\n"
    yield '{"messages": [{"role": "user", "content": "'
    yield from (line for _ in range(count // len(line)))
    yield '"}]}'


def repeated_keys(count: int) -> Iterator[str]:
    yield '{"messages": [{"role": "user", "content": "hi"'
    yield from (f', "again": {number}' for number in range(count))
    yield "}]}"


def nested(count: int) -> Iterator[str]:
    yield '{"messages": [{"role": "user", "content": "hi"}], "deep": ' + "[" * count + "]" * count + "}"


def calls(count: int) -> Iterator[str]:
    yield request(messages(0, count))


def calls_without_results(count: int) -> Iterator[str]:
    yield request([message for message in messages(0, 2 * count) if message["role"] != "tool"])


# Inputs with a huge number of one thing, and the smaller number of the two that are tried.
HUGE: list[tuple[str, int, Callable[[int], Iterator[str]]]] = [
    ("calls in one conversation", 10_000, calls),
    ("results of one call", 10_000, results_of_one_call),
    ("messages", 100_000, turns),
    ("nested arrays", 10_000, nested),
    ("bytes in one text", 100_000_000, one_text),
    ("repeated keys", 100_000, repeated_keys),
    ("problems in one line", 1_000, calls_without_results),
]


# ---- the sections of the page


def lines(recorded: bytes | None) -> Iterator[str]:
    """Linting JSON Lines, compared with parsing them."""
    yield f"\n## JSON Lines of {size(LINES)}\n\n{text('lines')}\n"
    for what, rows in [("Recorded", recorded), ("Generated", generated())]:
        if rows is None:
            continue
        path = repeated(rows, LINES)
        commands = [[str(READERS), name, str(path)] for name in PARSERS] + [lint(path, output) for output in LINTS]
        taken = in_turns(commands)
        yield f"\n{what} conversations:\n\n| | processor time | without the file | times as fast as `Value` |\n"
        yield "| --- | ---: | ---: | ---: |\n"
        for number, (row, now) in enumerate(zip([*PARSERS.values(), *LINTS.values()], taken)):
            # Only the parsers hold the file in memory, and the first does nothing else.
            alone = shown(max(0, now.cpu - taken[0].cpu)) if 1 <= number < len(PARSERS) else ""
            yield f"| {row} | {shown(now.cpu)} | {alone} | {taken[1].cpu / now.cpu:.2f} |\n"
        path.unlink()


def threads(recorded: bytes | None) -> Iterator[str]:
    path = repeated(recorded or generated(), LARGEST)
    counts = [count for count in [1, 2, 4, 8, 16] if count <= (os.cpu_count() or 1)]
    taken = in_turns([lint(path, threads=count) for count in counts])
    yield f"\n## Threads\n\n{text('threads')}\n\n"
    yield "| threads | time | times as fast as one | processor time |\n| ---: | ---: | ---: | ---: |\n"
    for count, now in zip(counts, taken):
        yield f"| {count} | {shown(now.wall)} | {taken[0].wall / now.wall:.2f} | {shown(now.cpu)} |\n"


def memory(recorded: bytes | None) -> Iterator[str]:
    """Time and memory by the size of files."""
    yield f"\n## Size\n\n{text('size')}\n\n| JSON Lines | processor time | memory |\n| ---: | ---: | ---: |\n"
    for count in [1_000_000, 10_000_000, 100_000_000, LARGEST]:
        path = repeated(recorded or generated(), count)
        [taken] = in_turns([lint(path)], 3)
        yield f"| {size(path.stat().st_size)} | {shown(taken.cpu)} | {size(taken.memory)} |\n"
        path.unlink()


def small(_: bytes | None) -> Iterator[str]:
    """A run with almost nothing to do."""
    path = FOLDER / "small.json"
    path.write_text(request(messages(0, 4)))
    [taken] = in_turns([lint(path)], 50)
    yield f"\nA file of {size(path.stat().st_size)} takes {shown(taken.cpu)} of processor time, including the start, and "
    yield f"{size(taken.memory)} of memory.\n"


def huge(_: bytes | None) -> Iterator[str]:
    yield f"\n## Extreme inputs\n\n{text('huge')}\n\n"
    yield "| | number | size | processor time | memory | ten times as many take |\n"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |\n"
    path = FOLDER / "huge.json"
    for what, least, write in HUGE:
        fewer = None
        for count in [least, 10 * least]:
            with path.open("w") as file:
                file.writelines(write(count))
            [taken] = in_turns([lint(path)], 3)
            times = f"{taken.cpu / fewer.cpu:.1f} times" if fewer else ""
            bytes_of = size(path.stat().st_size)
            yield f"| {what} | {count:,} | {bytes_of} | {shown(taken.cpu)} | {size(taken.memory)} | {times} |\n"
            fewer = taken
    path.unlink()


def peers(_: bytes | None) -> Iterator[str]:
    """The Python tools that do a part of the same job, with the same file."""
    peers = tomllib.loads((ROOT / "scripts/bench/peers.toml").read_text())["peer"]
    environment = FOLDER / "peers"
    venv.create(environment, with_pip=True)
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    packages = [f"{peer['name']}=={peer['version']}" for peer in peers]
    subprocess.run([str(programs / "python"), "-m", "pip", "install", "--quiet", *packages], check=True)
    said = messages(0, CALLS_FOR_PEERS)
    files = {"list": FOLDER / "list.json", "body": FOLDER / "body.json", "tools": FOLDER / "tools.json"}
    files["list"].write_text(dump(said))
    files["body"].write_text(request(said))
    [own] = in_turns([lint(files["body"])])
    yield f"\n## Compared with Python tools\n\n{text('peers')}\n\n"
    yield f"One conversation of {len(said):,} messages, {size(files['body'].stat().st_size)}:\n\n"
    yield "| | checks | processor time | memory | toolcheck is |\n| --- | --- | ---: | ---: | ---: |\n"
    yield f"| **toolcheck** | all rules | {shown(own.cpu)} | {size(own.memory)} | |\n"
    for peer in peers:
        if "script" in peer:
            loads = "import json, sys\nmessages = json.load(open(sys.argv[1]))\n"
            command = [str(programs / "python"), "-c", loads + peer["script"]]
        else:
            files["tools"].write_text(peer["tools"])
            command = [str(programs / peer["name"])]
            command += [argument.replace("{tools}", str(files["tools"])) for argument in peer["arguments"]]
        [taken] = in_turns([[*command, str(files[peer["takes"]])]], 2)
        yield f"| {peer['name']} {peer['version']} | {peer['looks-for']} | {shown(taken.cpu)} | {size(taken.memory)} | "
        yield f"{taken.cpu / own.cpu:.0f} times as fast |\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recorded", type=Path)
    recorded = parser.parse_args().recorded
    FOLDER.mkdir(parents=True, exist_ok=True)
    for arguments in [
        ["--profile", "dist", "--package", "toolcheck-cli"],
        ["--release", "--manifest-path", "benchmarks/Cargo.toml"],
    ]:
        subprocess.run(["cargo", "build", "--locked", *arguments], cwd=ROOT, check=True)
    compiler = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.split(" (")[0]
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    page = f"{text('head')}\n\nMeasured on {machine()}, with {compiler} and version {version} of toolcheck.\n"
    sys.stdout.write(page)
    for section in [lines, threads, memory, small, huge, peers]:
        for piece in section(recorded.read_bytes() if recorded else None):
            page += piece
            sys.stdout.write(piece)
            sys.stdout.flush()
    (ROOT / "docs/benchmarks.md").write_text(page)


if __name__ == "__main__":
    main()

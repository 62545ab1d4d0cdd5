#!/usr/bin/env python3
"""Lints many rows with the program and with the Python package, which must say the same, to the byte:

    python3 scripts/delivered/rows.py --program target/release/toolcheck --python PYTHON [--rows 1000000] [--record]

PYTHON has `toolcheck_lint`, built for release, and `pyarrow`. The rows have five messages and a tool, and one in a thousand
lacks a result. It prints processor time and memory, and fails if the memory grows with the rows. `--record` writes a line
into docs/releasing.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import tried

TOOL = {"name": "find_ferry", "description": "Finds the next ferry from a pier.", "parameters": {"type": "object", "properties": {"pier": {"type": "string"}, "after": {"type": "string"}}, "required": ["pier"]}}
HOW = ["--isolated", "--kind", "dataset", "--target", "openai-chat", "--output-format", "summary-json", "--key", "id"]
# Run by PYTHON: the rows of a Parquet file in batches, and the peak of memory after a tenth of them and after all.
LINT = """
import json, pathlib, resource, sys
import pyarrow.parquet
from toolcheck_lint import Linter, Summary
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
linter, parts, seen, peaks = Linter(kind="dataset", target="openai-chat"), [], 0, []
for batch in pyarrow.parquet.ParquetFile(sys.argv[1]).iter_batches(10_000):
    parts.append(linter.column(batch["messages"], tools=batch["tools"], key=batch["id"]))
    seen += len(batch)
    if not peaks and seen >= int(sys.argv[2]) // 10:
        peaks.append(peak())
pathlib.Path(sys.argv[3]).write_bytes(Summary.sum(parts).to_bytes())
print(json.dumps([*peaks, peak()]))
"""
PARQUET = """
import sys
import pyarrow.json, pyarrow.parquet
writer = None
for batch in pyarrow.json.open_json(sys.argv[1], read_options=pyarrow.json.ReadOptions(block_size=8 << 20)):
    writer = writer or pyarrow.parquet.ParquetWriter(sys.argv[2], batch.schema)
    writer.write_batch(batch)
writer.close()
"""


def row(number):
    call = {"id": f"call_{number:07}", "type": "function", "function": {"name": "find_ferry", "arguments": json.dumps({"pier": f"pier {number}", "after": "10:30"})}}
    messages = [
        {"role": "system", "content": "You look up ferries for travellers, and say when the next one leaves."},
        {"role": "user", "content": f"When does the ferry leave from pier {number}, after half past ten?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": json.dumps({"leaves": "10:45", "minutes": 25, "from": f"pier {number}"})},
        {"role": "assistant", "content": f"The next ferry leaves from pier {number} at a quarter to eleven."},
    ]
    if number % 1000 == 999:
        del messages[3]
    return {"id": number, "messages": messages, "tools": [{"type": "function", "function": TOOL}]}


def timed(command, **options):
    """What a command prints, its processor time in seconds and its memory in MB."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([str(word) for word in command], stdout=output, **options)
        _, status, used = os.wait4(process.pid, 0)
        output.seek(0)
        return output.read(), os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss // 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="toolcheck-rows-") as folder:
        lines, parquet, summary = Path(folder, "rows.jsonl"), Path(folder, "rows.parquet"), Path(folder, "summary.json")
        with lines.open("w") as file:
            for number in range(options.rows):
                file.write(json.dumps(row(number)) + "\n")
        subprocess.run([options.python, "-c", PARQUET, lines, parquet], check=True)
        said, status, seconds, memory = timed([options.program, "lint", lines, *HOW])
        printed, python_status, python_seconds, python_memory = timed([options.python, "-c", LINT, parquet, options.rows, summary])
        if python_status:
            return python_status
        found = {count["rule"]: count["rows"] for count in json.loads(said)["rules"]}
        wanted = options.rows // 1000
        first, last = json.loads(printed)
        faults = []
        if status != 1 or found.get("unanswered-tool-call") != wanted:
            faults.append(f"the program ended with {status} and found {found}")
        if said.strip() != summary.read_bytes():
            faults.append("the program and the package say something else")
        if memory > 100 or last > first * 1.25 + 10:
            faults.append("the memory grows with the rows")
        ran = (
            f"{options.rows:,} rows, {lines.stat().st_size / 1e6:.0f} MB: the program {seconds:.0f} s of processor time, {memory} MB; "
            f"the package, from Parquet, {python_seconds:.0f} s, {last} MB, of which {first} after a tenth; the same bytes, {wanted:,} rows with a fault"
        )
    print(ran, *faults, sep="\n")
    if options.record:
        tried.record([{"what": "many rows", "from": "builds for release", "ran": ran, "result": "; ".join(faults) or "ok"}], "rows", whole=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

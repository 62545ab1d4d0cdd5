#!/usr/bin/env python3
"""Makes the wheels of a release and tries them in environments of their own, with the libraries that users have:

    python3 scripts/delivered/python.py --program target/debug/toolcheck [--only WORD ...] [--wheels DIR] [--keep] [--require] [--record]

It prints a table, and ends with 1 if something fails. What can't be tried here is named, with the reason; with `--require`,
that fails too. `--wheels DIR` takes the wheels in a folder in place of building them, and `--only` runs the rows that have
this word. `--record` writes the rows into docs/releasing.md. The newest of each library is installed, not what a lock file has: that is the point.

It needs pip with its registry and, to build the wheels, maturin and cargo. Each Python on the PATH from 3.8 on is tried.
Nothing here is imported from the checkout but the tests.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import tried

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "bindings/python/tests"
DATA = ["datasets", "polars", "pandas", "pyarrow", "duckdb", "dask[dataframe]"]
SDKS = ["openai", "anthropic", "google-genai", "mistralai", "cohere", "ollama", "boto3"]
TOOLS = ["pytest", "hypothesis", "mypy", "pydantic", "httpx", "requests"]
# What docs/datasets.md promises: the oldest of each.
OLDEST = ["datasets==3.0.*", "polars==1.20.*", "pandas==2.2.*", "pyarrow==16.*", "duckdb==1.1.*", "numpy<2"]
RULE = "unanswered-tool-call"
UNANSWERED = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 1024,
    "messages": [
        {"role": "user", "content": "When does the ferry leave?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_pier", "name": "find_ferry", "input": {}}]},
        {"role": "user", "content": "Well?"},
    ],
    "tools": [{"name": "find_ferry", "input_schema": {"type": "object"}}],
}
# What a user writes: the fixtures are there without a line of configuration, and the program is that of the wheel.
PROJECT = f"""
import json, urllib.error, urllib.request
import pytest

BODY = {UNANSWERED!r}
CLEAN = {{**BODY, "messages": BODY["messages"][:1]}}

def ask(url, body):
    request = urllib.request.Request(url + "/v1/messages", json.dumps(body).encode(), {{"content-type": "application/json"}})
    try:
        with urllib.request.urlopen(request) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code

def test_bodies(toolcheck):
    toolcheck(CLEAN, target="anthropic").assert_clean()
    toolcheck(BODY).assert_findings("error {RULE} at /messages/1/content/0")

def test_is_refused(provider):
    assert ask(provider.url, BODY) == 400
    provider.expect_refusal("{RULE}")

def test_fails(toolcheck):
    assert toolcheck(BODY) == []
"""


class Unavailable(Exception):
    """A tool that is not here: the row says so, and no other row suffers."""


def environment(**more):
    """Nothing of this machine may stand in for what is in the wheels."""
    hidden = ("TOOLCHECK_BIN", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYTEST_ADDOPTS")
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1", "HF_HUB_OFFLINE": "1"}
    return kept | quiet | more


def run(*command, cwd=None, status=0, minutes=20, **more):
    """Runs a program to its end and returns what it printed."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=cwd, env=environment(**more), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=minutes * 60
    )
    said = done.stdout.decode(errors="replace")
    if done.returncode != status:
        raise RuntimeError(f"`{' '.join(words)[:300]}` ended with {done.returncode}:\n{said[-4000:]}")
    return said


def expects(said, words):
    if not re.search(words, said):
        raise RuntimeError(f"{words} is not in:\n{said[-3000:]}")


def pythons():
    """The Pythons of this machine, each once: its version and its path."""
    names = ["python3", *(f"python3.{minor}" for minor in range(8, 20)), "python3.14t", "python3.13t"]
    found = {}
    for name in names:
        # What a manager of versions has put there is asked, because it may name a version that is not installed.
        path = shutil.which(name)
        about = "import sys, sysconfig; print('%d.%d.%d' % sys.version_info[:3] + ('t' if sysconfig.get_config_var('Py_GIL_DISABLED') else ''), sys.executable)"
        done = path and subprocess.run([path, "-c", about], capture_output=True, text=True)
        if done and done.returncode == 0:
            version, executable = done.stdout.split(maxsplit=1)
            found.setdefault(version, executable.strip())
    for path in sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/3.*/bin/python")):
        found.setdefault(path.parents[1].name, str(path))
    numbers = lambda version: tuple(int(part) for part in re.findall(r"\d+", version))
    return [(version, found[version]) for version in sorted(found, key=numbers) if numbers(version) >= (3, 8)]


class Delivered:
    """The wheels, and the environments that they are installed into."""

    def __init__(self, work: Path, program: Path | None, wheels: Path | None):
        self.work = work
        self.count = 0
        folder = work / "wheels"
        if wheels:
            shutil.copytree(wheels, folder)
        else:
            self.build(folder, program)
        [self.library] = folder.glob("toolcheck_lint-*.whl")
        [self.program] = folder.glob("toolcheck_cli-*.whl")

    def build(self, folder, program):
        """As release.yml does, with the program that is given in the place of one that is built."""
        target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
        if not shutil.which("maturin"):
            raise SystemExit("install maturin, which builds the wheels, or name a folder of wheels with --wheels")
        words = ["maturin", "build", "--quiet", "--locked", "--out", folder]
        # A release has no debug build, and `release.py` refuses one.
        run(*words, "--release", cwd=ROOT / "bindings/python", minutes=40, CARGO_TARGET_DIR=target)
        # Without the profile of releases, which takes many minutes.
        run(*words, "--profile", "dev", cwd=ROOT, minutes=40, CARGO_TARGET_DIR=target)
        [library] = folder.glob("toolcheck_lint-*.whl")
        run(sys.executable, ROOT / "scripts/release.py", "wheel", "--program", program, library)

    def fresh(self, python, *wanted):
        """A new environment with what is wanted."""
        self.count += 1
        root = self.work / f"environment-{self.count}"
        run(python, "-m", "venv", root)
        done = subprocess.run(
            [root / "bin/python", "-m", "pip", "install", "--quiet", "--prefer-binary", *map(str, wanted)],
            env=environment(), capture_output=True, text=True, timeout=1200,
        )
        if done.returncode:
            errors = re.findall(r"^error: (.+)$", done.stderr, re.IGNORECASE | re.MULTILINE)
            raise Unavailable(f"not installed: {errors[-1] if errors else ' '.join(done.stderr[-200:].split())}")
        return root

    def tests(self, root, *chosen):
        """Runs the tests of the package on what is installed, and returns what was run and what was skipped."""
        program = root / "bin/toolcheck"
        words = ["-q", "-p", "no:cacheprovider", "-p", "no:toolcheck_lint", "-rfEs", "--tb=short", "--disable-warnings", "-c", TESTS.parent / "pyproject.toml"]
        said = run(
            root / "bin/python", "-m", "pytest", *words, *(TESTS / name for name in chosen or [""]),
            cwd=self.work, minutes=60, PATH=f"{root / 'bin'}:{os.environ['PATH']}", TOOLCHECK_BIN=str(program),
        )
        return re.findall(r"(\d+ passed[^\n]*?) in ", said)[-1], re.findall(r"^SKIPPED \[\d+\] (?:\S+: )?(.*)$", said, re.MULTILINE)


def versions(root, wanted):
    """What was installed of each library that was wanted."""
    names = [re.split(r"[\[<>=]", str(name))[0] for name in wanted]
    code = "import json, sys; from importlib.metadata import version; print(json.dumps([version(name) for name in sys.argv[1:]]))"
    return ", ".join(f"{name} {version}" for name, version in zip(names, json.loads(run(root / "bin/python", "-c", code, *names))))


def because(skipped):
    """Why tests were skipped, but for what other rows install."""
    others = {reason for reason in skipped if not re.search(r"pyspark|ray|openai|anthropic|google|boto|cohere|mistral|ollama", reason)}
    return "".join(f"; {reason}" for reason in sorted(others))


# ---- the rows: each returns what was installed, and what ran


def package(delivered, python):
    root = delivered.fresh(python, delivered.library, *DATA, *TOOLS)
    ran, skipped = delivered.tests(root)
    return versions(root, DATA), f"the tests of the package: {ran}{because(skipped)}"


def oldest(delivered, python):
    root = delivered.fresh(python, delivered.library, *OLDEST, *TOOLS)
    ran, skipped = delivered.tests(root, "test_arrow.py", "test_storage.py", "test_clean.py", "test_engines.py")
    return versions(root, OLDEST), f"the tests of data sets: {ran}{because(skipped)}"


def engines(delivered, python):
    if not shutil.which("java"):
        raise Unavailable("no java, for Spark")
    wanted = ["pyspark", "ray[data]", "dask[dataframe]"]
    root = delivered.fresh(python, delivered.library, "pyarrow", "pandas", *wanted, *TOOLS)
    ran, skipped = delivered.tests(root, "test_engines.py", "test_clean.py::test_dask")
    if any("datasets" not in reason for reason in skipped):
        raise RuntimeError(f"skipped: {skipped}")
    return versions(root, wanted), f"the tests of Spark, Ray and Dask: {ran}"


def sdks(delivered, python):
    root = delivered.fresh(python, delivered.library, *SDKS, "numpy", *TOOLS)
    ran, skipped = delivered.tests(root, "test_sdks.py", "test_objects.py", "test_plugin.py", "test_provider.py")
    if skipped:
        raise RuntimeError(f"skipped: {skipped}")
    return versions(root, SDKS), f"each finds the mock; objects of SDKs; the plugin: {ran}"


def project(delivered, python):
    root = delivered.fresh(python, delivered.library, "pytest")
    folder = root / "project"
    folder.mkdir()
    (folder / "test_agent.py").write_text(PROJECT)
    (folder / "bad.json").write_text(json.dumps(UNANSWERED))
    # A PATH without any other toolcheck.
    path = {"PATH": f"{root / 'bin'}:/usr/bin:/bin"}
    said = run(root / "bin/python", "-m", "pytest", "-q", cwd=folder, status=1, **path)
    expects(said, "1 failed, 2 passed")
    expects(said, f"error {RULE} at /messages/1/content/0")
    expects(run(root / "bin/python", "-m", "toolcheck_lint", "lint", "bad.json", cwd=folder, status=1, **path), RULE)
    expects(run(root / "bin/toolcheck", "lint", "bad.json", cwd=folder, status=1, **path), RULE)
    files = list(root.glob("lib/python*/site-packages/toolcheck_lint-*.dist-info/licenses/**/THIRD-PARTY-NOTICES.txt"))
    if len(files) != 2:
        raise RuntimeError(f"the notices that are installed: {files}")
    run(root / "bin/python", "-c", "from toolcheck_lint import *; import toolcheck_lint; print(toolcheck_lint.__version__)")
    return versions(root, ["pytest"]), "a test with `toolcheck`, with `provider`, and one that fails; `python -m toolcheck_lint`; `toolcheck`; the notices"


def program(delivered, python):
    root = delivered.fresh(python, delivered.program)
    (root / "bad.json").write_text(json.dumps(UNANSWERED))
    expects(run(root / "bin/toolcheck", "lint", "bad.json", cwd=root, status=1), RULE)
    return "", "toolcheck lint, its status"


def uv(delivered, python):
    root = delivered.fresh(python, "uv", "pipx")
    (root / "bad.json").write_text(json.dumps(UNANSWERED))
    homes = {"UV_TOOL_DIR": str(root / "uv"), "UV_TOOL_BIN_DIR": str(root / "uv-bin"), "UV_CACHE_DIR": str(root / "cache"), "UV_PYTHON_DOWNLOADS": "never"}
    homes |= {"PIPX_HOME": str(root / "pipx"), "PIPX_BIN_DIR": str(root / "pipx-bin"), "PIPX_DEFAULT_PYTHON": python}
    run(root / "bin/uv", "tool", "install", "--offline", "--python", python, delivered.program, **homes)
    run(root / "bin/pipx", "install", delivered.program, **homes)
    for folder in ("uv-bin", "pipx-bin"):
        expects(run(root / folder / "toolcheck", "lint", "bad.json", cwd=root, status=1), RULE)
    expects(run(root / "bin/uv", "tool", "run", "--offline", "--python", python, "--from", delivered.program, "toolcheck", "lint", "bad.json", cwd=root, status=1, **homes), RULE)
    return versions(root, ["uv", "pipx"]), "uv tool install, uvx, pipx install; toolcheck lint with each"


def rows():
    """For each row: its name, the version of Python, which Python that is and what does it."""
    found = pythons()
    numbers = lambda version: tuple(int(part) for part in re.findall(r"\d+", version))[:2]
    modern = [one for one in found if numbers(one[0]) >= (3, 11)]
    # What is not here is named.
    modern += [(f"3.{minor}", None) for minor in (11, 12, 13, 14) if (3, minor) not in [numbers(version) for version, _ in found]]
    for version, python in [*found, *(one for one in modern if not one[1])]:
        yield "toolcheck-cli", version, python, program
    for version, python in modern:
        yield "toolcheck-lint", version, python, package
    for version, python in modern:
        yield "a project with pytest", version, python, project
    here = [one for one in modern if one[1]]
    if here:
        newest, first = here[-1], here[0]
        yield "the oldest data libraries", *first, oldest
        yield "SDKs", *newest, sdks
        yield "Spark, Ray, Dask", *first, engines
        yield "uv, pipx", *newest, uv


def main():
    parser = argparse.ArgumentParser(description=textwrap.dedent(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path)
    parser.add_argument("--wheels", type=Path)
    parser.add_argument("--only", action="append", metavar="WORD")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--require", action="store_true")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    if not options.program and not options.wheels:
        parser.error("--program or --wheels is needed")
    work = Path(tempfile.mkdtemp(prefix="toolcheck-delivered-"))
    lines = []
    try:
        delivered = Delivered(work, options.program and options.program.resolve(), options.wheels)
        for what, version, python, use in rows():
            name = f"{what}, Python {version}"
            if options.only and not any(word.lower() in name.lower() for word in options.only):
                continue
            start, installed, ran, result = time.monotonic(), "", "", "passed"
            try:
                if python is None:
                    raise Unavailable("not on this machine")
                installed, ran = use(delivered, python)
            except Unavailable as reason:
                result = f"not tried: {reason}"
            except Exception as error:  # noqa: BLE001
                result = "FAILED"
                print(f"{name}: {error}\n", file=sys.stderr)
            lines.append((what, f"Python {version}", installed, ran, result))
            print(f"{name}: {result} ({time.monotonic() - start:.0f} s)", file=sys.stderr, flush=True)
            if not options.keep:
                for root in work.glob("environment-*"):
                    shutil.rmtree(root, ignore_errors=True)
    finally:
        if options.keep:
            print(work)
        else:
            shutil.rmtree(work, ignore_errors=True)
    print("\n| what | version | with | what ran, from the wheels | result |\n| --- | --- | --- | --- | --- |")
    for cells in lines:
        print(f"| {' | '.join(cells)} |")
    if options.record:
        words = lambda installed, ran: f"{ran}; with {installed}" if installed else ran
        taken = [
            {"what": what, "asked": re.findall(r"3\.\d+", version)[0], "version": version, "from": "the wheel", "ran": words(installed, ran), "result": re.sub("^passed", "ok", result)}
            for what, version, installed, ran, result in lines
        ]
        tried.record(taken, "python", whole=not options.only)
    bad = [one for one in lines if one[4] == "FAILED" or (options.require and one[4] != "passed")]
    return 1 if bad or not lines else 0


if __name__ == "__main__":
    sys.exit(main())

"""The hooks and the action, each run on a small repository as its users have it."""

from __future__ import annotations

import base64
import hashlib
import os
import platform
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import release
from rehearse.tools import CLEAN, RULE, Skip, commit, program_named, repository, run, yaml

if TYPE_CHECKING:
    from rehearse import Rehearsal


def hook_runs(command: list, folder: Path, env: dict[str, str]) -> None:
    """The hook names the file with the mistake and no other, and has nothing to say when that is fixed."""
    result = subprocess.run([*map(str, command)], cwd=folder, env=env, capture_output=True, text=True)
    printed = result.stdout + result.stderr
    if result.returncode != 1 or "broken.jsonl:2:" not in printed or RULE not in printed or "package.json:" in printed:
        raise release.Fault(f"the hook ended with {result.returncode}:\n{printed}")
    (folder / "broken.jsonl").write_text(f"{CLEAN}\n", encoding="utf-8")
    commit(folder)
    run(command, cwd=folder, env=env)


def wheel(program: Path, version: str, into: Path) -> None:
    """A wheel with the program, as maturin makes it, for this machine only."""
    name = f"toolcheck_cli-{version}"
    info = f"{name}.dist-info"
    files = {
        f"{name}.data/scripts/toolcheck": program.read_bytes(),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: toolcheck-cli\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: rehearsal\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    with zipfile.ZipFile(into / f"{name}-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as writer:
        for path, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(data)}\n"
            item = zipfile.ZipInfo(path)
            item.compress_type, item.external_attr = zipfile.ZIP_DEFLATED, (stat.S_IFREG | 0o755) << 16
            writer.writestr(item, data)
        writer.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")


def run_mirror(rehearsal: Rehearsal) -> str:
    """The mirror installs the program's wheel, and nothing from a registry: a stranger may have taken the name there."""
    pre_commit = program_named("pre-commit")
    links = rehearsal.folder("links")
    try:
        run([sys.executable, "-m", "pip", "download", "--quiet", "--dest", links, "setuptools"])
    except release.Fault as error:
        raise Skip("setuptools can't be downloaded") from error
    wheel(rehearsal.program, rehearsal.version, links)
    mirror = rehearsal.work / "mirror"
    shutil.copytree(rehearsal.channels / "pre-commit", mirror)
    commit(mirror, f"v{rehearsal.version}")
    folder = rehearsal.folder("of-mirror")
    config = f"repos:\n  - repo: {mirror}\n    rev: v{rehearsal.version}\n    hooks:\n      - id: toolcheck\n"
    config += '        args: [--output-format=concise, "--"]\n'
    (folder / ".pre-commit-config.yaml").write_text(config, encoding="utf-8")
    repository(folder)
    env = {**os.environ, "PRE_COMMIT_HOME": str(rehearsal.work / "pre-commit"), "PIP_NO_INDEX": "1"}
    env |= {"PIP_FIND_LINKS": str(links), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    hook_runs([pre_commit, "run", "--all-files"], folder, env)
    return "pre-commit installed a wheel of this program, and ran it"


def run_system_hook(rehearsal: Rehearsal) -> str:
    pre_commit = program_named("pre-commit")
    # The manifest alone: a clone of this repository takes long, and nothing else of it is read.
    hooks = rehearsal.folder("hooks")
    shutil.copy(rehearsal.root / ".pre-commit-hooks.yaml", hooks)
    commit(hooks)
    folder = repository(rehearsal.work / "of-hooks")
    env = {**os.environ, "PRE_COMMIT_HOME": str(rehearsal.work / "pre-commit-system")}
    env["PATH"] = f"{next((rehearsal.work / 'archive').iterdir())}{os.pathsep}{env['PATH']}"
    hook_runs([pre_commit, "try-repo", hooks, "toolcheck-system", "--all-files"], folder, env)
    return "pre-commit try-repo"


# In place of GitHub's program: downloads are copied from the rehearsed release, and a signature holds for the tag.
GH = """#!/bin/sh
case "$1 $2" in
  "release download")
    while [ $# -gt 0 ]; do
      case $1 in
        --pattern) pattern=$2; shift ;;
        --dir) folder=$2; shift ;;
      esac
      shift
    done
    mkdir -p "$folder" && cp "$RELEASED/$pattern" "$folder"
    ;;
  "attestation verify") case "$*" in *"--source-ref=refs/tags/$TAG"*) ;; *) exit 1 ;; esac ;;
  *) exit 1 ;;
esac
"""


def run_action(rehearsal: Rehearsal) -> str:
    """The steps of the action: the released program is taken, and installed ones are found."""
    action = yaml(rehearsal.root / "action.yml")
    steps = {step["id"]: step for step in action["runs"]["steps"] if "id" in step}
    tools = rehearsal.folder("gh")
    (tools / "gh").write_text(GH, encoding="utf-8")
    (tools / "gh").chmod(0o755)
    folder = repository(rehearsal.work / "of-action")
    runner = rehearsal.folder("runner")
    machine = {"Linux": "Linux", "Darwin": "macOS"}[platform.system()]
    env = {
        **os.environ,
        "RUNNER_TEMP": str(runner),
        "RUNNER_OS": machine,
        "RUNNER_ARCH": "ARM64" if "aarch64" in rehearsal.target else "X64",
        "GITHUB_ACTION_PATH": str(rehearsal.root),
        "GITHUB_OUTPUT": str(runner / "output"),
        "GITHUB_STEP_SUMMARY": str(runner / "summary"),
        "RELEASED": str(rehearsal.dist),
        "TAG": f"v{rehearsal.version}",
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
    }
    known = {"github.action_ref": f"v{rehearsal.version}", "github.token": ""}
    known |= {f"inputs.{name}": str(value["default"]) for name, value in action["inputs"].items()}

    def step(name: str, status: int = 0, **changed: str) -> dict[str, str]:
        (runner / "output").write_text("", encoding="utf-8")
        own = {name: expression(str(value), {**known, **changed}) for name, value in steps[name].get("env", {}).items()}
        run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps[name]["run"]], status=status,
            cwd=folder, env={**env, **own})
        lines = (runner / "output").read_text(encoding="utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)

    program = step("download")["program"]
    if not Path(program).is_relative_to(runner):
        raise release.Fault(f"the action takes {program}")
    # Of another commit there is no program, so it would be built.
    if "program" in step("download", **{"github.action_ref": "main"}):
        raise release.Fault("the action takes a program that is not of its commit")
    env["PATH"] = f"{Path(program).parent}{os.pathsep}{env['PATH']}"
    installed = step("install", **{"inputs.version": "installed"})
    for taken in [program, installed["program"]]:
        known["steps.download.outputs.program || steps.install.outputs.program"] = taken
        outputs = step("lint", status=1)
        if outputs["findings"] != "1" or outputs["exit-status"] != "1" or not Path(outputs["sarif-file"]).is_file():
            raise release.Fault(f"the action says {outputs}")
        if RULE not in (runner / "summary").read_text(encoding="utf-8"):
            raise release.Fault("the action's summary does not name the finding")
    return "its steps: a released program, unpacked; one on the PATH; a lint with each"


def expression(text: str, known: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: known[match[1]], text)

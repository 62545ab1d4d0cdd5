"""The image: built by docker if it runs here, or else laid out as the Dockerfile says and run in a chroot."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import release
from rehearse.tools import BROKEN, RULE, Skip, run

NAME = "toolcheck-rehearsal"


def libraries(program: Path) -> list[Path]:
    """What a program that is not static needs. A released one needs nothing; one that was built to be tested may."""
    result = subprocess.run(["ldd", str(program)], capture_output=True, text=True)
    if result.returncode != 0:
        return []
    return [Path(found) for found in re.findall(r"(/\S+) \(0x", result.stdout)]


def run_image(dockerfile: Path, context: Path, machine: str, version: str) -> str:
    needed = libraries(context / machine / release.PROGRAM)
    beside = f", with {len(needed)} libraries beside it, because it is not static" if needed else ""
    if shutil.which("docker") and subprocess.run(["docker", "info"], capture_output=True).returncode == 0:
        in_docker(dockerfile, context, machine, version, needed)
        return f"docker build and run{beside}"
    if os.geteuid() != 0:
        raise Skip("docker does not run, and only root may chroot")
    in_chroot(dockerfile, context, machine, version, needed)
    return f"laid out by the Dockerfile and run in a chroot (docker does not run){beside}"


def in_docker(dockerfile: Path, context: Path, machine: str, version: str, needed: list[Path]) -> None:
    build = ["docker", "build", "--quiet", "--build-arg", f"TARGETPLATFORM={machine}", "--tag", NAME]
    run([*build, "--file", dockerfile, context])
    try:
        work = context.parent / "image-work"
        write_broken(work)
        mounts = [f"--volume={path}:{path}:ro" for path in needed] + [f"--volume={work}:/work:ro"]
        check(["docker", "run", "--rm", *mounts, NAME], version)
    finally:
        run(["docker", "image", "rm", "--force", NAME])


def in_chroot(dockerfile: Path, context: Path, machine: str, version: str, needed: list[Path]) -> None:
    root = context.parent / "image-root"
    root.mkdir()
    known, user, work, entry = {}, 0, "/", []
    for line in dockerfile.read_text(encoding="utf-8").splitlines():
        word, _, rest = line.partition(" ")
        rest = re.sub(r"\$\{(\w+)\}", lambda match: known[match[1]], rest)
        match word:
            case "#" | "":
                pass
            case "FROM" if rest == "scratch":
                pass
            case "ARG":
                known[rest.split("=")[0]] = machine
            case "COPY":
                *sources, target = rest.split()
                for source in sources:
                    path = root / target.lstrip("/")
                    path = path / Path(source).name if target.endswith("/") else path
                    path.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(context / source, path)
            case "USER":
                user = int(rest.split(":")[0])
            case "WORKDIR":
                work = rest
                (root / rest.lstrip("/")).mkdir()
            case "ENTRYPOINT":
                entry = re.findall(r'"(.*?)"', rest)
            case _:
                raise release.Fault(f"{dockerfile.name}: what `{line}` does is not known here")
    for library in needed:
        path = root / str(library).lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, path)
    write_broken(root / work.lstrip("/"))
    # A temporary directory is closed to others, and the program runs as another user.
    for folder in [root, context.parent]:
        folder.chmod(0o755)

    def enter() -> None:
        os.chroot(root)
        os.chdir(work)
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)

    check(entry, version, preexec_fn=enter, env={})


def write_broken(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "broken.json").write_text(BROKEN, encoding="utf-8")


def check(command: list[str], version: str, **options: object) -> None:
    said = run([*command, "--version"], **options).strip()
    if said != f"{release.PROGRAM} {version}":
        raise release.Fault(f"the image says {said!r}")
    printed = run([*command, "lint", "--output-format", "concise", "broken.json"], status=1, **options)
    if RULE not in printed:
        raise release.Fault(f"the image prints {printed}")

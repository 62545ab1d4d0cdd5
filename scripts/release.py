#!/usr/bin/env python3
"""Checks and packs a release.

    release.py check [--tag TAG]            every version is the same, and the changelog has it
    release.py set VERSION                  writes a version into every file that has it
    release.py notes VERSION                prints the section of the changelog
    release.py archive --target T --program PATH --output DIR
                                            packs the program with its pages, completions and licences
    release.py manifests DIR --output CHANNELS
                                            writes the installers and the manifests of package managers for the archives
    release.py wheel --program PATH WHEEL   puts the program into the wheel of the Python package
    release.py checksums DIR                writes SHA256SUMS over the files in a folder
    release.py verify DIR                   compares a folder with its SHA256SUMS
    release.py rehearse --program PATH      does all that with a program that is there, and installs it from each channel

Only Python's own library is needed, 3.11 or newer; `rehearse` says what it skips without something else.
`docs/releasing.md` says when each is run.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The package, because `cargo binstall` looks for an archive that is named like it.
PACKAGE = "toolcheck-cli"
PROGRAM = "toolcheck"
VERSION = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z]+(?:\.[0-9A-Za-z]+)*)?")
COMPLETIONS = {
    "bash": f"{PROGRAM}.bash",
    "elvish": f"{PROGRAM}.elv",
    "fish": f"{PROGRAM}.fish",
    "nushell": f"{PROGRAM}.nu",
    "powershell": f"_{PROGRAM}.ps1",
    "zsh": f"_{PROGRAM}",
}
DOCUMENTS = [
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "crates/toolcheck-cli/README.md",
    "crates/toolcheck-cli/THIRD-PARTY-NOTICES.txt",
]


class Fault(Exception):
    """Something that keeps a release from being made."""


# ---- versions


def toml(path: Path) -> dict:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise Fault(f"{path}: {error}") from error


def ours(name: str) -> bool:
    """Whether a package is one that this repository releases."""
    return name.startswith("toolcheck") or name.endswith("toolcheck") or name == "xtask"


def versions(root: Path) -> list[tuple[str, str]]:
    """Each place that has the version, with what it says: `(place, version)`."""
    found: list[tuple[str, str]] = []
    workspace = toml(root / "Cargo.toml")["workspace"]
    found.append(("Cargo.toml [workspace.package]", workspace["package"]["version"]))
    for name, wanted in workspace.get("dependencies", {}).items():
        if ours(name) and isinstance(wanted, dict):
            found.append((f"Cargo.toml {name}", wanted.get("version", "none")))
    for path in manifests(root, "Cargo.lock"):
        for package in toml(path).get("package", []):
            # What has a source is somebody else's; fuzz targets and benchmarks have no version of their own.
            if ours(package["name"]) and "source" not in package and package["version"] != "0.0.0":
                found.append((f"{path.relative_to(root)} {package['name']}", package["version"]))
    for path in manifests(root, "pyproject.toml"):
        project = toml(path).get("project", {})
        if ours(project.get("name", "")) and "version" not in project.get("dynamic", []):
            found.append((str(path.relative_to(root)), project.get("version", "none")))
    for path in manifests(root, "Cargo.toml"):
        package = toml(path).get("package", {})
        version = package.get("version")
        if ours(package.get("name", "")) and isinstance(version, str) and version != "0.0.0":
            found.append((str(path.relative_to(root)), version))
    for name in ["package.json", "package-lock.json"]:
        for path in manifests(root, name):
            value = json.loads(path.read_text(encoding="utf-8"))
            if not ours(value.get("name", "")):
                continue
            found.append((str(path.relative_to(root)), value.get("version", "none")))
            own = value.get("packages", {}).get("")
            if own is not None:
                found.append((f"{path.relative_to(root)} packages", own.get("version", "none")))
    return found


def manifests(root: Path, name: str) -> list[Path]:
    """The files of a name that are part of the repository, and not of something installed or built."""
    skipped = {"target", "node_modules", ".git", "fuzz", "benchmarks", "fixtures", "examples", "conformance", "templates"}
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(below for below in folders if below not in skipped and not below.startswith("."))
        if name in files:
            found.append(Path(folder) / name)
    return found


def check(root: Path, tag: str | None) -> str:
    """The version, if it is the same everywhere, that of the tag, and in the changelog."""
    places = versions(root)
    version = places[0][1]
    if not VERSION.fullmatch(version):
        raise Fault(f"{places[0][0]}: {version!r} is not a version")
    other = [f"  {place}: {found}" for place, found in places if found != version]
    if other:
        raise Fault("\n".join([f"{places[0][0]} says {version}, but", *other]))
    if tag is not None:
        if tag != f"v{version}":
            raise Fault(f"the tag {tag} is not v{version}")
        notes(root, version)
    return version


def set_version(root: Path, version: str) -> list[Path]:
    """Writes the version into every file that has one, and says which have changed."""
    if not VERSION.fullmatch(version):
        raise Fault(f"{version!r} is not a version")
    old = versions(root)[0][1]
    names = ["Cargo.toml", "Cargo.lock", "pyproject.toml", "package.json", "package-lock.json"]
    places = {place.split(" ")[0] for place, found in versions(root) if found == old}
    changed = []
    for path in [path for name in names for path in manifests(root, name)]:
        if str(path.relative_to(root)) not in places:
            continue
        text = path.read_text(encoding="utf-8")
        new = with_version(path.name, text, old, version)
        if new != text:
            path.write_text(new, encoding="utf-8")
            changed.append(path)
    check(root, None)
    return changed


def with_version(name: str, text: str, old: str, new: str) -> str:
    """The text of a manifest with another version of our packages, and every other byte as it was."""
    quoted = re.escape(old)
    if name == "Cargo.lock":
        # Those of the packages without a source.
        own = rf'(\[\[package\]\]\nname = "[^"]*toolcheck[^"]*"\nversion = "){quoted}("\n(?!source))'
        text = re.sub(own, rf"\g<1>{new}\g<2>", text)
        return re.sub(rf'(\[\[package\]\]\nname = "xtask"\nversion = "){quoted}(")', rf"\g<1>{new}\g<2>", text)
    if name.endswith(".json"):
        # The first two are those of the package itself: in a lock file, its own and that of `packages[""]`.
        return re.sub(rf'("version": "){quoted}(")', rf"\g<1>{new}\g<2>", text, count=2 if "lock" in name else 1)
    text = re.sub(rf'(?m)^(version = "){quoted}(")', rf"\g<1>{new}\g<2>", text, count=1)
    ours_below = rf'(?m)^(toolcheck[\w-]* = \{{[^}}\n]*version = "){quoted}(")'
    return re.sub(ours_below, rf"\g<1>{new}\g<2>", text)


def notes(root: Path, version: str) -> str:
    """The section of the changelog about a version, without its title."""
    page = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.split(r"(?m)^## ", page)
    for section in sections[1:]:
        title, _, text = section.partition("\n")
        if re.fullmatch(rf"\[?{re.escape(version)}\]?(?: .*)?", title.strip()):
            if not text.strip():
                raise Fault(f"CHANGELOG.md: the section {title.strip()!r} is empty")
            return text.strip() + "\n"
    raise Fault(f"CHANGELOG.md has no section `## {version}`")


# ---- archives


def archive_name(target: str, version: str) -> str:
    return f"{PACKAGE}-{target}-v{version}"


def run(program: list[str], *arguments: str) -> bytes:
    result = subprocess.run([*program, *arguments], capture_output=True)
    if result.returncode != 0:
        command = " ".join([*program, *arguments])
        raise Fault(f"`{command}` ended with {result.returncode}: {result.stderr.decode(errors='replace')}")
    return result.stdout


def named(program: Path) -> str:
    """What the program is called where it is installed, whatever its file is called here."""
    return PROGRAM + (".exe" if program.suffix == ".exe" else "")


def contents(root: Path, program: Path, runner: list[str], version: str) -> list[tuple[str, bytes, int]]:
    """What is in an archive: names, bytes and modes. The program says its own completions and manual pages."""
    command = [*runner, str(program)]
    said = run(command, "--version").decode().strip()
    if said != f"{PROGRAM} {version}":
        raise Fault(f"{program} says that it is {said!r}, and not {PROGRAM} {version}")
    entries = [(named(program), program.read_bytes(), 0o755)]
    for document in DOCUMENTS:
        path = root / document
        if not path.is_file():
            raise Fault(f"{document} is missing")
        entries.append((path.name, path.read_bytes(), 0o644))
    for shell, name in COMPLETIONS.items():
        entries.append((f"completions/{name}", run(command, "completions", shell), 0o644))
    with tempfile.TemporaryDirectory() as folder:
        run(command, "man", folder)
        pages = sorted(Path(folder).iterdir())
        if not pages:
            raise Fault("there are no manual pages")
        entries.extend((f"man/{page.name}", page.read_bytes(), 0o644) for page in pages)
    return sorted(entries)


def archive(root: Path, target: str, program: Path, output: Path, runner: list[str], time: int) -> Path:
    """Packs the program. The same files and time give the same bytes."""
    if not program.is_file():
        raise Fault(f"{program} is no file")
    version = check(root, None)
    name = archive_name(target, version)
    entries = contents(root, program, runner, version)
    output.mkdir(parents=True, exist_ok=True)
    if "windows" in target:
        path = output / f"{name}.zip"
        data = zipped(name, entries)
    else:
        path = output / f"{name}.tar.gz"
        data = tarred(name, entries, time)
    path.write_bytes(data)
    return path


def tarred(folder: str, entries: list[tuple[str, bytes, int]], time: int) -> bytes:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as writer:
        for name, data, mode in entries:
            info = tarfile.TarInfo(f"{folder}/{name}")
            info.size, info.mode, info.mtime = len(data), mode, time
            writer.addfile(info, io.BytesIO(data))
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=time) as writer:
        writer.write(plain.getvalue())
    return packed.getvalue()


def zipped(folder: str, entries: list[tuple[str, bytes, int]]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as writer:
        for name, data, mode in entries:
            writer.writestr(zip_entry(f"{folder}/{name}", mode), data)
    return packed.getvalue()


def zip_entry(name: str, mode: int) -> zipfile.ZipInfo:
    # Times in a zip file have no time zone, so all files have the oldest one.
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED
    # Installers look at the kind of a file too, which is the upper half of its mode.
    info.create_system, info.external_attr = 3, (0o100000 | mode) << 16
    return info


# ---- the wheel of the Python package


DEBUG_BUILD = b"toolcheck-lint build: debug"
"""What the native module of a debug build says, see `bindings/python/src/lib.rs`."""


def join(root: Path, wheel: Path, program: Path) -> None:
    """Puts the program and the notices of its libraries into a wheel, whose installers put it on the PATH."""
    with zipfile.ZipFile(wheel) as old:
        names = old.namelist()
        modules = [name for name in names if name.endswith((".so", ".pyd"))]
        if any(DEBUG_BUILD in old.read(name) for name in modules):
            raise Fault(f"{wheel} has a debug build, which is about twenty times slower: build it with --release")
        [record] = [name for name in names if name.endswith(".dist-info/RECORD")]
        folder = record.removesuffix("/RECORD")
        notices = root / "crates/toolcheck-cli/THIRD-PARTY-NOTICES.txt"
        added = [
            (f"{folder.removesuffix('.dist-info')}.data/scripts/{named(program)}", program.read_bytes(), 0o755),
            (f"{folder}/licenses/{PACKAGE}/{notices.name}", notices.read_bytes(), 0o644),
        ]
        if added[0][0] in names:
            raise Fault(f"{wheel} has the program already")
        lines = old.read(record).decode()
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
            for entry in old.infolist():
                if entry.filename != record:
                    new.writestr(entry, old.read(entry))
            for name, data, mode in added:
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
                lines += f"{name},sha256={digest},{len(data)}\n"
                new.writestr(zip_entry(name, mode), data)
            # Of all files, it is the last.
            new.writestr(zip_entry(record, 0o644), lines)
    wheel.write_bytes(packed.getvalue())


# ---- checksums


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def released(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file() and path.name != "SHA256SUMS")


def checksums(folder: Path) -> Path:
    files = released(folder)
    if not files:
        raise Fault(f"{folder} has no files")
    path = folder / "SHA256SUMS"
    lines = [f"{digest(file)}  {file.name}\n" for file in files]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    return path


def verify(folder: Path) -> int:
    """Compares every file with its checksum, in both directions, and returns their number."""
    listed: dict[str, str] = {}
    for number, line in enumerate((folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines(), 1):
        parts = re.fullmatch(r"([0-9a-f]{64})  ([^/\\]+)", line)
        if parts is None:
            raise Fault(f"SHA256SUMS:{number}: not a checksum and a name: {line}")
        listed[parts[2]] = parts[1]
    there = {path.name for path in released(folder)}
    for name in sorted(there ^ listed.keys()):
        raise Fault(f"{name}: {'not in SHA256SUMS' if name in there else 'missing'}")
    for name, expected in listed.items():
        if digest(folder / name) != expected:
            raise Fault(f"{name}: the checksum differs")
    return len(listed)


# ---- the command line


def commit_time(root: Path) -> int:
    """When the commit was made, so that whoever builds it again gets the same archive."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        given = run(["git", "-C", str(root)], "log", "-1", "--format=%ct").decode().strip()
    if not given.isdigit():
        raise Fault(f"SOURCE_DATE_EPOCH: {given!r} is not a number of seconds")
    return int(given)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Checks and packs a release.")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("check", help="every version is the same, and the changelog has it")
    command.add_argument("--tag", help="the tag that is released, such as v1.2.3")
    command = commands.add_parser("set", help="write a version into every file that has it")
    command.add_argument("version")
    command = commands.add_parser("notes", help="print the section of the changelog")
    command.add_argument("version")
    command = commands.add_parser("archive", help="pack the program with its pages, completions and licences")
    command.add_argument("--target", required=True, help="what it was built for, such as x86_64-unknown-linux-musl")
    command.add_argument("--program", required=True, type=Path)
    command.add_argument("--output", required=True, type=Path, help="the folder for the archive")
    command.add_argument("--runner", default="", help="a command that runs programs of another machine")
    command = commands.add_parser("manifests", help="write the installers and the manifests of package managers")
    command.add_argument("folder", type=Path, help="the folder with the archives")
    command.add_argument("--output", required=True, type=Path, help="the folder for manifests of other repositories")
    command = commands.add_parser("rehearse", help="install a program from each channel, on this machine")
    command.add_argument("--program", required=True, type=Path)
    command.add_argument("--require", action="store_true", help="fail if something had to be skipped")
    command.add_argument("--record", action="store_true", help="write the rows into docs/releasing.md")
    command = commands.add_parser("wheel", help="put the program into the wheel of the Python package")
    command.add_argument("--program", required=True, type=Path)
    command.add_argument("wheel", type=Path)
    for name in ["checksums", "verify"]:
        commands.add_parser(name).add_argument("folder", type=Path)
    options = parser.parse_args(arguments)
    # They use what is above.
    import channels
    import rehearse

    try:
        match options.command:
            case "check":
                print(check(options.root, options.tag))
            case "set":
                for path in set_version(options.root, options.version):
                    print(path.relative_to(options.root))
            case "notes":
                print(notes(options.root, options.version), end="")
            case "archive":
                runner = shlex.split(options.runner)
                time = commit_time(options.root)
                print(archive(options.root, options.target, options.program, options.output, runner, time))
            case "manifests":
                for path in channels.write(options.root, options.folder, options.output, commit_time(options.root)):
                    print(path)
            case "rehearse":
                return rehearse.main(options.root, options.program, options.require, options.record)
            case "wheel":
                join(options.root, options.wheel, options.program)
                print(f"{options.wheel}: {options.wheel.stat().st_size} bytes")
            case "checksums":
                print(checksums(options.folder))
            case "verify":
                print(f"{verify(options.folder)} files are as they were released")
    except (Fault, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    # What the other modules import is this one, and not a second one with a `Fault` of its own.
    sys.modules["release"] = sys.modules[__name__]
    sys.exit(main())

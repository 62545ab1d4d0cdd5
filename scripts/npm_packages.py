#!/usr/bin/env python3
"""Packs the program for npm: a package for each system, and `toolcheck`, which npm installs the right one of with.

    npm_packages.py --archives DIR [--wheels DIR] --output DIR [--partial]

The archives are those that `release.py archive` has made. With `--partial`, not every system has to be there.
With `--wheels`, the programs for glibc are those of the wheels of `toolcheck-cli`, which run with an older glibc.
The same files give the same packages. Only Python's own library is needed, 3.11 or newer.
"""

from __future__ import annotations

import argparse
import json
import sys
import tarfile
import zipfile
from pathlib import Path

import release
from release import Fault

SCOPE = "@toolcheck"
#: What a package is called after `cli-`, and the systems that npm installs it on, for each target of a release.
TARGETS = {
    "x86_64-unknown-linux-gnu": ("linux-x64", {"os": ["linux"], "cpu": ["x64"], "libc": ["glibc"]}),
    "aarch64-unknown-linux-gnu": ("linux-arm64", {"os": ["linux"], "cpu": ["arm64"], "libc": ["glibc"]}),
    "x86_64-unknown-linux-musl": ("linux-x64-musl", {"os": ["linux"], "cpu": ["x64"], "libc": ["musl"]}),
    "aarch64-unknown-linux-musl": ("linux-arm64-musl", {"os": ["linux"], "cpu": ["arm64"], "libc": ["musl"]}),
    "x86_64-apple-darwin": ("darwin-x64", {"os": ["darwin"], "cpu": ["x64"]}),
    "aarch64-apple-darwin": ("darwin-arm64", {"os": ["darwin"], "cpu": ["arm64"]}),
    "x86_64-pc-windows-msvc": ("win32-x64", {"os": ["win32"], "cpu": ["x64"]}),
}
#: What of an archive is in a package, besides the program.
LICENCES = ["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-NOTICES.txt"]


def name_of(target: str) -> str:
    return f"{SCOPE}/cli-{TARGETS[target][0]}"


def tarball(name: str, version: str) -> str:
    """The file that `npm pack` would write."""
    return f"{name.removeprefix('@').replace('/', '-')}-{version}.tgz"


def manifest(value: dict) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def unpacked(archive: Path) -> dict[str, bytes]:
    """The files of an archive, by their names in its folder."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as reader:
            entries = [(one.filename, reader.read(one)) for one in reader.infolist() if not one.is_dir()]
    else:
        with tarfile.open(archive) as reader:
            entries = [(one.name, reader.extractfile(one).read()) for one in reader if one.isfile()]
    return {name.partition("/")[2]: data for name, data in entries}


def in_wheel(wheels: Path, target: str, version: str) -> bytes:
    """The program in the wheel for a machine with glibc."""
    name = f"{release.PACKAGE.replace('-', '_')}-{version}"
    found = sorted(wheels.glob(f"{name}-*manylinux*_{target.partition('-')[0]}.whl"))
    if len(found) != 1:
        raise Fault(f"{wheels} has {len(found)} wheels of {name} for {target}")
    with zipfile.ZipFile(found[0]) as reader:
        try:
            return reader.read(f"{name}.data/scripts/{release.PROGRAM}")
        except KeyError as error:
            raise Fault(f"{found[0].name} has no program") from error


def of_system(target: str, version: str, archive: Path, wheels: Path | None, main: dict, time: int) -> bytes:
    """The package with the program for one system."""
    name, (system, limits) = name_of(target), TARGETS[target]
    files = unpacked(archive)
    if wheels is not None and limits.get("libc") == ["glibc"]:
        files[release.PROGRAM] = in_wheel(wheels, target, version)
    program = f"{release.PROGRAM}.exe" if system.startswith("win32") else release.PROGRAM
    for wanted in [program, *LICENCES]:
        if wanted not in files:
            raise Fault(f"{archive.name} has no {wanted}")
    description = {
        "name": name,
        "version": version,
        "description": f"The program toolcheck for {system}.",
        **{key: main[key] for key in ["license", "repository", "homepage"]},
        "files": [program, *LICENCES],
        **limits,
        # It is run where it is, which a package in a zip file (Yarn) is not.
        "preferUnplugged": True,
    }
    readme = f"# {name}\n\nThe program `toolcheck` for {system}. Install [`toolcheck`](https://github.com/toolcheck/toolcheck), which needs it.\n"
    entries = [("package.json", manifest(description), 0o644), ("README.md", readme.encode(), 0o644)]
    entries.append((program, files[program], 0o755))
    entries.extend((licence, files[licence], 0o644) for licence in LICENCES)
    return release.tarred("package", sorted(entries), time)


def of_main(root: Path, main: dict, time: int) -> bytes:
    """The package `toolcheck`, with those of all systems as optional dependencies."""
    folder = root / "bindings/npm"
    # Here and not in the manifest of the repository, because what is not published yet can't be locked.
    main = main | {"optionalDependencies": {name_of(target): main["version"] for target in sorted(TARGETS)}}
    for unused in ["devDependencies", "scripts"]:
        main.pop(unused, None)
    entries = [("package.json", manifest(main), 0o644)]
    for pattern in [*main["files"], "README.md"]:
        found = [path for one in sorted(folder.glob(pattern)) for path in ([one] if one.is_file() else sorted(one.rglob("*")))]
        if not found:
            raise Fault(f"bindings/npm has no {pattern}")
        for path in found:
            if path.is_file():
                name = path.relative_to(folder).as_posix()
                entries.append((name, path.read_bytes(), 0o755 if name.startswith("bin/") else 0o644))
    return release.tarred("package", sorted(entries), time)


def pack(root: Path, archives: Path, wheels: Path | None, output: Path, time: int, *, partial: bool) -> list[Path]:
    """Writes the packages, `toolcheck` as the last, which is the order to publish them in."""
    version = release.check(root, None)
    main = json.loads((root / "bindings/npm/package.json").read_text(encoding="utf-8"))
    found = {}
    for target in TARGETS:
        ending = "zip" if "windows" in target else "tar.gz"
        archive = archives / f"{release.archive_name(target, version)}.{ending}"
        if archive.is_file():
            found[target] = archive
        elif not partial:
            raise Fault(f"{archive.name} is missing")
    if not found:
        raise Fault(f"{archives} has no archive of version {version}")
    output.mkdir(parents=True, exist_ok=True)
    written = []
    for target, archive in found.items():
        path = output / tarball(name_of(target), version)
        path.write_bytes(of_system(target, version, archive, wheels, main, time))
        written.append(path)
    path = output / tarball(main["name"], version)
    path.write_bytes(of_main(root, main, time))
    return [*written, path]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Packs the program for npm.")
    parser.add_argument("--root", type=Path, default=release.ROOT, help=argparse.SUPPRESS)
    parser.add_argument("--archives", type=Path, required=True, help="the folder with the archives of a release")
    parser.add_argument("--wheels", type=Path, help="a folder with wheels of the program")
    parser.add_argument("--output", type=Path, required=True, help="the folder for the packages")
    parser.add_argument("--partial", action="store_true", help="not every system has to be there")
    options = parser.parse_args(arguments)
    try:
        time = release.commit_time(options.root)
        for path in pack(options.root, options.archives, options.wheels, options.output, time, partial=options.partial):
            print(path)
    except (Fault, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What is written for each way to install a release: installers, and the manifests of other people's package managers.

Everything comes from the archives of a release, and from the templates in `scripts/templates`. In those, `@NAME@` stands
for a value; a name that has none is a fault.
"""

from __future__ import annotations

import re
import tarfile
import zipfile
from pathlib import Path

import release

TEMPLATES = Path(__file__).resolve().parent / "templates"
REPOSITORY = "https://github.com/toolcheck/toolcheck"

# The systems that programs are built for, each with what `uname -s` and `uname -m` print where the installer takes it.
# On Linux that is the program which links to nothing.
TARGETS: dict[str, tuple[str, ...]] = {
    "x86_64-unknown-linux-gnu": (),
    "aarch64-unknown-linux-gnu": (),
    "x86_64-unknown-linux-musl": ("Linux-x86_64",),
    "aarch64-unknown-linux-musl": ("Linux-aarch64", "Linux-arm64"),
    "x86_64-apple-darwin": ("Darwin-x86_64",),
    "aarch64-apple-darwin": ("Darwin-arm64",),
    "x86_64-pc-windows-msvc": (),
}
WINDOWS = "x86_64-pc-windows-msvc"
# They are part of the release; all other manifests are for other repositories.
INSTALLERS = ["install.sh", "install.ps1"]


def archive_file(target: str, version: str) -> str:
    return release.archive_name(target, version) + (".zip" if "windows" in target else ".tar.gz")


def values(folder: Path, version: str) -> dict[str, str]:
    """What templates may name. Each program must be there: a manifest can't leave one out."""
    sums = {}
    for target in TARGETS:
        path = folder / archive_file(target, version)
        if not path.is_file():
            raise release.Fault(f"{path.name} is missing in {folder}")
        sums[target] = release.digest(path)
    cases = [
        f"    {' | '.join(machines)})\n      target={target}\n      sum={sums[target]}\n      ;;"
        for target, machines in TARGETS.items()
        if machines
    ]
    return {
        "VERSION": version,
        "PACKAGE": release.PACKAGE,
        "REPOSITORY": REPOSITORY,
        "URL": f"{REPOSITORY}/releases/download/v{version}",
        "CASES": "\n".join(cases),
        "WINDOWS": WINDOWS,
        "SUM_WINDOWS": sums[WINDOWS],
        **{f"SUM_{target.upper().replace('-', '_')}": value for target, value in sums.items()},
    }


def filled(template: str, known: dict[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        if match[1] not in known:
            raise release.Fault(f"a template names {match[0]}, which has no value")
        return known[match[1]]

    return re.sub(r"@([A-Z][A-Z0-9_]*)@", value, template)


def hook(root: Path) -> str:
    """The hook that runs an installed program of its own: the first one of this repository."""
    text = (root / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    hooks = re.findall(r"(?m)^- id: .*\n(?:  .*\n)+", text)
    if not hooks or "language: python" not in hooks[0]:
        raise release.Fault(".pre-commit-hooks.yaml does not begin with a hook for Python")
    return hooks[0]


def manifests(root: Path, folder: Path, version: str) -> dict[str, bytes]:
    """Each file that is written, by its name: installers, and a folder for each other repository."""
    known = values(folder, version)
    files = {}
    for path in sorted(TEMPLATES.rglob("*")):
        if path.is_file():
            name = path.relative_to(TEMPLATES).as_posix()
            files[name] = filled(path.read_text(encoding="utf-8"), known).encode()
    files["pre-commit/.pre-commit-hooks.yaml"] = hook(root).encode()
    for place in ["homebrew", "scoop", "pre-commit"]:
        for licence in ["LICENSE-APACHE", "LICENSE-MIT"]:
            files[f"{place}/{licence}"] = (root / licence).read_bytes()
    return files


def write(root: Path, folder: Path, output: Path, time: int) -> list[Path]:
    """Writes the installers beside the archives and the rest into a folder of its own, also packed beside the archives."""
    version = release.check(root, None)
    written = []
    packed = []
    for name, data in manifests(root, folder, version).items():
        path = (folder if name in INSTALLERS else output) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        if name == "install.sh":
            path.chmod(0o755)
        if name not in INSTALLERS:
            packed.append((name, data, 0o644))
        written.append(path)
    name = f"toolcheck-manifests-v{version}"
    archive = folder / f"{name}.tar.gz"
    archive.write_bytes(release.tarred(name, packed, time))
    return [*written, archive]


def unpacked(archive: Path, into: Path) -> Path:
    """Unpacks an archive, and returns the one folder in it."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as reader:
            reader.extractall(into)
    else:
        with tarfile.open(archive) as reader:
            reader.extractall(into, filter="data")
    return into / archive.name.removesuffix(".zip").removesuffix(".tar.gz")

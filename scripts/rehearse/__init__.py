"""Rehearses a release on this machine: everything that users install from is made of one program, and installed from.

Each step says what it ran. What this machine lacks is skipped and named, as is what only a release can show.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import channels
import release
from rehearse.hooks import run_action, run_mirror, run_system_hook
from rehearse.image import run_image
from rehearse.tools import Skip, program_named, run, tries, yaml

# Homebrew's own words, as far as the formula uses them: what it installs goes into a folder.
BREW = r"""
require "fileutils"
require "pathname"
class Target
  def initialize(path) = (@path = path)
  def install(*what)
    FileUtils.mkdir_p(@path)
    what.flatten.each do |one|
      pairs = one.is_a?(Hash) ? one : { one => File.basename(one) }
      pairs.each { |from, name| FileUtils.cp(from, File.join(@path, name)) }
    end
  end
end
class Formula
  class << self
    attr_reader :found
    %i[desc homepage version license].each { |name| define_method(name) { |*| } }
    def on_macos = (yield if ENV["SYSTEM"] == "Darwin")
    def on_linux = (yield if ENV["SYSTEM"] == "Linux")
    def on_arm = (yield if ENV["MACHINE"] == "arm")
    def on_intel = (yield if ENV["MACHINE"] == "intel")
    def url(text) = (@found = [text])
    def sha256(text) = (@found << text)
    def test = nil
  end
  %w[bin man1 bash_completion fish_completion zsh_completion].each do |name|
    define_method(name) { Target.new(File.join(ENV["PREFIX"], name)) }
  end
end
load ARGV[0]
Dir.chdir(ARGV[1]) { Toolcheck.new.install }
puts Toolcheck.found
"""


class Rehearsal:
    """The files of a rehearsed release, in a folder that is gone afterwards."""

    def __init__(self, root: Path, program: Path, work: Path):
        self.root, self.program, self.work = root, program.resolve(), work
        self.dist, self.channels = work / "dist", work / "channels"
        self.version = release.check(root, None)
        machine = {"arm64": "aarch64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine())
        system = {"Darwin": "apple-darwin"}.get(platform.system(), "unknown-linux-musl")
        self.target = f"{machine}-{system}"
        if self.target not in channels.TARGETS:
            raise release.Fault(f"there is no release for {self.target}")

    def archive(self, target: str) -> Path:
        return self.dist / channels.archive_file(target, self.version)

    def folder(self, name: str) -> Path:
        path = self.work / name
        path.mkdir()
        return path

    def paired(self, url: str, digest: str) -> Path:
        """The archive of an address, whose checksum must be this one."""
        start = f"{channels.REPOSITORY}/releases/download/v{self.version}/"
        path = self.dist / url.removeprefix(start)
        if not url.startswith(start) or not path.is_file():
            raise release.Fault(f"{url} is no file of the release")
        if digest.lower() != release.digest(path):
            raise release.Fault(f"{path.name} has another checksum than {digest}")
        return path

    # ---- what is made

    def pack(self) -> str:
        """The program for this machine, and in the archive for Windows; the others are like it, without a program."""
        time = release.commit_time(self.root)
        entries = release.contents(self.root, self.program, [], self.version)
        own = [(release.PROGRAM if name == self.program.name else name, data, mode) for name, data, mode in entries]
        self.dist.mkdir()
        for target in channels.TARGETS:
            name = release.archive_name(target, self.version)
            if "windows" in target:
                packed = [("toolcheck.exe" if item == release.PROGRAM else item, data, mode) for item, data, mode in own]
                data = release.zipped(name, packed)
            elif target == self.target:
                data = release.tarred(name, own, time)
            else:
                stand_in = [(item, b"" if item == release.PROGRAM else data, mode) for item, data, mode in own]
                data = release.tarred(name, stand_in, time)
            self.archive(target).write_bytes(data)
        there = {name for name, _, _ in own}
        for name in ["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-NOTICES.txt"]:
            if name not in there:
                raise release.Fault(f"{name} is not in the archives")
        tries(channels.unpacked(self.archive(self.target), self.folder("archive")) / release.PROGRAM, self.version)
        return f"{len(channels.TARGETS)} archives, 2 with this program; unpacked, it lints"

    def manifests(self) -> str:
        written = channels.write(self.root, self.dist, self.channels, release.commit_time(self.root))
        release.checksums(self.dist)
        count = release.verify(self.dist)
        # What is not as it was released must be found.
        other = self.work / "changed"
        shutil.copytree(self.dist, other)
        for target in [self.target, channels.WINDOWS]:
            tamper(other / self.archive(target).name)
        try:
            release.verify(other)
        except release.Fault:
            return f"{len(written)} files written, {count} checksums compared; a changed archive is found"
        raise release.Fault("a changed archive was not found")

    # ---- what installs it

    def install_sh(self) -> str:
        script = self.dist / "install.sh"
        run(["sh", "-n", script])
        checked = ""
        if shutil.which("shellcheck"):
            run(["shellcheck", script])
            checked = "; shellcheck"
        self.installed_by(["sh", script], release.PROGRAM)
        return f"from a server on this machine, a changed archive is refused{checked}"

    def install_ps1(self) -> str:
        self.installed_by([program_named("pwsh"), "-NoProfile", "-File", self.dist / "install.ps1"], "toolcheck.exe")
        return "from a server on this machine, a changed archive is refused"

    def installed_by(self, command: list, program: str) -> None:
        folder = self.folder(f"by-{Path(command[-1]).name}")
        for source, is_good in [(self.dist, True), (self.work / "changed", False)]:
            # Where the script finds nothing of the user's own.
            home = folder / ("good" if is_good else "bad")
            home.mkdir()
            with served(source) as url:
                set_here = {"HOME": str(home), "TOOLCHECK_DOWNLOAD_URL": url, "TOOLCHECK_INSTALL_DIR": str(home / "bin")}
                result = subprocess.run(command, env={**os.environ, **set_here}, capture_output=True, text=True)
            there = home / "bin" / program
            if is_good:
                if result.returncode != 0:
                    raise release.Fault(f"{Path(command[-1]).name}: {result.stderr.strip()}")
                there.chmod(0o755)
                tries(there, self.version)
            elif result.returncode == 0 or there.exists() or "checksum" not in result.stderr:
                raise release.Fault(f"{Path(command[-1]).name} takes a changed archive: {result.stdout}{result.stderr}")

    def homebrew(self) -> str:
        ruby = program_named("ruby")
        formula = self.channels / "homebrew/Formula/toolcheck.rb"
        run([ruby, "-c", formula])
        stub = self.work / "brew.rb"
        stub.write_text(BREW, encoding="utf-8")
        ours = (platform.system(), "arm" if "aarch64" in self.target else "intel")
        for system in ["Darwin", "Linux"]:
            for machine in ["arm", "intel"]:
                prefix = self.folder(f"brew-{system}-{machine}")
                folder = next((self.work / "archive").iterdir())
                env = {**os.environ, "SYSTEM": system, "MACHINE": machine, "PREFIX": str(prefix)}
                self.paired(*run([ruby, stub, formula, folder], env=env).split())
                if not (prefix / "zsh_completion/_toolcheck").is_file() or not (prefix / "man1/toolcheck.1").is_file():
                    raise release.Fault("the formula installs no completions or manual pages")
                if (system, machine) == ours:
                    tries(prefix / "bin" / release.PROGRAM, self.version)
        return "ruby -c; its `install` ran with a stand-in for brew, for 4 systems"

    def scoop(self) -> str:
        manifest = json.loads((self.channels / "scoop/bucket/toolcheck.json").read_text(encoding="utf-8"))
        one = manifest["architecture"]["64bit"]
        self.in_zip(self.paired(one["url"], one["hash"]), f"{one['extract_dir']}/{manifest['bin']}")
        return "parsed; address, checksum and path in the archive"

    def winget(self) -> str:
        read = {path.name: yaml(path) for path in sorted((self.channels / "winget").iterdir())}
        kinds = {value["ManifestType"] for value in read.values()}
        if kinds != {"version", "installer", "defaultLocale"}:
            raise release.Fault(f"winget has {kinds}")
        for name, value in read.items():
            if str(value["PackageVersion"]) != self.version or value["PackageIdentifier"] not in name:
                raise release.Fault(f"{name}: another version or identifier")
        installer = read["Toolcheck.Toolcheck.installer.yaml"]
        [one], [file] = installer["Installers"], installer["NestedInstallerFiles"]
        archive = self.paired(one["InstallerUrl"], one["InstallerSha256"])
        self.in_zip(archive, file["RelativeFilePath"].replace("\\", "/"))
        return "3 files parsed; address, checksum and path in the archive"

    def in_zip(self, archive: Path, name: str) -> None:
        with zipfile.ZipFile(archive) as reader:
            if name not in reader.namelist():
                raise release.Fault(f"{archive.name} has no {name}")

    def aqua(self) -> str:
        [package] = yaml(self.channels / "aqua/registry.yaml")["packages"]
        names = package["replacements"]
        count = 0
        for system in ["linux", "darwin", "windows"]:
            for machine in ["amd64"] if system == "windows" else ["amd64", "arm64"]:
                ending = package["overrides"][0]["format"] if system == "windows" else package["format"]
                known = {"Arch": names[machine], "OS": names[system], "Version": f"v{self.version}", "Format": ending}
                asset = package["asset"]
                for name, value in known.items():
                    asset = asset.replace("{{." + name + "}}", value)
                if not (self.dist / asset).is_file():
                    raise release.Fault(f"aqua: {asset} is no file of the release")
                count += 1
        [file] = package["files"]
        if not file["src"].startswith("{{.AssetWithoutExt}}/") or package["checksum"]["asset"] != "SHA256SUMS":
            raise release.Fault("aqua: another path or list of checksums")
        [listed] = yaml(self.channels / "aqua/pkg.yaml")["packages"]
        if listed["name"] != f"toolcheck/toolcheck@v{self.version}":
            raise release.Fault(f"aqua: {listed['name']}")
        return f"parsed; the names of {count} archives"

    def binstall(self) -> str:
        manifest = tomllib.loads((self.root / "crates/toolcheck-cli/Cargo.toml").read_text(encoding="utf-8"))
        said = manifest["package"]["metadata"]["binstall"]
        for target in channels.TARGETS:
            own = {**said, **said.get("overrides", {}).get(target, {})}
            known = {
                "repo": channels.REPOSITORY,
                "name": release.PACKAGE,
                "target": target,
                "version": self.version,
                "archive-suffix": {"tgz": ".tar.gz", "zip": ".zip"}[own["pkg-fmt"]],
                "bin": release.PROGRAM,
                "binary-ext": ".exe" if "windows" in target else "",
            }
            expand = functools.partial(replaced, known)
            url, inside = expand(own["pkg-url"]), expand(own["bin-dir"])
            archive = self.paired(url, release.digest(self.archive(target)))
            if target in (self.target, channels.WINDOWS):
                there = channels.unpacked(archive, self.folder(f"binstall-{target}")).parent / inside
                # A zip file is unpacked without modes here.
                there.chmod(0o755)
                tries(there, self.version)
        return f"its templates name {len(channels.TARGETS)} archives; the program at that path lints"

    def nix(self) -> str:
        flake = self.root / "flake.nix"
        # Nothing is built, so no store is needed, which only root could create.
        instantiate = [program_named("nix-instantiate"), "--store", "dummy://"]
        run([*instantiate, "--parse", flake])
        said = run([*instantiate, "--eval", "--strict", "--json", "--expr", NIX.replace("FLAKE", str(flake))])
        names = [f"toolcheck-{self.version}"] * 4
        if json.loads(said) != {"names": names, "main": "toolcheck", "lock": True}:
            raise release.Fault(f"the flake says {said}")
        return "parsed and evaluated with a stand-in for nixpkgs; nothing was built"

    def container(self) -> str:
        context = self.folder("image")
        machine = "arm64" if "aarch64" in self.target else "amd64"
        (context / "linux").mkdir()
        shutil.move(channels.unpacked(self.archive(self.target), self.folder("musl")), context / "linux" / machine)
        if platform.system() != "Linux":
            raise Skip("no Linux")
        return run_image(self.root / "Dockerfile", context, f"linux/{machine}", self.version)

    def extension(self) -> str:
        npm, node = program_named("npm"), program_named("node")
        folder = self.root / "editors/vscode"
        if not (folder / "node_modules/@vscode/vsce").is_dir():
            try:
                run([npm, "ci", "--ignore-scripts"], cwd=folder)
            except release.Fault as error:
                raise Skip("npm can't install what packs it") from error
        path = self.work / f"toolcheck-{self.version}.vsix"
        run([node, "node_modules/@vscode/vsce/vsce", "package", "--skip-license", "--out", path], cwd=folder)
        with zipfile.ZipFile(path) as reader:
            names = reader.namelist()
        for wanted in ["LICENSE-APACHE", "LICENSE-MIT", "dist/THIRD-PARTY-NOTICES.txt", "dist/extension.js", "icon.png"]:
            if f"extension/{wanted}" not in names:
                raise release.Fault(f"the package has no {wanted}")
        # What is in it exactly is a test of its own.
        return f"vsce package: {len(names)} files, {path.stat().st_size // 1024} KiB"

    # ---- all of it

    def steps(self) -> list[tuple[str, str, Callable[[], str]]]:
        of = functools.partial
        return [
            ("archives", "release.py archive", self.pack),
            ("checksums, manifests", "release.py manifests, checksums, verify", self.manifests),
            ("Linux, macOS", "install.sh", self.install_sh),
            ("Windows", "install.ps1", self.install_ps1),
            ("Homebrew", "formula", self.homebrew),
            ("scoop", "manifest", self.scoop),
            ("winget", "manifests", self.winget),
            ("aqua, mise", "registry entry", self.aqua),
            ("cargo-binstall", "metadata in Cargo.toml", self.binstall),
            ("nix", "flake.nix", self.nix),
            ("container", "Dockerfile", self.container),
            ("pre-commit, mirror", "hook toolcheck", of(run_mirror, self)),
            ("pre-commit", "hook toolcheck-system", of(run_system_hook, self)),
            ("GitHub action", "action.yml", of(run_action, self)),
            ("Marketplace, Open VSX", "VSIX", self.extension),
        ]


# What this script can't show, and what does.
ELSEWHERE = [
    ("pre-commit", "hook toolcheck", "builds the program; runs what the mirror's hook runs"),
    ("crates.io", "cargo publish", "`cargo xtask package`, in .ci/delivered"),
    ("PyPI", "wheels, sdists", "the jobs `wheels` and `packages` of release.yml"),
    ("npm", "packages", "the job `packages` of release.yml; bindings/test.sh"),
    ("attestations", "actions/attest", "needs the identity of a workflow: only a release has them"),
]

# As much of nixpkgs as the flake uses: a package is what it is made of.
NIX = """
let
  pkgs = {
    lib = {
      licenses = { mit = "MIT"; asl20 = "Apache-2.0"; };
      optionalString = is: text: if is then text else "";
      genAttrs = names: make: builtins.listToAttrs (map (name: { inherit name; value = make name; }) names);
    };
    installShellFiles = "installShellFiles";
    stdenv = { buildPlatform.canExecute = host: true; hostPlatform = "host"; };
    rustPlatform.buildRustPackage = made: made;
  };
  systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
  nixpkgs = { inherit (pkgs) lib; legacyPackages = pkgs.lib.genAttrs systems (system: pkgs); };
  made = (import FLAKE).outputs { self = ./.; inherit nixpkgs; };
  package = system: made.packages.${system}.default;
  names = map (system: "${(package system).pname}-${(package system).version}") systems;
  first = package (builtins.head systems);
in { inherit names; main = first.meta.mainProgram; lock = builtins.pathExists first.cargoLock.lockFile; }
"""


def replaced(known: dict[str, str], template: str) -> str:
    for name, value in known.items():
        template = template.replace("{ " + name + " }", value)
    if "{" in template:
        raise release.Fault(f"binstall: {template} has a name without a value")
    return template


def tamper(path: Path) -> None:
    """Changes one byte in the middle."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_words: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def main(root: Path, program: Path, requires: bool, records: bool = False) -> int:
    if not program.is_file():
        raise release.Fault(f"{program} is no file")
    sys.path.insert(0, str(Path(__file__).parents[1] / "delivered"))
    import tried

    rows, has_failed, has_skipped = [], False, False
    with tempfile.TemporaryDirectory(prefix="toolcheck-") as folder:
        rehearsal = Rehearsal(root, program, Path(folder).resolve())
        for channel, how, step in rehearsal.steps():
            try:
                row = (channel, how, step(), "ok")
            except Skip as why:
                row, has_skipped = (channel, how, "", f"skipped: {why}"), True
            except (release.Fault, OSError, KeyError, ValueError, subprocess.SubprocessError) as error:
                row, has_failed = (channel, how, "", "failed"), True
                print(f"{channel}, {how}: {type(error).__name__}: {error}", file=sys.stderr)
            print(f"{channel}, {how}: {row[3]}", file=sys.stderr, flush=True)
            rows.append(row)
    rows += [(channel, how, where, "elsewhere") for channel, how, where in ELSEWHERE]
    print(table(rows))
    if records:
        taken = [{"what": what, "asked": how, "from": how, "ran": ran, "result": result} for what, how, ran, result in rows]
        tried.record(taken, "rehearse", whole=True)
    return 1 if has_failed or (has_skipped and requires) else 0


def table(rows: list[tuple[str, str, str, str]]) -> str:
    rows = [("channel", "installed by", "what ran", "result"), *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[3]]) for row in rows]
    return "\n".join(lines)

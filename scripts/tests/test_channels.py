"""Tests of channels.py, and of what `rehearse` makes of it."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import channels
import rehearse
import release
from rehearse import hooks, image, tools

VERSION = "1.2.3"
# It says its version, and finds a mistake in each file with a call.
PROGRAM = f"""#!/bin/sh
case "$1" in
  --version) echo "toolcheck {VERSION}" ;;
  lint) for file; do :; done; ! grep -q tool_calls "$file" || {{ echo unanswered-tool-call; exit 1; }} ;;
  *) exit 2 ;;
esac
""".encode()


class Released(unittest.TestCase):
    """A folder with an archive for each system."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.dist = self.root / "dist"
        self.dist.mkdir()
        for target in channels.TARGETS:
            name = release.archive_name(target, VERSION)
            packed = [("toolcheck", PROGRAM, 0o755), ("target", target.encode(), 0o644)]
            data = release.zipped(name, packed) if "windows" in target else release.tarred(name, packed, 5)
            (self.dist / channels.archive_file(target, VERSION)).write_bytes(data)

    def manifests(self):
        return channels.manifests(release.ROOT, self.dist, VERSION)


class Manifests(Released):
    def test_the_table_is_what_the_workflow_builds(self):
        workflow = (release.ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
        built = re.findall(r"- \{ target: (\S+), runner:", workflow)
        self.assertEqual(sorted(built), sorted(channels.TARGETS))

    def test_each_placeholder_has_a_value(self):
        with self.assertRaisesRegex(release.Fault, "@NO_SUCH@"):
            channels.filled("a @NO_SUCH@ b", channels.values(self.dist, VERSION))
        files = self.manifests()
        self.assertIn("install.sh", files)
        for name, data in files.items():
            self.assertIsNone(re.search(rb"@[A-Z][A-Z0-9_]*@", data), name)

    def test_each_checksum_is_that_of_the_file_it_stands_by(self):
        formula = self.manifests()["homebrew/Formula/toolcheck.rb"].decode()
        pairs = re.findall(r'url "\S+/(\S+)"\n\s+sha256 "(\w+)"', formula)
        self.assertEqual(len(pairs), 4)
        for name, digest in pairs:
            self.assertEqual(digest, release.digest(self.dist / name), name)
        scoop = json.loads(self.manifests()["scoop/bucket/toolcheck.json"])
        windows = release.digest(self.dist / channels.archive_file(channels.WINDOWS, VERSION))
        self.assertEqual(scoop["architecture"]["64bit"]["hash"], windows)
        self.assertIn(f"InstallerSha256: {windows}\n", self.manifests()["winget/Toolcheck.Toolcheck.installer.yaml"].decode())
        self.assertIn(f"'{windows}'", self.manifests()["install.ps1"].decode())

    def test_binstall_finds_each_archive(self):
        text = (release.ROOT / "crates/toolcheck-cli/Cargo.toml").read_text(encoding="utf-8")
        said = tomllib.loads(text)["package"]["metadata"]["binstall"]
        self.assertEqual(set(said["overrides"]), {target for target in channels.TARGETS if "windows" in target})
        for target in channels.TARGETS:
            ending = said["overrides"].get(target, {}).get("pkg-fmt", said["pkg-fmt"])
            known = {"repo": channels.REPOSITORY, "name": release.PACKAGE, "target": target, "version": VERSION}
            known["archive-suffix"] = {"tgz": ".tar.gz", "zip": ".zip"}[ending]
            url = rehearse.replaced(known, said["pkg-url"])
            self.assertEqual(url, f"{channels.values(self.dist, VERSION)['URL']}/{channels.archive_file(target, VERSION)}")

    def test_a_missing_archive_is_named(self):
        (self.dist / channels.archive_file("aarch64-apple-darwin", VERSION)).unlink()
        with self.assertRaisesRegex(release.Fault, "aarch64-apple-darwin"):
            self.manifests()

    def test_other_repositories_have_the_licences(self):
        files = self.manifests()
        for place in ["homebrew", "scoop", "pre-commit"]:
            self.assertEqual(files[f"{place}/LICENSE-MIT"], (release.ROOT / "LICENSE-MIT").read_bytes())

    def test_the_mirror_has_the_hook_of_this_repository(self):
        files = self.manifests()
        known = (release.ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
        hook = files["pre-commit/.pre-commit-hooks.yaml"].decode()
        self.assertIn(hook, known)
        self.assertTrue(hook.startswith("- id: toolcheck\n"))
        self.assertNotIn("toolcheck-system", hook)
        self.assertIn('["toolcheck-cli==1.2.3"]', files["pre-commit/pyproject.toml"].decode())

    def test_they_are_written_and_packed(self):
        with mock.patch.object(release, "check", lambda *_: VERSION):
            written = channels.write(release.ROOT, self.dist, self.root / "channels", 5)
            again = written[-1].read_bytes()
            channels.write(release.ROOT, self.dist, self.root / "channels", 5)
        self.assertEqual(written[-1].read_bytes(), again)
        self.assertTrue((self.dist / "install.ps1").is_file())
        self.assertTrue(os.access(self.dist / "install.sh", os.X_OK))
        self.assertFalse((self.root / "channels/install.sh").exists())
        folder = channels.unpacked(written[-1], self.root / "unpacked")
        self.assertTrue((folder / "pre-commit/.pre-commit-hooks.yaml").is_file())


@unittest.skipUnless(shutil.which("sh") and (shutil.which("curl") or shutil.which("wget")), "no sh, or nothing to download with")
class Installer(Released):
    def install(self, system, machine, **changed):
        """Runs the installer as on a system of this kind."""
        programs = self.root / "tools"
        programs.mkdir(exist_ok=True)
        (programs / "uname").write_text(f'#!/bin/sh\ncase $1 in -s) echo {system} ;; *) echo {machine} ;; esac\n')
        (programs / "uname").chmod(0o755)
        script = self.root / "install.sh"
        script.write_bytes(self.manifests()["install.sh"])
        # Afterwards: a script names what was released.
        for name, data in changed.items():
            (self.dist / channels.archive_file(name, VERSION)).write_bytes(data)
        with rehearse.served(self.dist) as url:
            env = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(self.root), "TOOLCHECK_DOWNLOAD_URL": url}
            return subprocess.run(["sh", str(script)], env=env, capture_output=True, text=True)

    def test_each_system_gets_its_program(self):
        for target, machines in channels.TARGETS.items():
            for machine in machines:
                result = self.install(*machine.split("-"))
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(f"toolcheck {VERSION} is in {self.root}/.local/bin", result.stdout)
                tools.tries(self.root / ".local/bin/toolcheck", VERSION)

    def test_another_system_is_refused(self):
        result = self.install("Plan9", "x86_64")
        self.assertEqual(result.returncode, 1)
        self.assertIn("there is no program for Plan9 on x86_64", result.stderr)

    def test_another_archive_is_refused(self):
        target = "x86_64-unknown-linux-musl"
        other = release.tarred(release.archive_name(target, VERSION), [("toolcheck", PROGRAM + b"#", 0o755)], 5)
        result = self.install("Linux", "x86_64", **{target: other})
        self.assertEqual(result.returncode, 1)
        self.assertIn("nothing was installed", result.stderr)
        self.assertFalse((self.root / ".local/bin/toolcheck").exists())

    def test_a_part_of_the_script_does_nothing(self):
        script = self.manifests()["install.sh"]
        for length in [len(script) // 2, len(script) - len(b"main\n")]:
            result = subprocess.run(["sh"], input=script[:length], env={"HOME": str(self.root)}, capture_output=True)
            self.assertEqual(result.stdout, b"")
            self.assertFalse((self.root / ".local").exists())


class Rehearsals(unittest.TestCase):
    def rehearsed(self, steps, requires):
        program = Path(__file__)
        fake = mock.Mock(steps=lambda: steps)
        out = io.StringIO()
        with mock.patch.object(rehearse, "Rehearsal", lambda *_: fake), redirect_stdout(out), redirect_stderr(io.StringIO()):
            return rehearse.main(release.ROOT, program, requires), out.getvalue()

    def test_each_step_is_in_the_table(self):
        def skips():
            raise tools.Skip("no pwsh")

        def fails():
            raise release.Fault("broken")

        status, table = self.rehearsed([("a", "b", lambda: "it"), ("c", "d", skips)], False)
        self.assertEqual(status, 0)
        self.assertRegex(table, r"(?m)^a +b +it +ok$")
        self.assertRegex(table, r"(?m)^c +d +skipped: no pwsh$")
        self.assertRegex(table, r"(?m)^npm .* elsewhere$")
        self.assertEqual(self.rehearsed([("c", "d", skips)], True)[0], 1)
        status, table = self.rehearsed([("c", "d", fails), ("a", "b", lambda: "it")], False)
        self.assertEqual(status, 1)
        self.assertRegex(table, r"(?m)^c +d +failed$")
        self.assertRegex(table, r"(?m)^a +b +it +ok$")

    def test_templates_of_binstall_have_no_unknown_names(self):
        self.assertEqual(rehearse.replaced({"a": "1"}, "{ a }/x"), "1/x")
        with self.assertRaisesRegex(release.Fault, "without a value"):
            rehearse.replaced({}, "{ a }")

    def test_expressions_of_the_action(self):
        self.assertEqual(hooks.expression("${{ a.b }}-c", {"a.b": "1"}), "1-c")
        with self.assertRaises(KeyError):
            hooks.expression("${{ a.c }}", {"a.b": "1"})

    @unittest.skipUnless(hasattr(os, "chroot"), "no chroot")
    def test_an_unknown_instruction_is_a_fault(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "Dockerfile"
            path.write_text("# a\nFROM scratch\nRUN true\n")
            context = Path(folder) / "context"
            context.mkdir()
            with self.assertRaisesRegex(release.Fault, "RUN true"):
                image.in_chroot(path, context, "linux/amd64", VERSION, [])

    def test_a_program_that_finds_nothing_is_a_fault(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "toolcheck"
            path.write_bytes(PROGRAM)
            path.chmod(0o755)
            tools.tries(path, VERSION)
            path.write_bytes(PROGRAM.replace(b"exit 1", b"exit 0"))
            with self.assertRaisesRegex(release.Fault, "ended with 0"):
                tools.tries(path, VERSION)


if __name__ == "__main__":
    unittest.main()

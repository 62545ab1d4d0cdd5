"""Tests of release.py, on a small repository of their own and on this one."""

import io
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import release

WORKSPACE = """\
[workspace]
members = ["crates/*"]

[workspace.package]
version = "1.2.3"

[workspace.dependencies]
toolcheck-core = { path = "crates/toolcheck-core", version = "1.2.3" }
anyhow = "1.2.3"
"""
LOCK = """\
version = 4

[[package]]
name = "anyhow"
version = "1.2.3"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[package]]
name = "toolcheck-core"
version = "1.2.3"
"""
PROGRAM = """\
#!/bin/sh
case "$1" in
  --version) echo "toolcheck 1.2.3" ;;
  completions) echo "completions for $2" ;;
  man) echo page > "$2/toolcheck.1"; echo page > "$2/toolcheck-lint.1" ;;
  *) exit 2 ;;
esac
"""


class Repository(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("Cargo.toml", WORKSPACE)
        self.write("Cargo.lock", LOCK)
        self.write("pyproject.toml", '[project]\nname = "toolcheck-cli"\nversion = "1.2.3"\n')
        self.write("bindings/js/package.json", '{\n  "name": "toolcheck",\n  "version": "1.2.3"\n}\n')
        self.write(
            "bindings/js/package-lock.json",
            '{\n  "name": "toolcheck",\n  "version": "1.2.3",\n  "packages": {\n    "": {\n'
            '      "version": "1.2.3"\n    },\n    "node_modules/a": {\n      "version": "1.2.3"\n    }\n  }\n}\n',
        )
        self.write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n## 1.2.3 (2030-01-02)\n\n- A tide.\n\n## 1.2.2\n\n- Ebb.\n")
        for document in release.DOCUMENTS:
            if document != "CHANGELOG.md":
                self.write(document, document)

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def program(self):
        path = self.write("out/toolcheck", PROGRAM)
        path.chmod(0o755)
        return path

    def replace(self, path, old, new):
        file = self.root / path
        text = file.read_text(encoding="utf-8")
        self.assertIn(old, text)
        file.write_text(text.replace(old, new, 1), encoding="utf-8")


class Versions(Repository):
    def test_equal_versions_pass(self):
        self.assertEqual(release.check(self.root, "v1.2.3"), "1.2.3")

    def test_each_place_is_compared(self):
        for path, old, new in [
            ("Cargo.toml", 'toolcheck-core", version = "1.2.3"', 'toolcheck-core", version = "1.2.2"'),
            ("Cargo.lock", '"toolcheck-core"\nversion = "1.2.3"', '"toolcheck-core"\nversion = "1.2.2"'),
            ("pyproject.toml", "1.2.3", "1.2.2"),
            ("bindings/js/package.json", "1.2.3", "1.2.2"),
            ("bindings/js/package-lock.json", '    "": {\n      "version": "1.2.3"', '    "": {\n      "version": "1"'),
        ]:
            with self.subTest(path):
                before = (self.root / path).read_text(encoding="utf-8")
                self.replace(path, old, new)
                with self.assertRaisesRegex(release.Fault, path.replace(".", r"\.")):
                    release.check(self.root, None)
                (self.root / path).write_text(before, encoding="utf-8")

    def test_the_tag_is_the_version(self):
        for tag in ["1.2.3", "v1.2.4", "v1.2.3-rc.1", "v1.2.3\n"]:
            with self.assertRaises(release.Fault):
                release.check(self.root, tag)

    def test_a_release_has_a_section(self):
        self.assertEqual(release.notes(self.root, "1.2.3"), "- A tide.\n")
        self.replace("CHANGELOG.md", "## 1.2.3 (2030-01-02)", "## 1.2.30")
        with self.assertRaisesRegex(release.Fault, "no section"):
            release.check(self.root, "v1.2.3")
        self.replace("CHANGELOG.md", "## 1.2.30\n\n- A tide.\n", "## 1.2.3\n")
        with self.assertRaisesRegex(release.Fault, "is empty"):
            release.check(self.root, "v1.2.3")

    def test_a_version_is_set_everywhere_and_nowhere_else(self):
        changed = release.set_version(self.root, "1.3.0-rc.1")
        self.assertEqual(len(changed), 5)
        self.assertEqual(release.check(self.root, None), "1.3.0-rc.1")
        self.assertIn('anyhow = "1.2.3"', (self.root / "Cargo.toml").read_text())
        self.assertIn('name = "anyhow"\nversion = "1.2.3"', (self.root / "Cargo.lock").read_text())
        lock = (self.root / "bindings/js/package-lock.json").read_text()
        self.assertIn('"node_modules/a": {\n      "version": "1.2.3"', lock)
        for version in ["", "1.3", "v1.3.0", '1.3.0"\n']:
            with self.assertRaises(release.Fault):
                release.set_version(self.root, version)


class Archives(Repository):
    def test_an_archive_is_named_and_laid_out_for_cargo_binstall(self):
        target = "x86_64-unknown-linux-musl"
        path = release.archive(self.root, target, self.program(), self.root / "dist", [], 1_900_000_000)
        self.assertEqual(path.name, f"toolcheck-cli-{target}-v1.2.3.tar.gz")
        folder = f"toolcheck-cli-{target}-v1.2.3"
        with tarfile.open(path) as archive:
            members = {member.name: member for member in archive}
            self.assertEqual(members[f"{folder}/toolcheck"].mode, 0o755)
            self.assertEqual(archive.extractfile(f"{folder}/completions/_toolcheck").read(), b"completions for zsh\n")
        names = {name.removeprefix(f"{folder}/") for name in members}
        documents = {Path(document).name for document in release.DOCUMENTS}
        completions = {f"completions/{name}" for name in release.COMPLETIONS.values()}
        self.assertEqual(names, {"toolcheck", "man/toolcheck.1", "man/toolcheck-lint.1"} | documents | completions)

    def test_archives_are_reproducible(self):
        program = self.program()
        made = [release.archive(self.root, "a-linux", program, self.root / at, [], 5).read_bytes() for at in ["a", "b"]]
        self.assertEqual(made[0], made[1])
        later = release.archive(self.root, "a-linux", program, self.root / "c", [], 6).read_bytes()
        self.assertNotEqual(made[0], later)

    def test_windows_gets_a_zip_file(self):
        program = self.program()
        path = release.archive(self.root, "x86_64-pc-windows-msvc", program, self.root / "dist", [], 5)
        with zipfile.ZipFile(path) as archive:
            self.assertIsNone(archive.testzip())
            self.assertIn("toolcheck-cli-x86_64-pc-windows-msvc-v1.2.3/LICENSE-MIT", archive.namelist())

    def test_another_program_is_refused(self):
        program = self.program()
        program.write_text(PROGRAM.replace("toolcheck 1.2.3", "toolcheck 1.2.2"))
        with self.assertRaisesRegex(release.Fault, "toolcheck 1.2.2"):
            release.archive(self.root, "a", program, self.root / "dist", [], 5)
        program.write_text(PROGRAM.replace("completions)", "nothing)"))
        with self.assertRaisesRegex(release.Fault, "ended with 2"):
            release.archive(self.root, "a", program, self.root / "dist", [], 5)

    def test_a_missing_licence_is_refused(self):
        (self.root / "LICENSE-MIT").unlink()
        with self.assertRaisesRegex(release.Fault, "LICENSE-MIT"):
            release.archive(self.root, "a", self.program(), self.root / "dist", [], 5)

    def test_a_runner_runs_the_program(self):
        program = self.program()
        program.chmod(0o644)
        path = release.archive(self.root, "a-linux", program, self.root / "dist", ["/bin/sh"], 5)
        self.assertTrue(path.is_file())


class Wheels(Repository):
    def setUp(self):
        super().setUp()
        self.wheel = self.root / "toolcheck_lint-1.2.3-py3-none-any.whl"
        info = "toolcheck_lint-1.2.3.dist-info"
        files = {
            "toolcheck_lint/__init__.py": "",
            f"{info}/METADATA": "Metadata-Version: 2.4\nName: toolcheck-lint\nVersion: 1.2.3\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/RECORD": "toolcheck_lint/__init__.py,,\n",
        }
        with zipfile.ZipFile(self.wheel, "w") as writer:
            for name, text in files.items():
                writer.writestr(name, text)

    def test_the_program_is_in_the_wheel(self):
        with redirect_stdout(io.StringIO()):
            arguments = ["--root", str(self.root), "wheel", "--program", str(self.program()), str(self.wheel)]
            self.assertEqual(release.main(arguments), 0)
        with zipfile.ZipFile(self.wheel) as joined:
            self.assertIsNone(joined.testzip())
            names = joined.namelist()
            self.assertEqual(names[-1], "toolcheck_lint-1.2.3.dist-info/RECORD")
            record = joined.read(names[-1]).decode().splitlines()
        script = "toolcheck_lint-1.2.3.data/scripts/toolcheck"
        self.assertIn("toolcheck_lint-1.2.3.dist-info/licenses/toolcheck-cli/THIRD-PARTY-NOTICES.txt", names)
        self.assertRegex("\n".join(record), rf"{script},sha256=[-\w]{{43}},\d+\n")
        with self.assertRaisesRegex(release.Fault, "already"):
            release.join(self.root, self.wheel, self.program())

    def test_it_is_installed_by_its_name_whatever_the_file_is_called(self):
        release.join(self.root, self.wheel, self.program().rename(self.root / "build-53"))
        with zipfile.ZipFile(self.wheel) as joined:
            self.assertIn("toolcheck_lint-1.2.3.data/scripts/toolcheck", joined.namelist())

    def test_a_debug_build_is_refused(self):
        with zipfile.ZipFile(self.wheel, "a") as writer:
            writer.writestr("toolcheck_lint/_native.abi3.so", b"\0toolcheck-lint build: debug\0")
        with self.assertRaisesRegex(release.Fault, "debug build"):
            release.join(self.root, self.wheel, self.program())

    def test_the_program_is_installed_so_that_it_runs(self):
        release.join(self.root, self.wheel, self.program())
        target = self.root / "installed"
        pip = [sys.executable, "-m", "pip", "--isolated", "install", "--quiet", "--no-index", "--target", str(target)]
        done = subprocess.run([*pip, str(self.wheel)], capture_output=True, text=True)
        if "No module named pip" in done.stderr:
            self.skipTest("needs pip")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = subprocess.run([target / "bin" / "toolcheck", "--version"], capture_output=True, text=True).stdout
        self.assertEqual(said.strip(), "toolcheck 1.2.3")


class Checksums(Repository):
    def setUp(self):
        super().setUp()
        self.write("dist/a.tar.gz", "a")
        self.write("dist/b.zip", "b")
        release.checksums(self.root / "dist")

    def test_files_are_verified(self):
        self.assertEqual(release.verify(self.root / "dist"), 2)
        # The sum of `a`, as any other program computes it.
        known = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a.tar.gz\n"
        self.assertTrue((self.root / "dist/SHA256SUMS").read_text().startswith(known))

    def test_changes_are_found(self):
        self.write("dist/a.tar.gz", "c")
        with self.assertRaisesRegex(release.Fault, "a.tar.gz: the checksum differs"):
            release.verify(self.root / "dist")
        self.write("dist/a.tar.gz", "a")
        more = self.write("dist/more", "")
        with self.assertRaisesRegex(release.Fault, "more: not in"):
            release.verify(self.root / "dist")
        more.unlink()
        (self.root / "dist/b.zip").unlink()
        with self.assertRaisesRegex(release.Fault, "b.zip: missing"):
            release.verify(self.root / "dist")

    def test_a_checksum_names_a_file_of_the_folder(self):
        self.write("dist/SHA256SUMS", "0" * 64 + "  ../a\n")
        with self.assertRaisesRegex(release.Fault, "SHA256SUMS:1"):
            release.verify(self.root / "dist")


class ThisRepository(unittest.TestCase):
    def test_all_versions_are_equal(self):
        places = [place for place, _ in release.versions(release.ROOT)]
        for expected in ["pyproject.toml", "bindings/python/Cargo.toml", "bindings/npm/package.json"]:
            self.assertIn(expected, places)
        self.assertTrue(release.VERSION.fullmatch(release.check(release.ROOT, None)))

    def test_faults_are_an_exit_status(self):
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            self.assertEqual(release.main(["check"]), 0)
            self.assertEqual(release.main(["check", "--tag", "v0.0.1"]), 2)
        self.assertIn("error: the tag v0.0.1", err.getvalue())


if __name__ == "__main__":
    unittest.main()

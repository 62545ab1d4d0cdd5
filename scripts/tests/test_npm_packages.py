"""Tests of npm_packages.py, on a small repository and on this one."""

import io
import json
import re
import sys
import tarfile
import unittest
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import npm_packages
import release
from test_release import Repository

PACKAGE = {
    "name": "toolcheck",
    "version": "1.2.3",
    "license": "MIT OR Apache-2.0",
    "repository": {"type": "git", "url": "git+https://example.com/x.git"},
    "homepage": "https://example.com",
    "bin": {"toolcheck": "bin/toolcheck.js"},
    "files": ["bin", "lib", "LICENSE-*"],
    "scripts": {"test": "true"},
    "devDependencies": {"vitest": "1.0.0"},
}


def entries(path):
    with tarfile.open(path) as reader:
        return {one.name: (one.mode, reader.extractfile(one).read()) for one in reader}


@unittest.skipIf(sys.platform == "win32", "the program of the tests is a script")
class Packages(Repository):
    def setUp(self):
        super().setUp()
        self.write("bindings/npm/package.json", json.dumps(PACKAGE))
        for name in ["bin/toolcheck.js", "lib/index.js", "lib/deep/x.js", "test/x.js", "node_modules/y/z.js", "README.md", "LICENSE-MIT"]:
            self.write(f"bindings/npm/{name}", name)
        self.archives = self.root / "archives"
        self.output = self.root / "npm"

    def archive(self, *targets):
        program = self.program()
        for target in targets:
            named = program
            if "windows" in target:
                named = program.with_name("toolcheck.exe")
                named.write_bytes(program.read_bytes())
                named.chmod(0o755)
            release.archive(self.root, target, named, self.archives, [], 1_700_000_000)

    def pack(self, wheels=None, **options):
        return npm_packages.pack(self.root, self.archives, wheels, self.output, 1_700_000_000, **{"partial": False, **options})

    def wheel(self, name, program="toolcheck"):
        path = self.write(f"wheels/{name}", "")
        with zipfile.ZipFile(path, "w") as writer:
            writer.writestr(f"toolcheck_cli-1.2.3.data/scripts/{program}", name)

    def test_each_system_has_a_package_and_toolcheck_names_them(self):
        self.archive(*npm_packages.TARGETS)
        written = self.pack()
        self.assertEqual(written[-1].name, "toolcheck-1.2.3.tgz", "what needs the others is published last")
        self.assertEqual(len(written), len(npm_packages.TARGETS) + 1)
        manifests = []
        for path in written[:-1]:
            files = entries(path)
            manifest = json.loads(files["package/package.json"][1])
            manifests.append(manifest)
            self.assertEqual(path.name, npm_packages.tarball(manifest["name"], "1.2.3"))
            program = "toolcheck.exe" if manifest["os"] == ["win32"] else "toolcheck"
            self.assertEqual(files[f"package/{program}"][0], 0o755)
            self.assertEqual({f"package/{name}" for name in npm_packages.LICENCES} - files.keys(), set())
            self.assertEqual(manifest["version"], "1.2.3")
        main = entries(written[-1])
        self.assertEqual(
            set(main),
            {f"package/{name}" for name in ["package.json", "README.md", "LICENSE-MIT", "bin/toolcheck.js", "lib/index.js", "lib/deep/x.js"]},
        )
        self.assertEqual(main["package/bin/toolcheck.js"][0], 0o755)
        manifest = json.loads(main["package/package.json"][1])
        self.assertEqual(manifest["optionalDependencies"], {one["name"]: "1.2.3" for one in manifests})
        self.assertNotIn("devDependencies", manifest)

    def test_the_same_archives_give_the_same_bytes(self):
        self.archive("x86_64-unknown-linux-musl")
        first = [path.read_bytes() for path in self.pack(partial=True)]
        self.assertEqual([path.read_bytes() for path in self.pack(partial=True)], first)

    def test_the_programs_for_glibc_may_be_those_of_wheels(self):
        self.archive("x86_64-unknown-linux-gnu", "x86_64-unknown-linux-musl")
        wheels = self.root / "wheels"
        wheels.mkdir()
        with self.assertRaisesRegex(release.Fault, "has 0 wheels of toolcheck_cli-1.2.3 for x86_64-unknown-linux-gnu"):
            self.pack(wheels, partial=True)
        ours = "toolcheck_cli-1.2.3-py3-none-manylinux_2_28_x86_64.whl"
        for name in [ours, "toolcheck_cli-1.2.3-py3-none-musllinux_1_2_x86_64.whl", "toolcheck_lint-1.2.3-cp311-abi3-manylinux_2_28_x86_64.whl"]:
            self.wheel(name)
        gnu, musl, _ = (entries(path) for path in self.pack(wheels, partial=True))
        self.assertEqual(gnu["package/toolcheck"], (0o755, ours.encode()))
        self.assertEqual(musl["package/toolcheck"][1], (self.root / "out/toolcheck").read_bytes())
        self.wheel(ours, program="other")
        with self.assertRaisesRegex(release.Fault, f"{ours} has no program"):
            self.pack(wheels, partial=True)

    def test_what_is_missing_is_named(self):
        with self.assertRaisesRegex(release.Fault, "has no archive of version 1.2.3"):
            self.pack(partial=True)
        self.archive("x86_64-unknown-linux-musl")
        with self.assertRaisesRegex(release.Fault, "toolcheck-cli-x86_64-unknown-linux-gnu-v1.2.3.tar.gz is missing"):
            self.pack()
        with redirect_stderr(io.StringIO()) as said, redirect_stdout(io.StringIO()):
            status = npm_packages.main(["--root", str(self.root), "--archives", str(self.root), "--output", str(self.output)])
        self.assertEqual(status, 2)
        self.assertIn("error: ", said.getvalue())


class Ours(unittest.TestCase):
    def test_the_targets_are_those_of_a_release(self):
        workflow = (release.ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r"- \{ target: ([\w-]+), runner", workflow)), set(npm_packages.TARGETS))

    def test_the_launcher_looks_for_what_is_packed(self):
        launcher = (release.ROOT / "bindings/npm/lib/binary.js").read_text(encoding="utf-8")
        self.assertIn("`@toolcheck/cli-${platform}-${arch}`", launcher)
        for target in npm_packages.TARGETS:
            self.assertRegex(npm_packages.name_of(target), r"^@toolcheck/cli-(linux|darwin|win32)-(x64|arm64)(-musl)?$")


if __name__ == "__main__":
    unittest.main()

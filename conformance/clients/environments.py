"""Makes the environments of the drivers: one for each, because their dependencies conflict.

    python3 environments.py FOLDER [NAME...]

They take 2.6 GB. What exists is left as it is.
"""

import os
import shutil
import subprocess
import sys
import venv

from clients import CLIENTS, FOLDER, python_of


def make(client, folder):
    if client.driver.endswith(".mjs"):
        os.makedirs(folder)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(os.path.join(FOLDER, os.path.basename(folder), name), folder)
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=folder, check=True)
        return
    name = client.environment or client.name
    venv.create(folder, with_pip=True)
    requirements = os.path.join(FOLDER, "requirements", f"{name}.txt")
    install = [python_of(folder), "-m", "pip", "install", "--quiet", "--no-cache-dir", "--no-compile", "-r", requirements]
    subprocess.run(install, check=True)


def main():
    environments, names = os.path.abspath(sys.argv[1]), sys.argv[2:]
    for client in CLIENTS:
        folder = client.folder(environments)
        if names and client.name not in names or os.path.exists(folder):
            continue
        print(client.name, flush=True)
        try:
            make(client, folder)
        except BaseException:
            # Half an environment would be taken for a whole one.
            shutil.rmtree(folder, ignore_errors=True)
            raise


if __name__ == "__main__":
    main()

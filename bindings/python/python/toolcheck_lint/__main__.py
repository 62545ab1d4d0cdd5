"""`python -m toolcheck_lint COMMAND ...` is the program `toolcheck`."""

import sys

from ._program import main

if __name__ == "__main__":
    sys.exit(main())

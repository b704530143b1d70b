"""``python -m codeenv``."""

import sys

from codeenv.cli import main

if __name__ == "__main__":
    sys.exit(main())

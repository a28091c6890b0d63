"""`python -m rio_core` is the `rio-core` command."""

import sys

from rio_core._cli.main import main

sys.exit(main())

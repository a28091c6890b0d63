"""`python -m rio_gui` is the `rio` command."""

import sys

from rio_gui._ui.main import main

sys.exit(main())

"""`python -m tocsin` is the command `tocsin`."""

from __future__ import annotations

import sys

from tocsin.cli import main

sys.exit(main())

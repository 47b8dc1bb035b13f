"""Machine code in a file: what was exported is taken in, and nothing else is."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.processes import python
from tocsin.arrays import code_archive
from tocsin.arrays.code_archive import CONTENTS, FORMAT, import_code
from tocsin.arrays.code_levels import has_level
from tocsin.arrays.kernel_cache import made_with
from tocsin.errors import InputError

needs_level = pytest.mark.skipif(not has_level(), reason="this processor has no level that others share")

EXPORT = """
import numpy as np, sys
from pathlib import Path
from tocsin.arrays.code_archive import export_code
from tocsin.arrays.radix_sort import order_by
order_by(np.array([2, 1], np.int64))
export_code(Path(sys.argv[1]))
"""

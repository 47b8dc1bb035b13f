"""Every way to match beside the shared graph: interval, dewey, bop, bdd, dnf, scan, scan-conj. A file each.

All get the literals that hold (engine_matcher.py) and give the rules that match (engine.py says what an
engine is); registry.py has them by name, engine_layer.py puts them behind the index that users hold and
change, engine_file.py into a file, and build.py chooses between them and the shared graph of conditions/.

Begin with engine.py, then scan.py, the shortest. Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.engines.build import ENGINES, build_good, build_prepared
    from tocsin.engines.engine import Engine, RefusedRules
    from tocsin.engines.engine_layer import open_engine
    from tocsin.engines.kernels.expressions import Expressions
    from tocsin.engines.registry import BUILDERS
else:
    __getattr__ = door(__name__)

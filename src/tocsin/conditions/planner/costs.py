"""What finding and asking predicates costs on this machine: the constants of the optimiser.

`tocsin calibrate` measures them and leaves them where the next build finds them. They change which conjunct
a rule is found through, and never a result.
"""

from __future__ import annotations

import json
import math
import platform
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from tocsin.errors import InputError
from tocsin.storage import cache_folder, draft_of


@dataclass(frozen=True, slots=True)
class Costs:
    """Nanoseconds for one event.

    text_found         to find a text query by the trie filter, for each byte of the field's terms, shared
                       out among its queries (the paper's c1)
    text_hit           for each text query that a document satisfies
    text_asked         to ask a text query of a document, for each byte of its words (the paper's c2)
    text_read          to read a document again for that, shared out among what is asked of it
    structured_found   to find a structured predicate by its index
    structured_asked   to ask a structured predicate of an event
    """

    text_found: float = 0.1
    text_hit: float = 30.0
    text_asked: float = 3.0
    text_read: float = 400.0
    structured_found: float = 0.1
    structured_asked: float = 0.1


def costs_file() -> Path:
    """Where the measured constants are kept."""
    return cache_folder("costs", platform.node() or "machine") / "costs.json"


@cache
def known_costs() -> Costs:
    """The constants that were measured on this machine, or those of a common one; read once a process."""
    path = costs_file()
    if not path.exists():
        return Costs()
    try:
        found = Costs(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{path} is damaged: run 'tocsin calibrate' again, or delete it") from error
    if not all(isinstance(value, float) and 0 < value < math.inf for value in asdict(found).values()):
        raise InputError(f"{path} is damaged: run 'tocsin calibrate' again, or delete it")
    return found


def keep_costs(costs: Costs) -> Path:
    """Keep measured constants for this machine; where."""
    path = costs_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    with draft_of(path) as draft:
        draft.write_text(json.dumps(asdict(costs), indent=2) + "\n")
    known_costs.cache_clear()
    return path

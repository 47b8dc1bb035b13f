"""One target for a while: `python -m tests.fuzz condition --seconds 600`, which `make fuzz` runs.

Guided by coverage where the package atheris is there, else by chance alone. What fails is written to the
target's cases, where the tests find it from then on.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import warnings
from hashlib import blake2b
from importlib import import_module
from pkgutil import walk_packages
from tempfile import TemporaryDirectory
from types import ModuleType

from tests.fuzz.mutation import mutated

import tocsin


def main() -> None:
    """Until the time is over or an input fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", help="one of the targets, or all of them in turn: all")
    parser.add_argument("--seconds", type=int, default=60, help="for each target (default 60)")
    parser.add_argument("--seed", type=int, default=None, help="of the random inputs (default: the time)")
    parser.add_argument("--unguided", action="store_true", help="by chance, though atheris is there")
    arguments = parser.parse_args()
    guide = None if arguments.unguided else _guide()
    if guide is not None:
        for module in walk_packages(tocsin.__path__, "tocsin."):
            if {"arrays", "kernels"} & set(module.name.split(".")):
                import_module(module.name)  # before the others: Numba compiles no instrumented code
        with guide.instrument_imports(include=["tocsin"]):
            from tests.fuzz.targets import TARGETS
    else:
        from tests.fuzz.targets import TARGETS
    warnings.simplefilter("ignore")
    names = list(TARGETS) if arguments.target == "all" else [arguments.target]
    if unknown := set(names) - set(TARGETS):
        parser.error(f"there is no target {unknown.pop()}; there are {', '.join(TARGETS)}")
    seed = int(time.time()) if arguments.seed is None else arguments.seed
    if guide is None:
        for name in names:
            _by_chance(name, arguments.seconds, seed)
    elif len(names) == 1:
        _guided(guide, names[0], arguments.seconds, seed)
    else:
        sys.exit("atheris runs one target in a process: name one, or give --unguided")


def _guide() -> ModuleType | None:
    try:
        import atheris
    except ImportError as error:
        print(f"not guided by coverage: {error}", file=sys.stderr)
        return None
    return atheris  # type: ignore[no-any-return]


def _by_chance(name: str, seconds: int, seed: int) -> None:
    from tests.fuzz.targets import TARGETS

    target = TARGETS[name]
    rng = random.Random(f"{name} {seed}")
    end = time.monotonic() + seconds
    count = 0
    while time.monotonic() < end:
        _checked(name, mutated(rng, target.corpus, target.words))
        count += 1
    print(f"{name}: {count:,} inputs of seed {seed}, all well")


def _guided(guide: ModuleType, name: str, seconds: int, seed: int) -> None:
    """libFuzzer's loop, with the corpus as its seeds and our mutations beside its own."""
    from tests.fuzz.targets import TARGETS

    target = TARGETS[name]

    def custom(data: bytes, size: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.5:
            return guide.Mutate(data, size)  # type: ignore[no-any-return]
        return mutated(rng, [data], target.words)[:size]

    with TemporaryDirectory() as folder:
        for number, data in enumerate(target.corpus):
            with open(f"{folder}/{number}", "wb") as file:  # noqa: PTH123
                file.write(data)
        options = [f"-max_total_time={seconds}", f"-seed={seed % 2**31}", "-max_len=4096", "-timeout=900"]
        guide.Setup([sys.argv[0], *options, folder], lambda data: _checked(name, data), custom_mutator=custom)
        guide.Fuzz()


def _checked(name: str, data: bytes) -> None:
    from tests.fuzz.targets import CASES, TARGETS

    try:
        TARGETS[name].check(data)
    except BaseException:
        path = CASES / name / blake2b(data, digest_size=6).hexdigest()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        print(f"failed: {path}", file=sys.stderr)
        raise


if __name__ == "__main__":
    main()

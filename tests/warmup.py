"""Compile the kernels that the tests need: `python -m tests.warmup`, which `make fast` runs first.

Compiled code is cached, so that it takes a while once. Without this each process of the tests would wait for
what the others are compiling at the same time.
"""

from __future__ import annotations

from tocsin.cli.warm import compile_all


def main() -> None:
    """What everybody needs, and every engine on one event, on a table and on counts."""
    compile_all()


if __name__ == "__main__":
    main()

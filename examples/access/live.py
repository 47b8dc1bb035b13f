"""Who may do what right now, told the moment it changes.

python examples/access/live.py
"""

from __future__ import annotations

from pathlib import Path

import tocsin

HERE = Path(__file__).parent


def main() -> None:
    """Load the facts, then let the day go on."""
    program = tocsin.Program.read(HERE / "access.dl")
    files = ("near", "may", "asks", "member", "banned")
    engine = program.start(facts={name: HERE / "facts" / f"{name}.facts" for name in files})
    print("granted:", engine.query("granted"))

    print("bob becomes an editor, and so one of the staff:")
    show(engine.insert("member", ("bob", "editors")))
    print("ada is banned, and cyn walks over to the printer for 5 minutes:")
    show(engine.apply([("+", "banned", ("ada",)), ("-", "near", ("cyn", "screen"))]))
    show(engine.insert("near", ("cyn", "printer"), ttl=5))
    print("5 minutes later:")
    show(engine.advance(5))
    print("Why does bob get paper?")
    print(engine.why("granted", ("bob", "printer", "paper")))


def show(changes: tocsin.Changes) -> None:
    """What came and what went."""
    for sign, changed in (("+", changes.added), ("-", changes.removed)):
        for relation, tuples in changed.items():
            for each in tuples:
                print(f"  {sign} {relation}{each}")


if __name__ == "__main__":
    main()

"""How arrays that are filled one by one get longer."""

from __future__ import annotations

from tocsin.kernels.jit import kernel


@kernel
def enlarged(room: int, needed: int) -> int:
    """The room there is when it is enough, else at least twice as much: so copying costs little."""
    return room if needed <= room else max(needed, 2 * room)

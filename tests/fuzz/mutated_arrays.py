"""Saved files changed at random, with checksums that are right again."""

from __future__ import annotations

import json
import random
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.array_file import MAGIC, VERSION

Arrays = dict[str, NDArray[Any]]

_START = 64
_TYPES = ("|b1", "|u1", "<i2", "<i4", "<i8", "<u8", "<f4", "<f8", "|O", "<M8[s]", "|V8", "nonsense", "<U4")
_NONSENSE: tuple[Any, ...] = (
    None,
    True,
    -1,
    1 << 63,
    1 << 200,
    0.5,
    "",
    "x",
    [],
    [[]],
    {},
    [1],
    [["a"]],
    {"a": 1},
)


def read(data: bytes) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a saved file."""
    size = int.from_bytes(data[24:32], "little")
    header = json.loads(data[_START : _START + size])
    start = -(-(_START + size) // 64) * 64
    arrays = {
        name: np.frombuffer(data, dtype, count, start + offset).copy()
        for name, dtype, count, offset in header["arrays"]
    }
    return header, arrays


def written(header: dict[str, Any], arrays: Arrays) -> bytes:
    """A file of these, as save_arrays would write it."""
    places = []
    body = b""
    for name, array in arrays.items():
        body += bytes(-len(body) % 64)
        places.append([name, array.dtype.str, len(array), len(body)])
        body += array.tobytes()
    return sealed(json.dumps({**header, "arrays": places}).encode(), body)


def sealed(header: bytes, body: bytes) -> bytes:
    """A file with this header and body, and right checksums."""
    gap = bytes(-(_START + len(header)) % 64)
    size = _START + len(header) + len(gap) + len(body)
    sums = (blake2b(part, digest_size=16).digest() for part in (header, body))
    numbers = (number.to_bytes(8, "little") for number in (VERSION, size, len(header)))
    return MAGIC + b"".join(numbers) + b"".join(sums) + header + gap + body


def mutated(data: bytes, draw: random.Random, only: tuple[str, ...] = ("",)) -> tuple[str, bytes]:
    """A file with one or a few changes, and what they are; in arrays whose names begin so."""
    header, arrays = read(data)
    names = [name for name in arrays if name.startswith(only)]
    if draw.random() < 0.12:
        return _with_odd_header(header, arrays, draw)
    done = []
    for _ in range(draw.choice((1, 1, 1, 1, 2, 3))):
        name = draw.choice([name for name in names if len(arrays[name])] or names)
        how = draw.choice(
            (_values, _values, _values, _swap, _cut, _noise, _longer, _retyped, _shuffled, _repeat)
        )
        arrays[name], said = how(arrays[name], draw)
        done.append(f"{name}: {said}")
    return "; ".join(done), written(header, arrays)


def _place(array: NDArray[Any], draw: random.Random) -> int:
    return draw.choice((0, len(array) - 1, draw.randrange(len(array))))


def _values(array: NDArray[Any], draw: random.Random) -> tuple[NDArray[Any], str]:
    if not len(array):
        return array, "empty"
    changed = array.copy()
    kind = array.dtype
    said = []
    for _ in range(draw.choice((1, 1, 1, 2, 5))):
        at = _place(array, draw)
        if kind.kind == "f":
            value: Any = draw.choice((np.nan, np.inf, -np.inf, -1.0, 0.0, 1e300))
        elif kind.kind == "b":
            value = not array[at]
        else:
            limits = np.iinfo(kind)
            near = int(array[at]) + draw.choice((-2, -1, 1, 2, 64, 256, -256))
            other = int(array[draw.randrange(len(array))])
            bit = int(array[at]) ^ (1 << draw.randrange(kind.itemsize * 8 - 1))
            value = draw.choice(
                (limits.min, limits.max, 0, 1, -1, near, near, near, other, bit, len(array), limits.max // 2)
            )
            value = min(max(value, limits.min), limits.max)
        changed[at] = value
        said.append(f"[{at}] = {value}")
    return changed, ", ".join(said)


def _swap(array: NDArray[Any], draw: random.Random) -> tuple[NDArray[Any], str]:
    if not len(array):
        return array, "empty"
    changed, a, b = array.copy(), _place(array, draw), draw.randrange(len(array))
    changed[[a, b]] = array[[b, a]]
    return changed, f"swap {a} {b}"


def _cut(array: NDArray[Any], draw: random.Random) -> tuple[NDArray[Any], str]:
    size = draw.choice((0, 1, max(0, len(array) - 1), len(array) // 2))
    return array[:size].copy(), f"[:{size}]"


def _longer(array: NDArray[Any], draw: random.Random) -> tuple[NDArray[Any], str]:
    more = draw.choice((1, 3, 64))
    last = array[-1:] if len(array) and draw.random() < 0.7 else np.zeros(1, array.dtype)
    return np.concatenate([array, np.repeat(last, more)]), f"{more} more"


def _noise(array: NDArray[Any], draw: random.Random) -> tuple[NDArray[Any], str]:
    seed = draw.getrandbits(32)
    noise = np.random.default_rng(seed).bytes(array.nbytes)
    return np.frombuffer(noise, array.dtype).copy(), f"noise {seed}"


def _retyped(array: NDArray[Any], draw: random.Random) -> tuple[NDArray[Any], str]:
    kind = draw.choice(("i1", "u1", "i2", "i4", "i8", "u4", "u8", "f4", "f8", "?"))
    return array.astype(kind), f"as {kind}"


def _shuffled(array: NDArray[Any], draw: random.Random) -> tuple[NDArray[Any], str]:
    seed = draw.getrandbits(32)
    return np.random.default_rng(seed).permutation(array), f"shuffled {seed}"


def _repeat(array: NDArray[Any], draw: random.Random) -> tuple[NDArray[Any], str]:
    if not len(array):
        return array, "empty"
    at = _place(array, draw)
    return np.full_like(array, array[at]), f"all as [{at}]"


def _with_odd_header(header: dict[str, Any], arrays: Arrays, draw: random.Random) -> tuple[str, bytes]:
    data = written(header, arrays)
    size = int.from_bytes(data[24:32], "little")
    said: dict[str, Any] = json.loads(data[_START : _START + size])
    body = data[-(-(_START + size) // 64) * 64 :]
    if draw.random() < 0.1:
        bomb = draw.choice(
            (b"[" * 100_000, b'{"arrays":' * 50_000, b"", b"null", b"[]", b"\xff", b"1" * 5000)
        )
        return f"header {bomb[:20]!r}...", sealed(bomb, body)
    if draw.random() < 0.5:
        entry = draw.randrange(len(said["arrays"]))
        part = draw.randrange(5)
        if part == 4:
            said["arrays"][entry] = draw.choice((*_NONSENSE, said["arrays"][0], said["arrays"][-1]))
        else:
            old = said["arrays"][entry][part]
            near = (old + 1, old + 64, old - 64, 0) if isinstance(old, int) else ("links.link", "graph.root")
            said["arrays"][entry][part] = draw.choice((*_NONSENSE, *near, *(_TYPES if part == 1 else ())))
        return f"header's array {entry}: {said['arrays'][entry]!r}", sealed(json.dumps(said).encode(), body)
    holder, key = said, draw.choice([key for key in said if key != "arrays"])
    while isinstance(holder[key], dict) and holder[key] and draw.random() < 0.7:
        holder = holder[key]
        key = draw.choice(list(holder))
    if draw.random() < 0.2:
        del holder[key]
    elif isinstance(holder[key], list) and holder[key] and draw.random() < 0.5:
        holder[key][draw.randrange(len(holder[key]))] = draw.choice(_NONSENSE)
    else:
        holder[key] = draw.choice(_NONSENSE)
    return f"header's {key}: {holder.get(key, 'gone')!r}", sealed(json.dumps(said).encode(), body)

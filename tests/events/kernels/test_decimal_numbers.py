"""Digits are the double that Python finds, or none; bytes are UTF-8 where Python takes them."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tocsin.arrays.dtypes import Bytes, Doubles, Longs, Words
from tocsin.arrays.jit import kernel
from tocsin.events.kernels.decimal_numbers import double_of
from tocsin.events.kernels.utf8 import is_utf8


@kernel
def _doubles(mantissa: Words, exponent: Longs) -> Doubles:
    found = np.empty(mantissa.size, np.float64)
    for i in range(mantissa.size):
        found[i] = double_of(mantissa[i], exponent[i])
    return found


def _double(mantissa: int, exponent: int) -> float:
    return float(_doubles(np.array([mantissa], np.uint64), np.array([exponent], np.int64))[0])


@given(st.integers(0, 2**64 - 1), st.one_of(st.integers(-30, 30), st.integers(-400, 400)))
def test_the_nearest_double(mantissa: int, exponent: int) -> None:
    found = _double(mantissa, exponent)
    assert math.isnan(found) or found == float(f"{mantissa}e{exponent}")


@given(st.floats(1e-290, 1e290))
def test_what_floats_are_written_as(value: float) -> None:
    digits, _, exponent = f"{value:.16e}".partition("e")
    found = _double(int(digits.replace(".", "")), int(exponent) - 16)
    assert math.isnan(found) or found == value


@given(st.integers(2**53, 2**54 - 1), st.integers(0, 9))
def test_halfway_is_left_open_or_even(odd: int, zeros: int) -> None:
    found = _double(2 * odd + 1, 0)
    assert math.isnan(found) or found == float(2 * odd + 1)
    found = _double(odd, -zeros)
    assert math.isnan(found) or found == float(f"{odd}e-{zeros}")


def test_most_are_known() -> None:
    values = np.random.default_rng(1).random(10_000)
    written = [f"{value:.16e}".split("e") for value in values.tolist()]
    mantissa = np.array([int(digits.replace(".", "")) for digits, _ in written], np.uint64)
    found = _doubles(mantissa, np.array([int(exponent) - 16 for _, exponent in written], np.int64))
    assert np.isnan(found).sum() < 50
    assert (np.isnan(found) | (found == values)).all()


def _data(text: bytes) -> Bytes:
    return np.frombuffer(bytearray(text + b"\xbf" * 8), np.uint8)


def _is_text(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


PIECES = st.one_of(
    st.binary(max_size=4), st.text(max_size=6).map(lambda text: text.encode("utf-8", "surrogatepass"))
)


@given(st.lists(PIECES, max_size=8).map(b"".join))
def test_utf8(text: bytes) -> None:
    assert is_utf8(_data(text), 0, len(text)) == _is_text(text)


def test_every_pair_and_first_bytes_of_three_and_four() -> None:
    for first in range(128, 256):
        for second in range(256):
            for rest in (b"", b"\x80", b"\x80\x80", b"\xbf\xbf", b"\xbfa"):
                text = bytes([first, second]) + rest
                assert is_utf8(_data(text), 0, len(text)) == _is_text(text)

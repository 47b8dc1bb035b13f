"""IP addresses and networks, as numbers on one line.

IPv4 and IPv6 share one line of 128-bit numbers: an IPv4 address stands where IPv6 maps it, at
::ffff:0:0/96, so `10.0.0.1` and `::ffff:10.0.0.1` are the same address. An IPv6 network that spans the
mapped part does not hold the IPv4 addresses (`::/0` is every IPv6 address and no IPv4 one), so it is
the part before and the part after:

    ::/0        0 ........ ::fffe:ffff:ffff │ IPv4 │ ::1:0:0:0 ........ ffff:...:ffff
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_network

FIRST_V4 = 0xFFFF << 32
LAST_V4 = FIRST_V4 | 0xFFFF_FFFF

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Network:
    """A network: its canonical text, and its addresses as inclusive ranges, ascending, one or two."""

    text: str
    ranges: tuple[Range, ...]

    def __contains__(self, address: int) -> bool:
        return any(first <= address <= last for first, last in self.ranges)


def parse_address(text: str) -> int | None:
    """The place of an address on the line, or None when the text is no address.

    What Python's ipaddress accepts, and nothing around it: no spaces, no port, no prefix length, no
    leading zeros in IPv4. A zone (`fe80::1%eth0`) says on which link the address is meant, not which
    address it is, and is left out of account.
    """
    try:
        if ":" in text:
            return int(IPv6Address(text))
        return FIRST_V4 | int(IPv4Address(text))
    except AddressValueError:
        return None


def parse_network(text: str) -> Network:
    """A network in CIDR notation; a bare address is the network of that address alone.

    Raises ValueError with a reason that suggests the right text where there is one.
    """
    base, slash, length = text.partition("/")
    address = parse_address(base)
    if address is None or "%" in base:
        raise ValueError(f"{_shown(base)} is not an IPv4 or IPv6 address")
    width = 128 if ":" in base else 32
    prefix = _prefix_length(length, width, base) if slash else width
    if width == 32:
        prefix += 96
    host_bits = (1 << (128 - prefix)) - 1
    first, last = address & ~host_bits, address | host_bits
    if first != address:
        raise ValueError(
            f"{_shown(text)} has host bits set: did you mean {_network_text(first, prefix)}, "
            f"or the single address {_network_text(address, 128)}?"
        )
    return Network(_network_text(first, prefix), _ranges(first, last))


def _prefix_length(digits: str, width: int, base: str) -> int:
    readable = digits.isascii() and digits.isdigit() and len(digits) <= 3
    if readable and int(digits) <= width:
        return int(digits)
    if "." in digits or ":" in digits:
        try:
            meant = ip_network(f"{base}/{digits}", strict=False).prefixlen
        except ValueError:
            pass
        else:
            raise ValueError(f"a network is written with its prefix length: /{meant}, not a mask")
    raise ValueError(f"the prefix length after '/' must be a number from 0 to {width}, not {_shown(digits)}")


def _ranges(first: int, last: int) -> tuple[Range, ...]:
    within = first >= FIRST_V4 and last <= LAST_V4
    apart = last < FIRST_V4 or first > LAST_V4
    if within or apart:
        return ((first, last),)
    around = ((first, FIRST_V4 - 1), (LAST_V4 + 1, last))
    return tuple((low, high) for low, high in around if low <= high)


def _network_text(first: int, prefix: int) -> str:
    if FIRST_V4 <= first <= LAST_V4 and prefix >= 96:
        return f"{IPv4Address(first - FIRST_V4)}/{prefix - 96}"
    return f"{IPv6Address(first)}/{prefix}"


def _shown(text: str) -> str:
    """The text as an error shows it: quoted, and not longer than any address could be."""
    return repr(text) if len(text) <= 60 else repr(text[:57] + "...")

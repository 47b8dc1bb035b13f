from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.conditions.language import parse_address, parse_network
from tocsin.conditions.language.addresses import FIRST_V4, LAST_V4

TOP = (1 << 128) - 1


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("0.0.0.0", FIRST_V4),
        ("255.255.255.255", LAST_V4),
        ("10.0.0.1", FIRST_V4 + 0x0A000001),
        ("::ffff:10.0.0.1", FIRST_V4 + 0x0A000001),
        ("::FFFF:a00:1", FIRST_V4 + 0x0A000001),
        ("::", 0),
        ("::1", 1),
        ("::10.0.0.1", 0x0A000001),
        ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", TOP),
        ("fe80::1%eth0", 0xFE80 << 112 | 1),
    ],
)
def test_addresses(text: str, place: int) -> None:
    assert parse_address(text) == place


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "x", "10.0.0", "10.0.0.256", "10.0.0.1.1", "010.0.0.1", "0x0a.0.0.1", "1", "167772161"),
        *(" 10.0.0.1", "10.0.0.1 ", "10.0.0.1\n", "10.0.0.1:80", "10.0.0.0/8", "10.0.0.1%eth0", "١٠.0.0.1"),
        *(":", ":::", "::1::", "1:2:3:4:5:6:7", "12345::", "[::1]", "::1/128", "fe80::1%", "::1%a%b", "g::"),
        "1" * 100_000,
        ":" * 100_000,
    ],
)
def test_not_addresses(text: str) -> None:
    assert parse_address(text) is None


@pytest.mark.parametrize(
    ("text", "canonical", "ranges"),
    [
        ("10.0.0.0/8", "10.0.0.0/8", ((FIRST_V4 + (10 << 24), FIRST_V4 + (11 << 24) - 1),)),
        ("::ffff:10.0.0.0/104", "10.0.0.0/8", ((FIRST_V4 + (10 << 24), FIRST_V4 + (11 << 24) - 1),)),
        ("::ffff:0:0/96", "0.0.0.0/0", ((FIRST_V4, LAST_V4),)),
        ("0.0.0.0/0", "0.0.0.0/0", ((FIRST_V4, LAST_V4),)),
        ("10.0.0.1", "10.0.0.1/32", ((FIRST_V4 + 0x0A000001,) * 2,)),
        ("::1", "::1/128", ((1, 1),)),
        ("::/0", "::/0", ((0, FIRST_V4 - 1), (LAST_V4 + 1, TOP))),
        ("::/80", "::/80", ((0, FIRST_V4 - 1),)),
        ("::fffe:0:0/95", "::fffe:0:0/95", ((FIRST_V4 - (1 << 32), FIRST_V4 - 1),)),
        ("2001:DB8::/32", "2001:db8::/32", ((0x20010DB8 << 96, (0x20010DB9 << 96) - 1),)),
    ],
)
def test_networks(text: str, canonical: str, ranges: tuple[tuple[int, int], ...]) -> None:
    network = parse_network(text)
    assert (network.text, network.ranges) == (canonical, ranges)
    assert parse_network(network.text) == network


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("10.0.0.1/8", "did you mean 10.0.0.0/8, or the single address 10.0.0.1/32"),
        ("2001:db8::1/32", "did you mean 2001:db8::/32, or the single address 2001:db8::1/128"),
        ("::ffff:10.0.0.1/104", "did you mean 10.0.0.0/8"),
        ("10.0.0.0/33", "from 0 to 32"),
        ("::/129", "from 0 to 128"),
        ("10.0.0.0/", "from 0 to 32, not ''"),
        ("10.0.0.0/-1", "from 0 to 32"),
        ("10.0.0.0/8/8", "from 0 to 32"),
        ("10.0.0.0/٨", "from 0 to 32"),
        ("10.0.0.0/255.0.0.0", "prefix length: /8, not a mask"),
        ("10.0.0.0/" + "9" * 10_000, "from 0 to 32"),
        ("10.0.0/8", "not an IPv4 or IPv6 address"),
        ("fe80::%eth0/64", "not an IPv4 or IPv6 address"),
        ("", "not an IPv4 or IPv6 address"),
        ("x" * 10_000, r"^'x{57}\.\.\.' is not"),
    ],
)
def test_what_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as refused:
        parse_network(text)
    assert len(str(refused.value)) < 250


ADDRESSES = st.ip_addresses() | st.integers(0, 2**32 - 1).map(lambda number: IPv6Address(FIRST_V4 | number))


def unmapped(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    return getattr(address, "ipv4_mapped", None) or address


@given(ADDRESSES, ADDRESSES, st.integers(0, 128))
def test_membership_is_that_of_ipaddress_once_mapped_addresses_are_v4(
    base: IPv4Address | IPv6Address, other: IPv4Address | IPv6Address, prefix: int
) -> None:
    base = unmapped(base)
    expected = ip_network(f"{base}/{prefix % (base.max_prefixlen + 1)}", strict=False)
    network = parse_network(str(expected))
    for address in (base, other, expected[0], expected[-1]):
        place = parse_address(str(address))
        assert place is not None
        assert (place in network) == (unmapped(ip_address(str(address))) in expected)

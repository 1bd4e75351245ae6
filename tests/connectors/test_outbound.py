"""Which hosts may be called: named ones, public ones where the operator says so, and some addresses never."""

from __future__ import annotations

import pytest

from app.core.errors import ForbiddenError, UnavailableError
from ingest.connectors.outbound import checked_address, guard


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "fe80::1%eth0",
        "100.100.100.200",
        "fd00:ec2::254",
        "::ffff:169.254.169.254",
        "0.0.0.0",
        "224.0.0.1",
    ],
)
def test_metadata_and_link_local_addresses_are_refused_even_for_a_named_host(address: str) -> None:
    with pytest.raises(ForbiddenError, match="never called"):
        guard(frozenset({"proxy.example", "*"}))("proxy.example", address)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "192.168.0.9", "::1", "fd12::1", "::ffff:10.0.0.1"])
def test_private_addresses_need_their_host_by_name(address: str) -> None:
    guard(frozenset({"proxy.internal"}))("Proxy.Internal.", address)
    with pytest.raises(ForbiddenError, match="not an allowed host"):
        guard(frozenset({"*"}))("proxy.internal", address)


def test_public_hosts_are_allowed_by_a_star_or_by_name_and_not_otherwise() -> None:
    guard(frozenset({"*"}))("api.example", "93.184.216.34")
    guard(frozenset({"api.example"}))("api.example", "93.184.216.34")
    with pytest.raises(ForbiddenError, match="HALVE_ALLOW_HOSTS"):
        guard(frozenset())("api.example", "93.184.216.34")


def test_the_address_that_was_checked_is_the_one_that_is_used() -> None:
    seen: list[tuple[str, str]] = []
    address = checked_address("127.0.0.1", 80, lambda host, found: seen.append((host, found)))
    assert seen == [("127.0.0.1", address)]


def test_a_name_that_does_not_resolve_is_said() -> None:
    with pytest.raises(UnavailableError, match="cannot be resolved"):
        checked_address("no-such-host.invalid", 80, lambda host, found: None)

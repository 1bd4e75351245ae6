"""Which hosts Halve may call: those named by the operator, and never an address that only the machine itself knows."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address

from app.core.errors import ForbiddenError, UnavailableError

# Called with the host's name and one address that it resolves to; raises ForbiddenError to refuse.
Guard = Callable[[str, str], None]

# Metadata services of clouds that do not live in a link-local range.
_METADATA = frozenset(map(ip_address, ("100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254")))


def guard(allowed: frozenset[str]) -> Guard:
    """Allow the named hosts; `*` allows every public one. Private and loopback addresses need their host's name."""
    names = frozenset(name.lower().rstrip(".") for name in allowed)

    def check(host: str, address: str) -> None:
        ip = _plain(address)
        if ip.is_link_local or ip.is_multicast or ip.is_unspecified or ip in _METADATA:
            raise ForbiddenError(f"{host} stands for {address}, an address that is never called.")
        if host.lower().rstrip(".") in names or ("*" in names and ip.is_global):
            return
        raise ForbiddenError(_not_allowed(host))

    return check


def checked_address(host: str, port: int, check: Guard) -> str:
    """One address of the host, after every address it resolves to has passed; connect to this one, not to the name.

    Raises:
        ForbiddenError: an address is refused.
        UnavailableError: the name does not resolve.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise UnavailableError(f"The host {host} cannot be resolved: {error.strerror}. Check its name.") from error
    addresses = [str(entry[4][0]) for entry in found]
    for address in addresses:
        check(host, address)
    return addresses[0]


def refuse_hosts(hosts: Sequence[tuple[str, int]], allowed: frozenset[str]) -> None:
    """Refuse now what `guard(allowed)` would refuse later; a name that does not resolve yet is judged by itself.

    Raises:
        ForbiddenError: one of the (name, port) may not be called.
    """
    check = guard(allowed)
    for host, port in hosts:
        try:
            checked_address(host, port, check)
        except UnavailableError as error:
            if not {host.lower().rstrip("."), "*"} & {name.lower().rstrip(".") for name in allowed}:
                raise ForbiddenError(_not_allowed(host)) from error


def _not_allowed(host: str) -> str:
    return f"{host} is not an allowed host. Add it to HALVE_ALLOW_HOSTS if it should be called."


def _plain(address: str) -> IPv4Address | IPv6Address:
    """An address without zone; one that wraps an IPv4 address counts as that one."""
    ip = ip_address(address.partition("%")[0])
    return ip.ipv4_mapped or ip.sixtofour or ip if isinstance(ip, IPv6Address) else ip

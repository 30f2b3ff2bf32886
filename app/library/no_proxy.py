"""Which addresses are asked straight, past the proxy: ``NO_PROXY``, read as the HTTP library reads it.

urllib reads it otherwise: it knows no networks (``10.0.0.0/8``) and no addresses with a scheme.
"""

from __future__ import annotations

from contextlib import suppress
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final
from urllib.parse import SplitResult, urlsplit

_USUAL_PORTS: Final = {"http": 80, "https": 443}


def goes_past(url: SplitResult, left_out: str) -> bool:
    """Whether ``url`` is among what ``NO_PROXY`` lists. ValueError where ``url`` makes no sense."""
    return any(_covers(entry.strip().lower(), url) for entry in left_out.split(","))


def _covers(entry: str, url: SplitResult) -> bool:
    if entry in ("", "*"):
        return entry == "*"
    scheme, has_scheme, place = entry.rpartition("://")
    if has_scheme and scheme not in ("all", url.scheme):
        return False
    if (network := _network(place)) is not None:
        return _is_in(url.hostname or "", network)
    if "/" in place and not has_scheme:
        return False  # a network that makes no sense leaves out nothing
    try:
        parts = urlsplit(f"//{place}")
        host, port = parts.hostname or "", _told(parts.port, scheme)
    except ValueError:
        return False
    if port is not None and port != _told(url.port, url.scheme):
        return False
    if not has_scheme:
        # A bare name stands for what is below it, too.
        as_it_is = place == "localhost" or place.startswith(("[", "*."))
        return _fits(host if as_it_is else f"*{host}", url.hostname or "")
    return _fits(host, url.hostname or "") if host else scheme == url.scheme


def _fits(pattern: str, host: str) -> bool:
    """``*.x``: what is below x; ``*x``: x and that; ``x``: x alone."""
    if pattern.startswith("*."):
        return host.endswith(pattern[1:]) and host != pattern[1:]
    if len(pattern) > 1 and pattern.startswith("*"):
        return host == pattern[1:] or host.endswith(f".{pattern[1:]}")
    return host == pattern


def _network(place: str) -> IPv4Network | IPv6Network | None:
    """An address, or a network such as ``10.0.0.0/8``."""
    _, has_length, length = place.partition("/")
    if has_length and not length.isdigit():
        return None
    with suppress(ValueError):
        return ip_network(place, strict=False)
    return None


def _is_in(host: str, network: IPv4Network | IPv6Network) -> bool:
    with suppress(ValueError):
        return ip_address(host) in network
    return False


def _told(port: int | None, scheme: str) -> int | None:
    """The port of an address as the HTTP library keeps it: not the usual one of the scheme."""
    return None if port == _USUAL_PORTS.get(scheme) else port

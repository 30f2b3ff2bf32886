"""The proxy of the user's environment: which variable names it, whether it can be used, whether it serves an address.

As urllib and the HTTP library read them. The variable is told and never its value, which may hold a password.
"""

from __future__ import annotations

import importlib.util
import os
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

SCHEMES: Final = ("http", "https", "all")
SYSTEM: Final = "the system's settings"
"""Where no variable names it: macOS and Windows have such settings of their own."""


def serving(url: str) -> str | None:
    """What names the proxy that requests to ``url`` go through: ``https_proxy``; None: they go straight."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return None
    found = getproxies()
    scheme = next((scheme for scheme in (parts.scheme, "all") if found.get(scheme)), None)
    return None if scheme is None or proxy_bypass(host) else _named_by(scheme)


def through(url: str) -> str:
    """``, asked through the proxy in https_proxy``; empty for what goes straight."""
    name = serving(url)
    return f", asked through the proxy in {name}" if name is not None else ""


def unusable() -> tuple[str, str] | None:
    """What names a proxy that no request can go through, and why in one phrase; None: there is none. With one, the HTTP
    library asks nobody, whatever the address."""
    found = getproxies()
    if "*" in (host.strip() for host in found.get("no", "").split(",")):
        return None
    for scheme in SCHEMES:
        if found.get(scheme) and (why := _why_unusable(found[scheme])):
            return _named_by(scheme), why
    return None


def _named_by(scheme: str) -> str:
    """The variable that counts for a scheme: in lower case before any other spelling."""
    wanted = f"{scheme}_proxy"
    spellings = [wanted, *(name for name in os.environ if name.lower() == wanted)]
    return next((name for name in spellings if os.environ.get(name)), SYSTEM)


def _why_unusable(value: str) -> str:
    import httpx2  # late: a chat does not need it

    try:
        url = httpx2.Proxy(value if "://" in value else f"http://{value}").url
    except (ValueError, httpx2.InvalidURL):
        return "its address is not valid"
    if not url.host or (url.port is not None and not 0 < url.port < 65_536):
        return "its address is not valid"
    if url.scheme.startswith("socks") and importlib.util.find_spec("socksio") is None:
        return "the Python package socksio, which it needs, is missing"
    return ""

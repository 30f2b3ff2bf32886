"""The proxy of the user's environment: which variable names it, whether it can be used, whether it serves an address.

As the HTTP library reads them, for metadata and transfers alike. The variable is told and never its value, which may
hold a password.
"""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies

from app.library.no_proxy import goes_past

SCHEMES: Final = ("http", "https", "all")
SYSTEM: Final = "the system's settings"
"""Where no variable names it: macOS and Windows have such settings of their own."""


@dataclass(frozen=True, slots=True)
class InUse:
    """The proxy that requests go through. ``name``: what names it (``https_proxy``)."""

    name: str
    encrypted: bool = False
    """Given as ``https://``: it is spoken to with TLS, whatever it is asked for."""
    logs_in: bool = False
    """A name or a password is given with it."""


def in_use(url: str) -> InUse | None:
    """The proxy that requests to ``url`` go through; None: they go straight."""
    try:
        parts = urlsplit(url)
        found = getproxies()
        scheme = next((scheme for scheme in (parts.scheme, "all") if found.get(scheme)), None)
        if scheme is None or goes_past(parts, found.get("no", "")):
            return None
    except ValueError:
        return None
    how, mark, rest = found[scheme].rpartition("://")
    return InUse(_named_by(scheme), bool(mark) and how.lower() == "https", "@" in rest.partition("/")[0])


def serving(url: str) -> str | None:
    """What names the proxy that requests to ``url`` go through: ``https_proxy``; None: they go straight."""
    proxy = in_use(url)
    return None if proxy is None else proxy.name


def through(url: str) -> str:
    """``, asked through the proxy in https_proxy``; empty for what goes straight."""
    name = serving(url)
    return f", asked through the proxy in {name}" if name is not None else ""


def login_refused(proxy: InUse | None) -> tuple[str, str]:
    """What to say of status 407 and what helps, in one phrase each."""
    if proxy is not None and proxy.logs_in:
        return f"the proxy does not accept the name and the password in {proxy.name}", "correct them"
    name = "HTTPS_PROXY" if proxy is None else proxy.name
    return "the proxy asks for a name and a password", f"put them into {name}"


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

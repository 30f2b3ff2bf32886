"""One GET on a thread of its own, so that whoever waits for its bytes can walk away in any state of the network.

A name lookup, a connection being made or a silent server cannot be interrupted; the thread that hangs in it is left
behind, its socket shut down, and ends when the system lets it.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from app.library.proxies import InUse, in_use, login_refused, serving
from app.library.transfer.errors import Again, Refused
from app.library.transfer.patience import Patience
from app.library.transfer.wanted import host_of, normal_etag
from app.library.transfer.words import duration

MAX_REDIRECTS = 5

AHEAD = 16
"""Pieces (of 64 KiB at most) that may wait to be written; what a kill loses beside what the system holds."""

ONLINE = "start it again when the network is back"

FOR_EVERYBODY = {"accept", "accept-encoding", "if-range", "range", "user-agent"}
"""Headers that another host may see after a redirect; the token is not among them."""


@dataclass(frozen=True)
class Head:
    """The beginning of an answer."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    host: str
    """Who answered in the end."""
    at_home: bool
    """Whether that is the host that was asked first."""
    hub_etag: str | None
    """The hub's identity of the file, told on the way."""
    hub_size: int | None
    with_token: bool = False
    """Whether the hub was shown an access token."""
    proxy: InUse | None = None
    """Through which proxy the answer came."""


class Stream:
    """``Head``, then ``bytes`` as they come, then ``None``; or :class:`Again` or :class:`Refused`, raised by get."""

    def __init__(self, client: httpx2.Client, url: str, headers: Mapping[str, str], patience: Patience) -> None:
        self._client = client
        self._url = url
        self._headers = dict(headers)
        self._patience = patience
        self._items: queue.Queue[Head | bytes | Again | Refused | None] = queue.Queue(AHEAD)
        self._left = threading.Event()
        self._socket: Any = None
        threading.Thread(target=self._run, name="transfer", daemon=True).start()

    def get(self, timeout: float) -> Head | bytes | None:
        """The next item; :class:`queue.Empty` when there is none in time."""
        item = self._items.get(timeout=timeout)
        if isinstance(item, (Again, Refused)):
            raise item
        return item

    @property
    def host(self) -> str:
        """Who is being asked at the moment, and through which proxy."""
        return _asked_through(host_of(self._url), serving(self._url))

    def close(self) -> None:
        """Leave. The connection ends, whatever it is doing."""
        self._left.set()
        self._hang_up()

    def _run(self) -> None:
        try:
            self._follow()
            self._put(None)
        except (Again, Refused) as reason:
            self._put(reason)
        except Exception as error:  # what people are told must not hold addresses or headers, so: no text of the error
            self._put(_explain(error, host_of(self._url), self._patience, in_use(self._url)))

    def _put(self, item: Head | bytes | Again | Refused | None) -> None:
        while not self._left.is_set():
            with contextlib.suppress(queue.Full):
                return self._items.put(item, timeout=0.2)

    def _follow(self) -> None:
        """Ask, and follow up to five redirects."""
        url, headers, at_home = httpx2.URL(self._url), self._headers, True
        hub_etag: str | None = None
        hub_size: int | None = None
        with_token = any(name.lower() == "authorization" for name in headers)
        for _ in range(MAX_REDIRECTS + 1):
            with self._asked(url, headers) as response:
                hub_etag = hub_etag or normal_etag(response.headers.get("X-Linked-Etag"))
                hub_size = hub_size if hub_size is not None else _count(response.headers.get("X-Linked-Size"))
                if not response.has_redirect_location:
                    told = {name.lower(): value for name, value in response.headers.items()}
                    host, proxy = host_of(str(url)), in_use(str(url))
                    head = Head(response.status_code, told, host, at_home, hub_etag, hub_size, with_token, proxy)
                    return self._pass_on(head, response)
                target = _redirected(url, response.headers["Location"])
            if target.origin != url.origin:
                headers = {name: value for name, value in headers.items() if name.lower() in FOR_EVERYBODY}
                at_home = False
            url = target
            self._url = str(url)  # whom to name when it fails
        raise Refused("redirect", f"{host_of(self._url)} redirects in circles", "check HF_ENDPOINT, or try again later")

    @contextlib.contextmanager
    def _asked(self, url: httpx2.URL, headers: Mapping[str, str]) -> Iterator[httpx2.Response]:
        stall = self._patience.stall
        timeout = httpx2.Timeout(connect=self._patience.connect, read=stall, write=stall, pool=None)
        extensions = {"trace": self._watch}
        with self._client.stream("GET", url, headers=headers, timeout=timeout, extensions=extensions) as response:
            yield response

    def _pass_on(self, head: Head, response: httpx2.Response) -> None:
        self._put(head)
        for piece in response.iter_bytes():
            if self._left.is_set():
                return
            if piece:
                self._put(piece)

    def _watch(self, event: str, info: Mapping[str, Any]) -> None:
        """Remember the socket as soon as there is one; called by the HTTP library at each of its steps."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")
            if self._left.is_set():
                self._hang_up()

    def _hang_up(self) -> None:
        if isinstance(self._socket, socket.socket):
            with contextlib.suppress(OSError):
                # Past SSLSocket, whose own shutdown would take the encryption away from the thread that reads.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def _redirected(url: httpx2.URL, location: str) -> httpx2.URL:
    try:
        target = url.join(location)
    except (httpx2.InvalidURL, ValueError):
        raise Refused("redirect", f"{host_of(str(url))} redirects to nowhere", "check HF_ENDPOINT") from None
    if target.scheme not in ("http", "https") or not target.host:
        raise Refused("redirect", f"{host_of(str(url))} redirects to nowhere", "check HF_ENDPOINT")
    if url.scheme == "https" and target.scheme == "http":
        said = f"{host_of(str(url))} redirects to an address that is not encrypted"
        raise Refused("redirect", said, "check the network and HF_ENDPOINT")
    return target


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def _explain(error: Exception, host: str, patience: Patience, proxy: InUse | None = None) -> Again | Refused:
    """What went wrong on the network. ``proxy``: the one that is asked instead of the host."""
    causes = list(_causes(error))
    if proxy is not None:
        if (of_proxy := _of_proxy(error, causes, host, patience, proxy)) is not None:
            return of_proxy
        host = _asked_through(host, proxy.name)
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        todo = "log in to the network if it wants that, or name your company's certificates in SSL_CERT_FILE"
        return Refused("certificate", f"the certificate of {host} is not trusted", todo)
    match error:
        case httpx2.ProxyError():
            said = f"the proxy does not let us through to {host}"
            return Again("proxy", said, todo="check HTTPS_PROXY and HTTP_PROXY")
        case httpx2.ConnectTimeout():
            said = f"{host} cannot be reached (no answer within {duration(patience.connect)})"
            return Again("offline", said, todo=ONLINE)
        case httpx2.ConnectError():
            return Again("offline", f"{host} cannot be reached ({_why(causes)})", todo=ONLINE)
        case httpx2.TimeoutException():
            return Again("stalled", f"{host} has sent nothing for {duration(patience.stall)}")
        case httpx2.UnsupportedProtocol() | httpx2.LocalProtocolError() | httpx2.InvalidURL() | ValueError():
            return Refused("bad_address", f"the address of the file on {host} cannot be asked for", "check HF_ENDPOINT")
        case httpx2.TransportError() | OSError():
            return Again("cut", f"the connection to {host} broke off")
        case _:
            return Again("server", f"{host} answered in a way that makes no sense ({type(error).__name__})")


def _of_proxy(
    error: Exception, causes: list[BaseException], host: str, patience: Patience, proxy: InUse
) -> Again | Refused | None:
    """The same where the proxy is at fault; None: it is not."""
    name = proxy.name
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        if not proxy.encrypted or any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
            return None  # it let us through
        said = f"no encryption could be agreed on with the proxy in {name}, which is given as https://"
        return Refused("proxy", said, f"most proxies speak plain HTTP, for every address: try http:// in {name}")
    match error:
        case httpx2.ProxyError() if str(error).startswith("407"):
            return Refused("proxy", *login_refused(proxy))
        case httpx2.ProxyError():
            return Again("proxy", f"the proxy in {name} does not let us through to {host}", todo=f"check {name}")
        case httpx2.ConnectTimeout():
            said = f"the proxy in {name} cannot be reached (no answer within {duration(patience.connect)})"
            return Again("offline", said, todo=f"check the network and {name}")
        case httpx2.ConnectError():
            said = f"the proxy in {name} cannot be reached ({_why(causes)})"
            return Again("offline", said, todo=f"check the network and {name}")
    return None


def _asked_through(host: str, proxy: str | None) -> str:
    return host if proxy is None else f"{host} (through the proxy in {proxy})"


def _why(causes: list[BaseException]) -> str:
    for cause in causes:
        match cause:
            case socket.gaierror():
                return "its name was not found"
            case ConnectionRefusedError():
                return "connection refused"
            case ssl.SSLError():
                return "no encryption could be agreed on"
            case OSError(strerror=str(reason)):
                return reason.lower()
    return "no connection"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__

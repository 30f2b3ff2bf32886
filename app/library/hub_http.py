"""One request to the hub that always ends: in an answer, or in words within a few seconds.

The request runs through the hub library's own client, so proxies, certificates and offline mode are what hub users
know. It runs in a thread of its own, because no time-out of a socket covers a name server that does not answer or a
server that sends a byte now and then, and because a person who cancels waits for neither.
"""

from __future__ import annotations

import logging
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from app.clean import clean_line
from app.library.hub_errors import HubError
from app.library.proxies import in_use, login_refused, through, unusable

LONGEST_ANSWER = 8 * 1024 * 1024
"""Bytes of an answer that are read: a repository of 20,000 files is described in fewer."""

_POLL = 0.1


@dataclass(frozen=True)
class Answer:
    """What came back. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    too_long: bool = False
    """There was more of it, which was not read."""


@dataclass(frozen=True)
class Request:
    """What to ask. The headers may hold a token, so they are never shown."""

    endpoint: str
    url: str
    headers: Callable[[], Mapping[str, str]] = field(repr=False)
    """Called in the request's thread: finding a token may take a while."""
    method: str = "GET"
    follow: bool = True
    """Whether redirects are followed; the client keeps the token from other hosts."""


def ask(request: Request, *, seconds: float, cancelled: Callable[[], bool]) -> Answer:
    """The answer to ``request``. :class:`HubError` when there is none, after ``seconds`` at the latest."""
    outcome: list[Answer | HubError] = []
    ended, abandoned = threading.Event(), threading.Event()

    def work() -> None:
        try:
            outcome.append(_exchange(request, seconds, abandoned))
        except HubError as error:
            outcome.append(error)
        except Exception as error:  # whatever the client raises, the person gets a sentence
            outcome.append(_trouble(error, request.endpoint, seconds))
        finally:
            ended.set()

    # A daemon: an abandoned request must not hold up the program's end.
    threading.Thread(target=work, name="hub-request", daemon=True).start()
    last_moment = time.monotonic() + seconds
    while not ended.wait(_POLL):
        if cancelled():
            abandoned.set()
            raise HubError("cancelled", "Cancelled.")
        if time.monotonic() > last_moment:
            abandoned.set()
            raise _timeout(request.endpoint, seconds)
    result = outcome[0]
    if isinstance(result, HubError):
        raise result from None
    return result


def shown_endpoint(endpoint: str) -> str:
    """The address as it may be shown: without a name or password in it."""
    try:
        parts = urlsplit(endpoint)
    except ValueError:
        return "no address"
    host = parts.netloc.rpartition("@")[2]
    return clean_line(f"{parts.scheme}://{host}{parts.path}" if host else endpoint, 120)


def _exchange(request: Request, seconds: float, abandoned: threading.Event) -> Answer:
    from huggingface_hub import get_session  # late: a chat does not need it

    for name in ("httpx2", "httpcore2"):  # they log whole addresses: HF_ENDPOINT may hold a password
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        session = get_session()
    except OSError:  # a bundle of certificates that is named and not there
        raise HubError(
            "certificate",
            "The certificates named in SSL_CERT_FILE or SSL_CERT_DIR cannot be read, so the hub is not asked; correct "
            "or unset it.",
        ) from None
    with session.stream(
        request.method,
        request.url,
        headers=dict(request.headers()),
        timeout=seconds,
        follow_redirects=request.follow,
    ) as response:
        body = bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > LONGEST_ANSWER or abandoned.is_set():
                break
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status_code, headers, bytes(body), too_long=len(body) > LONGEST_ANSWER)


def _trouble(error: Exception, endpoint: str, seconds: float) -> HubError:
    """The sentence for what the client raised. Its own text is left out: it may quote addresses with passwords."""
    import httpx2
    from huggingface_hub.errors import OfflineModeIsEnabled

    place, proxy = shown_endpoint(endpoint), in_use(endpoint)
    if isinstance(error, OfflineModeIsEnabled):
        return offline_mode_is_on()
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in _causes(error)):
        encrypted_proxy = proxy is not None and proxy.encrypted and not endpoint.startswith("https://")
        whose = f"the proxy in {proxy.name}" if proxy is not None and encrypted_proxy else place
        return HubError(
            "certificate",
            f"The certificate of {whose} is not trusted; behind a company's proxy, SSL_CERT_FILE names the ones "
            "to trust.",
        )
    if (of_proxy := _trouble_of_proxy(error, endpoint)) is not None:
        return of_proxy
    if isinstance(error, httpx2.TimeoutException):
        return _timeout(endpoint, seconds)
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol | httpx2.TooManyRedirects):
        return HubError(
            "not-a-hub", f"{place} answers with redirects that lead nowhere, as no hub does; check HF_ENDPOINT."
        )
    if isinstance(error, httpx2.ConnectError):
        return HubError(
            "offline",
            f"The hub cannot be reached at {place}{_reason(error)}. What is on this disk works without it; "
            "try again when the network is back.",
        )
    words = f"The connection to {place} broke before the answer was whole{through(endpoint)}; try again."
    return HubError("server", words)


def _trouble_of_proxy(error: Exception, endpoint: str) -> HubError | None:
    """The same where the proxy is at fault, which the person has set: the hub was never asked."""
    import httpx2

    if (wrong := unusable()) is not None:
        variable, why = wrong
        return HubError(
            "proxy",
            f"The proxy in {variable} cannot be used ({why}), so the hub is not asked. What is on this disk works; "
            f"correct or unset {variable}.",
        )
    proxy = in_use(endpoint)
    if isinstance(error, httpx2.ProxyError) and str(error).startswith("407"):
        return proxy_login_refused(endpoint)
    if isinstance(error, httpx2.ProxyError):
        which = f"The proxy in {proxy.name}" if proxy is not None else "The proxy that is set"
        words = f"{which} does not let us through to {shown_endpoint(endpoint)}; check it, and NO_PROXY."
        return HubError("proxy", words)
    if proxy is None or not isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return None
    name, encryption = proxy.name, any(isinstance(cause, ssl.SSLError) for cause in _causes(error))
    if encryption and not proxy.encrypted:
        return None  # it let us through, and no encryption could be agreed on behind it
    if encryption:
        return HubError(
            "proxy",
            f"No encryption could be agreed on with the proxy in {name}{_reason(error)}, so the hub is not asked. It "
            f"is given as https://, and most proxies speak plain HTTP, for every address: try http:// in {name}.",
        )
    return HubError(
        "offline",
        f"The proxy in {name} cannot be reached{_reason(error) or ' (no answer)'}, so the hub is not asked. What is on "
        f"this disk works without it; correct or unset {name}, or try again when the network is back.",
    )


def proxy_login_refused(endpoint: str) -> HubError:
    """The words for status 407, whoever told it: an answer, or a connection that did not come about."""
    said, todo = login_refused(in_use(endpoint))
    return HubError("proxy", f"{said[0].upper()}{said[1:]}; {todo}.")


def offline_mode_is_on() -> HubError:
    """The words for a switch that the user set."""
    return HubError(
        "offline-mode",
        "HF_HUB_OFFLINE is set, so the hub is not asked. What is on this disk works; unset it to fetch something new.",
    )


def _timeout(endpoint: str, seconds: float) -> HubError:
    return HubError(
        "timeout",
        f"{shown_endpoint(endpoint)} gave no answer within {seconds:g} seconds{through(endpoint)}. What is on this "
        "disk works without it; try again later.",
    )


def _reason(error: Exception) -> str:
    """``(connection refused)``, with a space before it; empty where the system says nothing."""
    for cause in _causes(error):
        if isinstance(cause, socket.gaierror):
            return " (its name is not found)"
        if isinstance(cause, ssl.SSLError) and (reason := getattr(cause, "reason", None)):
            return f" ({clean_line(reason, 60).lower().replace('_', ' ')})"
        if isinstance(cause, OSError) and cause.strerror:
            return f" ({clean_line(cause.strerror, 60).lower()})"
    return ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__

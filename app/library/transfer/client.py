"""The HTTP client of transfers: the library that huggingface_hub uses, set up as that does it, so that proxies
(HTTP_PROXY, NO_PROXY, ...) and certificates (SSL_CERT_FILE, ...) work as users of the hub expect.

It is one of our own and not the hub's shared one: that is closed whenever a request of somebody else fails to connect,
which would cut every transfer on it.
"""

from __future__ import annotations

import logging

import httpx2

import app
from app.library.proxies import unusable
from app.library.transfer.errors import TransferError
from app.library.transfer.words import sentence


def make_client() -> httpx2.Client:
    """A client that keeps no connection and follows no redirect by itself."""
    # They log whole addresses, and at the lowest level headers: signatures of signed addresses, and the token.
    for name in ("httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)
    if (wrong := unusable()) is not None:
        name, why = wrong
        said = f"the proxy in {name} cannot be used ({why})"
        raise TransferError("proxy", sentence(said, "nothing was fetched", f"correct or unset {name}"))
    try:
        return httpx2.Client(
            follow_redirects=False,
            timeout=None,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
            headers={"User-Agent": f"slipstream/{app.__version__}"},
        )
    except OSError:  # a bundle of certificates that is named and not there
        said = "the certificates named in SSL_CERT_FILE or SSL_CERT_DIR cannot be read"
        raise TransferError("certificate", sentence(said, "nothing was fetched", "correct or unset it")) from None

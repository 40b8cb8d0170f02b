"""One file over https: from public addresses only, no longer than declared, with redirects followed by hand.

httpx is imported here and nowhere else in the core; only ``fetching`` imports this module.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.request import getproxies, proxy_bypass

import httpx

from biasfw.errors import FetchError

MAX_REDIRECTS = 5
TIMEOUT = 30.0  # seconds to connect, and without a byte
REDIRECTS = (301, 302, 303, 307, 308)
BY_HAND = "or get the file yourself and give its folder with --from DIR"
_HOST = re.compile(rb"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")  # a name, or an address of version 6
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052: the last 32 bits are an IPv4 address

# For tests only: https origin -> http origin on the loopback interface. No option, variable or file reaches it.
TEST_ORIGINS: dict[str, str] = {}


def download(url: str, size: int, write: Callable[[bytes], object], note: Callable[[str], None]) -> None:
    """Give the body at ``url``, which has ``size`` bytes, to ``write``, chunk by chunk.

    ``note`` is told of a redirect to another host. What ``write`` raises passes through.

    Raises:
        FetchError: no answer, no such file, another size, a transfer that was cut, or a redirect that is refused.
    """
    at = _parsed(url, url)
    for _ in range(MAX_REDIRECTS + 1):
        with _answer(at) as response:
            if response.status_code not in REDIRECTS:
                _receive(response, _shown(at), size, write)
                return
            target = _target(at, response)
        if target.host != at.host:
            note(f"redirected to another host: {_shown(target)}")
        at = target
    raise FetchError(f"{url}: more than {MAX_REDIRECTS} redirects; try again later, {BY_HAND}")


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet: not private, loopback, link-local, multicast, reserved."""
    ip = ip_address(address)
    if isinstance(ip, IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else None)
        if inner is not None:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast


def _parsed(text: str, where: str) -> httpx.URL:
    """``text`` as an address that may be asked.

    Raises:
        FetchError: it is none, not https, or has user-info.
    """
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as failure:
        raise FetchError(f"{where}: leads to no address ({failure}); {BY_HAND[3:]}") from None
    if url.scheme != "https" or not url.host or url.userinfo:
        what = "leads to an address with a user name" if url.userinfo else f"leads to {url.scheme or 'no scheme'}://"
        raise FetchError(f"{where}: {what}, and only https addresses are asked; {BY_HAND[3:]}")
    if not _HOST.fullmatch(url.raw_host) or not (url.port is None or 0 < url.port < 2**16):
        raise FetchError(f"{where}: leads to no host, or no port; {BY_HAND[3:]}")
    return url


def _shown(url: httpx.URL) -> str:
    """An address for people: without the query, which may hold a key."""
    return str(url.copy_with(query=None, fragment=None))


def _target(at: httpx.URL, response: httpx.Response) -> httpx.URL:
    try:
        target = str(at.join(response.headers.get("location", "")))
    except (httpx.InvalidURL, ValueError) as failure:
        raise FetchError(f"{_shown(at)}: a redirect to no address ({failure}); {BY_HAND[3:]}") from None
    return _parsed(target, f"{_shown(at)}: a redirect that")


@contextmanager
def _answer(url: httpx.URL) -> Iterator[httpx.Response]:
    """The answer to a request, body unread. The name is resolved once: what is checked is what is asked.

    Raises:
        FetchError: the name or the server is not reached, or not public, or the transfer is cut.
    """
    shown = _shown(url)
    origin = f"{url.scheme}://{url.netloc.decode('ascii')}"
    proxy = None if origin in TEST_ORIGINS else _proxy(url.host)
    last: httpx.HTTPError | None = None
    with _client(proxy, shown) as client:
        for request in _requests(client, url, TEST_ORIGINS.get(origin), named=proxy is not None):
            try:
                response = client.send(request, stream=True)
            except (httpx.ConnectError, httpx.ConnectTimeout) as failure:
                last = failure  # the next address may do
                continue
            except httpx.HTTPError as failure:
                raise FetchError(f"{shown}: {_worded(failure)}; try again later, {BY_HAND}") from None
            try:
                yield response
            except httpx.HTTPError as failure:
                raise FetchError(f"{shown}: {_worded(failure)}; try again later, {BY_HAND}") from None
            finally:
                response.close()
            return
    why = _worded(last) if last else "no address"
    raise FetchError(f"{shown}: {why}; check the network and try again, {BY_HAND}") from None


def _worded(failure: httpx.HTTPError) -> str:
    if isinstance(failure, httpx.ConnectTimeout | httpx.ConnectError):
        return f"no connection ({failure or type(failure).__name__})"
    if isinstance(failure, httpx.TimeoutException):
        return f"no answer within {TIMEOUT:g} s"
    return f"the transfer was cut ({failure or type(failure).__name__})"


def _client(proxy: str | None, shown: str) -> httpx.Client:
    try:
        trusted = httpx.create_ssl_context()  # certifi, or what SSL_CERT_FILE names
    except OSError as failure:  # ssl.SSLError is one
        raise FetchError(f"no certificates to trust ({failure}); check SSL_CERT_FILE and SSL_CERT_DIR") from None
    headers = {"accept-encoding": "identity", "user-agent": "biasfw"}
    try:
        return httpx.Client(verify=trusted, proxy=proxy, trust_env=False, timeout=TIMEOUT, headers=headers)
    except (ImportError, ValueError, httpx.InvalidURL):  # SOCKS without its library, or another scheme
        what = "the proxy that the environment names (HTTPS_PROXY, ALL_PROXY) cannot be used"
        raise FetchError(f"{shown}: {what}; name an http proxy, {BY_HAND}") from None


def _proxy(host: str) -> str | None:
    """The proxy that the environment names for an https host."""
    named = getproxies()
    return None if proxy_bypass(host) else named.get("https") or named.get("all")


def _requests(client: httpx.Client, url: httpx.URL, stand_in: str | None, *, named: bool) -> Iterator[httpx.Request]:
    """One request for each address of the host; by name where a proxy resolves it (``named``)."""
    if stand_in is not None:
        yield client.build_request("GET", f"{stand_in}{url.raw_path.decode('ascii')}")
        return
    host = url.raw_host.decode("ascii")
    addresses = _addresses(host, url.port or 443, _shown(url), needed=not named)
    if named:
        yield client.build_request("GET", url)
        return
    for address in addresses:
        yield client.build_request(
            "GET", url.copy_with(host=address), headers={"host": url.netloc.decode("ascii")},
            extensions={"sni_hostname": host},
        )  # fmt: skip


def _addresses(host: str, port: int, shown: str, *, needed: bool) -> list[str]:
    """The IP addresses of a host; empty if it has none and none is ``needed``.

    Raises:
        FetchError: it has none, or one that is not public.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as failure:
        if not needed:
            return []
        why = getattr(failure, "strerror", None) or failure
        raise FetchError(
            f"{shown}: the host {host} is not found ({why}); check the network and try again, {BY_HAND}"
        ) from None
    addresses = list(dict.fromkeys(str(info[4][0]) for info in found))
    for address in addresses:
        if not is_public(address):
            raise FetchError(f"{shown}: {host} is {address}, no public address: refused; {BY_HAND[3:]}")
    return addresses


def _receive(response: httpx.Response, shown: str, size: int, write: Callable[[bytes], object]) -> None:
    status = response.status_code
    if status != 200:
        what = "there is no such file any more" if status in (404, 410) else "the server refuses or fails"
        raise FetchError(f"{shown}: {what} (HTTP {status} {response.reason_phrase}); try again later, {BY_HAND}")
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise FetchError(f"{shown}: the server sends it packed, which was not asked for; {BY_HAND[3:]}")
    offered = response.headers.get("content-length", "")
    if offered.isdecimal() and int(offered) != size:
        raise FetchError(f"{shown}: the file there has {offered} bytes, expected {size}; {BY_HAND[3:]}")
    received = 0
    try:
        for chunk in response.iter_raw():
            received += len(chunk)
            if received > size:
                raise FetchError(f"{shown}: the file there is longer than {size} bytes: refused; {BY_HAND[3:]}")
            write(chunk)
    except (httpx.RemoteProtocolError, httpx.NetworkError):
        pass  # the count tells
    if received < size:
        raise FetchError(f"{shown}: cut off after {received} of {size} bytes; try again, {BY_HAND}")

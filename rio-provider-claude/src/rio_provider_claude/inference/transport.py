"""The way to the service: encryption, and the proxy that the user named."""

import ssl
from urllib.parse import urlsplit

import httpx

from rio_core.api import ProviderError
from rio_provider_claude.inference.words import escaped
from rio_provider_claude.options import Options, correct

__all__ = ["transport"]


def transport(options: Options) -> httpx.AsyncHTTPTransport:
    """A transport without credentials. Raises `ProviderError` for a proxy or a CA file that cannot be used.

    A service on this machine is reached without a proxy: plain http must not leave it.
    """
    trust = _trust(options)
    address = "" if options.loopback else options.proxy or _of_environment(options)
    try:
        secure = trust if address.startswith("https:") else None
        proxy = httpx.Proxy(address, ssl_context=secure) if address else None
    except (ValueError, httpx.InvalidURL):
        raise ProviderError("not_configured", "The proxy is not an http or https address.", correct("Proxy")) from None
    return httpx.AsyncHTTPTransport(verify=trust, proxy=proxy)


def _of_environment(options: Options) -> str:
    if not options.proxy_environment:
        return ""
    from urllib.request import getproxies, proxy_bypass

    host = urlsplit(options.origin).hostname or ""
    return "" if proxy_bypass(host) else getproxies().get("https", "")


def _trust(options: Options) -> ssl.SSLContext:
    if options.origin.startswith("http:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # not used; it trusts nobody, and costs nothing
    # SSL_CERT_FILE and SSL_CERT_DIR are the user's as well. Nothing switches verification off.
    name, action = "SSL_CERT_FILE or SSL_CERT_DIR", "Correct the variable in the environment that rio is started from."
    try:
        context = httpx.create_ssl_context(trust_env=True)
        if options.ca_file:
            name, action = f"CA file {escaped(options.ca_file)}", correct("CA file")
            context.load_verify_locations(cafile=options.ca_file)
    except OSError as error:  # ssl.SSLError is one
        reason = "it holds no certificate" if isinstance(error, ssl.SSLError) else escaped(error.strerror)
        raise ProviderError("not_configured", f"The {name} cannot be used: {reason}.", action) from None
    return context

"""The way to the service: encryption, and the proxy that the user named."""

import os
import ssl

import httpx

from rio_core.api import ProviderError
from rio_provider_claude.options import Options

__all__ = ["transport"]


def transport(options: Options) -> httpx.AsyncHTTPTransport:
    """A transport without credentials. Raises `ProviderError` for a proxy or a CA file that cannot be used.

    A service on this machine is reached without a proxy: plain http must not leave it.
    """
    proxy = "" if options.loopback else options.proxy or _of_environment(options)
    try:
        return httpx.AsyncHTTPTransport(verify=_trust(options), proxy=proxy or None)
    except ValueError:
        raise ProviderError(
            "not_configured",
            "The proxy is not an http or https address.",
            "Open Settings, Claude, and correct “Proxy”.",
        ) from None


def _of_environment(options: Options) -> str:
    if not options.proxy_environment:
        return ""
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    host = urlsplit(options.origin).hostname or ""
    return "" if proxy_bypass(host) else getproxies().get("https", "")


def _trust(options: Options) -> ssl.SSLContext:
    if options.origin.startswith("http:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # not used; it trusts nobody, and costs nothing
    # SSL_CERT_FILE and SSL_CERT_DIR are the user's as well; no setting switches verification off.
    context = httpx.create_ssl_context(trust_env=True)
    if options.ca_file:
        try:
            context.load_verify_locations(cafile=options.ca_file)
        except (OSError, ssl.SSLError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else "it holds no certificate"
            raise ProviderError(
                "not_configured",
                f"The CA file {os.fsdecode(options.ca_file)} cannot be read: {reason}.",
                "Open Settings, Claude, and correct “CA file”.",
            ) from None
    return context

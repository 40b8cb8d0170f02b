"""Where a backend sends what it is asked: nowhere, or to a host that has to be named first."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from biasfw.plugins import FIRST_PARTY, Plugins


def host_of(plugins: Plugins, backend: str, options: Mapping[str, Any]) -> str | None:
    """The host that drafts would go to; None if they stay on this machine.

    A backend that has an option with an address sends there. One from another distribution that has none does not say
    where it sends, so it is named itself.
    """
    component = plugins.find("backend", backend)
    properties: Mapping[str, Any] = component.spec.options.get("properties", {})
    values = {name: each["default"] for name, each in properties.items() if "default" in each} | dict(options)
    addresses = [value for value in values.values() if isinstance(value, str) and "://" in value]
    hosts = [urlsplit(address).hostname or address for address in addresses]
    away = [host for host in hosts if not _is_here(host)]
    if away:
        return away[0]
    if not hosts and component.plugin.distribution != FIRST_PARTY:
        return f"wherever backend {component.spec.name} of {component.plugin.distribution} sends it"
    return None


def _is_here(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

"""Where the API server is, and how a component proves there who it is.

Stands for client-go's clientcmd: kubeconfigs and service accounts are read by the `kubernetes` package.
"""

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from gpuyard.narration import words_of


@dataclass(frozen=True, slots=True)
class Server:
    """Where an API server is and how to prove who we are. `headers` is asked anew for each request: tokens rotate."""

    url: str
    tls: ssl.SSLContext | None = None
    configuration: Any = field(default=None, repr=False)
    extra: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers beside these proofs, such as what is meant for whoever stands behind the server's proxy."""

    async def headers(self) -> dict[str, str]:
        """What says who we are. NoServerError when that cannot be had now."""
        if self.configuration is None:
            return dict(self.extra)
        try:
            settings = await self.configuration.auth_settings()
        except Exception as error:
            # A token's file that is unreadable, or whatever becomes of a plugin that makes tokens.
            raise NoServerError(f"no token for {self.url}: {words_of(error)}") from error
        proofs = {found["key"]: found["value"] for found in settings.values() if found["in"] == "header"}
        return {**self.extra, **proofs}


class NoServerError(Exception):
    """The settings name no API server that can be used. The text is one line, for people."""


async def server_of(kubeconfig: str | None = None, context: str | None = None) -> Server:
    """The API server of a kubeconfig; without one the default kubeconfig, else the pod's service account.

    NoServerError when none of them can be used.
    """
    # Imported here: 0.2 s and 40 MB that a plain `--api URL` does not need.
    from kubernetes.aio.config import ConfigException

    named = kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config"
    there = any(Path(path).expanduser().is_file() for path in named.split(os.pathsep) if path)
    try:
        if there:
            return await _server_of(named, context)
        if kubeconfig is None and context is None:
            return await _service_account()
    except (ConfigException, OSError, yaml.YAMLError) as error:
        raise NoServerError(" ".join(str(error).split()).rstrip(".")) from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        # The library trusts a file to have the right fields.
        raise NoServerError(f"{named}: not a kubeconfig, or not a whole one") from error
    raise NoServerError(f"{named}: there is no such file")


async def _server_of(kubeconfig: str, context: str | None) -> Server:
    from kubernetes.aio.client import Configuration
    from kubernetes.aio.config import load_kube_config

    found = Configuration()
    await load_kube_config(kubeconfig, context, client_configuration=found, persist_config=False)
    return _server(found)


async def _service_account() -> Server:
    """Of the pod that this is. NoServerError where it is none."""
    from kubernetes.aio.client import Configuration
    from kubernetes.aio.config import ConfigException, load_incluster_config

    found = Configuration()
    try:
        load_incluster_config(client_configuration=found)
    except ConfigException as error:
        where = os.environ.get("KUBECONFIG") or "~/.kube/config"
        raise NoServerError(f"{where}: there is no such file, and this is no pod of a cluster") from error
    return _server(found)


def _server(found: Any) -> Server:
    from kubernetes.aio.client.rest import RESTClientObject

    encrypted = urlsplit(found.host).scheme == "https"
    return Server(found.host.rstrip("/"), RESTClientObject(found).ssl_context if encrypted else None, found)

"""Whether a device plugin may register under the names that it gives.

Stands for the checks in the kubelet's plugin/v1beta1/server.go. Law: a resource that the API server would not take
in a Node's status is refused here: one such name would keep every other amount from being written, too.
"""

import re

from gpuyard_device_plugin.kubelet_api.deviceplugin_v1beta1_pb2 import RegisterRequest

API_VERSION = "v1beta1"
_DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_QUOTA = "requests."
"""A quota has this before the name of its resource: so it counts in the length, and no name begins with it."""


def problem(request: RegisterRequest) -> str:
    """Why a registration is refused, with the field; empty when it is not."""
    if request.version != API_VERSION:
        return (
            f"API version {request.version!r} is not supported by the kubelet, which supports {API_VERSION!r}"
        )
    if not _is_extended(request.resource_name):
        example = "it must be DOMAIN/NAME, such as example.com/widget, with a domain other than kubernetes.io"
        return f"the ResourceName {request.resource_name!r} is invalid: {example}"
    if not request.endpoint or "/" in request.endpoint:
        return f"the Endpoint {request.endpoint!r} is invalid: it must name a socket in the plugin directory"
    return ""


def _is_extended(name: str) -> bool:
    """Whether it is the name of an extended resource (IsExtendedResourceName)."""
    domain, _, rest = name.partition("/")
    if "kubernetes.io/" in name or name.startswith(_QUOTA):
        return False
    if len(_QUOTA + domain) > 253 or len(rest) > 63:
        return False
    return bool(_DOMAIN.fullmatch(domain) and _NAME.fullmatch(rest))

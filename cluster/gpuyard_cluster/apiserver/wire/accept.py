"""In which form a client wants the answer.

Stands for kube-apiserver's content negotiation. Protobuf is never chosen: clients that ask for it take JSON too.
"""

import functools
from dataclasses import dataclass

from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.requests import JSON_TYPE

YAML_TYPE = "application/yaml"
SERVED_TYPES = (JSON_TYPE, YAML_TYPE, "application/vnd.kubernetes.protobuf")
_SHAPES = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")
_WILDCARDS = {"*/*", "application/*"}


@dataclass(frozen=True, slots=True)
class Form:
    """`media` is JSON_TYPE or YAML_TYPE; `shape` is empty for the object as it is, or Table, PartialObjectMetadata,
    PartialObjectMetadataList, or in discovery APIGroupDiscoveryList (always v2)."""

    media: str = JSON_TYPE
    shape: str = ""

    @property
    def partial(self) -> bool:
        return self.shape.startswith("PartialObjectMetadata")


@functools.lru_cache(maxsize=256)
def negotiate(accept: str) -> Form:
    """The form in the Accept header that is wanted most and served; 406 when there is none."""
    for entry in sorted((accept or "*/*").split(","), key=_quality, reverse=True):
        form = _form(entry)
        if form is not None:
            return form
    raise not_acceptable()


def not_acceptable() -> ApiError:
    listed = ", ".join(SERVED_TYPES)
    return ApiError(406, "NotAcceptable", f"only the following media types are accepted: {listed}")


def _quality(entry: str) -> float:
    """How much a client wants this entry: 1 if it does not say."""
    _, found, text = entry.partition(";q=")
    try:
        return float(text.partition(";")[0]) if found else 1.0
    except ValueError:
        return 0.0


def _form(entry: str) -> Form | None:
    media, *parameters = (part.strip() for part in entry.split(";"))
    if media in _WILDCARDS:
        return Form()
    if media not in (JSON_TYPE, YAML_TYPE):
        return None
    values = dict(part.partition("=")[::2] for part in parameters)
    shape = values.get("as", "")
    if not shape:
        return Form(media)
    if shape in _SHAPES and values.get("g") == "meta.k8s.io" and values.get("v") in ("v1", "v1beta1"):
        return Form(media, shape)
    if shape == "APIGroupDiscoveryList" and (values.get("g"), values.get("v")) == (
        "apidiscovery.k8s.io",
        "v2",
    ):
        return Form(media, shape)
    return None

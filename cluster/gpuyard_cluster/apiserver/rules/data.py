"""ConfigMaps and Secrets.

Stands for `ValidateConfigMap`, `ValidateSecret` and their updates.
"""

import re
from collections.abc import Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes

_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_KEY_RULE = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  "
    "or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
_LIMIT = 1024 * 1024
_FIXED = "field is immutable when `immutable` is set"

_REQUIRED_KEYS = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}
"""What a Secret of a type must hold."""


def data_faults(obj: JSON) -> Iterator[Cause]:
    """Faults of a ConfigMap or Secret."""
    text, binary = obj.get("data", {}), obj.get("binaryData", {})
    for field, content in (("data", text), ("binaryData", binary)):
        for key in content:
            if not _KEY.fullmatch(key) or key in (".", ".."):
                yield causes.invalid(f"{field}[{key}]", key, _KEY_RULE)
    for key in sorted(text.keys() & binary.keys()):
        yield causes.invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
    for key in _REQUIRED_KEYS.get(str(obj.get("type")), ()):
        if key not in text:
            yield causes.required(f"data[{key}]")
    if _size(obj) > _LIMIT:
        yield causes.too_long("data" if obj.get("kind") == "Secret" else "", _LIMIT)


def update_faults(old: JSON, new: JSON) -> Iterator[Cause]:
    """Faults of a change from `old` to `new`."""
    yield from data_faults(new)
    if new.get("type") != old.get("type"):
        yield causes.invalid("type", new.get("type"), "field is immutable")
    if not old.get("immutable"):
        return
    if not new.get("immutable"):
        yield causes.forbidden("immutable", _FIXED)
    for field in ("data", "binaryData"):
        if new.get(field) != old.get(field):
            yield causes.forbidden(field, _FIXED)


def _size(obj: JSON) -> int:
    """Bytes of all values; base64 counts as what it encodes."""
    encoded = {**obj.get("binaryData", {}), **(obj.get("data", {}) if obj.get("kind") == "Secret" else {})}
    plain = {} if obj.get("kind") == "Secret" else obj.get("data", {})
    return sum(len(text.encode()) for text in plain.values()) + sum(
        len(text) // 4 * 3 for text in encoded.values()
    )

"""What of an answer two API servers have in common: everything except what is drawn, counted or timed.

resourceVersions are numbered in the order in which they come, so that it shows whether two are the same.
Messages are left out: they are for people. So is what is null or an empty text: clients take it for absent.
"""

import re
from typing import Any

_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_AGE = re.compile(r"^\d+s$")
_SPOKEN = ("message", "note")


def _timeless(value: dict[str, Any]) -> dict[str, Any]:
    """A list or a bookmark without the state of the whole server that it was true of."""
    metadata = value.get("metadata")
    if not isinstance(metadata, dict):
        return value
    everything = "items" in value or "rows" in value or "k8s.io/initial-events-end" in str(metadata)
    return {**value, "metadata": {**metadata, "resourceVersion": ""}} if everything else value


class Mask:
    """Masks the answers of one conversation, in which `names` (such as its namespace) have no meaning."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        self._versions: dict[str, int] = {}

    def masked(self, value: Any, key: str = "") -> Any:
        """`value` without what differs from server to server."""
        if isinstance(value, dict):
            value = _timeless(value)
            kept = {
                name: item
                for name, item in value.items()
                if item not in (None, "") and not self._spoken(value, name)
            }
            return {self._text(name): self.masked(item, name) for name, item in sorted(kept.items())}
        if isinstance(value, list):
            items = [self.masked(item) for item in value]
            if key == "causes":  # the real server sometimes says one thing twice
                return [item for _, item in sorted({repr(item): item for item in items}.items())]
            return sorted(items, key=repr) if key == "managedFields" else items
        if not isinstance(value, str):
            return value
        if key == "resourceVersion" and value not in ("", "0"):
            return f"<version {self._versions.setdefault(value, 1 + len(self._versions))}>"
        return "<text>" if key == "continue" else self._text(value)

    def _text(self, text: str) -> str:
        for name, mask in self._names.items():
            text = text.replace(name, mask)
        return _AGE.sub("<age>", _TIME.sub("<time>", _UID.sub("<uid>", text)))

    def _spoken(self, around: dict[str, Any], name: str) -> bool:
        """Whether a field is words: of a Status or one of its causes, or a description."""
        if name == "description" and isinstance(around[name], str):
            return True
        return name in _SPOKEN and ("reason" in around or around.get("kind") == "Status")

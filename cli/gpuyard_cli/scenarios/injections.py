"""The faults that a scenario can inject, as its steps say them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from gpuyard import vocabulary
from gpuyard_cli.inputs import Fields


@dataclass(frozen=True, slots=True)
class RefusedBinding:
    """The API server refuses the Binding of `pod`, `times` times (None: from now on)."""

    pod: str
    times: int | None = None


@dataclass(frozen=True, slots=True)
class DriverFault:
    """What the driver of a node reports: the annotation `key` of the Node, of which the device plugin reads it.

    `text` None: it reports that no more. `gpus` are those that the node has to have.
    """

    node: str
    key: str
    text: str | None
    gpus: tuple[int, ...] = ()


def gpu_fault(node: str, index: int, xid: int | None = None) -> DriverFault:
    """An XID of one GPU; None: it recovers."""
    return DriverFault(node, f"{vocabulary.XID_PREFIX}{index}", _text(xid), (index,))


def node_fault(node: str, xid: int | None = None) -> DriverFault:
    """An XID of every GPU of a node; None: they recover."""
    return DriverFault(node, vocabulary.XID_PREFIX + vocabulary.EVERY_GPU, _text(xid))


def link_fault(node: str, between: tuple[int, int], *, down: bool) -> DriverFault:
    """The NVLink between two GPUs."""
    first, second = sorted(between)
    return DriverFault(
        node, f"{vocabulary.NVLINK_PREFIX}{first}-{second}", vocabulary.DOWN if down else None, between
    )


Injection = RefusedBinding | DriverFault


def parse(fields: Fields | None) -> Injection | None:
    """The one fault of a step. InvalidInputError names what is wrong with it."""
    if fields is None:
        return None
    found = {kind: content for kind in _PARSERS if (content := fields.fields(kind)) is not None}
    fields.end(_PARSERS)
    if not found:
        raise fields.fault("", "no fault is named", f"known ones are {', '.join(_PARSERS)}")
    if len(found) > 1:
        raise fields.fault(list(found)[-1], "a step has one fault", "give it a step of its own")
    [(kind, content)] = found.items()
    return _PARSERS[kind](content)


def _refused(fields: Fields) -> RefusedBinding:
    fault = RefusedBinding(fields.text("pod"), fields.whole("times"))
    fields.end(("pod", "times"))
    return fault


def _gpu(fields: Fields) -> DriverFault:
    fault = gpu_fault(fields.text("node"), _index(fields, "index"), fields.whole("xid"))
    fields.end(("node", "index", "xid"))
    return fault


def _link(fields: Fields) -> DriverFault:
    node, between = fields.text("node"), (_index(fields, "from"), _index(fields, "to"))
    if between[0] == between[1]:
        raise fields.fault("to", "a link has two ends", "give the index of another GPU")
    state = fields.text("state")
    if state not in (vocabulary.DOWN, "up"):
        raise fields.fault("state", f"{state!r} is unknown", "write down or up")
    fields.end(("node", "from", "to", "state"))
    return link_fault(node, between, down=state == vocabulary.DOWN)


def _node(fields: Fields) -> DriverFault:
    fault = node_fault(fields.text("node"), fields.whole("xid"))
    fields.end(("node", "xid"))
    return fault


def _index(fields: Fields, name: str) -> int:
    index = fields.whole(name)
    if index is None:
        raise fields.fault(name, "a GPU is needed", "give its index on the node")
    return index


def _text(xid: int | None) -> str | None:
    return None if xid is None else str(xid)


_PARSERS: Final[Mapping[str, Callable[[Fields], Injection]]] = {
    "refuse-binding": _refused,
    "gpu": _gpu,
    "link": _link,
    "node": _node,
}

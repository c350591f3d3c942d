"""The faults that a scenario can inject, as its steps say them."""

from dataclasses import dataclass

from gpuyard_cli.inputs import Fields


@dataclass(frozen=True, slots=True)
class RefusedBinding:
    """The API server refuses the Binding of `pod`, `times` times (None: from now on)."""

    pod: str
    times: int | None = None


@dataclass(frozen=True, slots=True)
class GPUFault:
    """The driver of a node reports an XID of one GPU; None: the GPU recovers."""

    node: str
    index: int
    xid: int | None = None


Injection = RefusedBinding | GPUFault
_KNOWN = "known ones are refuse-binding, gpu"


def parse(fields: Fields | None) -> Injection | None:
    """The one fault of a step. InvalidInputError names what is wrong with it."""
    if fields is None:
        return None
    refused, hurt = fields.fields("refuse-binding"), fields.fields("gpu")
    fields.end(("refuse-binding", "gpu"))
    if refused and hurt:
        raise fields.fault("gpu", "a step has one fault", "give it a step of its own")
    if refused:
        return _refused(refused)
    if hurt:
        return _hurt(hurt)
    raise fields.fault("", "no fault is named", _KNOWN)


def _refused(fields: Fields) -> RefusedBinding:
    fault = RefusedBinding(fields.text("pod"), fields.whole("times"))
    fields.end(("pod", "times"))
    return fault


def _hurt(fields: Fields) -> GPUFault:
    node, index, xid = fields.text("node"), fields.whole("index"), fields.whole("xid")
    if index is None:
        raise fields.fault("index", "a GPU is needed", "give its index on the node")
    fields.end(("node", "index", "xid"))
    return GPUFault(node, index, xid)

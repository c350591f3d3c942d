"""Fake beside real: what speaks against starting a fake plugin on a node.

Stands for nothing in Kubernetes: a fake that registered nvidia.com/gpu beside a real plugin would hand out GPUs that
others use. So it runs only where a label allows it, and nowhere near anything that looks like NVIDIA's.
"""

from collections.abc import Iterator
from pathlib import Path

from gpuyard import vocabulary
from gpuyard.writes import JSON

_DRIVER = ("proc/driver/nvidia/version", "dev/nvidiactl")
_GFD_LABEL = "nvidia.com/gpu.product"


def findings(plugin_folder: Path, root: Path = Path("/")) -> Iterator[str]:
    """What was found on the host, in words; nothing where the fake may run."""
    for driver in _DRIVER:
        if (root / driver).exists():
            yield f"a real NVIDIA driver ({root / driver})"
    for found in sorted(plugin_folder.glob("nvidia*.sock")):
        yield f"the socket of another NVIDIA device plugin ({found}): remove that plugin from this node"


def node_findings(node: JSON) -> Iterator[str]:
    """What was found in the Node object, in words."""
    metadata = node.get("metadata") or {}
    labels, notes = metadata.get("labels") or {}, metadata.get("annotations") or {}
    if labels.get(vocabulary.FAKE_GPUS) != "true":
        yield f"no label {vocabulary.FAKE_GPUS}=true on the node: set it where fake GPUs are wanted"
    if _GFD_LABEL in labels and vocabulary.INVENTORY not in notes:
        yield f"a label {_GFD_LABEL} that somebody else wrote: GPU feature discovery runs on this node"

"""When a pod has ended.

Stands for `podutil.IsPodTerminal` of Kubernetes. Law: a pod whose phase is one of ENDED never runs again, and its
kubelet has taken its devices back; one that is being deleted has not ended by that.
"""

from typing import Final

from gpuyard.writes import JSON

ENDED: Final = ("Succeeded", "Failed")


def has_ended(pod: JSON) -> bool:
    """Whether all containers of the Pod object have ended for good."""
    return (pod.get("status") or {}).get("phase") in ENDED

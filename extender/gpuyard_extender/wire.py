"""The JSON of kube-scheduler's extender protocol.

Stands for k8s.io/kube-scheduler/extender/v1: Go structs without JSON tags, hence the capital letters and the nulls.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuyard.preempting.stakes import Victims
from gpuyard.writes import JSON
from gpuyard_extender import settings
from gpuyard_extender.binding.binding import BindRequest
from gpuyard_extender.deciding.named_victims import Given
from gpuyard_extender.deciding.scheduling import Filtered
from gpuyard_extender.ledger import pods
from gpuyard_extender.ledger.pods import Pod

Read = Callable[[JSON], Pod | None]


class InvalidArgumentsError(ValueError):
    """A request that is not of the protocol; the text names the field."""


@dataclass(frozen=True, slots=True)
class Question:
    """ExtenderArgs. `items` are the Node objects where kube-scheduler sent them (nodeCacheCapable: false)."""

    pod: Pod
    names: Sequence[str]
    items: tuple[JSON, ...] | None


def question(args: Any, read: Read = pods.read) -> Question:
    """InvalidArgumentsError when a field is missing or wrong; `read` makes a Pod of the object."""
    if not isinstance(args, Mapping):
        raise InvalidArgumentsError("the request must be a JSON object (ExtenderArgs)")
    pod = _pod(args, read)
    names = args.get("NodeNames")
    if names is not None:
        return Question(pod, _texts(names), None)
    try:
        items = {str(item["metadata"]["name"]): item for item in args["Nodes"]["items"] or ()}
    except (KeyError, TypeError) as error:
        raise InvalidArgumentsError("NodeNames or Nodes.items: the candidate nodes are needed") from error
    return Question(pod, tuple(items), tuple(items.values()))


def _texts(names: Any) -> Sequence[str]:
    """A list of names; to join them is the quickest way to see that there is nothing else among thousands."""
    try:
        "".join(names)
    except TypeError:
        names = None
    if not isinstance(names, list):
        raise InvalidArgumentsError("NodeNames: a list of names is needed")
    return names


def _pod(args: Mapping[str, Any], read: Read = pods.read) -> Pod:
    body = args.get("Pod")
    pod = read(body) if isinstance(body, dict) else None
    if pod is None:
        raise InvalidArgumentsError(f"Pod{pods.fault(body)}")
    return pod


def bind_request(args: Any) -> BindRequest:
    """From ExtenderBindingArgs; InvalidArgumentsError when a field is missing or wrong."""
    fields = ("PodNamespace", "PodName", "PodUID", "Node")
    found = [args.get(field) for field in fields] if isinstance(args, Mapping) else [None]
    for field, content in zip(fields, found, strict=False):
        if not isinstance(content, str) or not content:
            raise InvalidArgumentsError(f"{field}: a text is needed")
    return BindRequest(*map(str, found))


def preempt_question(args: Any) -> tuple[Pod, Mapping[str, Given]]:
    """The pod and, by node, whom kube-scheduler would remove, in ExtenderPreemptionArgs.

    InvalidArgumentsError when a field is missing or wrong.
    """
    if not isinstance(args, Mapping):
        raise InvalidArgumentsError("the request must be a JSON object (ExtenderPreemptionArgs)")
    meta = args.get("NodeNameToMetaVictims")
    victims = meta or args.get("NodeNameToVictims")
    if not isinstance(victims, Mapping):
        raise InvalidArgumentsError("NodeNameToMetaVictims or NodeNameToVictims: an object is needed")
    return _pod(args), {name: _given(name, found, whole=not meta) for name, found in victims.items()}


def _given(node: str, victims: Any, *, whole: bool) -> Given:
    """By UID. One without cannot be named in an answer, nor may it be left out."""
    try:
        listed = (victims or {}).get("Pods") or ()
        found = {(pod["metadata"]["uid"] if whole else pod["UID"]): pod if whole else None for pod in listed}
    except (AttributeError, KeyError, TypeError):
        found = {"": None}
    if not all(isinstance(uid, str) and uid for uid in found):
        raise InvalidArgumentsError(f"{node}: Pods: a list of pods with UIDs is needed")
    return found


def filter_result(asked: Question, found: Filtered) -> JSON:
    """ExtenderFilterResult. Only FailedAndUnresolvableNodes, constant texts: all else makes rejected pods loop."""
    nodes = None
    if asked.items is not None:
        chosen = frozenset(found.passed)
        nodes = {"metadata": {}, "items": [i for i in asked.items if str(i["metadata"]["name"]) in chosen]}
    failed: dict[str, str] = {}
    for reason, names in found.rejected.items():
        failed |= dict.fromkeys(names, reason.text)
    return {
        "Nodes": nodes,
        "NodeNames": list(found.passed) if asked.items is None else None,
        "FailedNodes": {},
        "FailedAndUnresolvableNodes": failed,
        "Error": "",
    }


def filter_error(text: str) -> JSON:
    """An ExtenderFilterResult that fails the scheduling attempt."""
    return {
        "Nodes": None,
        "NodeNames": None,
        "FailedNodes": {},
        "FailedAndUnresolvableNodes": {},
        "Error": text,
    }


def host_priorities(ranks: Mapping[str, int]) -> list[JSON]:
    """HostPriorityList: integers, one step per rank."""
    return [{"Host": name, "Score": rank * settings.SCORE_STEP} for name, rank in ranks.items()]


def preempt_result(found: Mapping[str, Victims]) -> JSON:
    """ExtenderPreemptionResult: by UID alone, whichever form was sent."""
    return {
        "NodeNameToMetaVictims": {
            name: {"Pods": [{"UID": uid} for uid in victims.uids], "NumPDBViolations": victims.violations}
            for name, victims in found.items()
        }
    }


def bind_result(error: str = "") -> JSON:
    """ExtenderBindingResult."""
    return {"Error": error}

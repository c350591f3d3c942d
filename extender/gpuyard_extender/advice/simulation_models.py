"""Question and answer of `POST /v1/simulations`, as JSON: the models behind its OpenAPI description."""

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

MOST_OBJECTS: Final = 1000
MOST_NODES: Final = 5000

KubernetesObject = dict[str, Any]


class Asked(BaseModel):
    """Would these fit? Nothing is created, and nothing is held for them afterwards."""

    model_config = ConfigDict(extra="forbid", strict=True)

    objects: list[KubernetesObject] = Field(
        min_length=1,
        max_length=MOST_OBJECTS,
        description="Pods, Jobs, Deployments, ReplicaSets, StatefulSets, PodGroups, Queues and Lists of them. Other"
        " kinds are left out and named in the answer.",
    )
    queues: list[KubernetesObject] | None = Field(
        default=None,
        max_length=MOST_OBJECTS,
        description="The Queue objects of the cluster, with their status: what of their quotas is used. A Queue among"
        " the objects has its own quota, of which as much is used. Without them other queues let everybody in.",
    )
    nodes: list[KubernetesObject] | None = Field(
        default=None,
        max_length=MOST_NODES,
        description="Node objects that are judged instead of the cluster's. One that has the name of a node of the"
        " cluster carries that node's pods; all others are empty.",
    )
    add_nodes: list[KubernetesObject] = Field(
        default=[], alias="addNodes", max_length=MOST_NODES, description="Node objects beside those."
    )


class Placed(BaseModel):
    """A pod's place."""

    pod: str
    node: str
    devices: dict[str, dict[str, list[str]]] = Field(description="container -> resource -> device ids")


class Why(BaseModel):
    """Nodes that say no for one reason."""

    reason: str
    details: dict[str, int] = Field(description="how many nodes say what")
    nodes: list[str]


class Remedy(BaseModel):
    """What would make all of it fit; it was tried."""

    kind: str = Field(description="Fewer, Without, MoreNodes or Ends")
    text: str
    pods: list[str] = Field(default=[], description="namespace/name of those that would have to end")


class Outcome(BaseModel):
    """What becomes of one workload, or of the members of one PodGroup."""

    name: str
    together: bool = Field(description="whether all start or none")
    pods: int
    fits: bool
    placed: list[Placed]
    code: str | None = Field(default=None, description="a reason code where it does not fit")
    pod: str | None = Field(default=None, description="the first pod without a place")
    detail: str = ""
    why: list[Why] = []
    remedies: list[Remedy] = []


class Simulated(BaseModel):
    """The answer."""

    fits: bool
    outcomes: list[Outcome]
    ignored: list[str] = Field(description="objects that bring no pods that we know of")

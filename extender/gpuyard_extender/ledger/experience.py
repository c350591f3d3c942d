"""What pods are typical, as learnt from those that hold a place now, and which GPU models there are for them.

Stands for the workload that the paper "Beware of Fragmentation" takes from a trace. Law: it depends on what the
cluster holds alone, and is worked out anew when about as much has changed again as it was learnt from.
"""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

import numpy as np

from gpuyard import vocabulary
from gpuyard.placing import parts
from gpuyard.pods.fit import PodFit
from gpuyard.policies import workload
from gpuyard.policies.workload import ANY_MODEL, MOST_MODELS, NOTHING_KNOWN, WHOLE, Shape, Workload
from gpuyard.verdicts import Rejection
from gpuyard_extender.ledger.ledger import Ledger

_MOST: Final = 2000
"""Pods that are looked at: enough for every shape that matters, and some 10 ms."""
_FEWEST_CHANGES: Final = 32

_Kind = tuple[str, str]
"""The model of a node's GPUs, and what its label says of it."""


class Experience:
    """The workload of a cluster."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._workload, self._due = NOTHING_KNOWN, 0

    def workload(self) -> Workload:
        """The typical pods of late."""
        changes = self._ledger.holdings.changes
        if changes >= self._due:
            seen = dict(itertools.islice(self._ledger.holdings.shapes(), _MOST))
            self._workload, self._due = self._learnt(seen), changes + max(_FEWEST_CHANGES, len(seen))
        return self._workload

    def _learnt(self, seen: Mapping[str, Shape]) -> Workload:
        installed = self._installed()
        names = sorted({model for model, _ in installed})[:MOST_MODELS]
        bits = {name: 1 << bit for bit, name in enumerate(names)}
        shapes = (shape._replace(models=self._models(uid, installed, bits)) for uid, shape in seen.items())
        amounts = [sum(found for kind, found in installed.items() if kind[0] == name) for name in names]
        # The last one is for models that came later.
        found = workload.typical(shapes, [*amounts, 0])
        return dataclasses.replace(found, codes=np.array(list(map(workload.code, names)), np.int64))

    def _installed(self) -> Mapping[_Kind, int]:
        """GPU thousandths by model and label."""
        found = Counter[_Kind]()
        for node in self._ledger.holdings.cluster(()).nodes.values():
            gpus = len(node.inventory.gpus) if node.inventory else node.total(vocabulary.GPU)
            if gpus:
                found[parts.model(node), node.fit.labels.get(vocabulary.PRODUCT_LABEL, "")] += WHOLE * gpus
        return found

    def _models(self, uid: str, kinds: Collection[_Kind], bits: Mapping[str, int]) -> int:
        """The bits of the models that a pod may run on, by its wishes and those labels that tell models."""
        pod = self._ledger.pods.get(uid)
        if pod is None or isinstance(pod.request, Rejection):
            return ANY_MODEL
        wishes, selector = pod.request.wishes, pod.fit.node_selector
        if not wishes.models and vocabulary.PRODUCT_LABEL not in selector and not pod.fit.affinity_terms:
            return ANY_MODEL
        liked = {model for model, label in kinds if wishes.likes(model) and _may_have(pod.fit, label)}
        return sum(bits[model] for model in liked & bits.keys()) if liked != bits.keys() else ANY_MODEL


def _may_have(pod: PodFit, label: str) -> bool:
    """Whether node selector and affinity leave it nodes with this product label; at others nobody looks."""
    key = vocabulary.PRODUCT_LABEL
    asked = [[wish for wish in term.labels if wish.key == key] for term in pod.affinity_terms or ()]
    matched = any(all(wish.matches({key: label}) for wish in wishes) for wishes in asked)
    return pod.node_selector.get(key, label) == label and (matched or not asked)

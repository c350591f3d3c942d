"""What all flows of the API server work on.

Stands for the generic registry's dependencies in kube-apiserver. Law: time comes from `now`, uids and name suffixes
from one seeded source, so that the same requests always make the same objects.
"""

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self

from gpuyard_cluster.apiserver.admission.consultation import Ask, Consultation, cannot_ask
from gpuyard_cluster.apiserver.errors import ApiError, not_found
from gpuyard_cluster.apiserver.kinds.registry import Registry
from gpuyard_cluster.apiserver.kinds.resources import Resource
from gpuyard_cluster.apiserver.routing import Target
from gpuyard_cluster.apiserver.storage.storage import Store, Stored
from gpuyard_cluster.apiserver.storage.views import View
from gpuyard_cluster.apiserver.storage.watches import OpenWatches
from gpuyard_kube.timestamps import rfc3339

_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""No vowels, so that no words appear (`k8s.io/apimachinery/pkg/util/rand`)."""


AfterWrite = Callable[[Resource, Stored], None]


@dataclass(slots=True)
class Backend:
    """The state of one server. `now` gives seconds since the epoch."""

    store: Store
    registry: Registry
    now: Callable[[], float]
    random: random.Random
    watches: OpenWatches = field(default_factory=OpenWatches)
    after_put: list[AfterWrite] = field(default_factory=list)
    """Called with the resource and the object after it was stored, within the request; they may write."""
    after_remove: list[AfterWrite] = field(default_factory=list)
    """Called with the resource and its last state after an object was removed."""

    on_served: list[Callable[[Resource], None]] = field(default_factory=list)
    """Called with a custom resource when it begins to be served."""
    ask: Ask = cannot_ask
    """How admission calls webhooks."""
    warnings: list[str] = field(default_factory=list)
    """What the client of the request at hand is told beside its answer, whatever that is."""

    def during(self, consultation: Consultation) -> Self:
        """This state as one request sees it, in each of its tries alike."""
        return replace(
            self,
            now=lambda: consultation.now,
            random=random.Random(consultation.seed),
            ask=consultation.ask,
            warnings=consultation.warnings,
        )

    def timestamp(self, later: float = 0) -> str:
        """The time now, or `later` seconds from now, as metav1.Time writes it."""
        return rfc3339(self.now() + later)

    def uid(self) -> str:
        """A new uid."""
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def suffix(self) -> str:
        """What generateName appends."""
        return "".join(self.random.choices(_SUFFIX_LETTERS, k=5))

    def view(self, target: Target) -> View:
        """How objects look at the target's version."""
        return View(target.resource)

    def get(self, target: Target) -> Stored | None:
        """The target's object; None when there is none."""
        return self.store.get(target.resource.store, target.key)

    def read(self, target: Target) -> Stored:
        """The target's object; 404 when there is none."""
        stored = self.get(target)
        if stored is None:
            raise not_found(target.resource.qualified, target.name)
        return stored


def internal_error(why: str) -> ApiError:
    """500: something went wrong on the way, in the form of NewInternalError."""
    return ApiError(500, "InternalError", f"Internal error occurred: {why}", {"causes": [{"message": why}]})


def internal(message: str) -> ApiError:
    """500: the server itself says no."""
    return ApiError(500, "InternalError", message)

"""The MIG geometry of every known board, read from data/mig.json.

Stands for the tables that NVIDIA's driver keeps (`nvidia-smi mig -lgip`). The file has, beside every number, where it
was seen and how sure it is.
"""

import functools
import json
import re
from dataclasses import dataclass
from importlib import resources
from typing import Any

from gpuyard import vocabulary


@dataclass(frozen=True, slots=True)
class Profile:
    """A GPU-instance profile. `memory_mib` and `multiprocessors` are 0 where no listing was seen."""

    name: str
    compute_slices: int
    memory_slices: int
    max_instances: int
    placements: tuple[tuple[int, int], ...]
    """(start, size) pairs, in memory slices."""
    memory_mib: int
    multiprocessors: int
    id: int
    """The number by which nvidia-smi knows the profile."""


@dataclass(frozen=True, slots=True)
class Board:
    """A GPU model's geometry; `product_names` as in the label nvidia.com/gpu.product."""

    key: str
    product_names: tuple[str, ...]
    memory_slices: int
    compute_slices: int
    profiles: tuple[Profile, ...]

    def profile(self, name: str) -> Profile | None:
        return next((profile for profile in self.profiles if profile.name == name), None)


def product_label(name: str) -> str:
    """`NVIDIA A100-SXM4-40GB` -> `NVIDIA-A100-SXM4-40GB`: a product name as GPU feature discovery writes it."""
    return re.sub(r"[^A-Za-z0-9\-_. ]", "", name).replace(" ", "-")


@functools.lru_cache(maxsize=1024)
def plain_product(label: str) -> str:
    """The product in a label of GPU feature discovery, which says of shares and MIG instances that they are such."""
    return product_label(label).removesuffix("-SHARED").partition("-MIG-")[0]


@functools.lru_cache(maxsize=1024)
def board_of(model: str) -> Board | None:
    """The geometry of a GPU model, or None where it has no MIG. `model` is a product name or its label."""
    return _BY_PRODUCT.get(product_label(model))


def profile_names() -> frozenset[str]:
    """Every profile of every board."""
    return _PROFILE_NAMES


def managed_resources() -> tuple[str, ...]:
    """Every resource name that an extender must manage, sorted: kube-scheduler takes no wildcard."""
    names = [vocabulary.GPU, *(vocabulary.mig_resource(name) for name in _PROFILE_NAMES)]
    return tuple(sorted({*names, *(name + vocabulary.SHARED_SUFFIX for name in names)}))


def _profile(found: dict[str, Any]) -> Profile:
    return Profile(
        name=found["name"],
        compute_slices=found["compute_slices"],
        memory_slices=found["memory_slices"],
        max_instances=found["max_instances"],
        placements=tuple((start, found["memory_slices"]) for start in found["starts"]),
        memory_mib=found.get("memory_mib", 0),
        multiprocessors=found.get("sm", 0),
        id=found["profile_id"],
    )


def _load() -> dict[str, Board]:
    """The one file read of this package: the tables are data with sources, and part of the code."""
    document = json.loads(resources.files("gpuyard").joinpath("data/mig.json").read_text("utf-8"))
    return {
        found["key"]: Board(
            key=found["key"],
            product_names=tuple(product_label(name) for name in found["product_names"]),
            memory_slices=found["memory_slices"],
            compute_slices=found["compute_slices"],
            profiles=tuple(_profile(profile) for profile in found["profiles"]),
        )
        for found in document["boards"]
    }


BOARDS = _load()
"""By key."""
_BY_PRODUCT = {name: board for board in BOARDS.values() for name in board.product_names}
_PROFILE_NAMES = frozenset(profile.name for board in BOARDS.values() for profile in board.profiles)

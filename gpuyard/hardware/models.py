"""The GPU models that a yard can have, with what their nodes show.

Stands for what NVML reports and GPU feature discovery turns into labels. Memory is what hardware captures and node
listings showed as nvidia.com/gpu.memory; a model with MIG has its geometry in `boards`.
"""

from dataclasses import dataclass

from gpuyard.hardware import mig
from gpuyard.hardware.mig import Board


@dataclass(frozen=True, slots=True)
class Model:
    """One GPU model: `name` as nvidia-smi writes it, `compute` is its compute capability."""

    name: str
    memory_mib: int
    compute: tuple[int, int]
    family: str

    @property
    def product(self) -> str:
        """As in the label nvidia.com/gpu.product."""
        return mig.product_label(self.name)

    @property
    def board(self) -> Board | None:
        """Its MIG geometry; None where it has no MIG."""
        return mig.board_of(self.product)


MODELS = (
    Model("NVIDIA A100-SXM4-40GB", 40960, (8, 0), "ampere"),
    Model("NVIDIA A100-PCIE-40GB", 40960, (8, 0), "ampere"),
    Model("NVIDIA A100-SXM4-80GB", 81920, (8, 0), "ampere"),
    Model("NVIDIA H100 80GB HBM3", 81559, (9, 0), "hopper"),
    Model("NVIDIA H100 NVL", 95830, (9, 0), "hopper"),
    Model("NVIDIA H200", 143771, (9, 0), "hopper"),
    Model("NVIDIA B200", 183359, (10, 0), "blackwell"),
    Model("NVIDIA GB200", 189471, (10, 0), "blackwell"),
    Model("NVIDIA GB300", 284208, (10, 3), "blackwell"),
    Model("NVIDIA A30", 24576, (8, 0), "ampere"),
    Model("NVIDIA L40S", 46068, (8, 9), "ada-lovelace"),
    Model("Tesla T4", 15360, (7, 5), "turing"),
    Model("NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887, (12, 0), "blackwell"),
)
_BY_PRODUCT = {model.product: model for model in MODELS}


def model_of(name: str) -> Model | None:
    """The model of a product name ("NVIDIA A30") or its label ("NVIDIA-A30"); None where it is not known."""
    return _BY_PRODUCT.get(mig.product_label(name))

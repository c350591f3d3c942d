"""Policies of somebody else: what is wrong with one is said in a line, wherever it is asked.

Imported before numpy is: `gpuyard` names its errors without waiting for it.
"""

import traceback
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpuyard.policies.candidates import Candidates, Matrix, Policy
    from gpuyard.policies.workload import Column


class PolicyError(Exception):
    """An installed policy cannot be loaded, fails, or answers what is no score."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A policy by its name; what it answers is checked."""

    name: str
    policy: "Policy"

    def __call__(self, candidates: "Candidates") -> "Column | Matrix":
        try:
            scores = self.policy(candidates)
        except Exception as error:
            raise PolicyError(f"policy {self.name}: {_words(error)}{_place(error)}; mend it") from error
        if _fits(scores, candidates.gpus.shape):
            return scores
        found = f"an array of {scores.dtype}, {scores.shape}" if hasattr(scores, "dtype") else repr(scores)
        remedy = "return an array with one integer for each row, or for each row and GPU"
        raise PolicyError(f"policy {self.name}: {found:.100} is no score; {remedy}")


def load(entry: EntryPoint) -> Installed:
    """The policy of an entry point. PolicyError when its module cannot be imported, or has no such function."""
    try:
        return Installed(entry.name, entry.load())
    except Exception as error:
        raise PolicyError(f"policy {entry.name}: {entry.value}: {_words(error)}; mend it") from error


def _fits(scores: Any, shape: tuple[int, ...]) -> bool:
    kind = getattr(getattr(scores, "dtype", None), "kind", "")
    return kind in ("i", "u", "b") and scores.shape in (shape[:1], shape)


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _place(error: Exception) -> str:
    """Where the policy failed: its own line, not that of a library below it."""
    for frame in traceback.extract_tb(error.__traceback__)[1:2]:
        return f" ({Path(frame.filename).name}, line {frame.lineno})"
    return ""

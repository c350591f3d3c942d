"""What is wrong with somebody else's policy is said in one line that names it, its place and what mends it."""

import pickle
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuyard.policies.installed import Installed, PolicyError, load
from gpuyard.policies.registry import PLUGINS
from gpuyard.policies.workload import Shape
from tests.gpuyard.policies.columns import candidates

FOUND = candidates(Shape(1000, 500, 1), (1000, 500), (700, 0))


def misspelt(nodes: Any) -> Any:
    return nodes.gpuz


@pytest.mark.parametrize("scores", [np.array([1, 2]), np.array([[1, 2], [3, 4]]), np.array([True, False])])
def test_one_integer_a_row_or_a_row_and_gpu_is_a_score(scores: Any) -> None:
    assert Installed("mine", lambda _: scores)(FOUND) is scores


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (3.5, "policy mine: 3.5 is no score; return an array with one integer for each row"),
        (None, "policy mine: None is no score; "),
        (np.array([1.0, 2.0]), "policy mine: an array of float64, (2,) is no score; "),
        (np.array([1, 2, 3]), "policy mine: an array of int64, (3,) is no score; "),
    ],
)
def test_any_other_answer_is_refused(scores: Any, said: str) -> None:
    with pytest.raises(PolicyError) as refused:
        Installed("mine", lambda _: scores)(FOUND)
    assert str(refused.value).startswith(said)


def test_a_policy_that_fails_is_named_with_its_own_line() -> None:
    with pytest.raises(
        PolicyError, match="^policy mine: AttributeError: .*'gpuz'.* \\(test_installed.py, line"
    ) as fault:
        Installed("mine", misspelt)(FOUND)
    # A sweep runs policies in other processes.
    assert str(pickle.loads(pickle.dumps(fault.value))) == str(fault.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def reserve(nodes)\n", "SyntaxError: expected ':' (broken.py, line 1); mend it"),
        ("import nothing_such\n", "ModuleNotFoundError: No module named 'nothing_such'; mend it"),
        ("def other(nodes): ...\n", "AttributeError: module 'broken' has no attribute 'reserve'"),
    ],
)
def test_one_that_cannot_be_loaded_is_named_with_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "broken.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken", raising=False)
    with pytest.raises(PolicyError) as refused:
        load(EntryPoint("mine", "broken:reserve", PLUGINS))
    assert str(refused.value).startswith(f"policy mine: broken:reserve: {said}")

from typing import Any

import pytest

from gpuyard_cluster.apiserver.rules.selectors import selector_faults


@pytest.mark.parametrize(
    ("selector", "field"),
    [
        ({"matchLabels": {"a": "-"}}, "s.matchLabels"),
        ({"matchExpressions": [{"operator": "Exists"}]}, "s.matchExpressions[0].key"),
        ({"matchExpressions": [{"key": "a"}]}, "s.matchExpressions[0].operator"),
        ({"matchExpressions": [{"key": "a", "operator": "In"}]}, "s.matchExpressions[0].values"),
        (
            {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]},
            "s.matchExpressions[0].values",
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["-"]}]},
            "s.matchExpressions[0].values[0]",
        ),
    ],
)
def test_a_selector_that_could_not_be_evaluated_is_told_by_field(
    selector: dict[str, Any], field: str
) -> None:
    assert [cause.field for cause in selector_faults(selector, "s")] == [field]


def test_ordinary_selectors_pass() -> None:
    terms = [{"key": "x.y/a", "operator": "NotIn", "values": ["b"]}, {"key": "c", "operator": "DoesNotExist"}]
    assert not list(selector_faults({"matchLabels": {"a": "b"}, "matchExpressions": terms}, "s"))
    assert not list(selector_faults({}, "s"))

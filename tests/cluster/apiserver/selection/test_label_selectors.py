import pytest

from gpuyard_cluster.apiserver.selection.label_selectors import matches

LABELS = {"app": "x", "tier": "web"}


@pytest.mark.parametrize(
    ("key", "operator", "values", "holds"),
    [
        ("app", "In", ["x", "y"], True),
        ("app", "NotIn", ["x"], False),
        ("none", "NotIn", ["x"], True),
        ("none", "In", ["x"], False),
        ("app", "Exists", None, True),
        ("app", "DoesNotExist", None, False),
        ("none", "DoesNotExist", None, True),
    ],
)
def test_operators(key: str, operator: str, values: list[str] | None, holds: bool) -> None:
    term = {"key": key, "operator": operator, "values": values}
    assert matches({"matchExpressions": [term]}, LABELS) is holds


def test_all_parts_must_hold() -> None:
    exists = {"key": "tier", "operator": "Exists"}
    assert matches({}, LABELS)
    assert matches({"matchLabels": {"app": "x"}, "matchExpressions": [exists]}, LABELS)
    assert not matches({"matchLabels": {"app": "y"}, "matchExpressions": [exists]}, LABELS)
